"""Tables of published beside obtained."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cellweave.report.table import Table
from cellweave.report.units import number
from cellweave.reproduce.facts import groups
from cellweave.reproduce.known import experiments
from cellweave.reproduce.summary import comparison_table, summary_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cellweave.reproduce.rows import Row
    from cellweave.reproduce.run import Reproduction, Result

# An experiment with more rows without a vote than this shows a picture; its rows are only in the JSON.
_MOST_SHOWN = 12
_ALONE = 2


def told(value: float | str | None) -> str:
    """A published or obtained value, for people."""
    if value is None:
        return "-"
    return value if isinstance(value, str) else number(value)


def ratio(row: Row) -> str:
    """Obtained divided by published, or the distance of ranks as a share of the list."""
    if row.ratio is not None:
        return f"{row.ratio:.2f}"
    return "" if row.deviation is None else f"off {row.deviation:.0%}"


def rows_table(title: str, rows: Sequence[Row], detail: bool = False) -> Table:
    """Rows of one experiment; with `detail` also the role and the figures behind each."""
    columns = ["id", "what", ">published", ">obtained", "unit", ">ratio", "verdict"]
    if detail:
        columns += ["counts as", "behind it"]
    table = Table(title, columns)
    for row in rows:
        what = f"{row.quantity}, {row.conditions}" if row.conditions else row.quantity
        name = row.id.partition("/")[2] or row.id
        cells = [name, what, told(row.published), told(row.obtained), row.unit, ratio(row), row.verdict]
        table.rows.append([*cells, row.role, row.detail] if detail else cells)
    return table


def shown_rows(result: Result, all_of_them: bool) -> list[Row]:
    """The rows to print: all with a vote, the others unless they are too many."""
    voting = [row for row in result.rows if row.role != "shown"]
    others = [row for row in result.rows if row.role == "shown"]
    return voting + (others if all_of_them or len(others) <= _MOST_SHOWN else [])


def result_tables(done: Reproduction) -> list[Table]:
    """What the command line prints."""
    few = len(done.results) <= _ALONE * len(done.rules)
    tables = []
    for result in done.results:
        if result.rules != done.rules[0]:
            continue
        rows = shown_rows(result, few)
        if rows or few:
            table = rows_table(f"{result.experiment.id}: {result.experiment.title}", rows)
            if few:
                behind = [row for row in rows if row.detail and row.role != "shown"]
                table.notes = [f"{row.id.rpartition('/')[2]}: {row.detail}" for row in behind]
                table.notes += result.notes
            tables.append(table)
    if len(done.rules) > 1:
        tables.append(misfit_table(done))
        by_rules = {name: [row for row in done.rows(name) if row.role != "shown"] for name in done.rules}
        tables.append(comparison_table(by_rules))
    if any(row.role != "shown" for row in done.rows()):
        tables.append(summary_table(done.rows(), done.rules[0]))
    if done.quick:
        tables[-1].notes.append("a quick look: fewer choices, mappings and rounds")
    return tables


def misfit_table(done: Reproduction, wide: bool = False) -> Table:
    """The ratio of every rule set on every row that votes; without room for their names, rule sets have numbers."""
    heads = [f">{rules}" if wide else f">{i + 1}" for i, rules in enumerate(done.rules)]
    table = Table("misfit: every rule set on every row", ["id", "counts as", ">published", *heads])
    if not wide:
        table.notes = [f"{i + 1}: {rules}" for i, rules in enumerate(done.rules)]
    by_rules = [{row.id: row for row in done.rows(rules)} for rules in done.rules]
    for row in done.rows():
        if row.role == "shown":
            continue
        cells = [misfit(rows[row.id]) for rows in by_rules]
        table.rows.append([row.id, row.role, told(row.published), *cells])
    return table


def misfit(row: Row) -> str:
    """A ratio where there is one, else how far off, else yes or no."""
    return ratio(row) or row.verdict


def list_table() -> Table:
    """Every id: groups under their experiment, and what has no vote."""
    table = Table("what can be reproduced", ["id", "counts as", "what it is"])
    for e in experiments().values():
        if e.groups != (e.id,):
            table.rows.append([e.id, "" if e.groups else "not published", e.title])
        for name in e.groups:
            table.rows.append([name, groups()[name].role, groups()[name].about()])
    table.notes = ["also the name of a paper, or all"]
    return table


def list_data() -> list[dict[str, object]]:
    """The same for programs."""
    found: list[dict[str, object]] = []
    for e in experiments().values():
        if e.groups != (e.id,):
            found.append({"id": e.id, "paper": e.paper, "role": None, "about": e.title, "groups": list(e.groups)})
        for name in e.groups:
            group = groups()[name]
            found.append(
                {"id": name, "paper": group.paper, "role": group.role, "about": group.about(), "experiment": e.id}
            )
    return found
