"""A Cell as its floorplan: the units of each chip around the element interconnect bus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cellweave.report.colours import FAINT, INK, PAPER, colours, ink_on
from cellweave.report.places import Element, size_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes

# Around the ring (affinity-model, section 2): one side of the chip from left to right, then the other.
_TOP = ["PPE", "SPE1", "SPE3", "SPE5", "SPE7", "IOIF1"]
_BOTTOM = ["MIC", "SPE0", "SPE2", "SPE4", "SPE6", "IOIF0"]
_SPES_PER_CHIP = 8
_RINGS = 4  # two each way
WIDE = {1: 6.25, 2: 14.6}


def unit(element: Element) -> str | None:
    """Which of its chip's units an element is (``SPE3`` for SPE11); none where it is not one of a Cell."""
    number = element.name[3:]
    if element.chip > 1 or not number.isdecimal() or element.name[:3].lower() != element.kind:
        return None
    if element.kind == "ppe":
        return "PPE" if int(number) == element.chip else None
    at = int(number) - element.chip * _SPES_PER_CHIP
    return f"SPE{at}" if element.kind == "spe" and 0 <= at < _SPES_PER_CHIP else None


def is_cell(elements: list[Element]) -> bool:
    """Whether all of them are units of one Cell or of a blade with two."""
    return bool(elements) and all(unit(e) for e in elements)


def draw_cell(ax: Axes, machine: Mapping[str, Any], elements: list[Element]) -> None:
    """Draw every chip with its units, and what the limits allow."""
    chips = 1 + max(e.chip for e in elements)
    limits = {
        str(lim["name"]): float(lim["capacity_bytes_per_s"])
        for lim in machine.get("limits") or machine.get("limit") or []
    }
    for chip in range(chips):
        _draw_chip(ax, chip, [e for e in elements if e.chip == chip], limits)
    between = limits.get("between the chips (9)")
    if chips == 2 and between:
        one = [
            (f"0 reads 1: {_rate(limits['chip 0 reads chip 1 (7)'])} (7)"),
            (f"1 reads 0: {_rate(limits['chip 1 reads chip 0 (8)'])} (8)"),
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
            "\n".join([f"{_rate(between)} (9)", *one]),
            ha="center",
            va="top",
            fontsize=7.5,
            color=INK,
        )
    ax.set_xlim(-0.3, WIDE[chips] + 0.3)
    ax.set_ylim(-0.35, 4.25)


def _left(chip: int, column: int) -> float:
    """Where a unit starts; the second chip is mirrored, so that the interfaces of both face each other."""
    return 0.05 + column * 1.03 if chip == 0 else WIDE[2] - 0.05 - 1.0 - column * 1.03


def _draw_chip(ax: Axes, chip: int, elements: list[Element], limits: Mapping[str, float]) -> None:
    from matplotlib.patches import FancyBboxPatch, Rectangle

    here = {unit(e): e for e in elements}
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
    for row, (units, y) in enumerate(((_TOP, 2.6), (_BOTTOM, 0.1))):
        for column, name in enumerate(units):
            x, element = _left(chip, column), here.get(name)
            is_port = not name.startswith(("PPE", "SPE"))
            fill = colour[element.kind] if element else ("#DCDCDC" if is_port else PAPER)
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
            text = element.name if element else _name(name, chip)
            about = (
                f"\n{size_text(element.bytes)}"
                if element and element.bytes
                else ("" if element or is_port else "\nnot used")
            )
            if name == "MIC":
                about = "\nmemory"
            ink = ink_on(fill) if element else "#555555"
            box = {"facecolor": PAPER, "edgecolor": "none", "pad": 1.0} if hatch else None
            ax.text(x + 0.5, y + 0.5, text + about, ha="center", va="center", fontsize=9, color=ink, bbox=box)
            foot, ring = (y, 2.42) if row == 0 else (y + 1.0, 1.28)
            ax.plot([x + 0.5, x + 0.5], [foot, ring], color="#8A8A8A", linewidth=1.2)
    bus = limits.get(f"bus of chip {chip} (4)")
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
    says = f"element interconnect bus: {_rate(bus)} (4)" if bus else "element interconnect bus"
    ax.text(edge + 3.07, 1.85, f"chip {chip}, {says}", ha="center", va="center", fontsize=8.5, color=INK)


def _name(of: str, chip: int) -> str:
    """What a unit of the second chip would be called if the machine had it as an element."""
    if of == "PPE":
        return f"PPE{chip}"
    return f"SPE{int(of[3:]) + chip * _SPES_PER_CHIP}" if of.startswith("SPE") else of


def _rate(bytes_per_s: float) -> str:
    return f"{bytes_per_s / 1e9:.4g} GB/s"
