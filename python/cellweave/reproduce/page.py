"""Everything that was reproduced, on one page."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from cellweave.report.page import Section, write_page
from cellweave.report.page import write_pictures as write_them
from cellweave.report.published import draw_misfit, draw_ratios
from cellweave.report.table import Table
from cellweave.reproduce.facts import left_out
from cellweave.reproduce.pictures import draw
from cellweave.reproduce.summary import comparison_table, groups_table, summary_table
from cellweave.reproduce.tables import misfit_table, rows_table, shown_rows

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from matplotlib.figure import Figure

    from cellweave.reproduce.run import Reproduction, Result

    Drawings = dict[str, Callable[[], Figure]]


_INTRODUCTION = (
    "Every row sets a published figure beside what the simulated machine gives. Fitted groups were looked at while the "
    "rule sets were chosen; validation groups are kept out of the fit. The list of both was fixed before the first "
    "fit. A group votes once, with its worst row.",
    "Groups that are not explained are counted apart: no known model of the bus gives how mappings of the ring spread "
    "and rank. Where two runs from different start states have a rank correlation below 0.5, there is no ranking.",
    "Not all of the validation is blind. The far pattern, the pairs, a PPE's reads and the puts between local stores "
    "had been seen before the default rule set and its parameters were final: see the book's chapter on the machine "
    "inside.",
    "Results on a Playstation 3 are the median over the choices of the two SPEs that it hides, with the lowest and the "
    "highest beside it. Which two a measured machine hid is not known, and none was chosen afterwards.",
)
_QUICK = "This was a quick look: fewer choices of hidden SPEs, fewer mappings, fewer rounds, fewer patterns."


def write(done: Reproduction, output: Path, pictures: Path | None = None, force: bool = False) -> list[Path]:
    """Write the page.

    Parameters
    ----------
    done : Reproduction
        What was found.
    output : path
        The page; it needs no other file.
    pictures : path, optional
        A folder for each picture as a file of its own.
    force : bool
        Overwrite what exists.

    Returns
    -------
    list of path
        What was written.

    Raises
    ------
    cellweave.RequestError
        Where something is in the way.
    """
    heading = "Published beside obtained"
    return write_page(heading, heading, sections(done), output, pictures, force)


def write_pictures(done: Reproduction, folder: Path, force: bool = False) -> list[Path]:
    """Write the pictures alone, each as a file."""
    return write_them(sections(done), folder, force)


def sections(done: Reproduction) -> list[Section]:
    """The page's parts: votes, misfit, then one part per experiment."""
    rules = done.rules[0]
    voting = [row for row in done.rows() if row.role != "shown"]
    found: list[Section] = []
    if voting:
        text = [*_INTRODUCTION, _QUICK] if done.quick else list(_INTRODUCTION)
        overview: Drawings = {"published": partial(draw_ratios, voting, f"obtained by published, rule set {rules}")}
        tables = [summary_table(voting, rules), groups_table(voting)]
        found.append(Section(f"The votes: rule set {rules}", tables, overview, text))
        if len(done.rules) > 1:
            by_rules = {name: [row for row in done.rows(name) if row.role != "shown"] for name in done.rules}
            tables = [comparison_table(by_rules), misfit_table(done, wide=True)]
            found.append(Section("The misfit of every rule set", tables, {"misfit": partial(draw_misfit, by_rules)}))
    found += [_section(result) for result in done.results if result.rules == rules]
    found.append(_left_out_section())
    return found


def _section(result: Result) -> Section:
    rows = shown_rows(result, False)
    tables = [rows_table("", rows, detail=True)] if rows else []
    paragraphs = [" ".join(part.split()) for part in result.experiment.about.split("\n\n")[1:]]
    on = f"On the simulated {result.experiment.machine}, rule set {result.rules}; {result.seconds:.1f} s."
    paper = result.experiment.id.partition("/")[0]
    # Names of pictures are unique within a paper only.
    drawings: Drawings = {f"{paper}-{name}": partial(draw, data) for name, data in result.pictures.items()}
    return Section(
        f"{result.experiment.id}: {result.experiment.title}", tables, drawings, [*paragraphs, *result.notes, on]
    )


def _left_out_section() -> Section:
    table = Table("", ["published row", "why nothing here reproduces it"])
    last = ""
    for row, reason in left_out().items():
        if reason == last:
            first = table.rows[-1][0].partition(" .. ")[0]
            table.rows[-1] = [f"{first} .. {row}", reason]
        else:
            table.rows.append([row, reason])
        last = reason
    return Section("Left out", [table])
