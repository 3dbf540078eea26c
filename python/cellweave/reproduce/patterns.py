"""Patterns of transfers and mappings that the papers name, and random ones."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

Pairs = list[tuple[int, int]]

# SPEs in their order around the bus; `None` is a ramp of another unit.
AROUND = (None, 1, 3, 5, 7, None, None, 6, 4, 2, 0, None)
ROUND = tuple(spe for spe in AROUND if spe is not None)

# streaming-schedule, section 3.1.2: who reads from whom.
NEAR: Pairs = [(1, 3), (3, 1), (5, 7), (7, 5), (0, 2), (2, 0), (4, 6), (6, 4)]
FAR: Pairs = [(0, 7), (7, 0), (1, 6), (6, 1), (2, 5), (5, 2), (3, 4), (4, 3)]


def derangement(n: int, random: Random) -> Pairs:
    """Each of `n` reads from one other and is read by one other; all such patterns are equally likely.

    Examples
    --------
    >>> pairs = derangement(8, Random(1))
    >>> sorted(source for _, source in pairs) == list(range(8)) and all(r != s for r, s in pairs)
    True
    """
    while True:
        sources = random.sample(range(n), n)
        if all(reader != source for reader, source in enumerate(sources)):
            return list(enumerate(sources))


def permutation_without_fixed(n: int, random: Random) -> Pairs:
    """A random permutation without its fixed points."""
    sources = random.sample(range(n), n)
    return [(reader, source) for reader, source in enumerate(sources) if reader != source]


def pairs_with_repeats(n: int, count: int, random: Random) -> Pairs:
    """`count` random pairs of different SPEs, drawn independently: an SPE may read twice and be read five times."""
    found: Pairs = []
    while len(found) < count:
        reader, source = random.randrange(n), random.randrange(n)
        if reader != source:
            found.append((reader, source))
    return found


def hops(source: int, reader: int) -> int:
    """Ramps from one SPE of a chip to another, the shorter way.

    Examples
    --------
    >>> hops(1, 3), hops(0, 1), hops(3, 4)
    (1, 3, 6)
    """
    apart = abs(AROUND.index(source) - AROUND.index(reader))
    return min(apart, len(AROUND) - apart)


def one_way(source: int, reader: int) -> list[int]:
    """The segments that a transfer passes going up the ring's order: segment i leads from ramp i to ramp i + 1.

    Examples
    --------
    >>> one_way(1, 3), one_way(0, 1)
    ([1], [10, 11, 0])
    """
    start, end = AROUND.index(source), AROUND.index(reader)
    return [(start + i) % len(AROUND) for i in range((end - start) % len(AROUND))]


def ring_reads(mapping: Sequence[int], both_ways: bool) -> Pairs:
    """A ring of tasks, task i on SPE ``mapping[i]``: each reads from the one before it (and from the one after it).

    Examples
    --------
    >>> ring_reads([0, 2, 1], both_ways=False)
    [(0, 1), (2, 0), (1, 2)]
    """
    n = len(mapping)
    found = [(mapping[i], mapping[i - 1]) for i in range(n)]
    if both_ways:
        found += [(mapping[i], mapping[(i + 1) % n]) for i in range(n)]
    return found
