"""What a machine file says of hand-overs between cpus, and of cpus that slow each other down: tables and pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cellweave.report.colours import INK, WARNING, colours
from cellweave.report.places import size_text
from cellweave.report.table import Table
from cellweave.report.units import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

Data = dict[str, Any]

_MOST_GROUPS = 12  # groups of cpus that are listed and drawn; those that slow each other down most come first
_MOST_LINES = 5  # more lines than this in a small picture cannot be told apart


def _shared(curve: Data) -> str:
    what = curve["shares"]
    if what == "nothing":
        return "cpus that share nothing but memory"
    return f"cpus that share {'an ' + what.upper() if what in ('l2', 'l3') else 'a ' + what}"


def handover_tables(machine: Data) -> list[Table]:
    """A table per curve of hand-overs, and one of cpus that slow each other down."""
    tables = []
    for curve in machine.get("handovers") or []:
        table = Table(
            f"hand-overs between {_shared(curve)}: ns per line of 64 bytes",
            ["at once", ">near", ">one way", ">in a ring of", ">worst", ">both ways", ">in a ring of"],
        )
        for best in curve["best"]:
            points = [p for p in curve["points"] if p["bytes"] == best["bytes"]]
            table.rows.append(
                [
                    size_text(best["bytes"]),
                    number(points[0]["near_line_ns"]),
                    number(best["alone_line_ns"]),
                    size_text(best["alone_ring_bytes"]),
                    number(max(p["alone_line_ns"] for p in points)),
                    number(best["both_line_ns"]),
                    size_text(best["both_ring_bytes"]),
                ]
            )
        tables.append(table)
    groups = _groups(machine)
    if groups:
        slower = Table(
            "cpus that compute at the same time: how many times longer each takes, and the cpus that they make up",
            ["cpus", ">computing", ">memory", ">cpus in all"],
        )
        for g in groups:
            numbers = [f"{g['computing']:.2f}", f"{g['memory']:.2f}", number(g["cpus"])]
            slower.rows.append([_names(g), *numbers])
        hidden = [_names(g) for g in machine["together"] if g["hidden_siblings"]]
        if hidden:
            most = "; ".join(hidden[:_MOST_GROUPS])
            slower.notes.append(f"hidden siblings, which share a core although the topology shows two: {most}")
        left = len(machine["together"]) - len(groups)
        if left:
            slower.notes.append(f"and {left} more groups that slow each other down less")
        tables.append(slower)
    return tables


def _groups(machine: Data) -> list[Data]:
    found = sorted(machine.get("together") or [], key=lambda g: -float(g["computing"]))
    return found[:_MOST_GROUPS]


def _names(group: Data) -> str:
    names = group["elements"]
    return f"{names[0]} .. {names[-1]}" if len(names) > 4 else ", ".join(names)


def draw_handovers(axes: list[Axes], machine: Any) -> None:
    """Draw a curve on each of the axes, and the slowdowns on the last; see :func:`panels`."""
    curves = machine.get("handovers") or []
    for ax, curve in zip(axes, curves, strict=False):
        _draw_curve(ax, curve)
    if machine.get("together"):
        _draw_groups(axes[-1], _groups(machine))


def panels(machine: Any) -> int:
    """How many axes :func:`draw_handovers` needs."""
    return len(machine.get("handovers") or []) + bool(machine.get("together"))


def _draw_curve(ax: Axes, curve: Data) -> None:
    """ns per line by the bytes of the ring, a colour per size; data in both directions are dashed."""
    sizes = sorted({p["bytes"] for p in curve["points"]})
    step = -(-len(sizes) // _MOST_LINES)
    shown = sizes[::step] if len(sizes) > 1 else sizes
    shades = colours([size_text(s) for s in shown])
    for size in shown:
        points = [p for p in curve["points"] if p["bytes"] == size]
        rings = [p["ring_bytes"] for p in points]
        shade = shades[size_text(size)]
        ax.plot(rings, [p["alone_line_ns"] for p in points], "-o", ms=3, color=shade, label=size_text(size))
        ax.plot(rings, [p["both_line_ns"] for p in points], "--", lw=1, color=shade)
    rings = sorted({p["ring_bytes"] for p in curve["points"]})
    ax.set_xscale("log", base=2)
    ax.set_xticks(rings, [size_text(r) for r in rings], rotation=45, fontsize=7, ha="right")
    ax.minorticks_off()
    _from_zero(ax.yaxis, max(max(p["alone_line_ns"], p["both_line_ns"]) for p in curve["points"]))
    ax.tick_params(axis="y", labelsize=7)
    ax.set_xlabel("ring; dashed: data go both ways", fontsize=8)
    ax.set_ylabel("ns per line", fontsize=8)
    ax.set_title(f"hand-overs, {_shared(curve)}", fontsize=9, color=INK)
    ax.grid(alpha=0.3)
    ax.legend(title="at once", title_fontsize=7, fontsize=7, frameon=False)
    ax.spines[["top", "right"]].set_visible(False)


def _from_zero(axis: Axis, most: float) -> None:
    """From 0 to a little beyond `most`, with ticks in between."""
    from matplotlib.ticker import MaxNLocator

    end = 1.08 * most
    axis.set_ticks([tick for tick in MaxNLocator(6).tick_values(0, end) if 0 <= tick <= end])
    axis.set_view_interval(0, end, ignore=True)


def _draw_groups(ax: Axes, groups: list[Data]) -> None:
    """How many times longer cpus take while all of a group compute, and walk through memory."""
    shades = colours(["computing", "memory"])
    for at, word in ((-0.2, "computing"), (0.2, "memory")):
        places = [i + at for i in range(len(groups))]
        ax.barh(places, [g[word] for g in groups], height=0.36, color=shades[word], label=word)
    ax.axvline(1.0, color=INK, lw=0.8)
    names = [_names(g) + ("\none core, hidden" if g["hidden_siblings"] else "") for g in groups]
    ax.set_yticks(range(len(groups)), names, fontsize=7)
    for label, group in zip(ax.get_yticklabels(), groups, strict=True):
        label.set_color(WARNING if group["hidden_siblings"] else INK)
    ax.set_ylim(max(len(groups), 3) - 0.5, -0.5)
    _from_zero(ax.xaxis, max(max(g["computing"], g["memory"]) for g in groups))
    ax.tick_params(axis="x", labelsize=7)
    ax.set_xlabel("times as long as alone", fontsize=8)
    ax.set_title("cpus at the same time", fontsize=9, color=INK)
    ax.legend(fontsize=7, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=2)
    ax.spines[["top", "right"]].set_visible(False)
