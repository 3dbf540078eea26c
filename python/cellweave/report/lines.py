"""A quantity over sizes or counts: one line per case; and single points over counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cellweave.report.colours import INK, WARNING, colours
from cellweave.report.places import size_text
from cellweave.report.units import number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes


def draw_lines(data: Mapping[str, Any], ax: Axes | None = None) -> Axes:
    """Draw lines, by default on axes that are logarithmic to base 2.

    Parameters
    ----------
    data : mapping
        ``x``; ``lines``: label -> values; ``x_label``, ``y_label``, ``title``; ``linear`` or ``linear_y``: optional,
        and with ``linear`` the names of the places on the x axis, ``x_names``.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.
    """
    import matplotlib.pyplot as plt

    if ax is None:
        _, ax = plt.subplots(figsize=(8, 4.6), layout="constrained")
    shades = colours(list(data["lines"]))
    for label, values in data["lines"].items():
        ax.plot(data["x"], values, marker="o", markersize=4, color=shades[label], label=label)
    if data.get("linear"):
        ax.set_xticks(data["x"], data.get("x_names"))
        ax.set_ylim(bottom=0)
    else:
        ax.set_xscale("log", base=2)
        ax.set_xticks(data["x"], [size_text(x) for x in data["x"]], rotation=45, fontsize=8)
        ax.minorticks_off()
        if data.get("linear_y"):
            ax.set_ylim(bottom=0)
        else:
            ax.set_yscale("log", base=2)
            ax.yaxis.set_major_formatter(lambda y, _: number(y))
    ax.set_xlabel(data["x_label"])
    ax.set_ylabel(data["y_label"])
    ax.set_title(data["title"], fontsize=10, color=INK)
    ax.grid(alpha=0.3)
    ax.legend(fontsize=8, frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def draw_points(data: Mapping[str, Any], ax: Axes | None = None) -> Axes:
    """Draw points, and levels across.

    Parameters
    ----------
    data : mapping
        ``x``, ``y``; ``lines``: label -> level; ``x_label``, ``y_label``, ``title``.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.
    """
    import matplotlib.pyplot as plt

    if ax is None:
        _, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
    ax.scatter(data["x"], data["y"], s=18, color=colours(["points"])["points"])
    for (label, level), (colour, dashes) in zip(data["lines"].items(), ((INK, "-"), (WARNING, "--")), strict=False):
        ax.axhline(level, color=colour, linestyle=dashes, linewidth=1.4, label=f"{label} {number(level)}")
    ax.set_ylim(bottom=0)
    ax.set_xlabel(data["x_label"])
    ax.set_ylabel(data["y_label"])
    ax.set_title(data["title"], fontsize=10, color=INK)
    ax.legend(fontsize=8, frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
