"""`ring-mapping`: a ring of tasks under every mapping, on six SPEs of a Playstation 3 and on eight of a QS22.

The ring is that paper's: SPE programs on its message library, which polls notifications in main memory. A permutation
``[a0 a1 ...]`` is read as the text defines it: thread i executes task ``ai``, and where threads are pinned, thread i
runs on SPE i. Named permutations are also shown in the other reading (task i on SPE ``ai``), without a vote.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, permutations
from random import Random
from statistics import mean, median
from typing import TYPE_CHECKING, Any

from cellweave import _core
from cellweave.reproduce.experiment import experiment
from cellweave.reproduce.patterns import Pairs
from cellweave.reproduce.rows import Spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cellweave.reproduce.bench import Bench
    from cellweave.reproduce.experiment import Found

Permutation = tuple[int, ...]

_PACKETS = (2048, 1024, 512)
_PACKET = 1024
_PS3_ROUNDS = 120
QS22_ROUNDS = 80
# A change of the best-to-worst ratio up to this share is "no significant change".
_SIGNIFICANT = 0.25
# One mapping in this many is "a small number of mappings".
_FEW = 0.05


def _permutations(bench: Bench, n: int, quick: int, named: Sequence[Permutation]) -> list[Permutation]:
    """All with task 0 on thread 0; in a quick look some of them, the identity and `named` ones among them."""
    every = [(0, *rest) for rest in permutations(range(1, n))]
    if not bench.quick:
        return every
    kept = list(dict.fromkeys([tuple(range(n)), *named]))
    return kept + Random(bench.seeds["ring_default"]).sample([p for p in every if p not in kept], quick - len(kept))


def _spes(permutation: Sequence[int], places: Sequence[int]) -> list[int]:
    """The SPE of each task: thread i runs on SPE ``places[i]`` and executes task ``permutation[i]``.

    Examples
    --------
    >>> _spes((0, 2, 1), [0, 1, 2]), _spes((0, 1, 2), [2, 0, 1])
    ([0, 2, 1], [2, 0, 1])
    """
    spes = [0] * len(permutation)
    for thread, task in enumerate(permutation):
        spes[task] = places[thread]
    return spes


def inverse(permutation: Sequence[int]) -> Permutation:
    """The permutation that leads back: thread of task i instead of task of thread i."""
    return tuple(_spes(permutation, range(len(permutation))))


def neighbours(spes: Sequence[int]) -> set[frozenset[int]]:
    """The pairs of SPEs that talk to each other when task i is on SPE ``spes[i]``.

    Examples
    --------
    The two mappings of a pair are one ring, walked in opposite directions, where task i is on SPE ``ai`` ...

    >>> neighbours((0, 2, 4, 6, 7, 5, 3, 1)) == neighbours((0, 1, 3, 5, 7, 6, 4, 2))
    True

    ... and two different rings where thread i executes task ``ai``.

    >>> first, second = (neighbours(inverse(p)) for p in QS22_NAMED)
    >>> len(first & second)
    4
    """
    return {frozenset((spe, spes[i - 1])) for i, spe in enumerate(spes)}


def readings(named: Sequence[Permutation]) -> str:
    """How many pairs of neighbours two permutations share under either reading."""
    n = len(named[0])
    shared = []
    for spes in (list(named), [inverse(p) for p in named]):
        first, second = map(neighbours, spes)
        shared.append(len(first & second))
    names = " and ".join(f"[{''.join(map(str, p))}]" for p in named)
    return (
        f"{names} share {shared[1]} of {n} pairs of neighbours where thread i executes task ai, "
        f"{shared[0]} of {n} where task i is on SPE ai"
    )


@dataclass
class Ranked:
    """Times of all permutations in several runs, and the figures that the text gives for such a list."""

    permutations: list[Permutation]
    runs: list[list[float]]
    length: int

    def __post_init__(self) -> None:
        self._ranking = _core.Ranking.of(self.permutations, self.runs)
        self.average = self._ranking.averages()
        self.best: float = min(self.average)

    def correlation(self) -> float:
        """Mean rank correlation between two of the runs; a run without two different times correlates with none."""
        lists = [_core.Ranking.of(self.permutations, [run]) for run in self.runs if len(set(run)) > 1]
        pairs = len(self.runs) * (len(self.runs) - 1) // 2
        return sum(a.correlation(b) for a, b in combinations(lists, 2)) / pairs

    def spread(self) -> float:
        """Worst by best average time."""
        return self._ranking.worst_by_best()

    def run_spread(self) -> float:
        """Worst by best time of a run, mean over the runs."""
        return mean(self._ranking.run_worst_by_best())

    def top(self) -> list[int]:
        """Indices, the fastest on average first."""
        return self._ranking.order()

    def rank(self, index: int) -> float:
        """The place of a permutation, 1 to `length`, also where only some of all were measured."""
        return self._of_all(self._ranking.rank(self.permutations[index]))

    def run_ranks(self, index: int) -> list[float]:
        """Its places in the single runs."""
        return [self._of_all(place) for place in self._ranking.run_ranks(self.permutations[index])]

    def _of_all(self, place: int) -> float:
        return 1 + (place - 1) * self.length / len(self.permutations)

    def slowdown(self, index: int) -> float:
        """Its average time divided by the best."""
        return self._ranking.slowdown(self.permutations[index])

    def beside(self, named: Permutation) -> tuple[float, float] | None:
        """Rank and slowdown of the permutation that puts task i on SPE ``named[i]``, where it was measured."""
        other = inverse(named)
        if other not in self.permutations:
            return None
        i = self.permutations.index(other)
        return self.rank(i), self.slowdown(i)

    def index(self, *permutation: int) -> int:
        """The index of a permutation."""
        return self.permutations.index(permutation)


def _measure(
    bench: Bench,
    machine: str,
    chosen: list[Permutation],
    runs: Sequence[tuple[int, Sequence[int]]],
    length: int,
    **ring: Any,
) -> Ranked:
    """Times under `chosen`: a run is its start state's seed and the SPEs of its threads."""
    times = []
    for seed, places in runs:
        mappings = [_spes(p, places) for p in chosen]
        times.append(bench.ring(machine, mappings, seed=seed, **ring))
    return Ranked(chosen, times, length)


