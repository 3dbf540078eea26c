"""A timeline of each element, from a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cellweave.report.colours import FAINT, INK, PAPER, colours, ink_on
from cellweave.report.tables import natural
from cellweave.report.units import time_ns

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OWN_COLOUR = 16


def draw_timeline(
    trace: dict[str, Any] | list[dict[str, Any]],
    window_ns: tuple[float, float] | None = None,
    ax: Axes | None = None,
    most: int = 500,
) -> Axes:
    """Draw a row per element and a bar per batch.

    Parameters
    ----------
    trace : dict or list of dict
        A trace file (Chrome's format): complete events with ``ts`` and ``dur`` in us, threads named by metadata.
    window_ns : (float, float), optional
        From and to, in ns since the trace's first event. By default as much from the middle as shows `most` bars.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.
    most : int
        Bars at most, so that a picture of a long run is drawn in a second.

    Returns
    -------
    matplotlib.axes.Axes
    """
    import matplotlib.pyplot as plt
    from matplotlib.patches import Rectangle

    events = trace["traceEvents"] if isinstance(trace, dict) else trace
    names = {
        (e.get("pid", 0), e.get("tid", 0)): e["args"]["name"]
        for e in events
        if e.get("ph") == "M" and e.get("name") == "thread_name"
    }
    # Waiting is left white.
    fired = (e for e in events if e.get("ph") == "X" and e.get("cat") != "wait")
    bars = sorted(fired, key=lambda e: float(e["ts"]))
    start = float(bars[0]["ts"]) if bars else 0.0
    if window_ns is not None:
        low, high = (start + edge / 1000 for edge in window_ns)
        bars = [e for e in bars if e["ts"] + e["dur"] >= low and e["ts"] <= high][:most]
    elif len(bars) > most:
        first = (len(bars) - most) // 2
        bars = bars[first : first + most]
    rows: dict[tuple[Any, Any], list[dict[str, Any]]] = {key: [] for key in sorted(names, key=str)}
    for e in bars:
        rows.setdefault((e.get("pid", 0), e.get("tid", 0)), []).append(e)
    rows = {key: row for key, row in rows.items() if row}
    tasks = sorted({e["name"] for e in bars}, key=natural)
    # Tasks that differ in a number alone have one colour. More colours than these look alike: the families that
    # computed longest have one.
    family = {task: task.rstrip("0123456789") or task for task in tasks}
    spent: dict[str, float] = dict.fromkeys(family.values(), 0.0)
    for e in bars:
        spent[family[e["name"]]] += float(e["dur"])
    shown = sorted(sorted(spent, key=lambda name: -spent[name])[:OWN_COLOUR], key=natural)
    of_family = dict.fromkeys(spent, FAINT) | colours(shown)
    colour = {task: of_family[family[task]] for task in tasks}
    if ax is None:
        _, ax = plt.subplots(figsize=(11, 1.6 + 0.6 * max(1, len(rows))), layout="constrained")
    zero = float(bars[0]["ts"]) if bars else 0.0
    width_us = max((float(e["ts"]) + float(e["dur"]) - zero for e in bars), default=1.0)
    unit, us = ("ms", 1000.0) if width_us > 2000 else ("us", 1.0)
    for y, row in enumerate(rows.values()):
        ax.broken_barh(
            [((float(e["ts"]) - zero) / us, float(e["dur"]) / us) for e in row],
            (y - 0.4, 0.8),
            facecolors=[colour[e["name"]] for e in row],
            edgecolor=PAPER,
            linewidth=0.3,
        )
        for e in row:
            # A name where there is room for it.
            if float(e["dur"]) > width_us * 0.009 * len(e["name"]):
                middle = (float(e["ts"]) + float(e["dur"]) / 2 - zero) / us
                ax.text(middle, y, e["name"], ha="center", va="center", fontsize=7, color=ink_on(colour[e["name"]]))
    ax.set_yticks(range(len(rows)), [names.get(key, f"thread {key[1]}") for key in rows])
    ax.invert_yaxis()
    ax.set_xlabel(f"{unit}, from {time_ns((zero - start) * 1000)} after the first batch")
    ax.set_title(f"{len(bars)} batches of {len(tasks)} tasks; white is waiting", fontsize=10, color=INK)
    if tasks:
        handles = [Rectangle((0, 0), 1, 1, color=of_family[name]) for name in shown]
        labels = [name if name in family else f"{name}..." for name in shown]
        if len(spent) > len(shown):
            handles.append(Rectangle((0, 0), 1, 1, color=FAINT))
            labels.append(f"{len(spent) - len(shown)} others")
        ax.legend(handles, labels, loc="upper center", bbox_to_anchor=(0.5, -0.32), ncols=8, fontsize=7, frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
