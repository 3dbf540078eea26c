"""A machine: a Cell's floorplan with its ring, a host's boxes in boxes, heat maps of measured distances."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, log, sqrt
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, cast

from cellweave.report.colours import FAINT, INK, PAPER, colours, ink_on

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Around the ring (affinity-model, section 2): one side of the chip from left to right, then the other.
_TOP = ["PPE", "SPE1", "SPE3", "SPE5", "SPE7", "IOIF1"]
_BOTTOM = ["MIC", "SPE0", "SPE2", "SPE4", "SPE6", "IOIF0"]
_SPES_PER_CHIP = 8
_RINGS = 4  # two each way
_CELL_WIDE = {1: 6.25, 2: 14.6}
_LABELLED = 40  # a heat map with more elements than this names only some
_WIDEST_INCHES = 18.0
_HIGHEST_INCHES = 14.0


def draw_machine(machine: Mapping[str, Any], path: str | os.PathLike[str] | None = None) -> Figure:
    """Draw what sits where.

    Parameters
    ----------
    machine : mapping
        As :meth:`cellweave.Machine.to_dict` gives it, or a machine file read as TOML.
    path : path, optional
        Where to save the picture as well; the ending says how (png, svg, pdf).

    Returns
    -------
    matplotlib.figure.Figure
        A Cell: each chip's units around the element interconnect bus, in the order of its rings, and the
        capacity of the limits. Anything else: packages, NUMA nodes, L3 and L2 groups and cores as boxes in
        boxes. Below it latency and bandwidth as heat maps (row: who reads), where they were measured.
    """
    import matplotlib.pyplot as plt

    elements = [_Element.of(e) for e in machine.get("elements") or machine.get("element") or []]
    draw: Callable[[Axes, Mapping[str, Any], list[_Element]], None]
    is_cell = bool(elements) and {e.kind for e in elements} <= {"ppe", "spe"}
    distances = machine.get("distances")
    if is_cell:
        chips = 1 + max(e.chip for e in elements)
        size, draw = (_CELL_WIDE[chips] + 0.8, 5.3), _draw_cell
    else:
        tree = _nested(elements)
        scale = min(1.0, (_WIDEST_INCHES - 0.4) / tree.wide, (_HIGHEST_INCHES - 1.0) / tree.high)
        keys = len({e.kind for e in elements})
        size = (max(4.5, tree.wide * scale + 0.4), tree.high * scale + 1.1 + 0.2 * keys)
        draw = _boxes_drawer(tree, scale, columns=max(1, int(size[0] / 3.8)))
    if distances:
        maps = max(3.8, min(7.0, 1.6 + 0.3 * len(elements)))
        size = (max(size[0], 2 * maps + 0.6), size[1])
        figure = plt.figure(figsize=(size[0], size[1] + maps), layout="constrained")
        above, below = cast("Any", figure.subfigures(2, 1, height_ratios=[size[1], maps]))
        ax = above.subplots()
        _draw_distances(below.subplots(1, 2), distances, [e.name for e in elements])
    else:
        figure, ax = plt.subplots(figsize=size, layout="constrained")
        above = None
    ax.set_axis_off()
    ax.set_aspect("equal")
    draw(ax, machine, elements)
    says = "" if machine.get("measured") or is_cell else "; limits not measured"
    lines = [f"{machine.get('name', '')}: {len(elements)} elements{says}"]
    lines += wrap(str(machine.get("description") or ""), int(size[0] * 13))[:3]
    (above or figure).suptitle("\n".join(lines), fontsize=10, color=INK)
    if path is not None:
        figure.savefig(Path(path), dpi=144)
    return figure


@dataclass
class _Element:
    name: str
    kind: str
    chip: int
    numa: int | None
    l3: int | None
    l2: int | None
    core: int | None
    bytes: int | None
    l1_bytes: int | None

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> _Element:
        place = data.get("place") or data
        memory = data.get("memory") or {}
        return cls(
            name=str(data["name"]),
            kind=str(data.get("kind", "core")),
            chip=int(place.get("chip") or 0),
            numa=place.get("numa"),
            l3=place.get("l3"),
            l2=place.get("l2"),
            core=place.get("core"),
            bytes=memory.get("bytes"),
            l1_bytes=memory.get("l1_bytes"),
        )


# A host: boxes in boxes.

_PAD = 0.12
_HEAD = 0.34
_LETTER = 0.092  # of a label, as wide as it is drawn where there is room
_LEAF = (1.0, 0.55)


@dataclass
class _Box:
    """What is drawn around its children; without children, an element."""

    label: str
    level: str
    children: list[_Box] = field(default_factory=list)
    columns: int = 1
    wide: float = _LEAF[0]
    high: float = _LEAF[1]

    def lay_out(self) -> _Box:
        """Sizes from the inside out; the grid of children that comes nearest to a picture's proportions."""
        for child in self.children:
            child.lay_out()
        if self.children:
            # Two threads of a core stand side by side; everything else may wrap. Full rows look best.
            want = 4.0 if self.level == "core" else 1.5
            longest = max(len(run) for run in self._runs())
            counts = [n for n in range(1, longest + 1) if longest % n == 0 or longest in (5, 7) or longest > 10]

            def misfit(n: int) -> float:
                wide, high = self._shape(n)
                return abs(log(wide / high / want)) + (0.0 if longest % n == 0 else 0.4)

            self.columns = min(counts, key=misfit)
            self.wide, self.high = self._shape(self.columns)
            self.wide = max(self.wide, _LETTER * len(self.label) + 2 * _PAD)
        return self

    def _runs(self) -> list[list[_Box]]:
        """Neighbours of one size."""
        runs: list[list[_Box]] = []
        for child in self.children:
            if runs and (runs[-1][0].wide, runs[-1][0].high) == (child.wide, child.high):
                runs[-1].append(child)
            else:
                runs.append([child])
        return runs

    def _rows(self, columns: int) -> list[list[_Box]]:
        return [run[i : i + columns] for run in self._runs() for i in range(0, len(run), columns)]

    def _shape(self, columns: int) -> tuple[float, float]:
        rows = self._rows(columns)
        wide = max(sum(c.wide for c in row) + _PAD * (len(row) - 1) for row in rows)
        high = sum(max(c.high for c in row) for row in rows) + _PAD * (len(rows) - 1)
        head = _HEAD if self.label else 0.0
        return wide + 2 * _PAD, high + 2 * _PAD + head

    def placed(self, x: float, y: float) -> list[tuple[_Box, float, float]]:
        """This box and all inside it with the top left corner of each; y grows downwards."""
        found = [(self, x, y)]
        top = y + _PAD + (_HEAD if self.label else 0.0)
        for row in self._rows(self.columns):
            left = x + _PAD
            for child in row:
                found += child.placed(left, top)
                left += child.wide + _PAD
            top += max(c.high for c in row) + _PAD
        return found


