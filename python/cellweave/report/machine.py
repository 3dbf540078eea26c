"""A machine: a Cell as its floorplan with the ring, any other as boxes in boxes; what was measured below."""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, cast

from cellweave.report import floorplan
from cellweave.report.boxes import draw_boxes, nested
from cellweave.report.colours import INK
from cellweave.report.handovers import draw_handovers, panels
from cellweave.report.heat import draw_heat
from cellweave.report.places import Element

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from matplotlib.figure import Figure

_WIDEST_INCHES = 18.0
_HIGHEST_INCHES = 14.0
_PANEL_INCHES = 3.9
_PANELS_ABREAST = 3


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
        boxes. Below it what was measured: latency and bandwidth as heat maps (row: who reads), the curve of
        hand-overs, and how much cpus slow each other down.
    """
    import matplotlib.pyplot as plt

    elements = [Element.of(e) for e in machine["elements"]]
    distances = machine.get("distances")
    n_panels = panels(machine)
    is_cell = floorplan.is_cell(elements)
    tree = nested(elements)
    scale = min(1.0, (_WIDEST_INCHES - 0.4) / tree.wide, (_HIGHEST_INCHES - 1.0) / tree.high)
    if is_cell:
        size = (floorplan.WIDE[1 + max(e.chip for e in elements)] + 0.8, 5.3)
    else:
        kinds = len({e.kind for e in elements})
        size = (max(4.5, tree.wide * scale + 0.4), tree.high * scale + 1.1 + 0.2 * kinds)
    parts = [size[1]]
    if distances:
        maps = max(3.8, min(7.0, 1.6 + 0.3 * len(elements)))
        size = (max(size[0], 2 * maps + 0.6), size[1])
        parts.append(maps)
    if n_panels:
        size = (max(size[0], _PANEL_INCHES * min(n_panels, _PANELS_ABREAST)), size[1])
        parts.append(3.2 * -(-n_panels // _PANELS_ABREAST))
    figure = plt.figure(figsize=(size[0], sum(parts)), layout="constrained")
    above, *below = cast("Any", figure.subfigures(len(parts), 1, height_ratios=parts, squeeze=False))[:, 0]
    ax = above.subplots()
    if distances:
        _draw_distances(below[0].subplots(1, 2), distances, [e.name for e in elements])
    if n_panels:
        abreast = min(n_panels, _PANELS_ABREAST)
        grid = below[-1].subplots(-(-n_panels // abreast), abreast, squeeze=False).ravel()
        for unused in grid[n_panels:]:
            unused.set_axis_off()
        draw_handovers(list(grid[:n_panels]), machine)
    ax.set_axis_off()
    ax.set_aspect("equal")
    if is_cell:
        floorplan.draw_cell(ax, machine, elements)
    else:
        draw_boxes(ax, tree, elements, scale, columns=max(1, int(size[0] / 3.8)))
    says = "" if machine.get("measured") else "; limits not measured"
    lines = [f"{machine.get('name', '')}: {len(elements)} elements{says}"]
    lines += wrap(str(machine.get("description") or ""), int(size[0] * 13))[:3]
    above.suptitle("\n".join(lines), fontsize=10, color=INK)
    if path is not None:
        figure.savefig(Path(path), dpi=144)
    return figure


def _draw_distances(axes: Any, distances: Mapping[str, Any], names: list[str]) -> None:
    import numpy as np

    for ax, key, unit, title, more in (
        (axes[0], "latency_ns", 1.0, "latency in ns", False),
        (axes[1], "bandwidth_bytes_per_s", 1e9, "bandwidth in GB/s", True),
    ):
        values = np.asarray(distances[key], dtype=float) / unit
        if not values.any():
            # Another tool's file has latencies alone.
            ax.set_axis_off()
            continue
        np.fill_diagonal(values, np.nan)
        draw_heat(ax, values, names, title, more)
