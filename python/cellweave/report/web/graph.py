"""A graph with its mapping: a box per task in the colour of its element, a line per edge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cellweave.report.colours import colours
from cellweave.report.layers import layers
from cellweave.report.tables import natural
from cellweave.report.units import number, size_bytes, time_ns
from cellweave.report.web.kernels import kernel_name
from cellweave.report.web.marks import figure, frame, key, mark, picture, tag, text
from cellweave.report.web.shades import UNMAPPED, ink_over

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_LETTER = 6.3  # px that a letter of a task's name takes
_HIGH, _ROW = 24.0, 34.0  # px of a box, and from one to the next
_GAP = 34.0  # px between two layers
_NAMED_MOST = 400  # tasks; more names make the page large, and boxes say their names when pointed at
_DRAWN_MOST = 2500  # tasks and edges: some 300 bytes each
_FOLDED_FROM = 14  # layers from which on a thin graph is folded into bands, like text into lines


@dataclass
class _Laid:
    """Where each task's box starts, how wide it is, and how large the picture is."""

    at: dict[str, tuple[float, float]]
    wide_of: dict[str, float]
    wide: float
    high: float


def draw_graph(
    graph: Mapping[str, Any],
    mapping: Mapping[str, str] | None = None,
    elements: Sequence[str] = (),
    figures: Mapping[str, str] | None = None,
) -> str:
    """Draw a task graph from left to right.

    Parameters
    ----------
    graph : mapping
        As an application's JSON holds it.
    mapping : mapping of str to str, optional
        Task -> element; without it all boxes are grey.
    elements : sequence of str
        The machine's elements in order, so that colours agree between pictures.
    figures : mapping of str to str, optional
        Task -> what its box says besides its name and element.
    """
    tasks = [str(t["name"]) for t in graph["task"]]
    edges = [_ends(e) for e in graph.get("edge", [])]
    if len(tasks) + len(edges) > _DRAWN_MOST:
        said = f"{len(tasks)} tasks and {len(edges)} edges are too many to draw here; "
        return tag("p", text(f"{said}--pictures FOLDER draws them as a file."), class_="note")
    mapped = mapping or {}
    used = set(mapped.values())
    names = [e for e in elements if e in used] or sorted(used, key=natural)
    colour = colours(list(elements) or names)
    laid = _lay_out(tasks, [(a, b) for a, b, _ in edges])
    heaviest = max((n for _, _, n in edges), default=1)
    lines = [_line(edge, laid, mapped, heaviest) for edge in edges]
    # Lines that cross from one element to another are above the others.
    drawn = [line for crosses in (False, True) for line, does in lines if does == crosses]
    kernels = {str(t["name"]): kernel_name(t) for t in graph["task"]}
    drawn += [_box(t, kernels[t], laid, mapped.get(t), colour, (figures or {}).get(t, ""), len(tasks)) for t in tasks]
    says = f"{graph.get('name', 'the graph')}: {len(tasks)} tasks and {len(edges)} edges from left to right"
    crossing = sum(does for _, does in lines)
    caption = f"{len(tasks)} tasks, {len(edges)} edges."
    if mapped:
        caption = (
            f"{caption[:-1]}, {crossing} of them from one element to another (drawn strongly, as wide as their bytes)."
        )
    shown = frame(says, picture(says, drawn, laid.wide, laid.high, class_="graph"))
    return figure((key((colour[e], e) for e in names) if mapped else "") + shown, caption)


def _ends(edge: Mapping[str, Any]) -> tuple[str, str, float]:
    return str(edge["from"]).partition(".")[0], str(edge["to"]).partition(".")[0], float(edge["bytes"])


