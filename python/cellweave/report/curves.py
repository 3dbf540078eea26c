"""What a probe measured: heat maps of pairs, curves over sizes on axes to base 2, bars."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from cellweave.report.colours import INK, colours
from cellweave.report.heat import draw_heat
from cellweave.report.lines import draw_lines
from cellweave.report.places import size_text
from cellweave.report.probe import exchange_groups, groups, slowed, spread_of
from cellweave.report.units import number, time_ns

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NUMBERED = 64  # a matrix with more elements than this has no numbers in its cells
_CELL_INCHES = 0.3  # room for three digits
_WIDE_INCHES = 17.0
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
    matrices = _matrices(dict(probe), pairs)
    slow = slowed(dict(probe))
    lines = exchange_groups(dict(probe))
    side = max(4.6, 1.2 + _CELL_INCHES * max((len(m.names) for m in matrices), default=0))
    abreast = max(1, min(len(matrices), int(_WIDE_INCHES / (side * 1.15))))
    rows = -(-len(matrices) // abreast)
    # Each part: its height, and how it is drawn.
    parts: list[tuple[float, Callable[[Any], None]]] = []
    if matrices:
        parts.append((rows * side, lambda part: _draw_matrices(part, matrices, rows, abreast)))
    if slow:
        parts.append((1.1 + 0.26 * len(slow), lambda part: _draw_slowdowns(part.subplots(), slow)))
    if lines:
        parts.append((1.1 + 0.26 * len(lines), lambda part: _draw_exchanges(part.subplots(), lines)))
    if curves:
        parts.append((4.6, lambda part: _draw_curves(part.subplots(), curves)))
    if bars:
        parts.append((0.9 + 0.26 * len(bars), lambda part: _draw_bars(part.subplots(), bars)))
    heights = [height for height, _ in parts]
    wide = max(10.5, abreast * side * 1.15)
    figure = plt.figure(figsize=(wide, max(2.0, sum(heights)) + 0.4), layout="constrained")
    figure.suptitle(f"measured on {probe['target']}", fontsize=10, color=INK)
    if not parts:
        return figure
    below = figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0]
    for part, (_, draw) in zip(below, parts, strict=True):
        draw(part)
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


class _Matrix(NamedTuple):
    title: str
    names: list[str]
    values: list[list[float]]
    more_is_better: bool
    labels: tuple[str, str]
    breaks: list[int]


def _draw_matrices(part: Any, matrices: list[_Matrix], rows: int, abreast: int) -> None:
    axes = part.subplots(rows, abreast, squeeze=False).ravel()
    for unused in axes[len(matrices) :]:
        unused.set_axis_off()
    for ax, m in zip(axes, matrices, strict=False):
        draw_heat(ax, m.values, m.names, m.title, m.more_is_better, m.labels, m.breaks, numbered=_NUMBERED)


def _matrices(probe: Data, pairs: list[Data]) -> list[_Matrix]:
    """Latency at the smallest point, bandwidth at the largest, and one line handed over; each by package, L3, core."""
    elements = probe.get("elements", [])
    cells = {}
    for m in pairs:
        match = _PAIR.fullmatch(m["transfers"])
        if match:
            cells[match.group(1), match.group(2), m["size_bytes"], m["buffers"]] = m
    lines = {tuple(x["pair"]): x for x in probe.get("exchanges", []) if x["pattern"] == "line"}
    measured = {name for reader, source, _, _ in cells for name in (reader, source)}
    touched = {name for pair in lines for name in pair}
    shown = [e for e in elements if e["label"] in measured or e["name"] in touched]
    if not elements:  # a result of an older version
        shown = [{"label": label, "cpu": None} for label in sorted(measured, key=_natural)]
    if len(shown) < 2:
        return []
    cpus = all(e["cpu"] is not None for e in shown)
    names = [str(e["cpu"]) if cpus else e["label"] for e in shown]
    unit = ", cpu" if cpus else ""
    places = [(e.get("chip"), e.get("numa"), e.get("l3")) for e in shown]
    breaks = [i for i in range(1, len(places)) if places[i] != places[i - 1]]

    def matrix(point: tuple[int, int], key: str) -> list[list[float]]:
        def at(reader: str, source: str) -> float:
            m = cells.get((reader, source, *point))
            return float(m[key]["p50"]) if m else float("nan")

        return [[at(reader["label"], source["label"]) for source in shown] for reader in shown]

    def line(a: Data, b: Data) -> float:
        x = lines.get((a["name"], b["name"])) or lines.get((b["name"], a["name"]))
        return float(x["latency_ns"]["p50"]) if x else float("nan")

    def title(what: str, point: tuple[int, int]) -> str:
        return f"{what}: {size_text(point[0])}, {point[1]} in flight"

    found = []
    ends = (f"source{unit}", f"reader{unit}")
    points = sorted({(size, buffers) for _, _, size, buffers in cells})
    if points:
        small, large = points[0], points[-1]
        found += [
            _Matrix(title("latency in ns", small), names, matrix(small, "latency_ns"), False, ends, breaks),
            _Matrix(title("bandwidth in GB/s", large), names, matrix(large, "bandwidth_gbs"), True, ends, breaks),
        ]
    if lines:
        values = [[line(a, b) for b in shown] for a in shown]
        both = (f"reader{unit}", f"writer{unit}")
        found.append(_Matrix("one line handed over, in ns", names, values, False, both, breaks))
    return found


def _draw_spreads(
    ax: Axes, rows: list[tuple[str, tuple[float, float, float]]], title: str, text: Callable[[float], str]
) -> None:
    """A dot at each median, from p10 to p90 a line, and the median in figures."""
    shade = colours(["bar"])["bar"]
    for i, (_, (low, middle, high)) in enumerate(rows):
        ax.plot([low, high], [i, i], color=shade, linewidth=2.5, solid_capstyle="butt")
        ax.plot([middle], [i], "o", color=INK, markersize=4)
        ax.annotate(text(middle), (high, i), xytext=(6, 0), textcoords="offset points", va="center", fontsize=8)
    ax.set_yticks(range(len(rows)), [label for label, _ in rows], fontsize=8)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.margins(x=0.12)
    ax.set_title(title, fontsize=10, color=INK)
    ax.spines[["top", "right"]].set_visible(False)


def _draw_slowdowns(ax: Axes, slow: list[tuple[str, list[Data]]]) -> None:
    rows = []
    for label, sets in slow:
        n = f", {len(sets)} sets" if len(sets) > 1 else ""
        rows.append((f"{label}, {sets[0]['partners']} initiating{n}", spread_of(sets, "slowdown")))
    _draw_spreads(ax, rows, "at the same time: times longer than alone (median, p10 to p90)", number)
    ax.axvline(1.0, color=INK, linewidth=0.8, linestyle=":")


def _draw_exchanges(ax: Axes, lines: dict[tuple[str, str], list[Data]]) -> None:
    rows = [(f"{label} ({shares})", spread_of(members, "latency_ns")) for (label, shares), members in lines.items()]
    ax.set_xscale("log")
    _draw_spreads(ax, rows, "ns of one hand-over, write, wake-up or turn (median, p10 to p90)", time_ns)


def _natural(name: str) -> tuple[int, int, str]:
    return (0, int(name), "") if name.isdigit() else (1, 0, name)
