"""`dma-benchmark`: one to six SPEs of a Playstation 3 read and write main memory.

Every SPE runs that paper's Algorithms 2 and 3: started by mailbox after all have said that they are ready, `buffers`
commands in flight, its decrementer read around the loop. Bandwidth is the paper's: all bytes over the longest time.

The loop of that program costs time of its own. :data:`LOOP` counts it, instruction by instruction. It belongs to the
program, not to the machine: other experiments on the same machine have other programs.
"""

from __future__ import annotations

from functools import partial
from math import exp, log
from statistics import mean, median
from typing import TYPE_CHECKING, Any

from cellweave import sim
from cellweave.reproduce import verdict
from cellweave.reproduce.bench import LARGE_BYTES, Load
from cellweave.reproduce.experiment import experiment
from cellweave.reproduce.rows import Spread

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from cellweave.reproduce.bench import Bench
    from cellweave.reproduce.experiment import Found

# The SPU cycles that a pass of the loop in Algorithm 2 takes beside its channel commands, which are parameters of the
# machine. A read of MFC_RdTagStat stops the SPU until it is answered: what comes after it is serial with the transfer.
# Latencies by class: "Cell Broadband Engine Programming Tutorial", IBM SDK 3.0, table "SPU Instruction Latency and
# Pipeline, by Instruction Class". Counted along the dependences of
#     ls = buffers + i * size;  ea = ea + size, back to the start at the end of the buffer;  next i, its mask;  branch
# What runs beside a longer chain (the effective address) costs nothing. That the branch is not hinted is an assumption;
# hinted it would cost nothing, and a pass 21 cycles. Every count from 21 to 120 gives the published saturation at 256
# bytes with 8 buffers.
LOOP = {
    "mpyu: number of the buffer times size (floating-point integer class)": 7,
    "a: local store address (simple fixed-point)": 2,
    "ai: next buffer (simple fixed-point)": 2,
    "ceq: is it the last? (simple fixed-point)": 2,
    "selb: then the first (simple fixed-point)": 2,
    "shl: its tag mask (word shift)": 4,
    "clgt: more transfers to do? (simple fixed-point)": 2,
    "brnz: branch to the start, not hinted (penalty of a misprediction)": 18,
}
LOOP_CYCLES = sum(LOOP.values())

_SIZES = [2**i for i in range(4, 15)]
_SPES = range(1, 7)
# Buffers of figures A.1 to A.8 (reads) and A.9 to A.16 (writes), by their captions.
_BUFFERS = (1, 3, 5, 7, 2, 4, 6, 8)
# Not faster: by at most this.
_ABOUT = 1.02
# A curve is saturated where it has this share of the largest bandwidth of its figure.
_SATURATED = 0.9

# Bandwidth by SPEs and size of one figure under one choice of hidden SPEs, GB/s.
Curves = dict[int, list[float]]


def _loads(direction: str, buffers: int, spes: range, sizes: list[int]) -> list[Load]:
    return [_load([direction] * n, size, buffers) for n in spes for size in sizes]


def _load(directions: Sequence[str], size: int, buffers: int, **how: Any) -> Load:
    """SPE i and main memory, in direction i, by that paper's program."""
    transfers = [(f"SPE{i}", "memory0", direction) for i, direction in enumerate(directions)]
    return Load(transfers, size, buffers, loop_cycles=LOOP_CYCLES, **how)


def _curves(bench: Bench, direction: str, buffers: int, hidden: tuple[int, int]) -> Curves:
    """A figure: a curve for each number of SPEs."""
    measured = bench.loads("ps3", _loads(direction, buffers, _SPES, _SIZES), hidden)
    gbs = [m.ticked_gbs for m in measured]
    return {n: gbs[i * len(_SIZES) : (i + 1) * len(_SIZES)] for i, n in enumerate(_SPES)}


