"""A graph with its mapping: a box per task in the colour of its element, an arrow per edge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cellweave.report.colours import FAINT, INK, colours, ink_on
from cellweave.report.layers import layers
from cellweave.report.tables import natural

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes

_LABELLED_TASKS = 160  # more names than this cannot be read


def draw_mapping(
    graph: dict[str, Any],
    mapping: Mapping[str, str] | None = None,
    elements: list[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a task graph from left to right; tasks of one element share a colour.

    Parameters
    ----------
    graph : dict
        As an application's JSON holds it: ``{"task": [{"name"}], "edge": [{"from", "to", "bytes"}]}``.
    mapping : mapping of str to str, optional
        Task -> element, as in ``plan.json``; without it all boxes are grey.
    elements : list of str, optional
        The machine's elements in order, so that colours agree between pictures.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        Arrows that cross from one element to another are dark and as wide as their bytes; others are faint.
    """
    import matplotlib.pyplot as plt
    from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Patch

    tasks = [t["name"] for t in graph["task"]]
    edges = [(e["from"].partition(".")[0], e["to"].partition(".")[0], e["bytes"]) for e in graph.get("edge", [])]
    at = layers(tasks, [(a, b) for a, b, _ in edges])
    deep = max((layer for layer, _ in at.values()), default=0) + 1
    tall = max((abs(place) for _, place in at.values()), default=0) * 2 + 1
    longest = max((len(t) for t in tasks), default=1)
    # A long thin graph is folded into bands, like text into lines.
    bands = max(1, round((deep * 1.6 / (tall + 1) / 2.2) ** 0.5)) if deep > 12 else 1
    per_band = -(-deep // bands)
    mapped = mapping or {}
    names = elements if elements is not None else sorted(set(mapped.values()), key=natural)
    used = set(mapped.values())
    colour = colours(names)

    def spot(task: str) -> tuple[float, float]:
        layer, place = at[task]
        return layer % per_band, (layer // per_band) * (tall + 0.8) + place

    wide, high = min(per_band, deep), bands * (tall + 0.8)
    if ax is None:
        inches = min(30.0, max(5.0, wide * 1.05))
        legend = 0.2 * -(-len(used) // _legend_columns(inches, names)) if mapped else 0.0
        size = (inches, min(30.0, max(2.4, high * 0.46 + 0.7 + legend)))
        _, ax = plt.subplots(figsize=size, layout="constrained")
    heaviest = max((b for _, _, b in edges), default=1)
    for source, target, n_bytes in edges:
        crosses = mapped.get(source) != mapped.get(target)
        (x0, y0), (x1, y1) = spot(source), spot(target)
        back = x1 <= x0
        ax.add_patch(
            FancyArrowPatch(
                (x0 + 0.36, y0),
                (x1 - 0.36, y1),
                arrowstyle="-|>",
                mutation_scale=6,
                linewidth=(0.5 + 1.8 * n_bytes / heaviest) if crosses else 0.5,
                color=INK if crosses and mapped else "#9A9A9A",
                alpha=0.35 if back else (0.8 if crosses else 0.6),
                linestyle=":" if back else "-",
                shrinkA=0,
                shrinkB=0,
                zorder=1,
            )
        )
    for task in tasks:
        x, y = spot(task)
        fill = colour.get(mapped.get(task, ""), "#E4E4E4")
        ax.add_patch(
            FancyBboxPatch(
                (x - 0.34, y - 0.3),
                0.68,
                0.6,
                boxstyle="round,pad=0.02,rounding_size=0.08",
                facecolor=fill,
                edgecolor=INK,
                linewidth=0.5,
                zorder=2,
            )
        )
        if len(tasks) <= _LABELLED_TASKS:
            ax.text(
                x,
                y,
                task,
                ha="center",
                va="center",
                fontsize=min(8.0, 62 / max(longest, 8)),
                color=ink_on(fill),
                zorder=3,
            )
    ax.set_xlim(-0.6, wide - 0.4)
    ax.set_ylim(high - tall / 2 + 0.1, -tall / 2 - 0.3)
    ax.set_axis_off()
    ax.set_title(f"{graph.get('name', '')}: {len(tasks)} tasks, {len(edges)} edges", fontsize=10, color=INK)
    if mapped:
        keys = [Patch(facecolor=colour[e], edgecolor=FAINT, label=e) for e in names if e in used]
        ax.legend(
            handles=keys,
            loc="upper center",
            bbox_to_anchor=(0.5, 0.0),
            ncols=min(_legend_columns(ax.figure.bbox.width / ax.figure.dpi, names), len(keys)),
            fontsize=8,
            frameon=False,
        )
    return ax


def _legend_columns(inches: float, names: list[str]) -> int:
    """How many names of elements, each with its colour, fit side by side."""
    longest = max((len(name) for name in names), default=1)
    return max(1, min(9, int(inches / (0.75 + 0.09 * longest))))
