"""Compares an obtained figure with a published one. This is the only place that does, and it has no exceptions.

Every published thing is one of four kinds, and each kind has its rule.

=========  ==================================================================================================
number     ``obtained / published`` within 10 or 25 %. Farther away, ``same direction`` where the claim compares
           with something (the *pivot*: a ratio with 1, a loss with 0) and both lie on the same side of it; where
           it compares with nothing, within a factor of two. Else ``contradicts``.
range      as a number against its nearer end; inside it the ratio is 1.
ranks      places in a list of ``length``: the largest ``|obtained - published| / length`` within 10 or 25 %; farther
           away, ``same direction`` where both lie in the same half.
claim      ``yes`` or ``no``.
=========  ==================================================================================================

A published zero has no ratio: the difference counts, as a share of `scale` (100 for percent).

What depends on which mapping stands where in a ranked list has a verdict only where the list repeats itself: where runs
from different start states have a rank correlation of at least 0.5. Else the verdict is ``no ranking``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# From the best to the worst; a group's verdict is its worst row's.
WITHIN_10 = "within 10 %"
WITHIN_25 = "within 25 %"
YES = "yes"
SAME_DIRECTION = "same direction"
NO = "no"
CONTRADICTS = "contradicts"
NO_RANKING = "no ranking"
NOT_PUBLISHED = "not published"
_ORDER = [NOT_PUBLISHED, YES, WITHIN_10, WITHIN_25, SAME_DIRECTION, NO, CONTRADICTS, NO_RANKING]
VERDICTS = tuple(_ORDER)
# Below this rank correlation between runs, a place in the list says nothing about the mapping that has it.
_REPEATS = 0.5


@dataclass(frozen=True)
class Judged:
    """The result of a comparison.

    Parameters
    ----------
    verdict : str
        One of `VERDICTS`.
    ratio : float or None
        Obtained divided by published, where that means something.
    deviation : float or None
        How far off, as a share: 0.1 is 10 %. None for claims.
    """

    verdict: str
    ratio: float | None = None
    deviation: float | None = None


def number(
    published: float,
    obtained: float | None,
    pivot: float | None = None,
    scale: float = 1.0,
    pivot_obtained: float | None = None,
) -> Judged:
    """Compare a number with a published one.

    Parameters
    ----------
    published, obtained : float
        In the same unit; None where there was nothing to measure, which contradicts.
    pivot : float, optional
        What the published claim compares with.
    scale : float
        What a difference is a share of, where `published` is zero.
    pivot_obtained : float, optional
        The same on the obtained side, where that is another number.

    Examples
    --------
    >>> number(25, 24.1).verdict, number(2.35, 1.4, pivot=1).verdict, number(2.35, 0.9, pivot=1).verdict
    ('within 10 %', 'same direction', 'contradicts')
    >>> number(0, 3.0, scale=100)
    Judged(verdict='within 10 %', ratio=None, deviation=0.03)
    """
    if obtained is None or obtained != obtained:
        return Judged(CONTRADICTS)
    ratio = obtained / published if published else None
    deviation = abs(ratio - 1) if ratio is not None else abs(obtained) / scale
    if pivot is not None:
        other = pivot if pivot_obtained is None else pivot_obtained
        together = (published - pivot) * (obtained - other) > 0
    else:
        together = ratio is not None and 0.5 <= ratio <= 2.0
    return Judged(_near(deviation, together), ratio, deviation)


def span(low: float, high: float, obtained: float | None, pivot: float | None = None) -> Judged:
    """Compare a number with a published range.

    Examples
    --------
    >>> span(512, 1024, 512).verdict, span(512, 1024, 2048).ratio
    ('within 10 %', 2.0)
    """
    if obtained is None or low <= obtained <= high:
        return Judged(WITHIN_10, 1.0, 0.0) if obtained is not None else Judged(CONTRADICTS)
    return number(low if obtained < low else high, obtained, pivot)


def at_least(published: float, obtained: float, pivot: float | None = None) -> Judged:
    """Compare a number with a published lower bound: everything above agrees; the ratio is given as it is.

    Examples
    --------
    >>> at_least(2.0, 2.6)
    Judged(verdict='within 10 %', ratio=1.3, deviation=0.0)
    """
    if obtained >= published:
        return Judged(WITHIN_10, obtained / published, 0.0)
    return number(published, obtained, pivot)


def ranks(published: Sequence[float], obtained: Sequence[float] | None, length: int) -> Judged:
    """Compare places in a list with published ones, in order; the largest difference counts.

    Parameters
    ----------
    length : int
        Of the list.

    Examples
    --------
    >>> ranks([92], [85], 120).verdict, ranks([92], [65], 120).verdict, ranks([92], [20], 120).verdict
    ('within 10 %', 'within 25 %', 'contradicts')
    """
    if not obtained or len(obtained) != len(published):
        return Judged(CONTRADICTS)
    deviation = max(abs(o - p) for p, o in zip(published, obtained, strict=True)) / length
    half = (length + 1) / 2
    together = all((p <= half) == (o <= half) for p, o in zip(published, obtained, strict=True))
    return Judged(_near(deviation, together), None, deviation)


def claim(holds: bool) -> Judged:
    """The verdict on a sentence that holds or does not.

    Examples
    --------
    >>> claim(True).verdict
    'yes'
    """
    return Judged(YES if holds else NO)


def where_ranked(correlation: float, judged: Judged) -> Judged:
    """`judged` where runs agree on the ranking, else ``no ranking``.

    Parameters
    ----------
    correlation : float
        Rank correlation between runs from different start states.

    Examples
    --------
    >>> where_ranked(0.7, claim(True)).verdict, where_ranked(0.1, claim(True)).verdict
    ('yes', 'no ranking')
    """
    return judged if repeats(correlation) else Judged(NO_RANKING)


def repeats(correlation: float) -> bool:
    """Whether runs that correlate so agree on a ranking.

    Examples
    --------
    >>> repeats(0.5), repeats(0.1)
    (True, False)
    """
    return correlation >= _REPEATS


def worst(verdicts: Sequence[str]) -> str:
    """A group's one vote.

    Examples
    --------
    >>> worst(["within 10 %", "same direction"]), worst(["yes", "within 25 %"]), worst([])
    ('same direction', 'within 25 %', 'not published')
    """
    return max(verdicts, key=_ORDER.index, default=NOT_PUBLISHED)


def agrees(verdict: str) -> bool:
    """Whether a validation group counts as met: within 25 %, or a claim that holds."""
    return verdict in (WITHIN_10, WITHIN_25, YES)


def contradicts(verdict: str) -> bool:
    """Whether the simulator says the opposite."""
    return verdict in (NO, CONTRADICTS)


def _near(deviation: float, together: bool) -> str:
    # A hair of tolerance: 1.1 is 10 % more than 1, whatever binary fractions say.
    if deviation <= 0.10 + 1e-12:
        return WITHIN_10
    if deviation <= 0.25 + 1e-12:
        return WITHIN_25
    return SAME_DIRECTION if together else CONTRADICTS
