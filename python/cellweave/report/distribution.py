"""Distributions over patterns or mappings: histograms one above the other, on one scale."""

from __future__ import annotations

from statistics import mean
from typing import TYPE_CHECKING, Any

from cellweave.report.colours import INK, WARNING, colours
from cellweave.report.units import number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure

_BINS = 30


def draw_distribution(data: Mapping[str, Any]) -> Figure:
    """Draw a histogram for each sample.

    Parameters
    ----------
    data : mapping
        ``samples``: label -> values; ``published``: optional mean to mark; ``title``, ``x_label``.
    """
    import matplotlib.pyplot as plt

    samples: Mapping[str, list[float]] = data["samples"]
    shades = colours(list(samples))
    figure, axes = plt.subplots(
        len(samples), 1, sharex=True, squeeze=False, figsize=(8, 1.2 + 1.5 * len(samples)), layout="constrained"
    )
    every = [value for values in samples.values() for value in values]
    low, high = min(every), max(every)
    span = (high - low) or 1.0
    edges = [low + span * i / _BINS for i in range(_BINS + 1)]
    for ax, (label, values) in zip(axes[:, 0], samples.items(), strict=True):
        ax.hist(values, bins=edges, color=shades[label])
        ax.axvline(mean(values), color=INK, linewidth=1.6, label=f"mean {number(mean(values))}")
        if "published" in data:
            ax.axvline(
                data["published"], color=WARNING, linestyle="--", label=f"published mean {number(data['published'])}"
            )
        ax.set_title(label, fontsize=9, color=INK, loc="left")
        ax.legend(fontsize=8, frameon=False)
        ax.set_ylabel("count", fontsize=8)
        ax.spines[["top", "right"]].set_visible(False)
    axes[-1, 0].set_xlabel(data["x_label"])
    figure.suptitle(data["title"], fontsize=10, color=INK)
    return figure
