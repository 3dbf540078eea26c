"""Groups of a campaign's rows: counted, tabulated, drawn."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any

from cellweave import _core
from cellweave.campaign.store import COLUMNS, Store
from cellweave.choice import choice
from cellweave.report.units import number

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from cellweave.report.table import Table

# What two rows must share for the one to be divided by the other.
_GRID = ("graph", "machine", "what", "method", "options", "seed", "instances")


@dataclass
class Summary:
    """Groups of rows.

    Attributes
    ----------
    name : str
        The campaign's name.
    by : list of str
        The columns that make groups.
    of : str
        The column that is averaged.
    over : str
        What it is divided by; empty: nothing.
    cells, kept : int
        Of the grid, and with a row.
    groups : list of dict
        Per group: the columns of `by`, ``rows``, ``failed``, ``infeasible``, ``min``, ``mean``, ``max``, ``std`` (None
        where there is no figure).
    """

    name: str
    by: list[str]
    of: str
    over: str
    cells: int
    kept: int
    groups: list[dict[str, Any]] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """For programs."""
        return dict(vars(self))

    def tables(self) -> list[Table]:
        """What ``cellweave campaign summary`` prints."""
        from cellweave.report.table import Table

        what = f"{self.of} / that of {self.over}" if self.over else self.of
        heads = [">rows", ">failed", ">infeasible", ">min", ">mean", ">max", ">std"]
        table = Table(f"{self.name}: {what}", [*self.by, *heads])
        for group in self.groups:
            named = [_told(group[key]) for key in self.by]
            counts = [str(group[key]) for key in ("rows", "failed", "infeasible")]
            table.rows.append([*named, *counts, *[_told(group[key]) for key in ("min", "mean", "max", "std")]])
        if self.kept < self.cells:
            table.notes.append(f"{self.kept} of {self.cells} cells are done: the same command goes on with the others")
        return [table]

    def plot(self) -> Figure:
        """Draw the means: over the last column of `by` where that is numbers, a line per group of the others.

        Returns
        -------
        matplotlib.figure.Figure
        """
        import matplotlib.pyplot as plt

        from cellweave.report.colours import INK, colours

        figure, ax = plt.subplots(figsize=(8, 4.6), layout="constrained")
        drawn = [group for group in self.groups if group["mean"] is not None]
        last = self.by[-1]
        if drawn and all(isinstance(group[last], (int, float)) for group in drawn):
            lines: dict[str, list[tuple[float, float]]] = {}
            for group in drawn:
                label = ", ".join(_told(group[key]) for key in self.by[:-1]) or self.of
                lines.setdefault(label, []).append((group[last], group["mean"]))
            shades = colours(list(lines))
            for label, points in lines.items():
                x, y = zip(*sorted(points), strict=True)
                ax.plot(x, y, marker="o", markersize=4, color=shades[label], label=label)
            spans = [point[0] for points in lines.values() for point in points]
            if min(spans) > 0 and max(spans) > 20 * min(spans):
                ax.set_xscale("log")
            ax.set_xlabel(last)
            ax.legend(fontsize=8, frameon=False)
        else:
            labels = [", ".join(_told(group[key]) for key in self.by) for group in drawn]
            ax.bar(range(len(drawn)), [group["mean"] for group in drawn], color=colours(["mean"])["mean"])
            ax.set_xticks(range(len(drawn)), labels, rotation=30, ha="right", fontsize=8)
        ax.set_ylim(bottom=0)
        ax.set_ylabel(f"{self.of} / that of {self.over}" if self.over else self.of)
        ax.set_title(self.name, fontsize=10, color=INK)
        ax.grid(alpha=0.3)
        ax.spines[["top", "right"]].set_visible(False)
        return figure


def summary(
    folder: str | os.PathLike[str],
    by: str | Sequence[str] = ("method",),
    of: str = "predicted_per_s",
    over: str | None = None,
) -> Summary:
    """Group the rows of a campaign; also while it runs.

    Parameters
    ----------
    folder : path
        The campaign's.
    by : sequence of str
        Columns that make groups.
    of : str
        A column of numbers.
    over : str, optional
        ``COLUMN=VALUE``: divide each row's figure by that of the row that differs from it in this column only.

    Raises
    ------
    cellweave.RequestError
        Where the folder is no campaign's, or there is no such column.
    """
    store = Store(folder)
    rows = store.rows()
    names = [by] if isinstance(by, str) else list(by)
    if not names:
        raise _core.RequestError("--by: name at least one column")
    for name in names:
        choice("--by", name, list(COLUMNS))
    numbers = [name for name, kind in COLUMNS.items() if kind in ("double", "int64")]
    choice("--of", of, numbers)
    figures = _figures(rows, of, over)
    found = Summary(store.about["name"], names, of, over or "", store.about["cells"], len(rows))
    grouped: dict[tuple[Any, ...], list[int]] = {}
    for i, row in enumerate(rows):
        grouped.setdefault(tuple(row[name] for name in names), []).append(i)
    for group, members in grouped.items():
        values = [figure for i in members if (figure := figures[i]) is not None]
        told: dict[str, Any] = dict(zip(names, group, strict=True))
        told["rows"] = len(members)
        told["failed"] = sum(rows[i]["error"] is not None for i in members)
        told["infeasible"] = sum(rows[i]["feasible"] is False for i in members)
        told["min"], told["max"] = (min(values), max(values)) if values else (None, None)
        told["mean"] = mean(values) if values else None
        told["std"] = stdev(values) if len(values) > 1 else None
        found.groups.append(told)
    return found


def _figures(rows: list[dict[str, Any]], of: str, over: str | None) -> list[float | None]:
    """The figure of each row, divided where that is asked for."""
    if over is None:
        return [row[of] for row in rows]
    column, equals, value = over.partition("=")
    if not equals:
        raise _core.RequestError(f"--over: `{over}` is not COLUMN=VALUE")
    choice("--over", column, list(_GRID))
    others = [name for name in _GRID if name != column]

    def place(row: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(row[name] for name in others)

    bases = {place(row): row[of] for row in rows if str(row[column]) == value}
    if not bases:
        there = sorted({str(row[column]) for row in rows})
        raise _core.RequestError(f"--over: no row has {column} `{value}`; there are {', '.join(there) or 'none'}")
    figures: list[float | None] = []
    for row in rows:
        base = bases.get(place(row))
        figures.append(row[of] / base if base and row[of] is not None else None)
    return figures


def _told(value: Any) -> str:
    if value is None:
        return "-"
    return number(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)
