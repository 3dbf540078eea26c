"""A published matrix beside the obtained one, on one scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cellweave.report.colours import INK

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure


def draw_matrices(data: Mapping[str, Any]) -> Figure:
    """Draw two heat maps; row: who reads.

    Parameters
    ----------
    data : mapping
        ``published``, ``obtained``: ``[reader][source]``; ``unit``, ``title``.
    """
    import matplotlib.pyplot as plt
    import numpy as np

    tables = {name: np.asarray(data[name], dtype=float) for name in ("published", "obtained")}
    low = min(float(table.min()) for table in tables.values())
    high = max(float(table.max()) for table in tables.values())
    figure, axes = plt.subplots(1, 2, figsize=(11, 5.2), layout="constrained")
    image = None
    for ax, (name, table) in zip(axes, tables.items(), strict=True):
        image = ax.imshow(table, vmin=low, vmax=high, cmap="viridis", interpolation="nearest")
        ax.set_title(name, fontsize=9, color=INK)
        ax.set_xlabel("source SPE", fontsize=8)
        ax.set_ylabel("reading SPE", fontsize=8)
        ax.set_xticks(range(len(table)))
        ax.set_yticks(range(len(table)))
        ax.tick_params(labelsize=7)
    assert image is not None
    figure.colorbar(image, ax=axes, shrink=0.8, label=data["unit"])
    figure.suptitle(data["title"], fontsize=10, color=INK)
    return figure
