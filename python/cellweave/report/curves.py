"""What a probe measured: heat maps of pairs, curves over sizes on axes to base 2, bars."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from cellweave.report.colours import INK, colours
from cellweave.report.heat import draw_heat
from cellweave.report.lines import draw_lines
from cellweave.report.places import size_text
from cellweave.report.probe import groups

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LINES = 12  # more lines than this in one picture cannot be told apart
_PAIR = re.compile(r"([^<>,-]+)<-([^<>,-]+)")

Data = dict[str, Any]


def draw_probe(probe: Mapping[str, Any]) -> Figure:
    """Draw all that was measured, one part below the other.

    Parameters
    ----------
    probe : mapping
        As :meth:`cellweave.probe.Probe.to_dict` gives it.
    """
    import matplotlib.pyplot as plt

    found = [dict(m) for m in probe["measurements"]]
    pairs = [m for m in found if m["pattern"] == "all-pairs"]
    others = [m for m in found if m["pattern"] != "all-pairs"]
    curves = _curves(others)
    drawn = {id(m) for points in curves.values() for m in points}
    rest = [m for m in others if id(m) not in drawn]
    bars = _bars(rest)
    matrices = _matrices(pairs)
    heights = [4.6] * bool(matrices) + [4.6] * bool(curves) + [0.9 + 0.26 * len(bars)] * bool(bars)
    figure = plt.figure(figsize=(10.5, max(2.0, sum(heights)) + 0.4), layout="constrained")
    figure.suptitle(f"measured on {probe['target']}", fontsize=10, color=INK)
    if not heights:
        return figure
    parts = iter(figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0])
    if matrices:
        axes = next(parts).subplots(1, len(matrices), squeeze=False)[0]
        for ax, (title, names, values, more) in zip(axes, matrices, strict=True):
            draw_heat(ax, values, names, title, more)
    if curves:
        _draw_curves(next(parts).subplots(), curves)
    if bars:
        _draw_bars(next(parts).subplots(), bars)
    return figure


def _curves(found: list[Data]) -> dict[str, list[Data]]:
    """Label -> points, for measurements at two sizes or more; a point is the median of a pattern's sets."""
    lines: dict[tuple[Any, ...], list[Data]] = {}
    for (pattern, partners, _, buffers, compute_ns), members in groups(found).items():
        order = sorted(members, key=lambda m: float(m["bandwidth_gbs"]["p50"]))
        name = pattern if pattern != "written" else members[0]["transfers"]
        lines.setdefault((name, partners, buffers, compute_ns), []).append(order[len(order) // 2])
    lines = {key: points for key, points in lines.items() if len({m["size_bytes"] for m in points}) > 1}
    # Labels leave out what all lines have in common.
    columns = list(zip(*lines, strict=True))
    differs = [len(set(column)) > 1 for column in columns] or [True] * 4
    forms = ("{}", "{} initiating", "{} in flight", "{} ns computing")
    labelled = {}
    for key, points in list(lines.items())[:_LINES]:
        words = [form.format(value) for form, value, shown in zip(forms, key, differs, strict=True) if shown]
        labelled[", ".join(words) or str(key[0])] = points
    return labelled


def _draw_curves(ax: Axes, curves: dict[str, list[Data]]) -> None:
    sizes = sorted({m["size_bytes"] for points in curves.values() for m in points})
    lines = {}
    for label, points in curves.items():
        at = {m["size_bytes"]: m["bandwidth_gbs"]["p50"] for m in points}
        lines[label] = [at.get(size, float("nan")) for size in sizes]
    patterns = {m["pattern"] for points in curves.values() for m in points}
    title = patterns.pop() if len(patterns) == 1 else "bandwidth"
    draw_lines({"x": sizes, "lines": lines, "x_label": "size of a transfer", "y_label": "GB/s", "title": title}, ax)


def _bars(found: list[Data]) -> list[tuple[str, list[float]]]:
    """Label -> bandwidths of the sets, for measurements at one size."""
    bars = []
    for (pattern, partners, size, buffers, _), members in groups(found).items():
        name = pattern if pattern != "written" else members[0]["transfers"][:40]
        label = f"{name}, {partners} initiating: {size_text(size)} x {buffers}"
        bars.append((label, [float(m["bandwidth_gbs"]["p50"]) for m in members]))
    return bars


def _draw_bars(ax: Axes, bars: list[tuple[str, list[float]]]) -> None:
    shade = colours(["bar"])["bar"]
    for i, (_, values) in enumerate(bars):
        middle = sorted(values)[len(values) // 2]
        ax.barh(i, middle, color=shade, height=0.6, alpha=0.85)
        if len(values) > 1:
            ax.scatter(values, [i] * len(values), s=10, color=INK, zorder=3, alpha=0.6)
        ax.text(
            max(values), i, f"  {'median ' if len(values) > 2 else ''}{middle:.3g}", va="center", fontsize=8, color=INK
        )
    ax.set_yticks(range(len(bars)), [label for label, _ in bars], fontsize=8)
    ax.invert_yaxis()
    ax.margins(x=0.1)
    ax.set_xlim(left=0)
    ax.set_xlabel("GB/s, the whole pattern together; a dot for each set", fontsize=9)
    ax.spines[["top", "right"]].set_visible(False)


def _matrices(pairs: list[Data]) -> list[tuple[str, list[str], list[list[float]], bool]]:
    """Title, names, values and whether more is better: latency at the smallest point, bandwidth at the largest."""
    cells = []
    for m in pairs:
        match = _PAIR.fullmatch(m["transfers"])
        if match:
            cells.append((match.group(1), match.group(2), m))
    if not cells:
        return []
    names = sorted({name for reader, source, _ in cells for name in (reader, source)}, key=_natural)
    points = sorted({(m["size_bytes"], m["buffers"]) for _, _, m in cells})

    def matrix(point: tuple[int, int], key: str) -> list[list[float]]:
        values = [[float("nan")] * len(names) for _ in names]
        for reader, source, m in cells:
            if (m["size_bytes"], m["buffers"]) == point:
                values[names.index(reader)][names.index(source)] = float(m[key]["p50"])
        return values

    def title(what: str, point: tuple[int, int]) -> str:
        return f"{what}: {size_text(point[0])}, {point[1]} in flight"

    small, large = points[0], points[-1]
    return [
        (title("latency in ns", small), names, matrix(small, "latency_ns"), False),
        (title("bandwidth in GB/s", large), names, matrix(large, "bandwidth_gbs"), True),
    ]


def _natural(name: str) -> tuple[int, int, str]:
    return (0, int(name), "") if name.isdigit() else (1, 0, name)
