"""A bar per contribution to a plan's period, beside the bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cellweave.report.colours import FAINT, INK, PAPER, WARNING
from cellweave.report.units import time_ns

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_contributions(plan: dict[str, Any], ax: Axes | None = None, most: int = 16) -> Axes:
    """Draw a plan's largest contributions, in ns per instance.

    Parameters
    ----------
    plan : dict
        As in ``plan.json``.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.
    most : int
        How many bars at most, largest first; a third of them are limits, where there are any.

    Returns
    -------
    matplotlib.axes.Axes
    """
    import matplotlib.pyplot as plt

    items = largest(plan["contributions"], most)
    if ax is None:
        _, ax = plt.subplots(figsize=(8, 0.6 + 0.32 * max(3, len(items))), layout="constrained")
    names = [c["name"] for c in items]
    values = [c["ns"] for c in items]
    place = range(len(items))
    bottleneck = plan["contributions"][0] if plan["contributions"] else None
    bars = [("#D55E00" if c is bottleneck else "#0072B2") for c in items]
    ax.barh(place, values, color=bars, height=0.72)
    ax.set_yticks(place, names, fontsize=8)
    ax.invert_yaxis()
    for i, value in enumerate(values):
        ax.annotate(
            time_ns(value),
            (value, i),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
            color=INK,
            bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 0.8},
        )
    ax.axvline(plan["bound_ns"], color=INK, linestyle="--", linewidth=1)
    ax.annotate(
        f"bound {time_ns(plan['bound_ns'])}",
        (plan["bound_ns"], 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(-3, 3),
        textcoords="offset points",
        ha="right",
        fontsize=8,
        color=INK,
    )
    ax.set_xlim(0, max([*values, plan["bound_ns"], 1e-9]) * 1.15)
    ax.set_xlabel("ns per instance")
    left_out = len(plan["contributions"]) - len(items)
    title = f"{plan['application']} on {plan['machine']}: what takes the time"
    ax.set_title(title + (f" ({left_out} more are not shown)" if left_out > 0 else ""), fontsize=10, pad=16)
    if not plan["feasible"]:
        ax.annotate("not feasible", (0.99, 0.02), xycoords="axes fraction", ha="right", color=WARNING, fontsize=9)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="x", color=FAINT, linewidth=0.5)
    ax.set_axisbelow(True)
    return ax


def largest(contributions: list[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """The largest of all, and the largest limits, which are often smaller than the elements' computing."""
    limits = [c for c in contributions if c["kind"] != "compute" and c["ns"] > 0][: most // 3]
    first = [c for c in contributions if c not in limits][: most - len(limits)]
    return sorted([*first, *limits], key=lambda c: -c["ns"])
