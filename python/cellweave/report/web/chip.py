"""The chips of a simulated Cell, with what each segment of the rings, each ramp and memory carried."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cellweave.report.chip import loads, ramp_gbs, ramp_names, segment_gbs
from cellweave.report.units import number, percent
from cellweave.report.web.bars import Bar, bars
from cellweave.report.web.marks import figure, frame, mark, picture, tag, text

if TYPE_CHECKING:
    from collections.abc import Mapping

_COLUMNS = 6  # ramps along each side of the ring
_PITCH, _WIDE, _HIGH = 132.0, 116.0, 66.0  # px: from unit to unit; a unit
_LEFT = 46.0
_TOP, _BOTTOM = 8.0, 254.0  # of the units
_TRACKS = (106.0, 132.0)  # clockwise outside, counter-clockwise inside; mirrored at the other side of the ring
_SIZE = (2 * _LEFT + _COLUMNS * _PITCH, _BOTTOM + _HIGH + 8)
_HOT = ((0xF6, 0xC6, 0x5B), (0xE0, 0x7A, 0x1F), (0xA3, 0x13, 0x3A))
_SHOWN = 0.005  # GB/s; less has no figure
_BUSIEST = 5


def draw_floorplan(outcome: Mapping[str, Any]) -> str:
    """Draw every chip, one below the other, and the busiest of all parts before them.

    Parameters
    ----------
    outcome : mapping
        :meth:`cellweave.sim.Outcome.to_dict`.
    """
    rows = []
    for load in loads(outcome)[:_BUSIEST]:
        figures = f"{number(load.gbs)} of {number(load.most_gbs)} GB/s"
        rows.append(Bar(load.name, figures, load.share, f"{load.name}: {figures}, {percent(load.share)}"))
    parts = [bars("the busiest parts", rows, line=1.0)]
    for chip in range(len(outcome["counters"]["chips"])):
        says = f"chip {chip} with its loads"
        parts.append(figure(frame(says, picture(says, _chip(outcome, chip), *_SIZE, class_="machine"))))
    parts.append(
        tag(
            "p",
            text(
                "GB/s, on average over the run. The outer track is the two rings that go clockwise, the inner one the "
                "two that go the other way; both carry 51.2 GB/s on a segment. A ramp sends, and takes, 25.6 GB/s: the "
                "bar in a unit is the larger of both."
            ),
            class_="note",
        )
    )
    return "".join(parts)


def _chip(outcome: Mapping[str, Any], chip: int) -> list[str]:
    machine, ns = outcome["machine"], outcome["elapsed_ns"]
    seen, names = outcome["counters"]["chips"][chip], ramp_names(machine, chip)
    drawn = []
    for way in (0, 1):
        for segment in range(len(names)):
            ends = names[segment], names[(segment + 1) % len(names)]
            gbs, most = segment_gbs(seen, way, segment, ns)
            drawn.append(_segment(segment, way, gbs, most, ends if way == 0 else ends[::-1]))
    for ramp, name in enumerate(names):
        drawn.append(_unit(ramp, name, *ramp_gbs(seen, ramp, ns)))
    middle = {"x": _SIZE[0] / 2, "y": (_TOP + _BOTTOM + _HIGH) / 2, "class_": "label middle"}
    drawn.append(tag("text", text(f"chip {chip}: {sum(seen['ring_packets'])} packets of 128 bytes"), **middle))
    return drawn


def _x(ramp: int) -> float:
    """The middle of a ramp's unit."""
    column = ramp if ramp < _COLUMNS else 2 * _COLUMNS - 1 - ramp
    return _LEFT + (column + 0.5) * _PITCH


def _y(ramp: int, way: int) -> float:
    """Where a ramp meets a track."""
    inset = _TRACKS[way]
    return inset if ramp < _COLUMNS else _TOP + _BOTTOM + _HIGH - inset


def _segment(segment: int, way: int, gbs: float, most: float, ends: tuple[str, str]) -> str:
    a, b = segment, (segment + 1) % (2 * _COLUMNS)
    points = [(_x(a), _y(a, way)), (_x(b), _y(b, way))]
    label = {"x": (points[0][0] + points[1][0]) / 2, "class_": "label middle"}
    # Above the outer track and below the inner one; turned round on the other side of the ring.
    label["y"] = points[0][1] + (11.0 if (way == 1) == (a < _COLUMNS) else -11.0)
    if segment % _COLUMNS == _COLUMNS - 1:  # round the end of the ring
        side = 1.0 if segment < _COLUMNS else -1.0
        out = points[0][0] + side * ((48.0, 22.0)[way])
        points[1:1] = [(out, points[0][1]), (out, points[1][1])]
        beside = side if way == 0 else -side
        label = {"x": out + 6.0 * beside, "y": (points[1][1] + points[2][1]) / 2 + 4.0}
        label["class_"] = "label" if beside > 0 else "label end"
    share = min(1.0, gbs / most)
    path = "M" + " L".join(f"{x:.0f} {y:.0f}" for x, y in points)
    shapes = [tag("path", d=path, fill="none", stroke=_heat(share), stroke_width=2.5 + 9.0 * share)]
    if gbs >= _SHOWN:
        shapes.append(tag("text", text(number(gbs)), **label))
    return mark(f"{ends[0]} to {ends[1]}: {number(gbs)} GB/s, {percent(share)} of {number(most)}", *shapes)


def _unit(ramp: int, name: str, into: float, out: float, most: float) -> str:
    x, y = _x(ramp) - _WIDE / 2, _TOP if ramp < _COLUMNS else _BOTTOM
    words = ("written", "read") if name == "memory" else ("in", "out")
    share = min(1.0, max(into, out) / most)
    foot = y + _HIGH if ramp < _COLUMNS else y
    shapes = [tag("line", x1=_x(ramp), x2=_x(ramp), y1=foot, y2=_y(ramp, 1), stroke="var(--edge)")]
    shapes.append(tag("rect", x=x, y=y, width=_WIDE, height=_HIGH, rx=5, class_="element"))
    if name == "hidden":
        return mark("an SPE that programs cannot use", *shapes, _line(name, x, y, 0))
    lines = [name, f"{words[0]} {number(into)}", f"{words[1]} {number(out)}"]
    shapes += [_line(words, x, y, i) for i, words in enumerate(lines)]
    shapes.append(tag("rect", x=x + 8, y=y + _HIGH - 10, width=_WIDE - 16, height=6.0, class_="track"))
    if share > 0:
        shapes.append(tag("rect", x=x + 8, y=y + _HIGH - 10, width=(_WIDE - 16) * share, height=6.0, fill=_heat(share)))
    return mark(f"{name}: {lines[1]}, {lines[2]} GB/s of {number(most)}", *shapes)


def _line(words: str, x: float, y: float, line: int) -> str:
    return tag("text", text(words), x=x + 8, y=y + 17 + 16 * line, class_="label")


def _heat(share: float) -> str:
    """The colour of a load: that of an empty track, then from yellow to dark red."""
    if share < 0.001:
        return "var(--faint)"
    place = share * (len(_HOT) - 1)
    first = min(int(place), len(_HOT) - 2)
    mixed = (round(a + (b - a) * (place - first)) for a, b in zip(_HOT[first], _HOT[first + 1], strict=True))
    return "#" + "".join(f"{value:02x}" for value in mixed)
