"""A heat map: a value for each pair of elements."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any

from cellweave.report.colours import INK, PAPER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

_LABELLED = 40  # a matrix with more elements than this names only some
_NUMBERED = 16  # a matrix with more elements than this has no numbers in its cells


def draw_heat(
    ax: Axes,
    values: Any,
    names: Sequence[str],
    title: str,
    more_is_better: bool = True,
    labels: tuple[str, str] = ("source", "reader"),
    breaks: Sequence[int] = (),
    numbered: int = _NUMBERED,
) -> None:
    """Draw one.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw.
    values : array_like
        ``[reader][source]``; nan where nothing was measured.
    names : sequence of str
        Of the elements.
    title : str
        Including the unit.
    more_is_better : bool
        Whether large values are good; good values are bright.
    labels : tuple of str
        What columns and rows are.
    breaks : sequence of int
        Elements before which a line is drawn: another package, another L3.
    numbered : int
        A matrix with more elements than this has no numbers in its cells; the picture must have room for them.
    """
    import numpy as np

    shown = np.ma.masked_invalid(np.asarray(values, dtype=float))
    n = len(names)
    step = 1 if n <= max(_LABELLED, numbered) else ceil(n / 16)
    image = ax.imshow(shown, cmap="viridis" if more_is_better else "viridis_r", interpolation="nearest")
    ax.set_xticks(range(0, n, step), names[::step], rotation=90 if max(map(len, names)) > 2 else 0, fontsize=8)
    ax.set_yticks(range(0, n, step), names[::step], fontsize=8)
    ax.set_xlabel(labels[0], fontsize=9)
    ax.set_ylabel(labels[1], fontsize=9)
    ax.set_title(title, fontsize=10, color=INK)
    ax.figure.colorbar(image, ax=ax, shrink=0.85)
    for at in breaks:
        ax.axhline(at - 0.5, color=PAPER, linewidth=2)
        ax.axvline(at - 0.5, color=PAPER, linewidth=2)
    if n > numbered or shown.count() == 0:
        return
    low, high = float(shown.min()), float(shown.max())
    for i in range(n):
        for j in range(n):
            if not np.ma.is_masked(shown[i, j]):
                height = (float(shown[i, j]) - low) / (high - low or 1.0)
                dark = height < 0.5 if more_is_better else height > 0.5
                text, size = f"{float(shown[i, j]):.3g}", max(5.0, 10.5 - 0.22 * n)
                ax.text(j, i, text, ha="center", va="center", fontsize=size, color=PAPER if dark else INK)
