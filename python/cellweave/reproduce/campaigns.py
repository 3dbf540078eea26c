"""Rows of campaigns: from the folder of one, or from a table that was written of it."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

from cellweave import _core
from cellweave.campaign.store import FIGURES, Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# What a table keeps of a row.
TABLE = (
    "graph", "tasks", "edges", "ccr", "size", "machine", "elements", "method", "feasible", "gap", "predicted_per_s",
    "bottleneck", "achieved_per_s", "ran", "decided", "steady_after", "highest_per_s", "error",
)  # fmt: skip
_READ: dict[str, Callable[[str], Any]] = {
    "int64": int,
    "double": float,
    "bool": lambda word: word == "True",
    "string": str,
}


def campaign_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a campaign.

    Parameters
    ----------
    path : path
        Its folder, or a table of :func:`write_table`.

    Raises
    ------
    cellweave.RequestError
        Where it is neither.
    """
    if path.is_dir():
        return Store(path).rows()
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeError) as e:
        raise _core.RequestError(f"{path} is neither the folder of a campaign nor a table of one: {e}") from None
    if not rows or set(rows[0]) != set(TABLE):
        raise _core.RequestError(f"{path} is no table of a campaign: its columns are {', '.join(TABLE)}")
    try:
        return [{name: _READ[FIGURES[name]](word) if word else None for name, word in row.items()} for row in rows]
    except ValueError as e:
        raise _core.RequestError(f"{path}: {e}") from None


def write_table(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write rows as a table (CSV) that is small enough to be kept beside a page."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, TABLE, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({name: f"{row[name]:.7g}" if isinstance(row[name], float) else row[name] for name in TABLE})