def _figure(bench: Bench, direction: str, buffers: int) -> list[Curves]:
    """A figure for every choice of hidden SPEs."""

    def measure() -> list[Curves]:
        return bench.map(lambda hidden: _curves(bench, direction, buffers, hidden), bench.hidden())

    return bench.once(("dma-benchmark", direction, buffers), measure)


def _over(bench: Bench, figures: list[Curves], value: Callable[[Curves], float]) -> Spread:
    return Spread([value(curves) for curves in figures], bench.over_hidden())


def _top(curves: Curves) -> float:
    """The largest bandwidth of a figure."""
    return max(max(curve) for curve in curves.values())


def _saturation(curves: Curves, n: int) -> float:
    """The smallest size at which `n` SPEs have 90 % of the figure's largest bandwidth, or the largest size."""
    enough = _SATURATED * _top(curves)
    return float(next((size for size, gbs in zip(_SIZES, curves[n], strict=True) if gbs >= enough), _SIZES[-1]))


def _geometric(values: list[float]) -> float:
    return float(exp(mean(log(v) for v in values)))


def _draw(number: int, direction: str, buffers: int, bench: Bench, found: Found) -> None:
    figures = _figure(bench, direction, buffers)
    name = f"fig-A.{number}"
    lines = {}
    for n in _SPES:
        label = "1 SPE" if n == 1 else f"{n} SPEs"
        columns = list(zip(*(curves[n] for curves in figures), strict=True))
        lines[label] = [median(column) for column in columns]
        for size, column in zip(_SIZES, columns, strict=True):
            spread = Spread(column, bench.over_hidden())
            where = f"dma-benchmark/{name}"
            what = f"DMA {direction} bandwidth, {buffers} in flight"
            case = f"{label}, {size} bytes"
            found.rows.shown(f"{where}:{n}x{size}", where, what, case, spread.median, "GB/s", spread.detail())
    requests = "1 request" if buffers == 1 else f"{buffers} requests"
    verb = "read" if direction == "get" else "write"
    found.notes.append(f"median over {bench.over_hidden()}")
    found.pictures[name] = {
        "kind": "curves",
        "title": f"Figure A.{number}: DMA {verb} bandwidth, {requests} in flight",
        "x": _SIZES,
        "lines": lines,
        "x_label": "bytes of a DMA command",
        "y_label": "GB/s together",
    }


def _enter_figures() -> None:
    """Figures A.1 to A.16. Their points were not published, so their rows have no vote."""
    for first, direction in ((1, "get"), (9, "put")):
        for i, buffers in enumerate(_BUFFERS):
            run = partial(_draw, first + i, direction, buffers)
            verb = "Read" if direction == "get" else "Write"
            run.__doc__ = (
                f"Figure A.{first + i}: {verb} bandwidth of 1 to 6 SPEs, {buffers} in flight, 16 bytes to 16 kB.\n\n"
                "Its points were not published: the curves are the simulator's, the median over choices of hidden SPEs."
            )
            experiment(f"dma-benchmark/fig-A.{first + i}", "ps3")(run)


_enter_figures()


@experiment("dma-benchmark/mailbox", "ps3", ["mailbox"])
def mailbox(bench: Bench, found: Found) -> None:
    """A message from an SPE to the PPE by mailbox.

    From when the SPE writes its outbound mailbox to when the PPE, which waits for it, has the value; mean of 10
    messages and of the six SPEs.
    """
    values = bench.map(lambda hidden: bench.program("mailbox", "ps3", {"times": 10}, hidden)["ns"], bench.hidden())
    found.rows.number("dma-benchmark-012", Spread(values, bench.over_hidden()))