def _nested(elements: list[_Element]) -> _Box:
    """The tree of what shares what; a level that tells nothing new shares the box of the one around it."""
    levels: list[tuple[str, Callable[[_Element], Any], Callable[[int, list[_Element]], str]]] = [
        ("chip", lambda e: e.chip, lambda n, _: f"package {n}"),
        ("numa", lambda e: e.numa, lambda n, _: f"NUMA node {n}"),
        ("l3", lambda e: e.l3, lambda n, _: f"L3 {n}"),
        ("l2", lambda e: e.l2, lambda n, es: f"L2 {n}{_l2_size(es)}"),
        ("core", lambda e: e.core, lambda n, _: f"core {n}"),
    ]

    def split(inside: list[_Element], depth: int) -> list[_Box]:
        if depth == len(levels):
            return [_Box(e.name, e.kind) for e in inside]
        level, key, label = levels[depth]
        groups: dict[Any, list[_Element]] = {}
        for e in inside:
            groups.setdefault(key(e), []).append(e)
        boxes = []
        for number, group in groups.items():
            children = split(group, depth + 1)
            # An L2 or a core of one element is the element.
            if number is None or (len(group) == 1 and level in ("l2", "core")):
                boxes += children
            elif len(children) == 1 and children[0].children:
                # What holds the same elements is one box with both names; an L2 of one core is the core.
                (child,) = children
                child.label = ", ".join([label(number, group), child.label]) if child.level != "core" else ""
                child.level = level if child.level != "core" else "core"
                boxes.append(child)
            else:
                # Names of cores matter less than the room they take.
                boxes.append(_Box("" if level == "core" else label(number, group), level, children))
        return boxes

    return _Box("", "machine", split(elements, 0)).lay_out()


