"""Draws the data that experiments return."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure


def draw(data: Mapping[str, Any]) -> Figure:
    """Draw the data of one picture, by its ``kind``."""
    from cellweave.report.distribution import draw_distribution
    from cellweave.report.lines import draw_lines, draw_points
    from cellweave.report.matrices import draw_matrices
    from cellweave.report.pictures import figure_of
    from cellweave.report.ranked import draw_ranked

    kind = data["kind"]
    if kind == "distribution":
        return draw_distribution(data)
    if kind == "matrices":
        return draw_matrices(data)
    on_axes = {"curves": draw_lines, "points": draw_points, "ranked": draw_ranked}
    return figure_of(on_axes[kind](data))
