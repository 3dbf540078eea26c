"""A machine: a Cell as its floorplan with the ring, any other as boxes in boxes, measured distances as heat maps."""

from __future__ import annotations

from math import ceil, sqrt
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, cast

from cellweave.report import floorplan
from cellweave.report.boxes import draw_boxes, nested
from cellweave.report.colours import INK, PAPER
from cellweave.report.places import Element

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from matplotlib.figure import Figure

_LABELLED = 40  # a heat map with more elements than this names only some
_WIDEST_INCHES = 18.0
_HIGHEST_INCHES = 14.0


def draw_machine(machine: Mapping[str, Any], path: str | os.PathLike[str] | None = None) -> Figure:
    """Draw where the elements are.

    Parameters
    ----------
    machine : mapping
        As :meth:`cellweave.Machine.to_dict` gives it.
    path : path, optional
        A file to save the picture in as well, as png, svg or pdf by its ending.

    Returns
    -------
    matplotlib.figure.Figure
        A Cell: each chip's units around the element interconnect bus, in the order of its rings, and the
        capacity of the limits. Anything else: packages, NUMA nodes, L3 and L2 groups and cores as boxes in
        boxes. Below it latency and bandwidth as heat maps (row: who reads), where they were measured.
    """
    import matplotlib.pyplot as plt

    elements = [Element.of(e) for e in machine["elements"]]
    distances = machine.get("distances")
    is_cell = floorplan.is_cell(elements)
    tree = nested(elements)
    scale = min(1.0, (_WIDEST_INCHES - 0.4) / tree.wide, (_HIGHEST_INCHES - 1.0) / tree.high)
    if is_cell:
        size = (floorplan.WIDE[1 + max(e.chip for e in elements)] + 0.8, 5.3)
    else:
        kinds = len({e.kind for e in elements})
        size = (max(4.5, tree.wide * scale + 0.4), tree.high * scale + 1.1 + 0.2 * kinds)
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
    if is_cell:
        floorplan.draw_cell(ax, machine, elements)
    else:
        draw_boxes(ax, tree, elements, scale, columns=max(1, int(size[0] / 3.8)))
    says = "" if machine.get("measured") else "; limits not measured"
    lines = [f"{machine.get('name', '')}: {len(elements)} elements{says}"]
    lines += wrap(str(machine.get("description") or ""), int(size[0] * 13))[:3]
    (above or figure).suptitle("\n".join(lines), fontsize=10, color=INK)
    if path is not None:
        figure.savefig(Path(path), dpi=144)
    return figure


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