@experiment("dma-benchmark/one-buffer", "ps3", ["half", "write-twice", "saturation-1-buffer", "no-overhead"])
def one_buffer(bench: Bench, found: Found) -> None:
    """What the text says of one buffer (figures A.1 and A.9).

    *Half*: one SPE's read bandwidth at 16 kB by the largest of the figure. *Twice*: write by read bandwidth of 1 and 2
    SPEs, geometric mean over the sizes. *Saturation*: the smallest size at which 6 SPEs have 90 % of the figure's
    largest bandwidth. *No overhead*: what 6 SPEs lose at 16 kB against the best number of SPEs.
    """
    get, put = (_figure(bench, direction, 1) for direction in ("get", "put"))
    found.rows.number("dma-benchmark-018", _over(bench, get, lambda c: c[1][-1] / _top(c)), pivot=1.0)
    pairs = list(zip(put, get, strict=True))

    def gain(n: int) -> list[float]:
        return [_geometric([p / g for p, g in zip(w[n], r[n], strict=True)]) for w, r in pairs]

    one, two = gain(1), gain(2)
    told = f"1 SPE {median(one):.2f}, 2 SPEs {median(two):.2f}"
    both = Spread([_geometric([a, b]) for a, b in zip(one, two, strict=True)], bench.over_hidden())
    found.rows.number("dma-benchmark-019", both, told, pivot=1.0)
    found.rows.number("dma-benchmark-020", _over(bench, get, lambda c: _saturation(c, 6)))
    loss = _over(bench, get, lambda c: 100 * (1 - c[6][-1] / max(curve[-1] for curve in c.values())))
    found.rows.number("dma-benchmark-024", loss)


@experiment("dma-benchmark/several-buffers", "ps3", ["four-buffers", "saturation-4-buffers", "saturation-8-buffers"])
def several_buffers(bench: Bench, found: Found) -> None:
    """What the text says of multi-buffering (figures A.1, A.6 and A.8).

    *Four buffers*: one SPE's read bandwidth with 4 buffers by that with 1, geometric mean over 16 bytes to 1 kB.
    *Saturation*: the smallest size with 90 % of the figure's largest bandwidth; with 4 buffers the median over 2 to 6
    SPEs ("depending on the number of SPEs"), with 8 buffers that of 6 SPEs. A figure more than 25 % off has the same
    direction where it lies below the published 2 kB of one buffer.
    """
    one, four, eight = (_figure(bench, "get", buffers) for buffers in (1, 4, 8))
    small = [i for i, size in enumerate(_SIZES) if size <= 1024]
    gains = [[f[1][i] / o[1][i] for i in small] for f, o in zip(four, one, strict=True)]
    told = f"by size {min(map(min, gains)):.2f} .. {max(map(max, gains)):.2f}"
    found.rows.number("dma-benchmark-021", Spread([_geometric(g) for g in gains], bench.over_hidden()), told, pivot=1.0)
    sizes = [median(_saturation(c, n) for c in four) for n in _SPES if n > 1]
    told = "with 2 to 6 SPEs: " + ", ".join(f"{size:.0f}" for size in sizes)
    several = _over(bench, four, lambda c: median(_saturation(c, n) for n in _SPES if n > 1))
    found.rows.number("dma-benchmark-022", several, told, pivot=2048.0)
    found.rows.number("dma-benchmark-023", _over(bench, eight, lambda c: _saturation(c, 6)), pivot=2048.0)


def _together(bench: Bench, loads: Sequence[Load], hidden: tuple[int, int]) -> list[float]:
    """GB/s of each load by the decrementer, under a choice of hidden SPEs."""
    return [m.ticked_gbs for m in bench.loads("ps3", loads, hidden)]


