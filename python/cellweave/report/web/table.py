"""Tables of a page: each scrolls inside its frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cellweave.report.web.marks import frame, tag, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cellweave.report.table import Table

_ROWS_MOST = 500  # of a table; files have the rest
_LONG_NAME = 32  # letters of a row's name that is broken into lines
_LONG = 48  # letters of a cell that is broken into lines


def framed(tables: Sequence[Table], says: str = "a table") -> str:
    """The tables, one below the other, each with its title and notes."""
    return "".join(_framed(table, says) for table in tables)


def _framed(table: Table, says: str) -> str:
    parts = [tag("h3", text(table.title))] if table.title else []
    if table.rows:
        right = [column.startswith(">") for column in table.columns]
        head = ""
        if any(table.columns):
            columns = [c.lstrip(">") for c in table.columns]
            cells = (
                tag("th", text(c), scope="col", class_="n" if r else None) for c, r in zip(columns, right, strict=True)
            )
            head = tag("thead", tag("tr", *cells))
        rows = (_row(row, right) for row in table.rows[:_ROWS_MOST])
        parts.append(frame(table.title or says, tag("table", head, tag("tbody", *rows))))
    if len(table.rows) > _ROWS_MOST:
        parts.append(tag("p", text(f"and {len(table.rows) - _ROWS_MOST} more rows"), class_="note"))
    parts += [tag("p", text(note), class_="note") for note in table.notes]
    return "".join(parts)


def _row(row: Sequence[str], right: Sequence[bool]) -> str:
    first, *others = row
    class_ = "n" if right[0] else ("long" if len(first) > _LONG_NAME else None)
    cells = [tag("th", text(first), scope="row", class_=class_)]
    cells += [
        tag("td", text(cell), class_="n" if r else ("long" if len(cell) > _LONG else None))
        for cell, r in zip(others, right[1:], strict=True)
    ]
    return tag("tr", *cells)
