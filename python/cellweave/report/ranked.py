"""Run times of all mappings, the fastest first: one curve per run or size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cellweave.report.colours import FAINT, INK, colours

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes


# Slowest / fastest: from this ratio on, the axis starts at 0.
_MUCH = 1.5


def draw_ranked(data: Mapping[str, Any], ax: Axes | None = None) -> Axes:
    """Draw curves over ranks.

    Parameters
    ----------
    data : mapping
        ``curves``: label -> times in the order of ranks; ``average``, ``band`` (lower and upper), ``band_label``:
        optional; ``length``: ranks of the whole list, where the curves have only some of it; ``title``, ``y_label``.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.
    """
    import matplotlib.pyplot as plt

    if ax is None:
        _, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
    curves = data["curves"]
    shades = colours(list(curves))

    def places(n: int) -> list[float]:
        length = data.get("length", n)
        return [1 + i * (length - 1) / max(1, n - 1) for i in range(n)]

    if "band" in data:
        low, high = data["band"]
        ax.fill_between(places(len(low)), low, high, color=FAINT, alpha=0.5, linewidth=0, label=data["band_label"])
    for label, times in curves.items():
        ax.plot(
            places(len(times)), times, color=shades[label], linewidth=1.0 if "average" in data else 1.6, label=label
        )
    if "average" in data:
        ax.plot(places(len(data["average"])), data["average"], color=INK, linewidth=2.2, label="average of the runs")
    ax.set_xlabel("rank")
    ax.set_ylabel(data["y_label"])
    every = [time for times in curves.values() for time in times]
    # The axis starts at 0 only where mappings differ by much; otherwise the curves would be flat lines at the top.
    ax.set_ylim(bottom=0 if max(every) > _MUCH * min(every) else min(every) - (max(every) - min(every)) / 2)
    ax.set_xlim(left=1)
    ax.set_title(data["title"], fontsize=10, color=INK)
    ax.legend(fontsize=8, frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
