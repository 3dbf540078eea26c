"""`affinity-model`: which SPEs the threads of a pattern should run on, on one Cell of a QS20.

Its bandwidths were drawn, not printed, so only the sentences of its text can be compared with the simulator.
"""

from __future__ import annotations

from itertools import combinations
from random import Random
from statistics import mean, median, pstdev, variance
from typing import TYPE_CHECKING

from cellweave.reproduce.bench import LARGE_BYTES
from cellweave.reproduce.experiment import experiment
from cellweave.reproduce.facts import facts
from cellweave.reproduce.patterns import AROUND, FAR, ROUND, Pairs, derangement, one_way, ring_reads

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cellweave.reproduce.bench import Bench, Streamed
    from cellweave.reproduce.experiment import Found

_SPES = 8
# A difference up to this share counts as none.
_ALIKE = 0.05
# Affinity matters where the best mapping has this many times the bandwidth of the worst.
_MATTERS = 1.10
# The segments of the ring's two ends, by ramp: IOIF1 - IOIF0, and MIC - PPE.
_SIDES = (5, 11)

# The communication patterns of that paper, tasks 0 to 7: who reads from whom, for a mapping of tasks to SPEs.
_PATTERNS: dict[str, Callable[[Sequence[int]], Pairs]] = {
    "ring": lambda spes: ring_reads(spes, both_ways=False),
    "recursive doubling, one phase": lambda spes: [(spes[i], spes[i ^ 1]) for i in range(_SPES)],
    "binomial tree, last step": lambda spes: [(spes[i + 4], spes[i]) for i in range(4)],
}


def _mappings(bench: Bench, count: int) -> list[tuple[int, ...]]:
    """Random mappings of 8 tasks, the same for every pattern: what the default affinity gives."""
    random = Random(bench.seeds["ring_default"])
    return [tuple(random.sample(range(_SPES), _SPES)) for _ in range(count)]


# Affinities chosen by hand: by number, and around the bus.
_NAMED = {
    "identity": tuple(range(_SPES)),
    "ring": ROUND,
    "even and odd": (0, 2, 4, 6, 1, 3, 5, 7),
    "overlap": (0, 7, 2, 5, 4, 3, 6, 1),
}


@experiment("affinity-model/single-direction", "qs20", ["single-direction"])
def single_direction(bench: Bench, found: Found) -> None:
    """Patterns in which all messages go in one direction.

    Every SPE reads a large transfer from the SPE k places before it around the bus, k = 1 and 2, either way round. The
    best of the four is set against the bus's theoretical total; the text says that they "can use only half".
    """
    gbs = {}
    for k in (1, 2):
        for way, order in (("up", ROUND), ("down", ROUND[::-1])):
            pairs = [(order[(i + k) % _SPES], order[i]) for i in range(_SPES)]
            gbs[f"{k} {'place' if k == 1 else 'places'} {way}"] = bench.together("qs20", pairs).gbs()
    told = ", ".join(f"{name} {value:.0f} GB/s" for name, value in gbs.items())
    bus = facts()["affinity-model-001"].number()
    found.rows.number("affinity-model-008", max(gbs.values()) / bus, told, pivot=1.0)


def _triples(crossing: bool) -> list[Pairs]:
    """Three messages the same way around, no segment used twice.

    Crossing: two of them pass a side of the ring and are two or more hops long. Otherwise none passes a side.
    """
    messages = [(reader, source) for source in ROUND for reader in ROUND if reader != source]
    paths = {m: one_way(m[1], m[0]) for m in messages}
    # A message that goes exactly half way may go either way.
    short = [m for m in messages if 2 * len(paths[m]) < len(AROUND)]
    found = []
    for three in combinations(short, 3):
        ends = [spe for m in three for spe in m]
        used = [segment for m in three for segment in paths[m]]
        if len(set(ends)) < len(ends) or len(set(used)) < len(used):
            continue
        over = [m for m in three if any(side in paths[m] for side in _SIDES)]
        long = sum(len(paths[m]) >= 2 for m in over)
        if (long >= 2) if crossing else not over:
            found.append(list(three))
    return found


def _rates(bench: Bench, triples: list[Pairs], sizes: tuple[int, int, int]) -> list[float]:
    """GB/s of three messages together, divided by that of the same three one at a time."""

    def share(pairs: Pairs) -> float:
        streams = [(r, s, size) for (r, s), size in zip(pairs, sizes, strict=True)]
        alone = [bench.streams("qs20", [stream]).gbs() for stream in streams]
        return bench.streams("qs20", streams).gbs() / sum(alone)

    return bench.map(share, triples)