@experiment("dma-benchmark/alternating", "ps3")
def alternating(bench: Bench, found: Found) -> None:
    """Section 5: reads and writes in turn, from all SPEs at the same time.

    The paper proposes it and has no figures: under which conditions does the memory controller carry the most? One to
    six SPEs with 1 and with 8 buffers of 16 kB, all reading, all writing, or each reading and writing in turn.
    """
    ways = {"read": "get", "write": "put", "in turn": "alternating"}
    cases = [(name, buffers) for buffers in (1, 8) for name in ways]
    loads = [_load([ways[name]] * n, LARGE_BYTES, buffers) for name, buffers in cases for n in _SPES]
    each = bench.map(partial(_together, bench, loads), bench.hidden())
    columns = [Spread(column, bench.over_hidden()) for column in zip(*each, strict=True)]
    where, what = "dma-benchmark/alternating", "bandwidth with main memory, 16 kB"
    lines: dict[str, list[float]] = {}
    for i, (name, buffers) in enumerate(cases):
        own = columns[i * len(_SPES) : (i + 1) * len(_SPES)]
        label = f"{name}, {buffers} in flight"
        lines[label] = [spread.median for spread in own]
        for n, spread in zip(_SPES, own, strict=True):
            case = f"{label}, {n} SPEs"
            found.rows.shown(f"{where}:{name} {n}x{buffers}", where, what, case, spread.median, "GB/s", spread.detail())
    found.pictures["alternating"] = {
        "kind": "curves",
        "title": "Section 5: reads, writes, and both in turn; 16 kB",
        "x": list(_SPES),
        "lines": lines,
        "x_label": "SPEs",
        "y_label": "GB/s together",
        "linear": True,
    }


@experiment("dma-benchmark/computing", "ps3")
def computing(bench: Bench, found: Found) -> None:
    """Section 5: computing while transfers go on.

    The paper proposes it and has no figures. One SPE reads commands of 16 kB with 1, 2 and 4 buffers and computes on
    each for as long as 0 to 4 such transfers take at full rate. With one buffer, computing and transferring take turns.
    With more, the shorter of the two hides behind the longer.
    """
    one_ns = LARGE_BYTES / 25.6
    shares = [i / 4 for i in range(17)]
    buffers = (1, 2, 4)
    loads = [_load(["get"], LARGE_BYTES, b, compute_ns=round(share * one_ns)) for b in buffers for share in shares]
    each = bench.map(partial(_together, bench, loads), bench.hidden())
    columns = [Spread(column, bench.over_hidden()) for column in zip(*each, strict=True)]
    where, what = "dma-benchmark/computing", "read bandwidth of an SPE that computes on every 16 kB"
    lines: dict[str, list[float]] = {}
    for i, b in enumerate(buffers):
        own = columns[i * len(shares) : (i + 1) * len(shares)]
        label = "1 buffer" if b == 1 else f"{b} buffers"
        lines[label] = [spread.median for spread in own]
        for share, spread in zip(shares, own, strict=True):
            case = f"{label}, computing {share:g} times a transfer"
            found.rows.shown(f"{where}:{b}x{share:g}", where, what, case, spread.median, "GB/s", spread.detail())
    found.pictures["computing"] = {
        "kind": "curves",
        "title": "Section 5: bandwidth of one SPE that computes on what it reads",
        "x": shares,
        "lines": lines,
        "x_label": "computing, in times of a transfer of 16 kB at 25.6 GB/s",
        "y_label": "GB/s",
        "linear": True,
    }


# From one read to the next, for the rule on alignment: room for the bytes and for being off by less than a line.
_SLOT_BYTES = 32768


def _read_ns(bench: Bench, hidden: tuple[int, int], size: int, off: int, ls_off: int) -> float:
    """Time of a read of main memory by each of six SPEs, all `off` bytes after the start of a line."""
    times = 32

    def reader(spe: sim.Spe, source: int) -> Generator[Any, Any, None]:
        ls = yield spe.alloc(4 * _SLOT_BYTES, 128)
        for i in range(times):
            tag = i % 4
            yield spe.tags_all(1 << tag)
            yield spe.get(ls + tag * _SLOT_BYTES + ls_off, source + off + tag * _SLOT_BYTES, size, tag)
        yield spe.tags_all(0b1111)

    cell = sim.Cell("ps3", rules=bench.rules, hidden=hidden)
    source = cell.allocate(0, 4 * _SLOT_BYTES, 128)
    for i in _SPES:
        cell.spe(i - 1, reader, source)
    return cell.run().elapsed_ns / times