_PS3_NAMED = [(0, 4, 3, 5, 1, 2), (0, 1, 3, 5, 4, 2), (0, 2, 4, 5, 3, 1)]


def _ps3(bench: Bench, found: Found, pinned: bool, packet: int = _PACKET, runs: int = 3) -> list[Ranked]:
    """The list for every choice of hidden SPEs; threads pinned, or in random places that differ from run to run."""
    chosen = _permutations(bench, 6, 24, _PS3_NAMED)
    random = Random(bench.seeds["ring_default"])
    places = [list(range(6)) if pinned else random.sample(range(6), 6) for _ in range(runs)]
    states = list(zip(bench.seeds["ring_runs"], places, strict=False))
    rounds = bench.fewer(_PS3_ROUNDS, 12)

    def one(hidden: tuple[int, int]) -> Ranked:
        options = {"bytes": packet, "both": True, "rounds": rounds, "hidden": hidden}
        return _measure(bench, "ps3", chosen, states, 120, **options)

    measured = bench.map(one, bench.hidden())
    found.notes.append(
        f"{len(chosen)} of 120 permutations, {rounds} rounds, {len(states)} runs, packets of {packet} bytes, "
        f"seeds {bench.seeds['ring_runs'][:runs]}; {bench.over_hidden()}"
    )
    return measured


def _over(bench: Bench, lists: list[Ranked], value: Any) -> Spread:
    return Spread([value(ranked) for ranked in lists], bench.over_hidden())


def show_correlation(found: Found, figure: str, runs: float | Spread, conditions: str = "") -> float:
    """Show the correlation between runs, and give it."""
    value, detail = (runs.median, runs.detail()) if isinstance(runs, Spread) else (runs, "")
    what = "rank correlation between runs from different start states"
    suffix = f":correlation {conditions}".rstrip()
    found.rows.shown(f"ring-mapping/{figure}{suffix}", f"ring-mapping/{figure}", what, conditions, value, "", detail)
    return value


def _run_ranks(lists: list[Ranked], place: int) -> list[float]:
    """In which places of the single runs the permutation stands that is in `place` on average; runs have no order."""
    each = [sorted(ranked.run_ranks(ranked.top()[place])) for ranked in lists]
    return [median(places) for places in zip(*each, strict=True)]


