"""`buffered-mpi`: MPI between SPEs. The programs run on `cellrun --on qs20`, whose ranks have that paper's protocol.

Figures 2 and 3 are curves without numbers; the text has the latency of an empty message and the highest bandwidth. All
times are read from the decrementer, as there: its ticks are 69.8 ns, and a ping-pong has 200 rounds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cellweave.reproduce.experiment import experiment
from cellweave.reproduce.facts import facts
from cellweave.reproduce.ranks import Ranks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cellweave.reproduce.bench import Bench
    from cellweave.reproduce.experiment import Found

_MACHINE = "qs20"
_CELL = 8
# The sizes of figures 2 and 3.
_SMALL = [0, *(2**i for i in range(1, 9))]
_LARGE = [2**i for i in range(10, 23)]
# `cellrun --buffered` takes no more: every message of a ping-pong is copied to a buffer.
_ALL_BUFFERED = 4 << 20
_SIZES = {512: "buffered-mpi-009", 1024: "buffered-mpi-010"}
# A matrix times a vector: two operations for each double.
_FLOPS_PER_BYTE = 2 / 8
_SPREAD = [0, 1, 2, 3, 8, 9, 10, 11]


def _pingpong(
    bench: Bench,
    sizes: Sequence[int],
    buffered: int | None = None,
    memory: str | None = None,
    place: Sequence[int] | None = None,
) -> dict[int, float]:
    """us of half a round trip, by bytes."""

    def measured() -> dict[int, float]:
        ran = Ranks(bench, _MACHINE, "pingpong").run(sizes, 2, buffered, memory, place)
        return {int(size): float(us) for size, us in (line.split() for line in ran.lines)}

    return bench.once(("pingpong", tuple(sizes), buffered, memory, tuple(place or ())), measured)


def _large(bench: Bench) -> list[int]:
    return [_LARGE[0], 4096, _LARGE[-1]] if bench.quick else _LARGE


@experiment("buffered-mpi/fig-2", _MACHINE, ["latency"])
def fig_2(bench: Bench, found: Found) -> None:
    """Figure 2: latency of a message of 0 to 256 bytes.

    A ping-pong between the ranks on SPE 0 and SPE 1, data in main memory, as in the paper; half of a round trip. Up to
    2 kB a message is copied to a buffer, unless the mode is said.
    """
    us = _pingpong(bench, _SMALL)
    ticks = us[0] / 1e6 * 14.318e6
    told = f"{ticks:.1f} ticks of the decrementer; a tick is {1e3 / 14.318:.1f} ns; 2 bytes: {us[2]:.3f} us"
    found.rows.number("buffered-mpi-001", us[0], told)
    modes = {"buffered": us, "synchronous": _pingpong(bench, _SMALL, buffered=0)}
    for mode, times in modes.items():
        for size, time in times.items():
            where, what = "buffered-mpi/fig-2", f"latency, {mode}"
            found.rows.shown(f"{where}:{mode} {size}", where, what, f"{size} bytes", time, "us")
    found.pictures["fig-2"] = {
        "kind": "curves",
        "title": f"Figure 2: latency by size (published: {facts()['buffered-mpi-001'].value} us for 0 bytes)",
        "x": list(range(len(_SMALL))),
        "x_names": [str(size) for size in _SMALL],
        "lines": {mode: list(times.values()) for mode, times in modes.items()},
        "x_label": "bytes",
        "y_label": "us",
        "linear": True,
    }


@experiment("buffered-mpi/fig-3", _MACHINE, ["bandwidth"])
def fig_3(bench: Bench, found: Found) -> None:
    """Figure 3: bandwidth of messages of 1 kB to 4 MB, in both modes.

    As figure 2. The published figure is the highest of the curve; messages above 2 kB are synchronous. *Where the modes
    cross* is the smallest message that is quicker synchronous than copied to a buffer. The paper switches at 2 kB and
    does not say what it measured there.
    """
    sizes = _large(bench)
    us = _pingpong(bench, sizes)
    gbs = {size: size / time / 1e3 for size, time in us.items()}
    best = max(gbs, key=lambda size: gbs[size])
    found.rows.number("buffered-mpi-002", gbs[best], f"at {best} bytes")
    modes = {
        "buffered": _pingpong(bench, sizes, buffered=_ALL_BUFFERED),
        "synchronous": _pingpong(bench, sizes, buffered=0),
    }
    where = "buffered-mpi/fig-3"
    lines = {"switched at 2 kB": gbs} | {
        mode: {size: size / time / 1e3 for size, time in times.items()} for mode, times in modes.items()
    }
    for name, values in lines.items():
        for size, value in values.items():
            found.rows.shown(f"{where}:{name} {size}", where, f"bandwidth, {name}", f"{size} bytes", value, "GB/s")
    small = {mode: _pingpong(bench, _SMALL, limit) for mode, limit in (("buffered", None), ("synchronous", 0))}
    both = {size: tuple({**small[mode], **modes[mode]}[size] for mode in modes) for size in (*_SMALL[1:], *sizes)}
    crossing = min((size for size, (buffered, synchronous) in both.items() if synchronous < buffered), default=0)
    told = "buffered by synchronous: " + ", ".join(f"{size} B {one / two:.2f}" for size, (one, two) in both.items())
    found.rows.shown(f"{where}:crossing", where, "where the modes cross", "", crossing, "bytes", told)
    found.pictures["fig-3"] = {
        "kind": "curves",
        "title": f"Figure 3: bandwidth by size (published: up to {facts()['buffered-mpi-002'].value} GB/s)",
        "x": sizes,
        "lines": {name: list(values.values()) for name, values in lines.items()},
        "x_label": "bytes",
        "y_label": "GB/s",
        "linear_y": True,
    }


@experiment("buffered-mpi/memories", _MACHINE)
def memories(bench: Bench, found: Found) -> None:
    """What it costs that a blade has two memories: the paper has not considered it (section 3.1).

    The ping-pong of figures 2 and 3 between two SPEs of a Cell, and between one of each Cell; data in the memory of
    each one's own Cell, in that of the first Cell only, and in pieces of 16 kB by turns in both (`cellrun --memory`).
    """
    places = {"on the first Cell": [0, 1], "on the second Cell": [8, 9], "one on each": [0, 8]}
    sizes = [0, 1024, _LARGE[-1]]
    where = "buffered-mpi/memories"
    Ranks(bench, _MACHINE, "pingpong")  # compiled once, before several start
    cases = [(name, memory) for name in places for memory in ("nearest", "one", "both")]
    measured = bench.map(lambda case: _pingpong(bench, sizes, memory=case[1], place=places[case[0]]), cases)
    for (name, memory), us in zip(cases, measured, strict=True):
        what = f"{name}, data {memory}"
        found.rows.shown(f"{where}:latency {what}", where, "latency of 1 kB", what, us[1024], "us")
        gbs = sizes[-1] / us[sizes[-1]] / 1e3
        found.rows.shown(f"{where}:bandwidth {what}", where, "bandwidth of 4 MB", what, gbs, "GB/s")


@experiment("buffered-mpi/start", _MACHINE)
def start(bench: Bench, found: Found) -> None:
    """How long ranks take to start (section 3.1): no figure was published.

    The PPE stores a structure for each rank into main memory and sends its address to the rank's mailbox; the rank gets
    the structure by DMA in MPI_Init. Then the PPE is idle. What the operating system takes to start threads is not in
    it.
    """
    program, counts = Ranks(bench, _MACHINE, "start"), [1, 2, 4, 8, 16]
    times = bench.map(lambda ranks: float(program.run((), ranks).lines[0]), counts)
    for ranks, us in zip(counts, times, strict=True):
        where = "buffered-mpi/start"
        found.rows.shown(f"{where}:{ranks}", where, "from the start to the end of MPI_Init", f"{ranks} ranks", us, "us")


@experiment("buffered-mpi/mat-vec", _MACHINE, ["mat-vec-512", "mat-vec-1024"])
def mat_vec(bench: Bench, found: Found) -> None:
    """A matrix times a vector in double precision, by rows; MPI_Allgather puts the result together.

    Pieces of the matrix come from main memory by DMA, the next while an SPE computes with the last; an SPE computes at
    its peak, an eighth of 14.64 Gflops. The published figures are compared with 8 ranks on one Cell, data in its memory
    (the paper does not say where its 8 or 16 SPEs were). Beside them: 16 ranks, 8 with 4 on each Cell (4 + 4), and data
    in one memory or both. *The most that one memory allows* is 25.6 GB/s at 0.25 operations per byte.
    """
    one, both, spread = "8 ranks, one memory", "8 ranks, both memories", "4 + 4 ranks, nearest"
    cases: dict[str, tuple[int, str, list[int] | None]] = {
        one: (_CELL, "nearest", None),
        both: (_CELL, "both", None),
        spread: (_CELL, "nearest", _SPREAD),
        "16 ranks, one memory": (2 * _CELL, "one", None),
        "16 ranks, nearest": (2 * _CELL, "nearest", None),
        "16 ranks, both memories": (2 * _CELL, "both", None),
    }
    program = Ranks(bench, _MACHINE, "matvec")
    todo = [(n, name) for n in _SIZES for name in cases]

    def measured(case: tuple[int, str]) -> float:
        ranks, memory, place = cases[case[1]]
        return float(program.run([case[0]], ranks, memory=memory, place=place).lines[0])

    gflops = dict(zip(todo, bench.map(measured, todo), strict=True))
    limit = facts()["affinity-model-002"].number() * _FLOPS_PER_BYTE
    for n, row in _SIZES.items():
        above = facts()[row].number() - limit
        told = f"the most that one memory allows: {limit:.2f}; the published figure is {abs(above):.2f} "
        told += f"{'above' if above > 0 else 'below'} that; " + ", ".join(
            f"{name} {gflops[n, name]:.2f}" for name in cases if name != one
        )
        found.rows.number(row, gflops[n, one], told)
    where = "buffered-mpi/mat-vec"
    for n, name in todo:
        what = f"matrix times vector, n = {n}"
        found.rows.shown(f"{where}:{n} {name}", where, what, name, gflops[n, name], "Gflops")
    found.rows.shown(f"{where}:limit", where, "the most that one memory allows", "any n", limit, "Gflops")
    found.pictures["mat-vec"] = {
        "kind": "curves",
        "title": "Matrix times vector: ranks and memories",
        "x": list(range(len(cases))),
        "x_names": [name.replace(", ", ",\n", 1) for name in cases],
        "lines": {f"n = {n}": [gflops[n, name] for name in cases] for n in _SIZES}
        | {f"n = {n}, published": [facts()[row].number()] * len(cases) for n, row in _SIZES.items()}
        | {"one memory's limit": [limit] * len(cases)},
        "x_label": "",
        "y_label": "Gflops",
        "linear": True,
    }
