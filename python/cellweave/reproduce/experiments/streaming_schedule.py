"""`streaming-schedule`, section 3.1 and appendix A: single transfers, the two Cells of a QS22, and contention."""

from __future__ import annotations

from random import Random
from statistics import mean
from typing import TYPE_CHECKING

from cellweave.machine import Machine
from cellweave.reproduce import verdict
from cellweave.reproduce.bench import LARGE_BYTES, Load, puts, reads
from cellweave.reproduce.experiment import experiment
from cellweave.reproduce.facts import facts, matrix
from cellweave.reproduce.patterns import (
    FAR,
    NEAR,
    Pairs,
    derangement,
    pairs_with_repeats,
    permutation_without_fixed,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from cellweave.reproduce.bench import Bench, Measured
    from cellweave.reproduce.experiment import Found

_SPES = 8  # of one Cell
_TIMES = 10  # each test is repeated 10 times there
_SMALL_BYTES = 8  # the smallest transfer there
_TICK_NS = 37.5  # of the QS22's time base


def _single(reader: int, source: int, size: int) -> Load:
    """One transfer at a time, alone."""
    return Load(reads((reader, source)), size, 1, _TIMES)


@experiment("streaming-schedule/fig-3", "qs22", ["fig-3"])
def fig_3(bench: Bench, found: Found) -> None:
    """Figure 3: data transfer time between two SPEs of the same Cell.

    SPE1 reads from SPE3's local store, one command at a time, 8 bytes to 16 kB; time by the decrementer, whose tick is
    37.5 ns (mean of 10), and exactly. Latency is the time of 8 bytes by the decrementer. Bandwidth is that of a large
    transfer (commands of 16 kB, as many in flight as half a local store holds); one command of 16 kB alone, start
    included, is in the detail.
    """
    sizes = [2**i for i in range(3, 15)]
    measured = bench.loads("qs22", [_single(1, 3, size) for size in sizes])
    large = bench.load("qs22", Load(reads((1, 3))))
    alone = measured[-1]
    exact = [m.latency_ns for m in measured]
    found.rows.number("streaming-schedule-008", measured[0].ticked_ns(_TIMES), f"{exact[0]:.1f} ns exactly")
    found.rows.number(
        "streaming-schedule-009", large.gbs, f"one command of 16 kB alone, start included: {alone.gbs:.1f} GB/s"
    )
    found.pictures["fig-3"] = {
        "kind": "curves",
        "title": "Figure 3: time of one transfer between two SPEs of a Cell",
        "x": sizes,
        "lines": {"by the decrementer": [m.ticked_ns(_TIMES) for m in measured], "exactly": exact},
        "x_label": "bytes",
        "y_label": "ns",
    }


def _cross() -> list[tuple[int, int]]:
    """Every reader and source on different Cells."""
    return [(r, s) for r in range(2 * _SPES) for s in range(2 * _SPES) if (r < _SPES) != (s < _SPES)]


def _by_reader(values: dict[tuple[int, int], float], chip: int) -> float:
    return mean(v for (r, _), v in values.items() if r // _SPES == chip)


@experiment("streaming-schedule/cross", "qs22", ["cross-latency", "cross-bandwidth"])
def cross(bench: Bench, found: Found) -> None:
    """A single transfer between the two Cells, in either direction.

    All 128 pairs; the mean over the 64 of each direction. Latency: 8 bytes, by the decrementer, mean of 10.
    Bandwidth: a large transfer.
    """
    pairs = _cross()
    small = dict(zip(pairs, bench.many("qs22", [_single(r, s, _SMALL_BYTES) for r, s in pairs]), strict=True))
    large = dict(zip(pairs, bench.many("qs22", [Load(reads(p)) for p in pairs]), strict=True))
    ticked = {p: m.ticked_ns(_TIMES) for p, m in small.items()}
    exact = {p: m.latency_ns for p, m in small.items()}
    gbs = {p: m.gbs for p, m in large.items()}
    for row, chip in (("streaming-schedule-010", 0), ("streaming-schedule-012", 1), ("streaming-schedule-014", 0)):
        found.rows.number(row, _by_reader(ticked, chip), f"{_by_reader(exact, chip):.1f} ns exactly; 64 pairs")
    stated = (
        ("streaming-schedule-011", "streaming-schedule-015"),
        ("streaming-schedule-013", "streaming-schedule-016"),
    )
    said = [[facts()[row].value for row in rows] for rows in stated]
    for row, chip in (
        ("streaming-schedule-011", 0),
        ("streaming-schedule-013", 1),
        ("streaming-schedule-015", 0),
        ("streaming-schedule-016", 1),
    ):
        found.rows.number(row, _by_reader(gbs, chip), f"64 pairs; the paper says {' and '.join(said[chip])}")


class _Matrix:
    """A table of the two Cells, ``[reader][source]``, by its parts."""

    def __init__(self, cells: list[list[float]]) -> None:
        self.cells = cells

    def part(self, reader: int, source: int) -> list[float]:
        """The part of a table where SPEs of one Cell read from a Cell."""
        rows = self.cells[reader * _SPES : (reader + 1) * _SPES]
        return [cell for row in rows for cell in row[source * _SPES : (source + 1) * _SPES]]

    def own(self) -> list[float]:
        """Both Cells among themselves."""
        return self.part(0, 0) + self.part(1, 1)

    def cross(self) -> list[float]:
        """Both Cells from each other."""
        return self.part(0, 1) + self.part(1, 0)


def _tables(found: Found, name: str, quantity: str, unit: str, obtained: _Matrix, near: float | None) -> None:
    """Compare a matrix with the published one by structure: own chip, cross-chip, and which direction is slower."""
    published = _Matrix(matrix(quantity))
    group = f"streaming-schedule/{name}"

    def average(part: str, suffix: str, what: str, p: list[float], o: list[float]) -> None:
        judged = verdict.number(mean(p), mean(o))
        told = f"{len(p)} entries"
        found.rows.structure(f"{group}-{part}", suffix, f"{quantity}: {what}", told, mean(p), mean(o), unit, judged, "")

    def within(part: str, p: list[float], o: list[float]) -> None:
        assert near is not None
        count = sum(abs(a - b) <= near for a, b in zip(p, o, strict=True))
        share = 100.0 * count / len(p)
        judged = verdict.number(100.0, share)
        what = f"{quantity}: entries within one tick ({near} ns) of the published"
        told = f"{count} of {len(p)} entries"
        found.rows.structure(f"{group}-{part}", ":tick", what, "", "all", share, "percent", judged, told)

    average("own-chip", ":mean", "mean on the same Cell", published.own(), obtained.own())
    for chip in (0, 1):
        what = f"mean of Cell{chip} reading from Cell{1 - chip}"
        average("cross-chip", f":{chip}", what, published.part(chip, 1 - chip), obtained.part(chip, 1 - chip))
    if near is not None:
        within("own-chip", published.own(), obtained.own())
        within("cross-chip", published.cross(), obtained.cross())
    means = [[mean(table.part(chip, 1 - chip)) for chip in (0, 1)] for table in (published, obtained)]
    slower = [1 if (m[1] > m[0]) == (unit == "ns") else 0 for m in means]
    told = f"Cell0 reading {means[1][0]:.4g} {unit}, Cell1 reading {means[1][1]:.4g} {unit}"
    holds = verdict.claim(slower[0] == slower[1] and means[1][0] != means[1][1])
    words = [f"Cell{chip} reading" for chip in slower]
    found.rows.structure(
        f"{group}-direction", "", f"{quantity}: the slower direction", "", words[0], words[1], "", holds, told
    )
    found.pictures[name] = {
        "kind": "matrices",
        "title": f"{name.replace('-', ' ').capitalize()}: {quantity.partition(' ')[2]}, row: who reads",
        "unit": unit,
        "published": published.cells,
        "obtained": obtained.cells,
    }


def _all_pairs() -> Pairs:
    return [(r, s) for r in range(2 * _SPES) for s in range(2 * _SPES)]


def _square(
    bench: Bench, load: Callable[[int, int], Load], value: Callable[[Measured], float], own: Callable[[int], float]
) -> _Matrix:
    """A matrix of single transfers; an SPE's reads from its own local store are a program of their own."""
    pairs = _all_pairs()
    others = [pair for pair in pairs if pair[0] != pair[1]]
    found = dict(zip(others, map(value, bench.many("qs22", [load(*pair) for pair in others])), strict=True))
    for spe, cell in enumerate(bench.map(own, range(2 * _SPES))):
        found[spe, spe] = cell
    cells = [found[pair] for pair in pairs]
    return _Matrix([cells[i : i + 2 * _SPES] for i in range(0, len(cells), 2 * _SPES)])


@experiment("streaming-schedule/table-6", "qs22", ["table-6-own-chip", "table-6-cross-chip", "table-6-direction"])
def table_6(bench: Bench, found: Found) -> None:
    """Table 6: latency when an SPE reads from a distant local store.

    All 256 pairs, an SPE's own local store included: one command of 8 bytes by the reader's decrementer, mean of 10.
    Own chip and cross-chip are compared by their means and by how many entries lie within one tick (37.5 ns) of the
    published one; the direction is which Cell's SPEs wait longer.
    """

    def own(spe: int) -> float:
        return bench.streams("qs22", [(spe, spe, _SMALL_BYTES)], 1, _TIMES).streams[0]["ticked_ns"]

    obtained = _square(bench, lambda r, s: _single(r, s, _SMALL_BYTES), lambda m: m.ticked_ns(_TIMES), own)
    _tables(found, "table-6", "Table6 latency", "ns", obtained, _TICK_NS)


@experiment("streaming-schedule/table-7", "qs22", ["table-7-own-chip", "table-7-cross-chip", "table-7-direction"])
def table_7(bench: Bench, found: Found) -> None:
    """Table 7: bandwidth when an SPE reads from a distant local store.

    All 256 pairs, an SPE's own local store included: a large transfer (commands of 16 kB, as many in flight as half a
    local store holds).
    """

    def own(spe: int) -> float:
        return bench.together("qs22", [(spe, spe)]).gbs()

    obtained = _square(bench, lambda r, s: Load(reads((r, s))), lambda m: m.gbs, own)
    _tables(found, "table-7", "Table7 bandwidth", "GB/s", obtained, None)


def _across(readers: int, chip: int) -> Pairs:
    """The first `readers` SPEs of a Cell, each reading from its counterpart on the other."""
    return [(chip * _SPES + i, (1 - chip) * _SPES + i) for i in range(readers)]


@experiment("streaming-schedule/flexio", "qs22", ["flexio-one-way", "flexio-both-ways", "flexio-shares"])
def flexio(bench: Bench, found: Found) -> None:
    """Several transfers between the two Cells.

    One way: 1 to 8 SPEs of a Cell, each reading a large transfer from its counterpart on the other; the maximum counts.
    Both ways: all 16 SPEs read from their counterparts; in total, and what the SPEs of each Cell get of it.
    """
    lines: dict[str, list[float]] = {}
    for row, chip in (("streaming-schedule-023", 0), ("streaming-schedule-024", 1)):
        gbs = [bench.together("qs22", _across(n, chip)).gbs() for n in range(1, _SPES + 1)]
        lines[f"Cell{chip} reads"] = gbs
        found.rows.number(row, max(gbs), f"with {gbs.index(max(gbs)) + 1} readers; 1 reader: {gbs[0]:.2f} GB/s")
    each = bench.together("qs22", _across(_SPES, 0) + _across(_SPES, 1)).each()
    shares = [sum(each[chip * _SPES : (chip + 1) * _SPES]) for chip in (0, 1)]
    found.rows.number("streaming-schedule-025", sum(shares), "all 16 SPEs read")
    half = facts()["streaming-schedule-025"].number() / 2
    for row, chip in (("streaming-schedule-026", 0), ("streaming-schedule-027", 1)):
        told = f"Cell{1 - chip}: {shares[1 - chip]:.2f} GB/s"
        found.rows.number(row, shares[chip], told, pivot=half, pivot_obtained=sum(shares) / 2)
    found.pictures["flexio"] = {
        "kind": "curves",
        "title": "SPEs of one Cell reading from the other",
        "x": list(range(1, _SPES + 1)),
        "lines": lines,
        "x_label": "readers",
        "y_label": "GB/s together",
        "linear": True,
    }


@experiment("streaming-schedule/ppe-read", "qs22", ["ppe-read-latency", "ppe-read-bandwidth"])
def ppe_read(bench: Bench, found: Found) -> None:
    """A PPE reads an SPE's local store.

    The PPE hands a command to the SPE's proxy queue, waits until the data is in main memory, and loads it. Latency: 128
    bytes, one read after another. Bandwidth: reads of 16 kB, 1 to 8 of them in flight, as many as the queue holds; the
    most counts. The paper calls the maximum "difficult to compute", because the time hardly depends on the size; its
    2 GB/s is what a read "cannot exceed", less than the 25 GB/s of every other port: that is its direction.
    """
    small = bench.program("ppe-read", "qs22", {"bytes": 128, "times": _TIMES})
    found.rows.number("streaming-schedule-017", small["ns"], "from handing over the command to the last load")

    def gbs(in_flight: int) -> float:
        options = {"bytes": LARGE_BYTES, "times": 8 * _TIMES, "in_flight": in_flight}
        return float(LARGE_BYTES / bench.program("ppe-read", "qs22", options)["ns"])

    each = {n: gbs(n) for n in range(1, 9)}
    told = "in flight: " + ", ".join(f"{n} {value:.2f} GB/s" for n, value in each.items())
    port = facts()["streaming-schedule-002"].number()
    found.rows.number("streaming-schedule-018", max(each.values()), told, pivot=port)


@experiment("streaming-schedule/same-store", "qs22", ["same-store"])
def same_store(bench: Bench, found: Found) -> None:
    """Several SPEs of a Cell read from the same local store.

    2 to 7 SPEs read large transfers from SPE0; the largest total counts.
    """
    counts = range(2, _SPES)
    gbs = [bench.together("qs22", [(r, 0) for r in range(1, n + 1)]).gbs() for n in counts]
    found.rows.number("streaming-schedule-019", max(gbs), "with 2 to 7 readers: " + ", ".join(f"{g:.1f}" for g in gbs))


@experiment("streaming-schedule/memory-both-ways", "qs22", ["memory-both-ways"])
def memory_both_ways(bench: Bench, found: Found) -> None:
    """Reads and writes of main memory together.

    SPEs 0 to 3 read from Cell 0's memory and SPEs 4 to 7 write to it, large transfers; the total counts.
    """
    mixed = [(f"SPE{i}", "memory0", "get" if i < _SPES // 2 else "put") for i in range(_SPES)]
    read = bench.load("qs22", Load([(name, memory, "get") for name, memory, _ in mixed]))
    wrote = bench.load("qs22", Load([(name, memory, "put") for name, memory, _ in mixed]))
    both = bench.load("qs22", Load(mixed))
    told = f"all 8 reading {read.gbs:.1f}, all 8 writing {wrote.gbs:.1f} GB/s"
    found.rows.number("streaming-schedule-003", both.gbs, told)


@experiment("streaming-schedule/near", "qs22", ["near"])
def near(bench: Bench, found: Found) -> None:
    """The near pattern: 1<->3, 5<->7, 0<->2, 4<->6, all eight reading large transfers."""
    gbs = bench.together("qs22", NEAR).gbs()
    found.rows.number("streaming-schedule-020", gbs, "8 transfers", pivot=facts()["streaming-schedule-022"].number())


@experiment("streaming-schedule/far", "qs22", ["far"])
def far(bench: Bench, found: Found) -> None:
    """The far pattern: 0<->7, 1<->6, 2<->5, 3<->4, all eight reading large transfers.

    The claim is that it gets less bandwidth than random patterns: a figure more than 25 % off has the same direction
    below the published mean of random patterns, and contradicts above it.
    """
    gbs = bench.together("qs22", FAR).gbs()
    found.rows.number("streaming-schedule-021", gbs, "8 transfers", pivot=facts()["streaming-schedule-022"].number())


@experiment("streaming-schedule/fig-4", "qs22", ["fig-4"])
def fig_4(bench: Bench, found: Found) -> None:
    """Figure 4: distribution of bandwidth over a hundred random transfer patterns.

    The paper does not say what a random pattern is. The reading that votes was fixed before the fit: every SPE of a
    Cell reads from one other and is read by one other (derangements of 8). The other readings have no vote:
    permutations whose fixed points stay out, eight random pairs (so that an SPE may be read by several), and 1 to 8
    random pairs. The transfers are large and all run for the same time; the bandwidth of a pattern is the sum of what
    each gets.
    """
    count = bench.fewer(100, 20)
    draws: dict[str, Callable[[Random], Pairs]] = {
        "each reads one other": lambda random: derangement(_SPES, random),
        "the same, some read nobody": lambda random: permutation_without_fixed(_SPES, random),
        "8 random pairs": lambda random: pairs_with_repeats(_SPES, _SPES, random),
        "1 to 8 random pairs": lambda random: pairs_with_repeats(_SPES, random.randint(1, _SPES), random),
    }
    samples: dict[str, list[float]] = {}
    for name, draw in draws.items():
        random = Random(bench.seeds["random_patterns"])
        patterns = [pairs for pairs in (draw(random) for _ in range(count)) if pairs]
        samples[name] = bench.map(lambda pairs: bench.together("qs22", pairs).gbs(), patterns)
    voting, *others = samples
    low, high = min(samples[voting]), max(samples[voting])
    found.rows.number(
        "streaming-schedule-022",
        mean(samples[voting]),
        f"{count} patterns in which each reads one other, {low:.0f} .. {high:.0f} GB/s",
    )
    for i, name in enumerate(others):
        told = f"{len(samples[name])} patterns, {min(samples[name]):.0f} .. {max(samples[name]):.0f} GB/s"
        where = "streaming-schedule/fig-4"
        found.rows.shown(
            f"{where}:{i + 1}", where, "mean aggregate, another reading", name, mean(samples[name]), "GB/s", told
        )
    found.notes.append(f"{count} patterns of each kind, seed {bench.seeds['random_patterns']}")
    found.pictures["fig-4"] = {
        "kind": "distribution",
        "title": f"Figure 4: aggregated bandwidth of {count} random patterns",
        "samples": samples,
        "x_label": "GB/s",
        "published": facts()["streaming-schedule-022"].number(),
    }


@experiment("streaming-schedule/fig-5", "qs22", ["fig-5-ratio", "fig-5-error"])
def fig_5(bench: Bench, found: Found) -> None:
    """Figure 5: accuracy of the linear contention model.

    Random pairs of the 16 SPEs of both Cells, 2 to 49 at a time; every transfer moves the same bytes. Predicted: the
    largest of the machine's limits, bytes over its pairs by its capacity. Obtained: from the first start to the last
    end on the simulator. The ratio is predicted by obtained time, above 1 pessimistic; the error is the mean of
    ``|ratio - 1|``.
    """
    count, most = bench.fewer(100, 16), 49
    random = Random(bench.seeds["linear_model"])
    patterns = [pairs_with_repeats(2 * _SPES, random.randint(2, most), random) for _ in range(count)]
    predict = _Linear("qs22")
    # Two small commands in flight for each: an SPE that reads nine times still has room for all of them.
    each, size = 16 * LARGE_BYTES, 4096
    loads = [Load(reads(*pairs), size, 2, each // size) for pairs in patterns]
    took = [_span_ns(m.transfers) for m in bench.many("qs22", loads, 2)]
    ratios = [predict.time_ns(pairs, each) / ns for pairs, ns in zip(patterns, took, strict=True)]
    error = 100 * mean(abs(ratio - 1) for ratio in ratios)
    told = f"{count} patterns, {min(ratios):.2f} .. {max(ratios):.2f}"
    found.rows.number("streaming-schedule-028", mean(ratios), told, pivot=1.0)
    found.rows.number("streaming-schedule-029", error, told)
    found.notes.append(
        f"{count} patterns of 2 to {most} transfers, {each} bytes each, seed {bench.seeds['linear_model']}"
    )
    found.pictures["fig-5"] = {
        "kind": "points",
        "title": "Figure 5: time that the linear model predicts, by simulated time",
        "x": [len(pairs) for pairs in patterns],
        "y": ratios,
        "x_label": "transfers at the same time",
        "y_label": "predicted / simulated",
        "lines": {"mean": mean(ratios), "published mean": facts()["streaming-schedule-028"].number()},
    }


class _Linear:
    """The linear model of section 3.1.2: the machine's limits, and nothing else."""

    def __init__(self, machine: str) -> None:
        data = Machine.load(machine).to_dict()
        self._limits = [
            (float(limit["capacity_bytes_per_s"]), [(set(b["from"]), set(b["to"])) for b in limit["pairs"]])
            for limit in data["limits"]
        ]

    def time_ns(self, pairs: Pairs, bytes_each: int) -> float:
        """The longest occupation of a limit, for transfers of `bytes_each` bytes."""
        ends = [(f"SPE{source}", f"SPE{reader}") for reader, source in pairs]
        return max(
            1e9 * bytes_each * sum(any(s in a and r in b for a, b in blocks) for s, r in ends) / capacity
            for capacity, blocks in self._limits
        )


def _span_ns(transfers: list[dict[str, float]]) -> float:
    return max(t["end_ns"] for t in transfers) - min(t["start_ns"] for t in transfers)


@experiment("streaming-schedule/puts", "qs22", ["puts"])
def puts_beside_gets(bench: Bench, found: Found) -> None:
    """Puts beside gets: the same bytes moved by the SPE that has them.

    Single transfers of 8 bytes and large ones, on a Cell and across both, and the near, far and random patterns of 8.
    The claim holds where on average over these the puts reach 0.8 to 1.05 of the gets' speed: alike, and the gets no
    slower. A put to another local store is complete when its data has arrived there.
    """
    random = Random(bench.seeds["random_patterns"])
    cases: dict[str, Pairs] = {"same Cell": [(1, 3)], "Cell0 from Cell1": [(0, 8)], "Cell1 from Cell0": [(8, 0)]}
    patterns: dict[str, Pairs] = {"near": NEAR, "far": FAR, "random": derangement(_SPES, random)}
    ratios = {}
    lines = []
    for name, pairs in cases.items():
        get, put = bench.loads("qs22", [Load(make(*pairs), _SMALL_BYTES, 1, _TIMES) for make in (reads, puts)])
        ratios[f"{name}, 8 bytes"] = get.latency_ns / put.latency_ns
        lines.append(f"{name}, 8 bytes: get {get.latency_ns:.0f}, put {put.latency_ns:.0f} ns")
    for name, pairs in {**cases, **patterns}.items():
        get, put = bench.loads("qs22", [Load(make(*pairs)) for make in (reads, puts)])
        ratios[f"{name}, large"] = put.gbs / get.gbs
        lines.append(f"{name}, large: get {get.gbs:.1f}, put {put.gbs:.1f} GB/s")
    average = mean(ratios.values())
    found.rows.sentence("streaming-schedule/puts", 0.8 <= average <= 1.05, average, "put / get", "; ".join(lines))
    for i, (name, ratio) in enumerate(ratios.items()):
        found.rows.shown(
            f"streaming-schedule/puts:{i + 1}",
            "streaming-schedule/puts",
            "speed of puts by that of gets",
            name,
            ratio,
            "ratio",
        )
