"""The published figures, the groups that vote, and the rows that are left out: read from the package's own data."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from io import StringIO
from typing import Any

from cellweave import _core

PAPERS = ("dma-benchmark", "streaming-schedule", "ring-mapping", "affinity-model", "buffered-mpi")
FITTED = "fitted"
VALIDATION = "validation"
SCHEDULING = "scheduling"
MESSAGE_PASSING = "message passing"
NOT_EXPLAINED = "not explained"


@dataclass(frozen=True)
class Fact:
    """A row of ``published.csv``, as written there.

    Attributes
    ----------
    id, paper, platform, quantity, conditions : str
        What was measured, where.
    value, unit : str
        As printed; :meth:`number`, :meth:`range` and :meth:`places` read it.
    note : str
        The place in the paper.
    """

    id: str
    paper: str
    platform: str
    quantity: str
    conditions: str
    value: str
    unit: str
    note: str

    def number(self) -> float:
        """The value, without a ``~``."""
        return float(self.value.lstrip("~"))

    def range(self) -> tuple[float, float]:
        """A value that was published as a range."""
        low, high = self.value.split("-")
        return float(low), float(high)

    def places(self) -> list[float]:
        """A value that is a list of ranks."""
        return [float(place) for place in re.split("[,;]", self.value)]


@dataclass(frozen=True)
class Group:
    """A figure, a table's structure or a claim: one vote.

    Attributes
    ----------
    id : str
        ``paper/name``.
    first_role : str
        ``fitted`` or ``validation``, as it was fixed before the first fit, or when the group was added; ``scheduling``
        for mappings of task graphs and ``message passing`` for programs of ranks, which do not judge the simulated bus
        and are counted apart.
    rows : tuple of str
        Ids of published rows.
    matrix : str or None
        The quantity of a published matrix, for groups about its structure.
    claim : str or None
        A sentence that has no number of its own.
    fitted_later : str or None
        Why a group that was validation counts as fitted now.
    not_explained : str or None
        Why no known model gives what was published; such a group is counted apart.
    added : str or None
        Why the group came in after the first fit.
    """

    id: str
    first_role: str
    rows: tuple[str, ...]
    matrix: str | None
    claim: str | None
    fitted_later: str | None
    not_explained: str | None
    added: str | None

    @property
    def role(self) -> str:
        """What it counts as: ``fitted``, ``validation``, ``scheduling``, ``message passing`` or ``not explained``."""
        if self.not_explained is not None:
            return NOT_EXPLAINED
        return FITTED if self.fitted_later is not None else self.first_role

    @property
    def paper(self) -> str:
        """The part of the id before the slash."""
        return self.id.partition("/")[0]

    def about(self) -> str:
        """What it is, in a few words."""
        if self.claim is not None:
            return self.claim
        if self.matrix is not None:
            part = self.id.rpartition("table-")[2].partition("-")[2].replace("-", " ")
            return f"{self.matrix}: {part}"
        known = facts()
        told = [" ".join(filter(None, [known[row].quantity, known[row].conditions])) for row in self.rows[:1]]
        more = len(self.rows) - 1
        return told[0] + (f" (and {more} more)" if more else "")


def _read(name: str) -> str:
    return (files("cellweave.facts") / name).read_text(encoding="utf-8")


@cache
def facts() -> dict[str, Fact]:
    """Every published row by its id, in the file's order."""
    found = (Fact(**row) for row in csv.DictReader(StringIO(_read("published.csv"))))
    return {fact.id: fact for fact in found}


@cache
def _groups_file() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(_core.read_toml(_read("groups.toml")))
    return document


@cache
def groups() -> dict[str, Group]:
    """Every group by its id, in the file's order."""
    found = (
        Group(
            g["id"],
            g["role"],
            tuple(spread(g.get("rows", []))),
            g.get("matrix"),
            g.get("claim"),
            g.get("fitted_later"),
            _groups_file()["reasons"][g["not_explained"]] if "not_explained" in g else None,
            g.get("added"),
        )
        for g in _groups_file()["group"]
    )
    return {group.id: group for group in found}


@cache
def seeds() -> dict[str, Any]:
    """The seeds of everything random, fixed with the groups."""
    found: dict[str, Any] = _groups_file()["seeds"]
    return found


@cache
def left_out() -> dict[str, str]:
    """Published row -> why nothing here reproduces it."""
    document = json.loads(_core.read_toml(_read("left_out.toml")))
    return {row: entry["reason"] for entry in document["left_out"] for row in spread(entry["rows"])}


def spread(rows: list[str]) -> list[str]:
    """Ids, with every ``first .. last`` written out.

    Examples
    --------
    >>> spread(["a-001", "b-009 .. b-011"])
    ['a-001', 'b-009', 'b-010', 'b-011']
    """
    found = []
    for entry in rows:
        first, _, last = entry.partition(" .. ")
        stem, digits = first.rsplit("-", 1)
        end = int(last.rsplit("-", 1)[1]) if last else int(digits)
        found += [f"{stem}-{i:0{len(digits)}d}" for i in range(int(digits), end + 1)]
    return found


def matrix(quantity: str) -> list[list[float]]:
    """A published matrix: ``[reader][source]``."""
    cells = [fact for fact in facts().values() if fact.quantity == quantity]
    size = round(len(cells) ** 0.5)
    table = [[0.0] * size for _ in range(size)]
    for fact in cells:
        reader, source = (int(n) for n in re.findall(r"SPE(\d+)", fact.conditions))
        table[reader][source] = fact.number()
    return table
