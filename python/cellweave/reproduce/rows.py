"""Rows of published beside obtained."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from cellweave.report.units import number as digits
from cellweave.reproduce import verdict
from cellweave.reproduce.facts import facts, groups

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cellweave.reproduce.facts import Fact
    from cellweave.reproduce.verdict import Judged

# The unit of published rows that have none.
_NO_UNITS = ("qualitative", "bool")


@dataclass(frozen=True)
class Row:
    """One published thing and what was obtained.

    Attributes
    ----------
    id, group : str
        The published row's id, and the group in which it votes. A row without a vote has its figure's id as group.
    role : str
        ``fitted``, ``validation``, ``scheduling``, ``message passing``, ``not explained`` or, without a vote,
        ``shown``.
    quantity, conditions : str
        What was measured, and where.
    published, obtained : float, str or None
        In `unit`.
    ratio : float or None
        Obtained divided by published.
    verdict : str
        See :mod:`cellweave.reproduce.verdict`.
    deviation : float or None
        How far off, as a share of 1.
    detail : str
        The figures behind it.
    """

    id: str
    group: str
    role: str
    quantity: str
    conditions: str
    published: float | str | None
    obtained: float | str | None
    unit: str
    ratio: float | None
    verdict: str
    deviation: float | None
    detail: str

    def to_dict(self) -> dict[str, Any]:
        """The row's keys and values, for JSON."""
        return asdict(self)


class Spread:
    """One quantity under several choices: the median is the result; the detail has minimum and maximum.

    Parameters
    ----------
    values : sequence of float
        One per choice; at least one.
    over : str
        What was chosen: ``28 choices of two hidden SPEs``.
    """

    def __init__(self, values: Sequence[float], over: str) -> None:
        self.values = list(values)
        self.over = over
        self.median = median(self.values)

    def detail(self) -> str:
        """The range of the values, in words.

        Examples
        --------
        >>> Spread([1.0, 4.0, 2.0], "3 choices").detail()
        'median over 3 choices, 1 .. 4'
        """
        return f"median over {self.over}, {digits(min(self.values))} .. {digits(max(self.values))}"


class Rows:
    """Collects an experiment's rows; knows published rows and groups by their ids."""

    def __init__(self) -> None:
        self.found: list[Row] = []

    def number(
        self,
        row: str,
        obtained: float | Spread | None,
        detail: str = "",
        pivot: float | None = None,
        pivot_obtained: float | None = None,
        digits: int = 4,
        correlation: float = 1.0,
    ) -> None:
        """A published number (or range); see :func:`cellweave.reproduce.verdict.number`.

        `correlation` is that between runs, where the number belongs to one mapping of a ranked list.
        """
        fact = facts()[row]
        value, detail = _told(obtained, detail)
        if "-" in fact.value:
            low, high = fact.range()
            judged = verdict.span(low, high, value, pivot)
            self._add(fact, fact.value, _rounded(value, digits), judged, detail)
            return
        scale = 100.0 if fact.unit == "percent" else 1.0
        published = fact.number()
        judged = verdict.where_ranked(correlation, verdict.number(published, value, pivot, scale, pivot_obtained))
        self._add(fact, published, _rounded(value, digits), judged, detail)

    def at_least(self, row: str, obtained: float, detail: str = "", pivot: float | None = None) -> None:
        """A published number that the text gives as a lower bound: everything above it agrees."""
        fact = facts()[row]
        judged = verdict.at_least(fact.number(), obtained, pivot)
        self._add(fact, fact.number(), _rounded(obtained, 4), judged, detail)

    def places(
        self, row: str, obtained: Sequence[float] | Spread, length: int, correlation: float, detail: str = ""
    ) -> None:
        """Published ranks in a list of `length`; `correlation` is that between runs."""
        fact = facts()[row]
        if isinstance(obtained, Spread):
            detail = "; ".join(filter(None, [obtained.detail(), detail]))
            obtained = [obtained.median]
        judged = verdict.where_ranked(correlation, verdict.ranks(fact.places(), obtained, length))
        published: float | str = fact.places()[0] if len(fact.places()) == 1 else fact.value
        shown: float | str = obtained[0] if len(obtained) == 1 else ";".join(digits(place) for place in obtained)
        self._add(fact, published, shown, judged, detail)

    def run_places(
        self, row: str, obtained: Sequence[float], length: int, correlation: float, detail: str, parts: int = 1
    ) -> None:
        """Published ranks in single runs, for `parts` permutations. Runs have no order, so each part is sorted."""
        fact = facts()[row]
        places = fact.places()
        each = len(places) // parts
        published = [place for i in range(parts) for place in sorted(places[i * each : (i + 1) * each])]
        judged = verdict.where_ranked(correlation, verdict.ranks(published, obtained, length))
        self._add(fact, fact.value, ";".join(digits(place) for place in obtained), judged, detail)

    def claim(self, row: str, holds: bool, obtained: float | str | None, detail: str, correlation: float = 1.0) -> None:
        """A published sentence: whether it holds, and the figures behind it."""
        fact = facts()[row]
        self._add(fact, fact.value, obtained, verdict.where_ranked(correlation, verdict.claim(holds)), detail)

    def sentence(self, group: str, holds: bool, obtained: float | str | None, unit: str, detail: str) -> None:
        """A claim of a group that has no published row of its own."""
        about = groups()[group]
        self.structure(group, "", about.about(), "", "yes", obtained, unit, verdict.claim(holds), detail)

    def structure(
        self,
        group: str,
        suffix: str,
        quantity: str,
        conditions: str,
        published: float | str,
        obtained: float | str | None,
        unit: str,
        judged: Judged,
        detail: str,
    ) -> None:
        """Something computed from several published rows, such as a matrix's mean."""
        shown = _rounded(obtained, 4) if isinstance(obtained, float) else obtained
        given = _rounded(published, 4) if isinstance(published, float) else published
        self.found.append(
            Row(
                f"{group}{suffix}",
                group,
                groups()[group].role,
                quantity,
                conditions,
                given,
                shown,
                unit,
                judged.ratio,
                judged.verdict,
                judged.deviation,
                detail,
            )
        )

    def shown(
        self, row: str, figure: str, quantity: str, conditions: str, obtained: float, unit: str, detail: str = ""
    ) -> None:
        """An obtained value without a published one, or another reading beside the one that votes."""
        self.found.append(
            Row(
                row,
                figure,
                "shown",
                quantity,
                conditions,
                None,
                _rounded(obtained, 4),
                unit,
                None,
                verdict.NOT_PUBLISHED,
                None,
                detail,
            )
        )

    def _add(
        self, fact: Fact, published: float | str | None, obtained: float | str | None, judged: Judged, detail: str
    ) -> None:
        group = group_of(fact.id)
        self.found.append(
            Row(
                fact.id,
                group,
                groups()[group].role,
                fact.quantity,
                fact.conditions,
                published,
                obtained,
                "" if fact.unit in _NO_UNITS else fact.unit,
                judged.ratio,
                judged.verdict,
                judged.deviation,
                detail,
            )
        )


def group_of(row: str) -> str:
    """The group in which a published row votes."""
    return next(group.id for group in groups().values() if row in group.rows)


def _told(obtained: float | Spread | None, detail: str) -> tuple[float | None, str]:
    if isinstance(obtained, Spread):
        return obtained.median, "; ".join(filter(None, [obtained.detail(), detail]))
    return obtained, detail


def _rounded(value: float | None, significant: int) -> float | None:
    return None if value is None else float(f"{value:.{significant}g}")
