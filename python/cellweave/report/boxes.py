"""A machine as boxes in boxes: chips, NUMA nodes, L3 and L2 groups, tiles of a mesh, cores."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import log
from typing import TYPE_CHECKING, Any

from cellweave.report.colours import FAINT, INK, PAPER, colours, ink_on
from cellweave.report.places import Element, size_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

_PAD = 0.12
_HEAD = 0.34
_LETTER = 0.092  # of a label, as wide as it is drawn where there is room
_LEAF = (1.0, 0.55)


@dataclass
class Box:
    """A box around its children; a box without children is an element."""

    label: str
    level: str
    children: list[Box] = field(default_factory=list)
    columns: int = 1
    wide: float = _LEAF[0]
    high: float = _LEAF[1]
    at: tuple[int, int] | None = None  # column and row in the mesh around it

    def lay_out(self) -> Box:
        """Compute sizes from the inside out; choose the grid of children that is closest to a picture's proportions."""
        for child in self.children:
            child.lay_out()
        if self._is_mesh():
            # Every tile has the room of the largest, so that columns and rows are straight.
            for child in self.children:
                child.wide, child.high = max(c.wide for c in self.children), max(c.high for c in self.children)
            self.wide, self.high = self._around(*(max(edge) + 1 for edge in zip(*self._spots(), strict=True)))
        elif self.children:
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

    def _is_mesh(self) -> bool:
        return bool(self.children) and all(c.at is not None for c in self.children)

    def _spots(self) -> list[tuple[int, int]]:
        """Columns and rows of a mesh's tiles, from 0 on."""
        at = [c.at or (0, 0) for c in self.children]
        left, top = min(x for x, _ in at), min(y for _, y in at)
        return [(x - left, y - top) for x, y in at]

    def _around(self, columns: int, rows: int) -> tuple[float, float]:
        """Width and height around so many columns and rows of tiles."""
        tile = self.children[0]
        wide, high = columns * (tile.wide + _PAD) + _PAD, rows * (tile.high + _PAD) + _PAD
        return max(wide, _LETTER * len(self.label) + 2 * _PAD), high + self._head()

    def _head(self) -> float:
        return _HEAD if self.label else 0.0

    def _runs(self) -> list[list[Box]]:
        """Rows of boxes of equal size."""
        runs: list[list[Box]] = []
        for child in self.children:
            if runs and (runs[-1][0].wide, runs[-1][0].high) == (child.wide, child.high):
                runs[-1].append(child)
            else:
                runs.append([child])
        return runs

    def _rows(self, columns: int) -> list[list[Box]]:
        return [run[i : i + columns] for run in self._runs() for i in range(0, len(run), columns)]

    def _shape(self, columns: int) -> tuple[float, float]:
        rows = self._rows(columns)
        wide = max(sum(c.wide for c in row) + _PAD * (len(row) - 1) for row in rows)
        high = sum(max(c.high for c in row) for row in rows) + _PAD * (len(rows) - 1)
        return wide + 2 * _PAD, high + 2 * _PAD + self._head()

    def placed(self, x: float, y: float) -> list[tuple[Box, float, float]]:
        """This box and all inside it with the top left corner of each; y grows downwards."""
        found = [(self, x, y)]
        top = y + _PAD + self._head()
        if self._is_mesh():
            for child, (i, j) in zip(self.children, self._spots(), strict=True):
                found += child.placed(x + _PAD + i * (child.wide + _PAD), top + j * (child.high + _PAD))
            return found
        for row in self._rows(self.columns):
            left = x + _PAD
            for child in row:
                found += child.placed(left, top)
                left += child.wide + _PAD
            top += max(c.high for c in row) + _PAD
        return found


def nested(elements: list[Element]) -> Box:
    """The tree of shared parts; a level that adds nothing is merged with the box around it."""
    levels: list[tuple[str, Callable[[Element], Any], Callable[[Any, list[Element]], str]]] = [
        ("chip", lambda e: e.chip, lambda n, _: f"chip {n}"),
        ("numa", lambda e: e.numa, lambda n, _: f"NUMA node {n}"),
        ("l3", lambda e: e.l3, lambda n, _: f"L3 {n}"),
        ("tile", lambda e: e.tile, lambda n, _: f"tile {n[0]},{n[1]}"),
        ("l2", lambda e: e.l2, lambda n, es: f"L2 {n}{_l2_size(es)}"),
        ("core", lambda e: e.core, lambda n, _: f"core {n}"),
    ]

    def split(inside: list[Element], depth: int) -> list[Box]:
        if depth == len(levels):
            return [Box(e.name, e.kind, at=e.tile if len(inside) == 1 else None) for e in inside]
        level, key, label = levels[depth]
        groups: dict[Any, list[Element]] = {}
        for e in inside:
            groups.setdefault(key(e), []).append(e)
        boxes = []
        for number, group in groups.items():
            children = split(group, depth + 1)
            # An L2 or a core of one element is the element.
            if number is None or (len(group) == 1 and level in ("l2", "tile", "core")):
                boxes += children
            elif len(children) == 1 and children[0].children:
                # Two levels with the same elements are one box with both names; an L2 of one core is the core.
                (child,) = children
                child.label = ", ".join([label(number, group), child.label]) if child.level != "core" else ""
                child.level = level if child.level != "core" else "core"
                child.at = number if level == "tile" else child.at
                boxes.append(child)
            else:
                # Names of cores are left out where there is no room.
                at = number if level == "tile" else None
                boxes.append(Box("" if level == "core" else label(number, group), level, children, at=at))
        tiles = [box for box in boxes if box.at is not None]
        if tiles and len(tiles) < len(boxes):
            boxes = [*(box for box in boxes if box.at is None), Box("", "mesh", tiles)]
        return boxes

    return Box("", "machine", split(elements, 0)).lay_out()


def _l2_size(elements: list[Element]) -> str:
    """The size of a shared L2 is the sum of the shares."""
    shares = [e.bytes for e in elements]
    return f": {size_text(sum(b for b in shares if b))}" if all(shares) else ""


_SHADES = {
    "machine": PAPER,
    "chip": "#F4F1EA",
    "numa": "#EAF0F4",
    "l3": "#E2E8DC",
    "l2": "#FFFFFF",
    "mesh": "#E2E8DC",
    "tile": "#FFFFFF",
    "core": "#FFFFFF",
}


def draw_boxes(ax: Axes, tree: Box, elements: list[Element], scale: float, columns: int) -> None:
    """Draw the tree at `scale` inches per unit; one colour per kind of element, explained below in `columns`."""
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


def _about(kind: str, elements: list[Element]) -> str:
    """``core x 128: L1d 32 KiB, 256 KiB for buffers each``, where all of a kind are alike."""
    own = [e for e in elements if e.kind == kind]
    parts = []
    for form, values in (("L1d {}", {e.l1_bytes for e in own}), ("{} for buffers", {e.bytes for e in own})):
        if len(values) == 1 and (value := values.pop()):
            parts.append(form.format(size_text(value)))
    return f"{kind} x {len(own)}" + (": " + ", ".join(parts) + " each" if parts else "")
