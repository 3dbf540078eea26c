"""`dma-benchmark`: one to six SPEs of a Playstation 3 read and write main memory.

Every SPE runs that paper's Algorithms 2 and 3: started by mailbox after all have said that they are ready, `buffers`
commands in flight, its decrementer read around the loop. Bandwidth is the paper's: all bytes over the longest time.
"""

from __future__ import annotations

from functools import partial
from math import exp, log
from statistics import mean, median
from typing import TYPE_CHECKING

from cellweave.reproduce.bench import Load
from cellweave.reproduce.experiment import experiment
from cellweave.reproduce.rows import Spread

if TYPE_CHECKING:
    from collections.abc import Callable

    from cellweave.reproduce.bench import Bench
    from cellweave.reproduce.experiment import Found

_SIZES = [2**i for i in range(4, 15)]
_SPES = range(1, 7)
# Buffers of figures A.1 to A.8 (reads) and A.9 to A.16 (writes), by their captions.
_BUFFERS = (1, 3, 5, 7, 2, 4, 6, 8)
# A curve is saturated where it has this share of the largest bandwidth of its figure.
_SATURATED = 0.9

# Bandwidth by SPEs and size of one figure under one choice of hidden SPEs, GB/s.
Curves = dict[int, list[float]]


def _loads(direction: str, buffers: int, spes: range, sizes: list[int]) -> list[Load]:
    return [Load([(f"SPE{i}", "memory0", direction) for i in range(n)], size, buffers) for n in spes for size in sizes]


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
