"""The stages of every line of one DMA command, from the program's call to its data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cellweave.report.colours import INK, PAPER, colours, ink_on

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure

_LINE_BYTES = 128


@dataclass(frozen=True)
class Stage:
    """A part of a command's life; times are bus cycles."""

    row: str
    what: str
    start: int
    end: int
    waits: bool = False


def stages_of_get(numbers: Mapping[str, int], trace: Mapping[str, Any], bytes: int, memory: bool) -> list[Stage]:
    """The stages of the only get in a traced run without other traffic.

    Parameters
    ----------
    numbers : mapping
        The machine's parameters.
    trace : mapping
        The trace of a run whose only program got `bytes` (at the start of a line) and waited for them.
    memory : bool
        From main memory of the same chip, rather than from a local store.
    """
    cycle_us = 0.000625
    packets = sorted(
        (round(e["ts"] / cycle_us), round((e["ts"] + e["dur"]) / cycle_us), e["name"])
        for e in trace["traceEvents"]
        if e.get("cat") == "packet"
    )
    issued = numbers["spu.dma"]
    ready = issued + numbers["mfc.to_bus"]
    found = [Stage("program", "issue", 0, issued), Stage("MFC", "queue to bus", issued, ready)]
    interval = max(numbers["bus.command_interval"], numbers["mfc.line_interval"])
    bus_free = arrived = 0
    for i, (start, end, way) in enumerate(packets):
        row, command = f"line {i}", ready + i * interval
        answered = command + numbers["bus.coherence"]
        if memory:
            bus_free = max(bus_free, answered)
            there = bus_free + numbers["memory.latency"]
            bus_free += numbers["memory.line"]
        else:
            there = answered + numbers["bus.source"]
        arrived = end + numbers["bus.sink"]
        found += [
            Stage(row, "command and its answer", command, answered),
            Stage(row, "memory" if memory else "to the source's ramp", answered, there),
            Stage(row, "waits for the ring", there, start, waits=True),
            Stage(row, f"on a ring: {way}", start, end),
            Stage(row, "into the local store", end, arrived),
        ]
    lines = -(-bytes // _LINE_BYTES)
    assert len(packets) == lines, f"{len(packets)} packets for {lines} lines"
    done = arrived + numbers["spu.tag_status"]
    return [
        *found,
        Stage("program", "waits for the tag group", issued, arrived, waits=True),
        Stage("program", "tag status", arrived, done),
    ]


def draw_stages(stages: list[Stage], cycle_ps: int) -> Figure:
    """Draw a row for the program, the MFC and each line, and a bar for each stage.

    Parameters
    ----------
    stages : list of Stage
        As :func:`stages_of_get` makes them.
    cycle_ps : int
        A bus cycle.

    Returns
    -------
    matplotlib.figure.Figure
    """
    import matplotlib.pyplot as plt
    from matplotlib.patches import Patch

    rows = list(dict.fromkeys(stage.row for stage in stages))
    kinds = list(dict.fromkeys(stage.what for stage in stages))
    waits = {stage.what for stage in stages if stage.waits}
    fills = colours([kind for kind in kinds if kind not in waits])
    fills.update(dict.fromkeys(waits, "#E3DFD6"))
    end = max(stage.end for stage in stages)
    fig, ax = plt.subplots(figsize=(11, 1.4 + 0.42 * len(rows)), layout="constrained")
    for stage in stages:
        if stage.end == stage.start:
            continue
        y, wide = rows.index(stage.row), stage.end - stage.start
        ax.barh(
            y,
            wide * cycle_ps / 1000,
            left=stage.start * cycle_ps / 1000,
            color=fills[stage.what],
            edgecolor=PAPER,
            lw=0.5,
        )
        text = f"{wide * cycle_ps / 1000:.3g} ns"
        if wide > 0.012 * len(text) * end:
            middle = (stage.start + wide / 2) * cycle_ps / 1000
            ax.text(middle, y, text, ha="center", va="center", fontsize=7, color=ink_on(fills[stage.what]))
    ax.set_yticks(range(len(rows)), rows)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_xlim(0, end * cycle_ps / 1000 * 1.005)
    ax.set_xlabel("ns")
    ax.set_title(f"from the call to the tag status: {end * cycle_ps / 1000:.1f} ns", fontsize=10, color=INK)
    handles = [Patch(color=fills[kind], label=kind) for kind in kinds]
    fig.legend(handles=handles, loc="outside lower center", ncols=4, fontsize=7.5, frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return fig
