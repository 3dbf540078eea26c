"""A Cell as its floorplan: the units of each chip around the element interconnect bus."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

from cellweave.report.colours import FAINT, INK, PAPER, colours, ink_on
from cellweave.report.places import Element, size_text
from cellweave.report.units import bandwidth

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from matplotlib.axes import Axes

Unit = tuple[str, int]
"""A unit of a chip: its kind, and its number among the chip's units of this kind."""

# Around the ring (affinity-model, section 2): one side of the chip from left to right, then the other.
_TOP: list[Unit] = [("ppe", 0), ("spe", 1), ("spe", 3), ("spe", 5), ("spe", 7), ("IOIF", 1)]
_BOTTOM: list[Unit] = [("MIC", 0), ("spe", 0), ("spe", 2), ("spe", 4), ("spe", 6), ("IOIF", 0)]
_MOST = {"ppe": 1, "spe": 8}  # units of a chip that can be elements
_CHIPS = 2
_RINGS = 4  # two each way
WIDE = {1: 6.25, 2: 14.6}


def units(elements: list[Element]) -> dict[tuple[int, Unit], Element]:
    """The element at each unit of each chip: elements of one kind take the chip's units of that kind in order."""
    found: dict[tuple[int, Unit], Element] = {}
    taken: Counter[tuple[int, str]] = Counter()
    for e in elements:
        found[e.chip, (e.kind, taken[e.chip, e.kind])] = e
        taken[e.chip, e.kind] += 1
    return found


def is_cell(elements: list[Element]) -> bool:
    """Whether all of them are units of one Cell or of a blade with two."""
    return bool(elements) and all(
        chip < _CHIPS and number < _MOST.get(kind, 0) for chip, (kind, number) in units(elements)
    )


def draw_cell(ax: Axes, machine: Mapping[str, Any], elements: list[Element]) -> None:
    """Draw every chip with its units, and what the limits allow."""
    chips = 1 + max(e.chip for e in elements)
    for chip in range(chips):
        _draw_chip(ax, chip, elements, _limit_over(machine, elements, partial(_touches, chip)))
    if chips == _CHIPS:
        crossing = [
            _limit_over(machine, elements, lambda source, reader: source != reader),
            _limit_over(machine, elements, lambda source, reader: (source, reader) == (1, 0)),
            _limit_over(machine, elements, lambda source, reader: (source, reader) == (0, 1)),
        ]
        ax.annotate(
            "",
            (_left(1, 5) - 0.04, 3.1),
            (_left(0, 5) + 1.04, 3.1),
            arrowprops={"arrowstyle": "<->", "color": INK, "lw": 2.0},
        )
        ax.text(
            WIDE[2] / 2,
            2.95,
            "\n".join(f"{name}:\n{rate}" for name, rate in filter(None, crossing)),
            ha="center",
            va="top",
            fontsize=7.5,
            color=INK,
        )
    ax.set_xlim(-0.3, WIDE[chips] + 0.3)
    ax.set_ylim(-0.35, 4.25)


def _touches(chip: int, source: int, reader: int) -> bool:
    return chip in (source, reader)


def _limit_over(
    machine: Mapping[str, Any], elements: list[Element], counts: Callable[[int, int], bool]
) -> tuple[str, str] | None:
    """Name and capacity of the smallest limit over exactly the pairs whose chips, source's and reader's, `counts`."""
    wanted = {(a.name, b.name) for a in elements for b in elements if a is not b and counts(a.chip, b.chip)}
    if not wanted:
        return None
    exact = []
    for limit in machine["limits"]:
        blocks = ((a, b) for block in limit["pairs"] for a in block["from"] for b in block["to"])
        if {pair for pair in blocks if pair[0] != pair[1]} == wanted:
            exact.append(limit)
    if not exact:
        return None
    least = min(exact, key=lambda limit: float(limit["capacity_bytes_per_s"]))
    return str(least["name"]), bandwidth(float(least["capacity_bytes_per_s"]))