@experiment("dma-benchmark/rules", "ps3", ["rules"])
def rules_of_thumb(bench: Bench, found: Found) -> None:
    """Section 6: the rules for fast DMA transfers, each as a direction.

    *Banks*: six SPEs read lines of 128 bytes faster from all banks than from one. *Alignment*: six SPEs read 128 bytes,
    and 1 kB, slower where the effective address is 16 bytes after the start of a line, and where the local store
    address is. *Small transfers*: six SPEs with 8 buffers do not read 16 bytes more often than a line. *Initiator*: an
    SPE writes 16 kB to main memory faster, four commands in flight, than the PPE reads it through the proxy queue.
    *Cache*: lines that are in the PPE's cache come with less latency (one SPE, one buffer) and less bandwidth
    (six SPEs, 8 buffers of 16 kB) than from main memory. The rule on TLB misses is not here: translation costs nothing
    by default.
    """
    six = ["get"] * 6
    loads = {
        "all banks": _load(six, 128, 8, repeats=512),
        "one bank": _load(six, 128, 8, repeats=512, walk="one-bank"),
        "16 bytes": _load(six, 16, 8, repeats=512),
        "128 bytes": _load(six, 128, 8, repeats=512),
        "by the SPE": _load(["put"], LARGE_BYTES, 4),
        "by the PPE": Load([("PPE0", "SPE0", "get")], LARGE_BYTES, 4),
        "memory, one": _load(["get"], 128, 1),
        "cache, one": _load(["get"], 128, 1, walk="cached"),
        "memory, six": _load(six, LARGE_BYTES, 8),
        "cache, six": _load(six, LARGE_BYTES, 8, walk="cached"),
    }
    cases = {"aligned": (0, 0), "off in memory": (16, 0), "off in the local store": (0, 16)}

    def one(hidden: tuple[int, int]) -> dict[str, float]:
        measured = dict(zip(loads, bench.loads("ps3", list(loads.values()), hidden), strict=True))
        told = {name: m.gbs for name, m in measured.items()}
        told |= {f"{name} ns": m.latency_ns for name, m in measured.items()}
        for size in (128, 1024):
            told |= {f"{size} {name}": _read_ns(bench, hidden, size, *off) for name, off in cases.items()}
        return told

    each = bench.map(one, bench.hidden())
    at = {name: median(told[name] for told in each) for name in each[0]}

    def rule(name: str, what: str, better: float, worse: float, unit: str, holds: bool) -> None:
        told = f"{better:.6g} beside {worse:.6g} {unit}; median over {bench.over_hidden()}"
        judged = verdict.claim(holds)
        found.rows.structure("dma-benchmark/rules", f":{name}", what, "", "yes", better / worse, "ratio", judged, told)

    banks, bank = at["all banks"], at["one bank"]
    rule("banks", "bandwidth of all banks by that of one", banks, bank, "GB/s", banks > bank)
    for size in (128, 1024):
        for name in list(cases)[1:]:
            off, on = at[f"{size} {name}"], at[f"{size} aligned"]
            what = f"time of {size} bytes, 16 bytes {name}, by that of aligned ones"
            rule(f"alignment {size} {name}", what, off, on, "ns", off > on)
    small, line = at["16 bytes"] / 16, at["128 bytes"] / 128
    what = "transfers/s of 16 bytes by those of a line"
    rule("small", what, 1e3 * small, 1e3 * line, "M/s", small <= _ABOUT * line)
    spe, ppe = at["by the SPE"], at["by the PPE"]
    rule("initiator", "bandwidth that an SPE starts by what a PPE starts", spe, ppe, "GB/s", spe > ppe)
    memory, cache = at["memory, one ns"], at["cache, one ns"]
    rule("cache latency", "latency of main memory by that of the PPE's cache", memory, cache, "ns", memory > cache)
    memory, cache = at["memory, six"], at["cache, six"]
    what = "bandwidth of main memory by that of the PPE's cache"
    rule("cache bandwidth", what, memory, cache, "GB/s", memory > cache)