def _l2_size(elements: list[_Element]) -> str:
    """The whole of a shared L2 is the sum of the shares."""
    shares = [e.bytes for e in elements]
    return f": {_size(sum(b for b in shares if b))}" if all(shares) else ""


def _size(n_bytes: int) -> str:
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if n_bytes >= unit:
            return f"{n_bytes / unit:.4g} {name}"
    return f"{n_bytes} B"


_SHADES = {
    "machine": PAPER,
    "chip": "#F4F1EA",
    "numa": "#EAF0F4",
    "l3": "#E2E8DC",
    "l2": "#FFFFFF",
    "core": "#FFFFFF",
}


def _boxes_drawer(tree: _Box, scale: float, columns: int) -> Callable[[Axes, Mapping[str, Any], list[_Element]], None]:
    def draw(ax: Axes, _machine: Mapping[str, Any], elements: list[_Element]) -> None:
        from matplotlib.patches import FancyBboxPatch, Patch

        kinds = list(dict.fromkeys(e.kind for e in elements))
        colour = colours(kinds)
        letters = max((len(e.name) for e in elements), default=1)
        size = min(9.0, 72 * scale * min(_LEAF[0] / (0.68 * letters), 0.6 * _LEAF[1]))
        for box, x, y in tree.placed(0.0, 0.0):
            is_element = not box.children and box.level in colour
            fill = colour[box.level] if is_element else _SHADES.get(box.level, PAPER)
            if box.level != "machine":
                ax.add_patch(
                    FancyBboxPatch(
                        (x + 0.04, y + 0.04),
                        box.wide - 0.08,
                        box.high - 0.08,
                        boxstyle="round,pad=0.02,rounding_size=0.06",
                        facecolor=fill,
                        edgecolor="#8A8A8A",
                        linewidth=0.3 if is_element else 0.7,
                    )
                )
            if is_element:
                middle = (x + box.wide / 2, y + box.high / 2)
                ax.text(*middle, box.label, ha="center", va="center", fontsize=size, color=ink_on(fill))
            elif box.label:
                fits = 72 * scale * (box.wide - 0.3) / (0.6 * len(box.label))
                room = min(11.0, 72 * scale * 0.62 * _HEAD, fits)
                ax.text(x + 0.16, y + _PAD + _HEAD / 2, box.label, va="center", fontsize=room, color=INK)
        ax.set_xlim(-0.05, tree.wide + 0.05)
        ax.set_ylim(tree.high + 0.05, -0.05)
        keys = [Patch(facecolor=colour[k], edgecolor=FAINT, label=_about(k, elements)) for k in kinds]
        ax.legend(
            handles=keys,
            loc="upper center",
            bbox_to_anchor=(0.5, 0.0),
            ncols=min(columns, len(keys)),
            fontsize=9,
            frameon=False,
        )

    return draw


def _about(kind: str, elements: list[_Element]) -> str:
    """``core x 128: L1d 32 KiB, 256 KiB for buffers each``, where all of a kind are alike."""
    own = [e for e in elements if e.kind == kind]
    parts = []
    for form, values in (("L1d {}", {e.l1_bytes for e in own}), ("{} for buffers", {e.bytes for e in own})):
        if len(values) == 1 and (value := values.pop()):
            parts.append(form.format(_size(value)))
    return f"{kind} x {len(own)}" + (": " + ", ".join(parts) + " each" if parts else "")