def _left(chip: int, column: int) -> float:
    """Where a unit starts; the second chip is mirrored, so that the interfaces of both face each other."""
    return 0.05 + column * 1.03 if chip == 0 else WIDE[2] - 0.05 - 1.0 - column * 1.03


def _draw_chip(ax: Axes, chip: int, elements: list[Element], bus: tuple[str, str] | None) -> None:
    from matplotlib.patches import FancyBboxPatch, Rectangle

    here = units(elements)
    colour = {"ppe": colours(["ppe", "spe"])["spe"], "spe": colours(["ppe", "spe"])["ppe"]}
    edge = min(_left(chip, 0), _left(chip, 5))
    ax.add_patch(
        FancyBboxPatch(
            (edge - 0.15, -0.15),
            6.45,
            4.0,
            boxstyle="round,pad=0.02,rounding_size=0.1",
            facecolor="#F4F1EA",
            edgecolor=FAINT,
        )
    )
    for row, (side, y) in enumerate(((_TOP, 2.6), (_BOTTOM, 0.1))):
        for column, (kind, number) in enumerate(side):
            x, element = _left(chip, column), here.get((chip, (kind, number)))
            is_port = kind not in _MOST
            fill = colour[kind] if element else ("#DCDCDC" if is_port else PAPER)
            hatch = None if element or is_port else "////"
            ax.add_patch(
                Rectangle(
                    (x, y),
                    1.0,
                    1.0,
                    facecolor=fill,
                    edgecolor=INK if element else "#8A8A8A",
                    linewidth=0.8,
                    hatch=hatch,
                )
            )
            text = element.name if element else _name(kind, number, chip)
            about = (
                f"\n{size_text(element.bytes)}"
                if element and element.bytes
                else ("" if element or is_port else "\nnot used")
            )
            if kind == "MIC":
                about = "\nmemory"
            ink = ink_on(fill) if element else "#555555"
            box = {"facecolor": PAPER, "edgecolor": "none", "pad": 1.0} if hatch else None
            ax.text(x + 0.5, y + 0.5, text + about, ha="center", va="center", fontsize=9, color=ink, bbox=box)
            foot, ring = (y, 2.42) if row == 0 else (y + 1.0, 1.28)
            ax.plot([x + 0.5, x + 0.5], [foot, ring], color="#8A8A8A", linewidth=1.2)
    for ring in range(_RINGS):
        inset = 0.09 * ring
        low, wide, high = edge + 0.35 + inset, 5.45 - 2 * inset, 1.14 - 2 * inset
        way = "#0072B2" if ring % 2 == 0 else "#D55E00"
        ax.add_patch(
            FancyBboxPatch(
                (low, 1.28 + inset),
                wide,
                high,
                boxstyle="round,pad=0,rounding_size=0.2",
                facecolor="none",
                edgecolor=way,
                linewidth=1.3,
            )
        )
        y, ahead = (2.42 - inset, 0.01) if ring % 2 == 0 else (2.42 - inset, -0.01)
        ax.annotate(
            "",
            (low + wide / 2 + 3 * ahead, y),
            (low + wide / 2 - 3 * ahead, y),
            arrowprops={"arrowstyle": "-|>", "color": way, "lw": 1.3, "mutation_scale": 9},
        )
    says = f"chip {chip}: element interconnect bus" + ("\n{}: {}".format(*bus) if bus else "")
    ax.text(edge + 3.07, 1.85, says, ha="center", va="center", fontsize=8.5, color=INK)


def _name(kind: str, number: int, chip: int) -> str:
    """What a unit would be called if the machine had it as an element; the chip's own name of a port."""
    if kind in _MOST:
        return f"{kind.upper()}{number + chip * _MOST[kind]}"
    return kind if kind == "MIC" else f"{kind}{number}"
