"""`ring-mapping`: the mapping that each objective of `cellweave place` chooses, in the list of all that were run.

The paper ran packets of at most 2 kB, and found that its lists change from run to run. So do ours; with packets of 8 kB
they repeat, and there a choice can be right or wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cellweave.place import place
from cellweave.reproduce import verdict
from cellweave.reproduce.experiment import experiment
from cellweave.reproduce.experiments.ring_mapping import Permutation, Ranked, inverse, ring_of_8, show_correlation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cellweave.reproduce.bench import Bench
    from cellweave.reproduce.experiment import Found

# The paper's usual packet both ways, and packets of 8 kB one way and both ways: bytes, both ways, rounds.
_RINGS = ((1024, True, 80), (8192, False, 40), (8192, True, 40))
_MAPPINGS = 5040
# The part of the mappings that counts as the top.
_TOP = 0.01
# The best mapping of each run, in the other runs: what an objective chooses that runs every mapping once.
_BEST = "the best of another run"
# Searches of `simulated`, by seed.
_SEEDS = (1, 2, 3)


def permutation(mapping: Sequence[int]) -> Permutation:
    """The permutation, task 0 on thread 0, of a ring whose task i is on SPE ``mapping[i]``: a ring has no first task.

    Examples
    --------
    >>> permutation((0, 2, 1)), permutation((1, 0, 2)), permutation((2, 1, 0))
    ((0, 2, 1), (0, 2, 1), (0, 2, 1))
    """
    first = list(mapping).index(0)
    return inverse([*mapping[first:], *mapping[:first]])


def _choices(bench: Bench, packet: int, both: bool) -> dict[str, list[Permutation]]:
    """What each objective chooses that does not call all mappings equal; `simulated` from several seeds."""
    pattern, runs = "ring-both" if both else "ring", bench.fewer(300, 20)
    searched = [place(pattern, "cell", "simulated", bytes=packet, seed=seed, runs=runs) for seed in _SEEDS]
    placed = {
        "rings": [place(pattern, "cell", "rings")],
        "rings with sides": [place(pattern, "cell", "rings", sides=True)],
        "model": [place(pattern, "cell", "model")],
        "distance": [place(pattern, "cell", "distance")],
        "simulated": searched,
    }
    return {
        name: [permutation(one.permutation) for one in found]
        for name, found in placed.items()
        if not any(one.all_equal for one in found)
    }


def _places(ranked: Ranked, chosen: Sequence[Permutation]) -> list[float]:
    """In which places of the single runs the chosen mappings stand."""
    return [place for one in chosen for place in ranked.run_ranks(ranked.index(*one))]


@experiment("ring-mapping/choices", "qs22")
def choices(bench: Bench, found: Found) -> None:
    """Choices of `cellweave place` for the ring of 8, among all 5,040 mappings when these are run.

    For each objective: in how many runs its choice is in the top 1 %, 50 of 5,040; chance alone gives 1 %. `simulated`
    chooses once for each of three seeds. Beside them stands the best mapping of each run, in the other runs. Where the
    rank correlation between runs from different start states is below 0.5, no mapping is better than another beyond the
    noise, and nothing is counted. Objectives that call all mappings equal choose none.
    """
    where = "ring-mapping/choices"
    for packet, both, rounds in _RINGS:
        chosen = _choices(bench, packet, both)
        every = [one for listed in chosen.values() for one in listed]
        ranked = ring_of_8(bench, found, packet, both, rounds, every)
        ring = f"{packet} bytes, {'both ways' if both else 'one way'}"
        correlation = show_correlation(found, "choices", ranked.correlation(), ring)
        spread = ranked.spread()
        if not verdict.repeats(correlation):
            what = "worst by best average time; no mapping is better than another beyond the noise"
            found.rows.shown(
                f"{where}:{ring}", where, what, ring, spread, "ratio", f"rank correlation {correlation:.2f}"
            )
            continue
        found.rows.shown(f"{where}:{ring}", where, "worst by best average time", ring, spread, "ratio")
        best = [ranked.permutations[run.index(min(run))] for run in ranked.runs]
        for name, listed in [*chosen.items(), (_BEST, best)]:
            places = _places(ranked, listed)
            if name == _BEST:
                # A run in which a mapping was found to be the best says nothing about how often it is.
                places = [place for i, place in enumerate(places) if i % len(best) != i // len(best)]
            top = sum(place <= _TOP * _MAPPINGS for place in places)
            average = sorted(ranked.rank(ranked.index(*one)) for one in listed)
            slower = max(ranked.slowdown(ranked.index(*one)) for one in listed)
            told = (
                f"{top} of {len(places)} runs; on average on rank {', '.join(f'{rank:.0f}' for rank in average)} of "
                f"{_MAPPINGS}, at most {slower:.3f} times the best time"
            )
            what = f"runs in the top 1 %, {name}"
            found.rows.shown(f"{where}:{ring}:{name}", where, what, ring, top / len(places), "share", told)
