"""Pictures of an MPI job's profile: who sends how much to whom, and each rank's time in MPI."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cellweave.report.colours import FAINT, INK, colours
from cellweave.report.heat import draw_heat
from cellweave.report.pattern import matrix, time_by_function, title

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_UNITS = [(1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "bytes")]
_FUNCTIONS = 7  # functions with their own colour; the others share one


def draw_traffic(profile: dict[str, Any]) -> Figure:
    """Draw bytes and messages as two matrices.

    Parameters
    ----------
    profile : dict
        What ``cellrun --profile`` wrote.
    """
    import matplotlib.pyplot as plt

    names = [str(rank) for rank in range(profile["n"])]
    figure, axes = plt.subplots(1, 2, figsize=(10.5, 4.8), layout="constrained")
    most = max([t["bytes"] for t in profile["pattern"]], default=0)
    step, unit = next(((s, u) for s, u in _UNITS if most >= s), _UNITS[-1])
    sent = [[x / step for x in row] for row in matrix(profile, "bytes")]
    labels = ("source rank", "destination rank")
    draw_heat(axes[0], sent, names, unit, labels=labels)
    draw_heat(axes[1], matrix(profile, "messages"), names, "messages", labels=labels)
    figure.suptitle(title(profile), fontsize=10, color=INK)
    return figure


def draw_calls(profile: dict[str, Any]) -> Figure:
    """Draw each rank's time in MPI, by function, as a bar; a bar behind it shows the whole time.

    Parameters
    ----------
    profile : dict
        What ``cellrun --profile`` wrote.
    """
    import matplotlib.pyplot as plt

    n = profile["n"]
    times = list(time_by_function(profile).items())
    shown = times[:_FUNCTIONS]
    rest = [sum(ns[rank] for _, ns in times[_FUNCTIONS:]) for rank in range(n)]
    if len(times) > _FUNCTIONS:
        shown.append(("others", rest))
    figure, ax = plt.subplots(figsize=(10.5, 1.4 + 0.28 * min(n, 64)), layout="constrained")
    ranks = range(n)
    ax.barh(ranks, [profile["elapsed_s"]] * n, color=FAINT, alpha=0.4, label="outside of MPI")
    left = [0.0] * n
    palette = colours([name for name, _ in shown])
    for name, ns in shown:
        seconds = [x / 1e9 for x in ns]
        ax.barh(ranks, seconds, left=left, color=palette[name], label=name)
        left = [a + b for a, b in zip(left, seconds, strict=True)]
    ax.invert_yaxis()
    if n <= 64:
        ax.set_yticks(list(ranks), [str(rank) for rank in ranks], fontsize=8)
    ax.set_ylabel("rank", fontsize=9)
    ax.set_xlabel("s", fontsize=9)
    ax.set_title(f"{title(profile)}: time in MPI by function", fontsize=10, color=INK)
    ax.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    return figure