@experiment("affinity-model/three-messages", "qs20", ["three-messages", "three-unequal"])
def three_messages(bench: Bench, found: Found) -> None:
    """Three messages in one direction whose paths do not overlap.

    Triples of disjoint SPEs, drawn from all there are, of which two messages are two or more hops long and pass a side
    of the ring (MIC - PPE or IOIF1 - IOIF0). *Poor*: the mean share of what the three get one at a time is at least 5 %
    below that of the triples that pass no side. *Unequal* (commands of 16, 8 and 4 kB): the effect vanishes where it is
    there with equal sizes, and that share comes within 5 % of the others' with unequal ones.
    """
    count = bench.fewer(40, 6)

    def some(crossing: bool) -> list[Pairs]:
        triples = _triples(crossing)
        return Random(bench.seeds["linear_model"]).sample(triples, min(count, len(triples)))

    over, inside = some(True), some(False)
    equal = (LARGE_BYTES,) * 3
    unequal = (LARGE_BYTES, LARGE_BYTES // 2, LARGE_BYTES // 4)
    losses = []
    for row, sizes in (("affinity-model-012", equal), ("affinity-model-013", unequal)):
        crossing, plain = _rates(bench, over, sizes), _rates(bench, inside, sizes)
        loss = 1 - mean(crossing) / mean(plain)
        told = (
            f"over the sides {mean(crossing):.1%} of alone (worst {min(crossing):.1%}, {len(over)} triples), "
            f"elsewhere {mean(plain):.1%} ({len(inside)} triples)"
        )
        losses.append(loss)
        holds = losses[0] >= _ALIKE and (sizes == equal or loss < _ALIKE)
        found.rows.claim(row, holds, f"{loss:.1%} less", told)


@experiment("affinity-model/half-way", "qs20", ["half-way"])
def half_way(bench: Bench, found: Found) -> None:
    """Messages that travel half way around the ring.

    The far pattern (eight messages of exactly six hops). The claim holds where packets that could go either way went
    both: for both directions the rings carried at least a tenth of the packets. For each pair alone the detail says
    which way.
    """
    both = bench.together("qs20", FAR).ways
    least = min(both) / sum(both)
    singles = [bench.together("qs20", [pair]).ways for pair in FAR]
    ways = ", ".join(f"{s}->{r} {up}/{down}" for (r, s), (up, down) in zip(FAR, singles, strict=True))
    told = f"all eight: {both[0]} packets clockwise, {both[1]} the other way; alone: {ways}"
    found.rows.claim("affinity-model-016", least >= 0.1, f"{least:.0%} the rarer way", told)


def _all(
    bench: Bench,
    pattern: Callable[[Sequence[int]], Pairs],
    mappings: Sequence[Sequence[int]],
    size: int,
    machine: str = "qs20",
) -> list[Streamed]:
    """Messages of `size` bytes, one at a time per reader, under each mapping."""
    return bench.map(lambda m: bench.streams(machine, [(r, s, size) for r, s in pattern(m)], 1), mappings)


@experiment("affinity-model/affinity", "qs20", ["best-over-poor", "best-over-mean", "deviation"])
def affinity(bench: Bench, found: Found) -> None:
    """Good and poor affinities of common patterns: ring, recursive doubling, binomial tree.

    Messages of 64 kB (several DMA commands), each SPE one at a time, under random mappings and mappings
    chosen by hand. *Best over poor*: the largest over the patterns of best by worst bandwidth; the text says "over a
    factor of two". *Best over mean*: the median over the patterns of best by mean over the random mappings.
    *Deviation*: the standard deviation of bandwidth among the SPEs of a run, by its mean, is smaller on average over
    the best tenth of the mappings than over all; each pattern counts once, the majority decides.
    """
    count = bench.fewer(300, 30)
    random = _mappings(bench, count)
    mappings = [*_NAMED.values(), *random]
    worst, average, calmer = {}, {}, {}
    samples = {}
    for name, pattern in _PATTERNS.items():
        measured = _all(bench, pattern, mappings, 4 * LARGE_BYTES)
        gbs = [m.gbs() for m in measured]
        samples[name] = gbs[len(_NAMED) :]
        worst[name] = max(gbs) / min(gbs)
        average[name] = max(gbs) / mean(samples[name])
        spread = [pstdev(m.each()) / mean(m.each()) for m in measured]
        order = sorted(range(len(gbs)), key=lambda i: -gbs[i])
        best = [spread[i] for i in order[: max(1, len(order) // 10)]]
        calmer[name] = (mean(best), mean(spread))
        for i, chosen in enumerate(_NAMED):
            where = "affinity-model/affinity"
            what = f"bandwidth of a chosen affinity, {name}"
            found.rows.shown(f"{where}:{name}:{chosen}", where, what, chosen, gbs[i], "GB/s")
    told = ", ".join(f"{name} {value:.2f}" for name, value in worst.items())
    found.rows.at_least("affinity-model-003", max(worst.values()), told, pivot=1.0)
    told = ", ".join(f"{name} {value:.2f}" for name, value in average.items())
    found.rows.number("affinity-model-004", median(average.values()), told, pivot=1.0)
    votes = [best < everyone for best, everyone in calmer.values()]
    told = "; ".join(f"{name}: best tenth {b:.1%}, all {a:.1%}" for name, (b, a) in calmer.items())
    holds, count_told = sum(votes) > len(votes) / 2, f"{sum(votes)} of {len(votes)}"
    found.rows.sentence("affinity-model/deviation", holds, count_told, "patterns", told)
    found.notes.append(f"{count} random mappings, seed {bench.seeds['ring_default']}")
    found.pictures["affinity"] = {
        "kind": "distribution",
        "title": f"Bandwidth of {count} random affinities",
        "samples": samples,
        "x_label": "GB/s",
    }


@experiment("affinity-model/above-16-kb", "qs20", ["above-16-kb"])
def above_16_kb(bench: Bench, found: Found) -> None:
    """The message size above which affinity matters.

    Rings of messages of 1 kB to 64 kB, each SPE one at a time; above 16 kB a message is several DMA commands. Affinity
    matters where the best of the mappings has 10 % more bandwidth than the worst. Obtained: the largest size up to
    which it does not, 0 where it always does.
    """
    mappings = [*_NAMED.values(), *_mappings(bench, bench.fewer(150, 20))]
    sizes = [2**i for i in range(10, 17)]
    ratios = []
    for size in sizes:
        gbs = [m.gbs() for m in _all(bench, _PATTERNS["ring"], mappings, size)]
        ratios.append(max(gbs) / min(gbs))
    still = [size for i, size in enumerate(sizes) if max(ratios[: i + 1]) <= _MATTERS]
    told = "best by worst: " + ", ".join(f"{size} B {ratio:.2f}" for size, ratio in zip(sizes, ratios, strict=True))
    found.rows.number("affinity-model-005", float(max(still, default=0)), told, digits=6)
    found.pictures["above-16-kb"] = {
        "kind": "curves",
        "title": f"A ring under {len(mappings)} affinities: best by worst bandwidth",
        "x": sizes,
        "lines": {"best / worst": ratios},
        "x_label": "bytes of a message",
        "y_label": "ratio",
        "linear_y": True,
    }


@experiment("affinity-model/rotation", "qs20", ["rotation"])
def rotation(bench: Bench, found: Found) -> None:
    """Rotating an affinity: task i moves from SPE n to SPE n + k.

    One phase of recursive doubling and the binomial tree's last step on the identity, rotated by 0 to 7; large
    transfers. The symmetry is broken where one pattern's best rotation has 5 % more bandwidth than its worst.
    """
    rotations = [[(i + k) % _SPES for i in range(_SPES)] for k in range(_SPES)]
    ratios = {}
    for name in ("recursive doubling, one phase", "binomial tree, last step"):
        gbs = [bench.together("qs20", _PATTERNS[name](m)).gbs() for m in rotations]
        ratios[name] = max(gbs) / min(gbs)
    told = ", ".join(f"{name}: best by worst rotation {ratio:.2f}" for name, ratio in ratios.items())
    most = max(ratios.values())
    found.rows.claim("affinity-model-014", most > 1 + _ALIKE, f"{most:.2f} best / worst", told)


@experiment("affinity-model/blade", "qs20", ["blade"])
def blade(bench: Bench, found: Found) -> None:
    """Several SPEs communicating between the two Cells.

    1 to 8 SPEs of a Cell read messages of 1 to 64 kB from the other. "This limit is not reached" holds where no total
    comes within 5 % of the theoretical 30 GB/s from Cell 0 to Cell 1 or 20 GB/s back.
    """
    sizes = [2**i for i in range(10, 17)]
    shares = []
    told = []
    for chip, row in ((1, "affinity-model-009"), (0, "affinity-model-010")):
        cases = [
            [(chip * _SPES + i, (1 - chip) * _SPES + i, size) for i in range(n)] for n in (1, 2, 4, 8) for size in sizes
        ]
        most = max(bench.map(lambda streams: bench.streams("qs20", streams, 1).gbs(), cases))
        limit = facts()[row].number()
        shares.append(most / limit)
        told.append(f"Cell{1 - chip} to Cell{chip} at most {most:.1f} of {limit:g} GB/s")
    reached = max(shares) >= 1 - _ALIKE
    found.rows.claim("affinity-model-011", not reached, "yes" if reached else "no", "; ".join(told))


# Patterns of 16 threads on a blade, who reads from whom, for a mapping of threads to SPEs.
_BLADE_PATTERNS: dict[str, Callable[[Sequence[int]], Pairs]] = {
    "ring": lambda spes: ring_reads(spes, both_ways=False),
    "ring, both ways": lambda spes: ring_reads(spes, both_ways=True),
    "recursive doubling, first phase": lambda spes: [(spes[i], spes[i ^ 1]) for i in range(2 * _SPES)],
    "random": lambda spes: [(spes[r], spes[s]) for r, s in derangement(2 * _SPES, Random(len(spes)))],
}


def _share_between(groups: Sequence[Sequence[float]]) -> float:
    """The share of variance that lies between groups of equal size, without what chance alone would put there.

    Examples
    --------
    >>> _share_between([[1, 1], [2, 2]]), round(_share_between([[1, 3], [2, 2]]), 2)
    (1.0, 0.0)
    """
    each = len(groups[0])
    within = mean(variance(group) for group in groups)
    between = max(0.0, variance([mean(group) for group in groups]) - within / each)
    return between / (between + within) if between + within else 0.0


@experiment("affinity-model/partition", "qs20", ["partition"])
def partition(bench: Bench, found: Found) -> None:
    """The partition of a blade's threads beside the affinity within each Cell.

    16 threads on the 16 SPEs of a blade, messages of 64 kB, each SPE one at a time. Random partitions of the threads
    among the two Cells; within each partition, random affinities of the threads on each Cell. The variance of bandwidth
    over all of them has two parts: between partitions, and within a partition (one-way analysis of variance). The claim
    holds where the part between partitions is more than half for most of the patterns.
    """
    partitions, affinities = bench.fewer(30, 6), bench.fewer(10, 4)
    random = Random(bench.seeds["ring_default"])
    mappings = []
    for _ in range(partitions):
        threads = random.sample(range(2 * _SPES), 2 * _SPES)
        for _ in range(affinities):
            spes = [0] * len(threads)
            order = random.sample(threads[:_SPES], _SPES) + random.sample(threads[_SPES:], _SPES)
            for spe, thread in enumerate(order):
                spes[thread] = spe
            mappings.append(spes)
    shares = {}
    samples = {}
    told = []
    for name, pattern in _BLADE_PATTERNS.items():
        gbs = [m.gbs() for m in _all(bench, pattern, mappings, 4 * LARGE_BYTES)]
        parts = [gbs[i : i + affinities] for i in range(0, len(gbs), affinities)]
        shares[name] = _share_between(parts)
        samples[name] = gbs
        spread = mean(max(part) / min(part) for part in parts)
        means = [mean(part) for part in parts]
        told.append(
            f"{name}: {shares[name]:.0%} between; best by worst: {max(means) / min(means):.2f} of their means, "
            f"{spread:.2f} within one"
        )
    most = sum(share > 0.5 for share in shares.values())
    found.rows.sentence(
        "affinity-model/partition",
        2 * most > len(shares),
        f"{median(shares.values()):.0%} of the variance",
        "",
        "; ".join(told),
    )
    for name, share in shares.items():
        where = "affinity-model/partition"
        what = "share of the variance of bandwidth that lies between partitions"
        found.rows.shown(f"{where}:{name}", where, what, name, share, "share")
    found.notes.append(
        f"{partitions} random partitions, {affinities} random affinities of each, seed {bench.seeds['ring_default']}"
    )
    found.pictures["partition"] = {
        "kind": "distribution",
        "title": f"A blade: {partitions} partitions of 16 threads, {affinities} affinities of each",
        "samples": samples,
        "x_label": "GB/s",
    }


@experiment("affinity-model/qs22", "qs22", ["qs22"])
def qs22(bench: Bench, found: Found) -> None:
    """A QS22 beside a QS20.

    The patterns of eight threads under random affinities and those that somebody chose, messages of 64 kB, on both
    machines. They "match" where no bandwidth differs by more than 5 %. The simulated machines differ only in how often
    the decrementer ticks, so this row says that the claim is built in; it does not test it.
    """
    mappings = [*_NAMED.values(), *_mappings(bench, bench.fewer(40, 8))]
    apart = 0.0
    for pattern in _PATTERNS.values():
        one, other = (
            [m.gbs() for m in _all(bench, pattern, mappings, 4 * LARGE_BYTES, machine)] for machine in ("qs20", "qs22")
        )
        apart = max(apart, *(abs(b / a - 1) for a, b in zip(one, other, strict=True)))
    told = f"{len(mappings)} affinities of {len(_PATTERNS)} patterns; the largest difference"
    found.rows.claim("affinity-model-017", apart <= _ALIKE, f"{apart:.1%} apart", told)
