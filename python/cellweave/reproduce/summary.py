"""One vote per group: which fitted and validation groups are met, and which claims the simulator contradicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cellweave.report.table import Table
from cellweave.reproduce import verdict
from cellweave.reproduce.facts import FITTED, MESSAGE_PASSING, NOT_EXPLAINED, SCHEDULING, VALIDATION, groups

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cellweave.reproduce.rows import Row

# The simulator's goals.
FITTED_WITHIN = 0.05
VALIDATION_SHARE = 0.80


@dataclass(frozen=True)
class Vote:
    """A group's verdict, which is that of its worst row.

    Attributes
    ----------
    group, role, verdict : str
        As in :class:`~cellweave.reproduce.rows.Row`.
    deviation : float or None
        The largest of its rows; None where it has only claims.
    """

    group: str
    role: str
    verdict: str
    deviation: float | None

    def fits(self) -> bool:
        """Whether a fitted group is as close as it should be."""
        if self.deviation is None:
            return self.verdict == verdict.YES
        return self.deviation <= FITTED_WITHIN and self.verdict != verdict.NO

    def met(self) -> bool:
        """Whether the group is as close as its role asks."""
        return self.fits() if self.role == FITTED else verdict.agrees(self.verdict)


def votes(rows: Sequence[Row]) -> list[Vote]:
    """The groups that have rows here, in the order of the list of groups."""
    found = []
    for group in groups().values():
        own = [row for row in rows if row.group == group.id]
        if not own:
            continue
        deviations = [row.deviation for row in own if row.deviation is not None]
        worst = verdict.worst([row.verdict for row in own])
        found.append(Vote(group.id, group.role, worst, max(deviations) if deviations else None))
    return found


def summary(rows: Sequence[Row]) -> dict[str, Any]:
    """The counts, and the names behind them, for JSON."""
    cast = votes(rows)
    found: dict[str, Any] = {}
    apart = dict.fromkeys((SCHEDULING, MESSAGE_PASSING, NOT_EXPLAINED))
    goals = {FITTED: FITTED_WITHIN, VALIDATION: VALIDATION_SHARE, **apart}
    for role, goal in goals.items():
        own = [vote for vote in cast if vote.role == role]
        found[role.replace(" ", "_")] = {
            "groups": len(own),
            "met": sum(vote.met() for vote in own),
            "goal": goal,
            "missed": {vote.group: vote.verdict for vote in own if not vote.met()},
        }
    found["contradictions"] = [vote.group for vote in cast if verdict.contradicts(vote.verdict)]
    found["no_ranking"] = [vote.group for vote in cast if vote.verdict == verdict.NO_RANKING]
    return found


def summary_table(rows: Sequence[Row], rules: str) -> Table:
    """The same for people."""
    told = summary(rows)
    table = Table(f"votes under the rule set {rules}", ["", ">groups", ">met", ">share", "missed"])
    for key, words in (
        ("fitted", f"fitted groups, within {FITTED_WITHIN:.0%}"),
        ("validation", f"validation groups, within 25 % or yes (goal: {VALIDATION_SHARE:.0%} of them)"),
        ("scheduling", "groups about mappings of task graphs, counted apart"),
        ("message_passing", "groups about programs of ranks, counted apart"),
        ("not_explained", "groups not explained, counted apart"),
    ):
        part = told[key]
        share = f"{part['met'] / part['groups']:.0%}" if part["groups"] else "-"
        missed = ", ".join(f"{name.partition('/')[2]} ({why})" for name, why in part["missed"].items())
        table.rows.append([words, str(part["groups"]), str(part["met"]), share, missed or "none"])
    for key, words in (("contradictions", "contradictions"), ("no_ranking", "no ranking")):
        named = told[key]
        table.rows.append([words, str(len(named)), "", "", ", ".join(named) or "none"])
    return table


def groups_table(rows: Sequence[Row]) -> Table:
    """Every group that has rows here: the fitted ones, validation, scheduling, message passing, those not explained."""
    table = Table("groups, one vote each", ["group", "counts as", "verdict", ">farthest row", "met"])
    cast = votes(rows)
    for role in (FITTED, VALIDATION, SCHEDULING, MESSAGE_PASSING, NOT_EXPLAINED):
        for vote in (vote for vote in cast if vote.role == role):
            far = "" if vote.deviation is None else f"{vote.deviation:.1%}"
            table.rows.append([vote.group, vote.role, vote.verdict, far, "yes" if vote.met() else "no"])
    return table


def comparison_table(rows_by_rules: Mapping[str, Sequence[Row]]) -> Table:
    """The votes under every rule set, a line each."""
    keys = ("fitted", "validation", "scheduling", "message_passing", "not_explained")
    columns = ["rule set", *(f">{key.replace('_', ' ')}" for key in keys), "contradictions"]
    table = Table("votes under every rule set", columns)
    for name, rows in rows_by_rules.items():
        told = summary(rows)
        parts = [told[key] for key in keys]
        shares = [f"{part['met']} of {part['groups']}" for part in parts]
        table.rows.append([name, *shares, ", ".join(told["contradictions"]) or "none"])
    return table
