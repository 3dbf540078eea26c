"""Predicted beside achieved: a bar each, and what their difference consists of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cellweave.report.colours import FAINT, INK
from cellweave.report.units import rate_per_s, time_ns

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PREDICTED, _ACHIEVED = "#56B4E9", "#0072B2"
_MOST = 6


def draw_beside(result: dict[str, Any]) -> Figure:
    """Draw a run's rate as predicted and as achieved, and below them the parts of its period.

    Parameters
    ----------
    result : dict
        As in ``result.json``.

    Returns
    -------
    matplotlib.figure.Figure
    """
    import matplotlib.pyplot as plt

    parts = [d for d in result.get("differences", []) if max(d["predicted_ns"], d["measured_ns"]) > 0][:_MOST]
    heights = [2.0, *([len(parts)] if parts else [])]
    figure, axes = plt.subplots(
        len(heights),
        1,
        figsize=(8, 1.5 + 0.42 * sum(heights)),
        height_ratios=heights,
        layout="constrained",
        squeeze=False,
    )
    rates = {"predicted": result["predicted_per_s"], "achieved": result["throughput_per_s"]}
    top = axes[0][0]
    top.barh(list(rates), list(rates.values()), color=[_PREDICTED, _ACHIEVED], height=0.7)
    for at, rate in enumerate(rates.values()):
        top.annotate(rate_per_s(rate), (rate, at), (4, 0), textcoords="offset points", va="center", color=INK)
    top.set_xlim(0, max(*rates.values(), 1e-9) * 1.18)
    top.set_title(
        f"{result['application']} on {result['machine']}: achieved / predicted = {result['ratio']:.3f}", fontsize=10
    )
    top.set_xlabel("instances per second")
    if parts:
        _parts(axes[1][0], parts)
    for ax in axes[:, 0]:
        ax.invert_yaxis()
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(axis="x", color=FAINT, linewidth=0.5)
        ax.set_axisbelow(True)
    return figure


def _parts(ax: Axes, parts: list[dict[str, Any]]) -> None:
    """Two bars per part of the period."""
    place = range(len(parts))
    for key, colour, off in (("predicted_ns", _PREDICTED, -0.19), ("measured_ns", _ACHIEVED, 0.19)):
        values = [float(part[key]) for part in parts]
        ax.barh([i + off for i in place], values, height=0.36, color=colour, label=key.removesuffix("_ns"))
        for i, value in enumerate(values):
            ax.annotate(time_ns(value), (value, i + off), (3, 0), textcoords="offset points", va="center", fontsize=7)
    ax.set_yticks(place, [_name(part) for part in parts], fontsize=8)
    ax.set_xlim(0, max(max(p["predicted_ns"], p["measured_ns"]) for p in parts) * 1.18)
    ax.set_xlabel("ns of a period")
    ax.legend(fontsize=8, frameon=False, loc="lower right")


def _name(part: dict[str, Any]) -> str:
    """What a part is called; a task's subject says that it is one."""
    return str(part["subject"]) if part["kind"] == "task" else f"{part['kind']} {part['subject']}".strip()