def _lay_out(tasks: Sequence[str], edges: Sequence[tuple[str, str]]) -> _Laid:
    at = layers(tasks, edges)
    deep = max((layer for layer, _ in at.values()), default=0) + 1
    tall = max((abs(place) for _, place in at.values()), default=0.0) * 2 + 1
    bands = max(1, round((deep * 2.2 / (tall + 1) / 2.2) ** 0.5)) if deep > _FOLDED_FROM else 1
    per_band = -(-deep // bands)
    named = len(tasks) <= _NAMED_MOST
    widths = [0.0] * per_band
    for task, (layer, _) in at.items():
        own = _LETTER * len(task) + 14 if named else 18.0
        widths[layer % per_band] = max(widths[layer % per_band], own)
    lefts = [8.0]
    for wide in widths:
        lefts.append(lefts[-1] + wide + _GAP)
    row = _ROW if named else 20.0
    spots = {
        task: (lefts[layer % per_band], 8 + ((layer // per_band) * (tall + 0.6) + place + (tall - 1) / 2) * row)
        for task, (layer, place) in at.items()
    }
    # An edge that goes back dips below the last row.
    back = any(spots[b][0] <= spots[a][0] for a, b in edges)
    high = (16 + _ROW if back else 16) + (bands * (tall + 0.6) - 1.6) * row + _HIGH
    return _Laid(spots, {t: widths[at[t][0] % per_band] for t in tasks}, lefts[-1] - _GAP + 8, max(high, 40.0))


def _line(edge: tuple[str, str, float], laid: _Laid, mapped: Mapping[str, str], heaviest: float) -> tuple[str, bool]:
    """The line of an edge, and whether it crosses from one element to another."""
    source, target, n_bytes = edge
    (x0, y0), (x1, y1) = laid.at[source], laid.at[target]
    x0, y0, y1 = x0 + laid.wide_of[source], y0 + _HIGH / 2, y1 + _HIGH / 2
    bend, dip = (max(14.0, (x1 - x0) / 2), 0.0) if x1 > x0 else (_GAP, 1.6 * _ROW)
    path = f"M{x0:.0f},{y0:.0f}C{x0 + bend:.0f},{y0 + dip:.0f},{x1 - bend:.0f},{y1 + dip:.0f},{x1:.0f},{y1:.0f}"
    crosses = mapped.get(source) != mapped.get(target)
    ends = f", {mapped[source]} to {mapped[target]}" if crosses and source in mapped and target in mapped else ""
    says = f"{source} to {target}: {size_bytes(n_bytes)} per instance{ends}"
    width = 0.8 + 2.2 * n_bytes / heaviest if crosses else 1.0
    class_ = "edge far" if crosses else "edge"
    shapes = [tag("path", d=path, class_="hit"), tag("path", d=path, style=f"stroke-width:{number(width)}")]
    return mark(says, *shapes, class_=f"mark {class_}"), crosses


def _box(
    task: str, kernel: str, laid: _Laid, element: str | None, colour: Mapping[str, str], more: str, n_tasks: int
) -> str:
    (x, y), wide = laid.at[task], laid.wide_of[task]
    fill = colour[element] if element else UNMAPPED
    name = f"{task} ({kernel})" if kernel and kernel != task else task
    says = ". ".join(filter(None, [f"{name} on {element}" if element else name, more]))
    shapes = [tag("rect", x=x, y=y, width=wide, height=_HIGH, rx=4, fill=fill, class_="box")]
    if n_tasks <= _NAMED_MOST:
        place = {"x": x + wide / 2, "y": y + _HIGH / 2}
        shapes.append(tag("text", text(task), **place, fill=ink_over(fill), class_="middle"))
    return mark(says, *shapes)


def task_figures(
    graph: Mapping[str, Any], costs: Mapping[str, float], sampled: Mapping[str, Mapping[str, float]]
) -> dict[str, str]:
    """Task -> its cost, and what a firing took in the run."""
    said = {}
    for task in graph["task"]:
        name = str(task["name"])
        words = [f"costs {time_ns(costs[name])} per firing"] if name in costs else []
        if name in sampled:
            mean = float(sampled[name]["mean_ns"])
            ratio = f", {number(mean / costs[name])} times that" if costs.get(name) else ""
            words.append(f"took {time_ns(mean)}{ratio}")
        said[name] = "; ".join(words)
    return said
