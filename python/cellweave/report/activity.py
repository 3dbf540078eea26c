"""A timeline of a simulated Cell: programs, and the packets on each ring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cellweave.report.colours import INK, PAPER, colours

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure

_MOST_BARS = 20_000  # more take seconds to draw and cannot be told apart
_COMPUTE = "#0072B2"
_WAIT = "#E3DFD6"


def draw_activity(trace: Mapping[str, Any], window_ns: tuple[float, float] | None = None) -> Figure:
    """Draw a row per program (computing, waiting), and below a row per ring (packets, coloured by source).

    Parameters
    ----------
    trace : mapping
        Chrome's event format, as :attr:`cellweave.sim.Outcome.trace`.
    window_ns : (float, float), optional
        From and to; by default everything.

    Returns
    -------
    matplotlib.figure.Figure
    """
    import matplotlib.pyplot as plt
    from matplotlib.patches import Patch

    names: dict[tuple[int, int], str] = {}
    events = []
    for e in trace["traceEvents"]:
        if e["ph"] == "M" and e["name"] == "thread_name":
            names[e["pid"], e["tid"]] = e["args"]["name"]
        elif e["ph"] == "X":
            events.append(e)
    end = max((e["ts"] + e["dur"] for e in events), default=1.0)
    low, high = (edge / 1000 for edge in window_ns) if window_ns else (0.0, end)
    seen = [e for e in events if e["ts"] < high and e["ts"] + e["dur"] > low]
    left_out = max(0, len(seen) - _MOST_BARS)
    seen = seen[:_MOST_BARS]
    # A ring's second and third track are shown in its row.
    rows = sorted({_row(e) for e in seen})
    y_of = {row: y for y, row in enumerate(rows)}
    sources = sorted({e["args"]["source"] for e in seen if e["cat"] == "packet"})
    colour = colours(sources)
    unit, per_us = ("us", 1.0) if high - low >= 2 else ("ns", 1000.0)
    fig, ax = plt.subplots(figsize=(11, 1.5 + 0.34 * max(2, len(rows))), layout="constrained")
    for row, y in y_of.items():
        mine = [e for e in seen if _row(e) == row]
        if row[0] == 0:
            for kind, fill in (("wait", _WAIT), ("compute", _COMPUTE)):
                spans = [(e["ts"] * per_us, e["dur"] * per_us) for e in mine if e["cat"] == kind]
                ax.broken_barh(spans, (y - 0.4, 0.8), facecolor=fill, edgecolor=PAPER, linewidth=0.3)
            for e in mine:
                if e["cat"] == "wait" and e["dur"] > (high - low) * 0.0085 * len(e["name"]):
                    middle = (max(e["ts"], low) + min(e["ts"] + e["dur"], high)) / 2
                    ax.text(
                        middle * per_us, y, e["name"], ha="center", va="center", fontsize=6.5, color=INK, clip_on=True
                    )
        else:
            for lane in range(3):
                packets = [e for e in mine if e["tid"] % 3 == lane]
                ax.broken_barh(
                    [(e["ts"] * per_us, e["dur"] * per_us) for e in packets],
                    (y - 0.4 + 0.27 * lane, 0.25),
                    facecolors=[colour[e["args"]["source"]] for e in packets],
                )
    several = len({pid for pid, _ in rows if pid}) > 1
    ax.set_yticks(range(len(rows)), [_label(row, names, several) for row in rows], fontsize=8)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xlim(low * per_us, high * per_us)
    ax.set_xlabel(unit)
    note = f"; {left_out} more bars are not drawn" if left_out else ""
    ax.set_title(f"programs: computing (blue), waiting; rings: packets in the colour of their source{note}", fontsize=9)
    if sources:
        handles = [Patch(color=colour[s], label=f"from {s}") for s in sources]
        fig.legend(handles=handles, loc="outside lower center", ncols=min(10, len(handles)), fontsize=7, frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return fig


def _row(event: Mapping[str, Any]) -> tuple[int, int]:
    pid = int(event["pid"])
    return (pid, int(event["tid"]) // 3 * 3 if pid else int(event["tid"]))


def _label(row: tuple[int, int], names: Mapping[tuple[int, int], str], several: bool) -> str:
    pid, tid = row
    if pid == 0:
        return names.get(row, f"unit {tid}")
    return f"ring {tid // 3}" + (f" of chip {pid - 1}" if several else "")