def _ranked_picture(bench: Bench, found: Found, name: str, title: str, lists: list[Ranked]) -> None:
    """The average over the choices of hidden SPEs as a band, and the runs of one choice in the average's order."""
    shown, hidden = lists[-1], bench.hidden()[-1]
    order = shown.top()
    scaled = [[t / ranked.best for t in sorted(ranked.average)] for ranked in lists]
    found.pictures[name] = {
        "kind": "ranked",
        "title": f"{title}; runs with SPEs {hidden[0]} and {hidden[1]} hidden",
        "curves": {f"run {i + 1}": [run[j] / shown.best for j in order] for i, run in enumerate(shown.runs)},
        "average": [shown.average[j] / shown.best for j in order],
        "band": [
            [min(column) for column in zip(*scaled, strict=True)],
            [max(column) for column in zip(*scaled, strict=True)],
        ],
        "band_label": f"average curves, {bench.over_hidden()}",
        "y_label": "time by the best average",
    }


@experiment(
    "ring-mapping/fig-2", "ps3", ["fig-2-average", "fig-2-runs", "fig-2-random", "fig-2-identity", "fig-2-ranks"]
)
def fig_2(bench: Bench, found: Found) -> None:
    """Figure 2: run times with the default mapping on a PS3, ranked.

    Both ways around a ring of 6, packets of 1 kB, every permutation, three runs; in each run the threads sit in places
    of their own, drawn by the fixed seed. *Ranks*: where the best (and second) permutation on average stands in each
    run, in ascending order, because runs have none. Where two runs have a rank correlation below 0.5, what belongs to
    one permutation has no ranking.
    """
    lists = _ps3(bench, found, pinned=False)
    runs = show_correlation(found, "fig-2", _over(bench, lists, Ranked.correlation))
    found.rows.number("ring-mapping-001", _over(bench, lists, Ranked.spread), pivot=1.0)
    found.rows.number("ring-mapping-002", _over(bench, lists, Ranked.run_spread), pivot=1.0)
    found.rows.number("ring-mapping-003", _over(bench, lists, lambda r: mean(r.average) / r.best), pivot=1.0)
    identity = lists[0].index(*range(6))
    found.rows.places("ring-mapping-004", _over(bench, lists, lambda r: r.rank(identity)), 120, runs)
    slower = _over(bench, lists, lambda r: r.slowdown(identity))
    found.rows.number("ring-mapping-005", slower, pivot=1.0, correlation=runs)
    for row, place in (("ring-mapping-006", 0), ("ring-mapping-007", 1)):
        told = f"ascending; median over {bench.over_hidden()}"
        found.rows.run_places(row, _run_ranks(lists, place), 120, runs, told)
    _ranked_picture(bench, found, "fig-2", "Figure 2: default mapping, PS3, 1 kB", lists)


@experiment(
    "ring-mapping/fig-3",
    "ps3",
    ["fig-3-average", "fig-3-runs", "fig-3-ranks", "fig-3-024531", "fig-3-013542", "fig-3-identity", "fig-3-sizes"],
)
def fig_3(bench: Bench, found: Found) -> None:
    """Figure 3: run times with pinned threads on a PS3, ranked.

    As figure 2, thread i on SPE i, three runs from different start states. *Ranks*: where the two best on average stand
    in the runs. *Sizes*: "no significant changes" holds where the ratio of worst to best at 2 kB and at 0.5 kB is
    within 25 % of that at 1 kB.
    """
    lists = _ps3(bench, found, pinned=True)
    runs = show_correlation(found, "fig-3", _over(bench, lists, Ranked.correlation))
    found.rows.number("ring-mapping-009", _over(bench, lists, Ranked.spread), pivot=1.0)
    found.rows.number("ring-mapping-008", _over(bench, lists, Ranked.run_spread), pivot=1.0)
    told = f"of the two best on average, ascending; median over {bench.over_hidden()}"
    places = _run_ranks(lists, 0) + _run_ranks(lists, 1)
    found.rows.run_places("ring-mapping-010", places, 120, runs, told, parts=2)
    named_pair = _PS3_NAMED[2], _PS3_NAMED[1]
    for named, rank_row, loss_row in zip(
        named_pair, ("ring-mapping-011", "ring-mapping-012"), (None, "ring-mapping-013"), strict=True
    ):
        place = lists[0].index(*named)
        _other_reading(found, "fig-3", named, [ranked.beside(named) for ranked in lists])
        found.rows.places(rank_row, _over(bench, lists, lambda r, i=place: r.rank(i)), 120, runs)
        if loss_row is not None:
            loss = _over(bench, lists, lambda r, i=place: 100 * (r.slowdown(i) - 1))
            found.rows.number(loss_row, loss, pivot=0.0, correlation=runs)
    found.notes.append(readings(named_pair))
    identity = lists[0].index(*range(6))
    found.rows.places("ring-mapping-014", _over(bench, lists, lambda r: r.rank(identity)), 120, runs)
    slower = _over(bench, lists, lambda r: r.slowdown(identity))
    found.rows.number("ring-mapping-015", slower, pivot=1.0, correlation=runs)
    ratios = {_PACKET: _over(bench, lists, Ranked.spread).median}
    for packet in (2048, 512):
        ratios[packet] = _over(bench, _ps3(bench, found, True, packet, 1), Ranked.spread).median
    change = max(abs(ratio / ratios[_PACKET] - 1) for ratio in ratios.values())
    told = "worst by best: " + ", ".join(f"{packet} B {ratio:.2f}" for packet, ratio in sorted(ratios.items()))
    found.rows.claim("ring-mapping-016", change <= _SIGNIFICANT, f"{change:.0%} change", told)
    _ranked_picture(bench, found, "fig-3", "Figure 3: pinned threads, PS3, 1 kB", lists)


