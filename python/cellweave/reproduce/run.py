"""`reproduce`: experiments by their ids, under one rule set or all."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cellweave import _core
from cellweave.choice import choice
from cellweave.reproduce import verdict
from cellweave.reproduce.bench import Bench
from cellweave.reproduce.cache import Cache
from cellweave.reproduce.campaigns import campaign_rows
from cellweave.reproduce.experiment import Experiment, Found
from cellweave.reproduce.known import resolve
from cellweave.reproduce.rows import Row
from cellweave.reproduce.summary import summary

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from cellweave.report.table import Table


@dataclass
class Result:
    """What one experiment found under one rule set.

    Attributes
    ----------
    experiment : Experiment
        The experiment that ran.
    rules : str
        The rule set.
    rows : list of Row
        Published beside obtained.
    pictures : dict
        Name -> data of :func:`cellweave.reproduce.pictures.draw`.
    notes : list of str
        How it was measured this time.
    seconds : float
        How long it took.
    """

    experiment: Experiment
    rules: str
    rows: list[Row]
    pictures: dict[str, dict[str, Any]]
    notes: list[str]
    seconds: float


@dataclass
class Reproduction:
    """Published beside obtained, for everything that was asked for.

    Attributes
    ----------
    asked : list of str
        The ids as given.
    rules : list of str
        The rule sets; the first one's rows are the result, the others' are for comparison.
    quick : bool
        Whether only a quick look was taken: fewer choices, mappings and rounds.
    results : list of Result
        By experiment, then by rule set.
    """

    asked: list[str]
    rules: list[str]
    quick: bool
    results: list[Result] = field(default_factory=list)

    def rows(self, rules: str | None = None) -> list[Row]:
        """All rows under a rule set, by default the first."""
        wanted = rules or self.rules[0]
        return [row for result in self.results if result.rules == wanted for row in result.rows]

    def to_dict(self) -> dict[str, Any]:
        """The keys that other programs rely on; see the book."""
        papers = sorted({result.experiment.paper for result in self.results})
        told: dict[str, Any] = {
            "id": self.asked[0] if len(self.asked) == 1 else " ".join(self.asked),
            "paper": papers[0] if len(papers) == 1 else papers,
            "rules": self.rules[0],
            "quick": self.quick,
            "rows": [row.to_dict() for row in self.rows()],
            "summary": summary(self.rows()),
        }
        if len(self.rules) > 1:
            told["misfit"] = {
                rules: {
                    row.id: {"ratio": row.ratio, "obtained": row.obtained, "verdict": row.verdict}
                    for row in self.rows(rules)
                    if row.role != "shown"
                }
                for rules in self.rules
            }
        return told

    def tables(self) -> list[Table]:
        """A table per experiment, then the votes."""
        from cellweave.reproduce.tables import result_tables

        return result_tables(self)

    def page(self, output: Path, pictures: Path | None = None, force: bool = False) -> list[Path]:
        """Write everything as a page of its own; see :func:`cellweave.reproduce.page.write`."""
        from cellweave.reproduce.page import write

        return write(self, output, pictures, force)


def rule_sets() -> list[str]:
    """The names of the rule sets, the default first."""
    return _core.rule_sets()


def reproduce(
    ids: str | Sequence[str],
    rules: str | None = None,
    quick: bool = False,
    cache: Path | None = None,
    campaigns: Sequence[Path] = (),
    progress: Callable[[dict[str, Any]], None] | None = None,
) -> Reproduction:
    """Repeat published experiments on the simulated machine, and set published beside obtained.

    Parameters
    ----------
    ids : str or sequence of str
        Groups, figures, tables or papers, or ``all``; ``cellweave reproduce --list`` shows them.
    rules : str, optional
        A rule set of the bus's arbiter; ``all`` measures under every one. By default the default rule set.
    quick : bool
        Fewer choices, mappings and rounds: a quick look, not a result.
    cache : path, optional
        A folder that keeps the results.
    campaigns : sequence of path
        Folders or tables (CSV) of campaigns whose runs the scheduler paper is judged by; by default a sample is run.
    progress : callable, optional
        Called with ``{"share": .., "what": ..}`` now and then.

    Returns
    -------
    Reproduction

    Raises
    ------
    cellweave.RequestError
        Where an id or a rule set is unknown; names the nearest.

    Examples
    --------
    >>> import cellweave as cw
    >>> near = cw.reproduce("streaming-schedule/near")
    >>> near.rows()[0].unit
    'GB/s'
    """
    asked = [ids] if isinstance(ids, str) else list(ids)
    known = rule_sets()
    chosen = known if rules == "all" else [known[0] if rules is None else choice("--rules", rules, [*known, "all"])]
    wanted = resolve(asked)
    done = Reproduction(asked, chosen, quick)
    rows = [row for path in campaigns for row in campaign_rows(path)]
    # What campaigns found is not found again by the code that a cache looks at.
    kept = Cache(None if campaigns else cache)
    shared: dict[str, dict[object, Any]] = {name: {} for name in chosen}
    # Rows without a vote have no misfit: only the first rule set measures them.
    todo = [(e, only, name) for e, only in wanted for name in chosen if e.groups or name == chosen[0]]
    for i, (experiment, only, name) in enumerate(todo):
        line = experiment.id if len(chosen) == 1 else f"{experiment.id} ({name})"

        def tell(share: float, i: int = i, line: str = line) -> None:
            if progress is not None:
                progress({"share": (i + share) / len(todo), "what": line})

        tell(0.0)
        result = _one(experiment, kept, Bench(name, quick, tell, shared[name], rows))
        if only is not None:
            result.rows = [row for row in result.rows if row.group in only]
        done.results.append(result)
    return done


def _one(experiment: Experiment, cache: Cache, bench: Bench) -> Result:
    rules, quick = bench.rules or "", bench.quick
    kept = cache.read(experiment.id, rules, quick)
    if kept is None:
        start = time.monotonic()
        found = Found()
        experiment.run(bench, found)
        kept = {
            "rows": [row.to_dict() for row in found.rows.found],
            "pictures": found.pictures,
            "notes": found.notes,
            "seconds": time.monotonic() - start,
        }
        cache.keep(experiment.id, rules, quick, kept)
    rows = [Row(**row) for row in kept["rows"]]
    assert all(row.verdict in verdict.VERDICTS for row in rows)
    return Result(experiment, rules, rows, kept["pictures"], kept["notes"], kept["seconds"])