# A Cell: units around the bus.


def _draw_cell(ax: Axes, machine: Mapping[str, Any], elements: list[_Element]) -> None:
    chips = 1 + max(e.chip for e in elements)
    limits = {
        str(lim["name"]): float(lim["capacity_bytes_per_s"]) for lim in machine.get("limits") or machine.get("limit") or []
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
            _CELL_WIDE[2] / 2,
            2.95,
            "\n".join([f"{_rate(between)} (9)", *one]),
            ha="center",
            va="top",
            fontsize=7.5,
            color=INK,
        )
    ax.set_xlim(-0.3, _CELL_WIDE[chips] + 0.3)
    ax.set_ylim(-0.35, 4.25)


def _left(chip: int, column: int) -> float:
    """Where a unit starts; the second chip is mirrored, so that the interfaces of both face each other."""
    return 0.05 + column * 1.03 if chip == 0 else _CELL_WIDE[2] - 0.05 - 1.0 - column * 1.03


def _draw_chip(ax: Axes, chip: int, elements: list[_Element], limits: Mapping[str, float]) -> None:
    from matplotlib.patches import FancyBboxPatch, Rectangle

    here = {}
    for e in elements:
        number = int("".join(c for c in e.name if c.isdigit()) or 0)
        here["PPE" if e.kind == "ppe" else f"SPE{number - chip * _SPES_PER_CHIP}"] = e
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
        for column, unit in enumerate(units):
            x, element = _left(chip, column), here.get(unit)
            is_port = not unit.startswith(("PPE", "SPE"))
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
            text = element.name if element else _name(unit, chip)
            about = f"\n{_size(element.bytes)}" if element and element.bytes else ("" if element or is_port else "\nnot used")
            if unit == "MIC":
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


def _name(unit: str, chip: int) -> str:
    """What a unit of the second chip would be called if the machine had it as an element."""
    if unit == "PPE":
        return f"PPE{chip}"
    return f"SPE{int(unit[3:]) + chip * _SPES_PER_CHIP}" if unit.startswith("SPE") else unit


def _rate(bytes_per_s: float) -> str:
    return f"{bytes_per_s / 1e9:.4g} GB/s"


# Distances.


def _draw_distances(axes: Any, distances: Mapping[str, Any], names: list[str]) -> None:
    import numpy as np

    latency = np.asarray(distances["latency_ns"], dtype=float)
    bandwidth = np.asarray(distances["bandwidth_bytes_per_s"], dtype=float) / 1e9
    n = len(names)
    step = 1 if n <= _LABELLED else ceil(n / 16)
    for ax, values, title, shades in (
        (axes[0], latency, "latency in ns", "viridis_r"),
        (axes[1], bandwidth, "bandwidth in GB/s", "viridis"),
    ):
        shown = np.ma.masked_array(values, mask=np.eye(n, dtype=bool))
        image = ax.imshow(shown, cmap=shades, interpolation="nearest")
        ax.set_xticks(range(0, n, step), names[::step], rotation=90, fontsize=7)
        ax.set_yticks(range(0, n, step), names[::step], fontsize=7)
        ax.set_xlabel("source", fontsize=8)
        ax.set_ylabel("reader", fontsize=8)
        ax.set_title(title, fontsize=9, color=INK)
        ax.figure.colorbar(image, ax=ax, shrink=0.85)
        if n <= 12:
            low, high = float(shown.min()), float(shown.max())
            for i in range(n):
                for j in range(n):
                    if i != j:
                        bright = (values[i, j] - low) / (high - low or 1.0)
                        dark = bright > 0.5 if shades.endswith("_r") else bright < 0.5
                        ax.text(
                            j,
                            i,
                            f"{values[i, j]:.3g}",
                            ha="center",
                            va="center",
                            fontsize=min(9.0, 40 / sqrt(n) / 2),
                            color=PAPER if dark else INK,
                        )