def _other_reading(found: Found, figure: str, named: Permutation, beside: Sequence[tuple[float, float] | None]) -> None:
    """Show rank and slowdown of the mapping that puts task i on SPE ``named[i]``, where it was measured."""
    known = [one for one in beside if one is not None]
    if known:
        name = f"[{''.join(map(str, named))}]"
        where, told = f"ring-mapping/{figure}", f"{name} as task i on SPE ai"
        for what, values in zip(("rank", "slowdown"), zip(*known, strict=True), strict=True):
            found.rows.shown(
                f"{where}:{name} {what}", where, what, told, median(values), "" if what == "rank" else "ratio"
            )


QS22_NAMED = [(0, 2, 4, 6, 7, 5, 3, 1), (0, 1, 3, 5, 7, 6, 4, 2)]


def ring_of_8(
    bench: Bench, found: Found, packet: int, both: bool, rounds: int = QS22_ROUNDS, also: Sequence[Permutation] = ()
) -> Ranked:
    """Times of the ring on one Cell of a QS22 under every mapping; a quick look has the named ones and `also`."""
    named = [*QS22_NAMED, *map(inverse, QS22_NAMED), *also]
    chosen = _permutations(bench, 8, 40, named)
    rounds = bench.fewer(rounds, 12)
    seeds = bench.seeds["ring_runs"]
    states = [(seed, range(8)) for seed in seeds]
    parts = [chosen[i : i + 64] for i in range(0, len(chosen), 64)]
    options = {"bytes": packet, "both": both, "rounds": rounds}

    def measure() -> list[Ranked]:
        return bench.map(lambda part: _measure(bench, "qs22", part, states, 5040, **options), parts)

    measured = bench.once(("ring-mapping", "qs22", packet, both, rounds, tuple(chosen)), measure)
    ways = "both ways" if both else "one way"
    found.notes.append(f"{len(chosen)} of 5040 permutations, {ways}, {packet} bytes: {rounds} rounds, seeds {seeds}")
    runs = [[t for part in measured for t in part.runs[i]] for i in range(len(states))]
    return Ranked(chosen, runs, 5040)


def _size_curves(lists: dict[int, Ranked]) -> dict[str, list[float]]:
    """Ranked times by the best of each list."""
    return {f"{packet} bytes": [t / r.best for t in sorted(r.average)] for packet, r in lists.items()}


