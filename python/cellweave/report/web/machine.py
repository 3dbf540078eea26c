"""A machine as boxes in boxes, each element with its load; a heat map of what was measured between elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cellweave.report.boxes import Box, nested
from cellweave.report.colours import colours
from cellweave.report.places import Element, size_text
from cellweave.report.units import number, percent, rate_per_s, size_bytes
from cellweave.report.web.bars import Bar, bars
from cellweave.report.web.marks import figure, frame, mark, picture, tag, text
from cellweave.report.web.shades import ink_over, shade

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_LEAST, _MOST = 34.0, 130.0  # px that an element is wide
_WIDE = 1040.0  # px that a machine may take before its elements shrink
_LINKS_MOST = 12
_CELLS_MOST = 40  # of a row of a heat map
_SPAN = 0.6  # of the largest value is dark at the most, however near to it the smallest is
_NUMBERED_MOST = 16  # elements; a heat map of more has no figures in its cells


def element_colours(elements: Sequence[str]) -> dict[str, str]:
    """Element -> colour, as in every other picture of the machine."""
    return colours(elements)


def draw_loads(
    elements: Sequence[Mapping[str, Any]],
    predicted: Mapping[str, float],
    achieved: Mapping[str, float],
    tasks: Mapping[str, int],
) -> str:
    """Draw where the elements are, and how busy each is.

    Parameters
    ----------
    elements : sequence of mapping
        As :meth:`cellweave.Machine.to_dict` has them; of a machine that is not known, only names.
    predicted, achieved : mapping of str to float
        Element -> the part of the time that it computes, as planned and as it was.
    tasks : mapping of str to int
        Element -> how many tasks it has.
    """
    known = [Element.of(e) for e in elements]
    tree = nested(known)
    scale = max(_LEAST, min(_MOST, _WIDE / tree.wide))
    colour = element_colours([e.name for e in known])
    by_name = {e.name: e for e in known}
    drawn: list[str] = []
    for box, x, y in tree.placed(0.0, 0.0):
        if box.level == "machine":
            continue
        left, top = (x + 0.04) * scale, (y + 0.04) * scale
        wide, high = (box.wide - 0.08) * scale, (box.high - 0.08) * scale
        if box.children:
            drawn.append(tag("rect", x=left, y=top, width=wide, height=high, rx=5, class_="group"))
            if box.label:
                drawn.append(tag("text", text(box.label), x=left + 8, y=top + 18, class_="label"))
        else:
            loads = predicted.get(box.label), achieved.get(box.label)
            drawn.append(_element(box, by_name[box.label], (left, top, wide, high), colour, loads, tasks))
    says = f"{len(known)} elements" + (" with their loads" if predicted or achieved else "")
    shown = frame(says, picture(says, drawn, tree.wide * scale, tree.high * scale, class_="machine"))
    caption = "The bar in each element is the part of the time that it computes"
    caption += ": outlined as planned, filled as it was." if predicted and achieved else "."
    return figure(shown, caption if predicted or achieved else "")


def _element(
    box: Box,
    element: Element,
    place: tuple[float, float, float, float],
    colour: Mapping[str, str],
    loads: tuple[float | None, float | None],
    tasks: Mapping[str, int],
) -> str:
    x, y, wide, high = place
    planned, was = loads
    words = [element.name]
    if element.name in tasks:
        words.append("1 task" if tasks[element.name] == 1 else f"{tasks[element.name]} tasks")
    if planned is not None:
        words.append(f"busy {percent(planned)} as planned")
    if was is not None:
        words.append(f"busy {percent(was)} as it was")
    if element.bytes:
        words.append(f"{size_text(element.bytes)} for buffers")
    shapes = [tag("rect", x=x, y=y, width=wide, height=high, rx=5, class_="element")]
    shapes.append(tag("rect", x=x, y=y, width=5.0, height=high, rx=2, fill=colour[element.name]))
    room = wide - 20
    if wide >= 60:
        shapes.append(tag("text", text(element.name), x=x + 13, y=y + 0.36 * high, class_="label"))
        load = was if was is not None else planned
        if load is not None:
            shapes.append(
                tag("text", text(f"{100 * load:.0f} %"), x=x + wide - 8, y=y + 0.36 * high, class_="label end")
            )
    top, thick = y + 0.52 * high, max(4.0, 0.26 * high)
    if was is not None or planned is not None:
        shapes.append(tag("rect", x=x + 12, y=top, width=room, height=thick, class_="track"))
    if was is not None:
        shapes.append(tag("rect", x=x + 12, y=top, width=room * min(1.0, was), height=thick, fill=colour[element.name]))
    if planned is not None:
        shapes.append(tag("rect", x=x + 12, y=top, width=room * min(1.0, planned), height=thick, class_="planned"))
    return mark(", ".join(words), *shapes)


def draw_links(moved: Mapping[tuple[str, str], float], rate: float | None) -> str:
    """Bars of the bytes that go from element to element per instance; `rate` is in instances/s."""
    ordered = sorted(moved.items(), key=lambda item: -item[1])
    rows = []
    for (source, target), n_bytes in ordered[:_LINKS_MOST]:
        figures = size_bytes(n_bytes)
        says = f"{source} to {target}: {figures} per instance"
        if rate:
            figures += f", {size_bytes(n_bytes * rate)}/s"
            says += f", {size_bytes(n_bytes * rate)}/s at {rate_per_s(rate)}"
        rows.append(Bar(f"{source} \u2192 {target}", figures, n_bytes, says))
    more = len(ordered) - len(rows)
    note = tag("p", text(f"and {more} more pairs of elements"), class_="note") if more > 0 else ""
    return bars("bytes that move between elements per instance", rows) + note


def draw_heat(title: str, values: Sequence[Sequence[float | None]], names: Sequence[str], unit: str) -> str:
    """Draw a matrix ``[reader][source]``; bright is much. Cells say their figures; of a large matrix they are means."""
    each = -(-len(names) // _CELLS_MOST)
    if each > 1:
        values, names = _coarse(values, each), _joined(names, each)
    known = [v for row in values for v in row if v is not None and v == v]
    if not known:
        return ""
    # Values that hardly differ get colours that hardly differ.
    high = max(known)
    low = min(min(known), _SPAN * high)
    cell = 64.0 if len(names) <= 8 else (46.0 if len(names) <= _NUMBERED_MOST else max(9.0, 620.0 / len(names)))
    left = 12 + 7.2 * max(map(len, names))
    top = 20.0
    drawn = []
    step = 1 if cell >= 30 else -(-len(names) // 16)
    for i, name in enumerate(names):
        if i % step == 0:
            middle = {"x": left + (i + 0.5) * cell, "y": top - 8}
            drawn.append(tag("text", text(name), **middle, class_="label middle"))
            drawn.append(tag("text", text(name), x=left - 6, y=top + (i + 0.5) * cell + 4, class_="label end"))
    for i, row in enumerate(values):
        for j, value in enumerate(row):
            if value is None or value != value:
                continue
            fill = shade((value - low) / (high - low) if high > low else 0.5)
            x, y = left + j * cell, top + i * cell
            shapes = [tag("rect", x=x, y=y, width=cell - 1, height=cell - 1, fill=fill)]
            if cell >= 30:
                at = {"x": x + cell / 2, "y": y + cell / 2}
                shapes.append(tag("text", text(f"{value:.3g}"), **at, fill=ink_over(fill), class_="middle"))
            drawn.append(mark(f"{names[i]} reads from {names[j]}: {number(value)} {unit}", *shapes))
    size = left + len(names) * cell + 8, top + len(names) * cell + 4
    shown = frame(title, picture(title, drawn, *size, class_="heat"))
    means = f" A cell is the mean of {each} x {each} elements." if each > 1 else ""
    return figure(shown, f"{title}, in {unit}. Row: who reads; column: from whom.{means}")


def _coarse(values: Sequence[Sequence[float | None]], each: int) -> list[list[float | None]]:
    """Means of blocks; nothing where a block has no value."""

    def mean(top: int, left: int) -> float | None:
        cells = (v for row in values[top : top + each] for v in row[left : left + each])
        known = [v for v in cells if v is not None and v == v]
        return sum(known) / len(known) if known else None

    starts = range(0, len(values), each)
    return [[mean(top, left) for left in starts] for top in starts]


def _joined(names: Sequence[str], each: int) -> list[str]:
    """``CPU0 to CPU3``, of so many neighbours each."""
    runs = (names[i : i + each] for i in range(0, len(names), each))
    return [run[0] if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs]


def draw_distances(distances: Mapping[str, Any] | None, names: Sequence[str]) -> str:
    """Latency and bandwidth of a measured machine as heat maps, side by side where there is room."""
    if not distances:
        return ""
    parts = []
    for key, scale, title, unit in (
        ("latency_ns", 1.0, "Latency", "ns"),
        ("bandwidth_bytes_per_s", 1e9, "Bandwidth", "GB/s"),
    ):
        matrix = [
            [None if i == j or value is None else float(value) / scale for j, value in enumerate(row)]
            for i, row in enumerate(distances[key])
        ]
        parts.append(draw_heat(title, matrix, names, unit))
    return tag("div", *parts, class_="pair")


def loads_of(plan: Mapping[str, Any] | None) -> dict[str, float]:
    """Element -> the part of the period that it computes, as planned."""
    if not plan or not plan["period_ns"]:
        return {}
    parts = {c["subject"]: c["ns"] / plan["period_ns"] for c in plan["contributions"] if c["kind"] == "compute"}
    return {element: parts.get(element, 0.0) for element, tasks in plan["order"].items() if tasks}


def busy_of(result: Mapping[str, Any] | None) -> dict[str, float]:
    """Element -> the part of the run that it was busy."""
    busy = {}
    for e in (result or {}).get("elements", []):
        total = e["busy_ns"] + e["idle_ns"]
        busy[str(e["name"])] = e["busy_ns"] / total if total else 0.0
    return busy