@experiment(
    "ring-mapping/fig-4",
    "qs22",
    ["fig-4-worst", "fig-4-growth", "fig-4-02467531", "fig-4-01357642", "fig-4-top-10"],
)
def fig_4(bench: Bench, found: Found) -> None:
    """Figure 4: run times of the ring of 8 on one Cell of a QS22, by packet size.

    Both ways, all 5,040 mappings, packets of 2, 1 and 0.5 kB, the average of three runs. The named permutations' ranks
    and slowdowns are those of 1 kB, that paper's usual packet; where two runs have a rank correlation below 0.5, they
    have no ranking. *Growth*: worst by best grows from 2 to 1 kB and from 1 to 0.5 kB.
    """
    lists = {packet: ring_of_8(bench, found, packet, True) for packet in _PACKETS}
    correlations = {
        packet: show_correlation(found, "fig-4", ranked.correlation(), f"{packet} bytes")
        for packet, ranked in lists.items()
    }
    for row, packet in zip(("ring-mapping-017", "ring-mapping-018", "ring-mapping-019"), _PACKETS, strict=True):
        found.rows.number(row, lists[packet].spread(), pivot=1.0)
    spreads = [lists[packet].spread() for packet in _PACKETS]
    told = ", ".join(f"{packet} B {spread:.2f}" for packet, spread in zip(_PACKETS, spreads, strict=True))
    growing = spreads[0] < spreads[1] < spreads[2]
    found.rows.sentence("ring-mapping/fig-4-growth", growing, "grows" if growing else "does not", "", told)
    usual, runs = lists[_PACKET], correlations[_PACKET]
    ranks = []
    for named, rank_row, slow_row in zip(
        QS22_NAMED, ("ring-mapping-020", "ring-mapping-022"), ("ring-mapping-021", "ring-mapping-023"), strict=True
    ):
        i = usual.index(*named)
        ranks.append(usual.rank(i))
        _other_reading(found, "fig-4", named, [usual.beside(named)])
        found.rows.places(rank_row, [usual.rank(i)], 5040, runs)
        found.rows.number(slow_row, usual.slowdown(i), pivot=1.0, correlation=runs)
    found.notes.append(readings(QS22_NAMED))
    told = "ranks " + " and ".join(f"{rank:.0f}" for rank in ranks)
    found.rows.claim("ring-mapping-025", min(ranks) > 10, "yes" if min(ranks) <= 10 else "no", told, runs)
    found.pictures["fig-4"] = {
        "kind": "ranked",
        "title": "Figure 4: ring of 8, both ways, one Cell of a QS22",
        "curves": _size_curves(lists),
        "y_label": "time by the best",
        "length": 5040,
    }


@experiment("ring-mapping/fig-5", "qs22", ["fig-5"])
def fig_5(bench: Bench, found: Found) -> None:
    """Figure 5: the same ring one way only.

    Packets of 1 and 0.5 kB. "A much smaller influence, except for a small number of mappings" holds where, leaving out
    the worst 5 % of the mappings, worst by best exceeds 1 by at most half of what it does both ways, at both sizes.
    """
    few = {}
    one_way = {packet: ring_of_8(bench, found, packet, False) for packet in (1024, 512)}
    for packet, ranked in one_way.items():
        few[packet] = (_without_few(ranked), _without_few(ring_of_8(bench, found, packet, True)))
    holds = all(one - 1 <= (two - 1) / 2 for one, two in few.values())
    told = "; ".join(
        f"{packet} B: one way {one:.2f} (all: {one_way[packet].spread():.2f}), both ways {two:.2f}"
        for packet, (one, two) in few.items()
    )
    found.rows.claim("ring-mapping-024", holds, "much smaller" if holds else "not much smaller", told)
    found.pictures["fig-5"] = {
        "kind": "ranked",
        "title": "Figure 5: ring of 8, one way, one Cell of a QS22",
        "curves": _size_curves(one_way),
        "y_label": "time by the best",
        "length": 5040,
    }


def _without_few(ranked: Ranked) -> float:
    """Worst divided by best, without the worst few mappings."""
    times = sorted(ranked.average)
    return float(times[int(len(times) * (1 - _FEW)) - 1] / times[0])


@experiment("ring-mapping/pairs", "cell", ["pairs"])
def pairs(bench: Bench, found: Found) -> None:
    """SPEs that communicate in pairs: the best by the worst way of pairing.

    All 105 ways to make four pairs of the eight SPEs of a Cell; the two of a pair read large transfers from each other.
    """
    ways = list(_pairings(list(range(8))))
    ways = ways[:: bench.fewer(1, 7)]
    gbs = bench.map(lambda way: bench.together("cell", way).gbs(), ways)
    told = f"{len(ways)} of 105 ways, {min(gbs):.0f} .. {max(gbs):.0f} GB/s, median {median(gbs):.0f}"
    found.rows.number("ring-mapping-026", max(gbs) / min(gbs), told, pivot=1.0)
    found.pictures["pairs"] = {
        "kind": "distribution",
        "title": "SPEs in pairs: bandwidth of each way to make four pairs",
        "samples": {"pairs": gbs},
        "x_label": "GB/s",
    }


def _pairings(spes: list[int]) -> list[Pairs]:
    """All ways to make pairs, each pair in both directions."""
    if not spes:
        return [[]]
    first, *rest = spes
    return [
        [(first, other), (other, first), *way]
        for other in rest
        for way in _pairings([spe for spe in rest if spe != other])
    ]
