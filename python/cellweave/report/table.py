"""One table type for the terminal, for `str()` and for a notebook."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from io import StringIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure
    from rich.console import RenderableType


@dataclass
class Table:
    """Rows of cells under headed columns.

    Parameters
    ----------
    title : str
        A line above the table.
    columns : sequence of str
        Headings; when all are empty, none is shown. A heading that starts with ``>`` aligns its column to the right.
    rows : list of sequence of str
        As many cells as columns.
    notes : list of str
        Lines below the table.
    """

    title: str
    columns: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def rich(self) -> RenderableType:
        """The table as the command line prints it."""
        from rich import box
        from rich.console import Group
        from rich.table import Table as RichTable
        from rich.text import Text

        headed = any(self.columns)
        table = RichTable(
            box=box.SIMPLE_HEAD if headed else None,
            show_header=headed,
            show_edge=False,
            pad_edge=False,
            header_style="bold",
        )
        for column in self.columns:
            right = column.startswith(">")
            table.add_column(column.lstrip(">"), justify="right" if right else "left", overflow="fold")
        for row in self.rows:
            table.add_row(*[Text(cell) for cell in row])
        parts: list[RenderableType] = [Text(self.title, style="bold")] if self.title else []
        if self.rows:
            parts.append(table)
        parts += [Text(note) for note in self.notes]
        return Group(*parts)

    def markdown(self) -> str:
        """The table as the pages of the book and of the benches have it."""
        marks = ["---:" if column.startswith(">") else "---" for column in self.columns]
        lines = [[column.lstrip(">") for column in self.columns], marks, *self.rows]
        return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)

    def html(self) -> str:
        """The table as a notebook and a report show it."""

        def cells(row: Sequence[str], tag: str) -> str:
            return "".join(
                f'<{tag} style="text-align:{"right" if column.startswith(">") else "left"}">'
                f"{escape(cell.lstrip('>') if tag == 'th' else cell)}</{tag}>"
                for column, cell in zip(self.columns, row, strict=True)
            )

        lines = [f"<p><strong>{escape(self.title)}</strong></p>"] if self.title else []
        if self.rows:
            head = f"<thead><tr>{cells(self.columns, 'th')}</tr></thead>" if any(self.columns) else ""
            lines += ["<table>", head, "<tbody>"]
            lines += [f"<tr>{cells(row, 'td')}</tr>" for row in self.rows]
            lines += ["</tbody>", "</table>"]
        lines += [f"<p>{escape(note)}</p>" for note in self.notes]
        return "\n".join(lines)


def text(tables: Sequence[Table], width: int = 110) -> str:
    """The tables as plain text, one below the other."""
    from rich.console import Console

    out = StringIO()
    console = Console(file=out, width=width, color_system=None, force_terminal=False, legacy_windows=False)
    for i, table in enumerate(tables):
        if i:
            console.print()
        console.print(table.rich())
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip().splitlines())


def html(tables: Sequence[Table], draw: Callable[[], Figure] | None = None) -> str:
    """The tables as HTML, one below the other, and below them the picture that `draw` makes."""
    lines = [table.html() for table in tables]
    if draw is not None:
        from base64 import b64encode

        from cellweave.report.pictures import png

        title = escape(tables[0].title) if tables else ""
        lines.append(f'<img alt="{title}" src="data:image/png;base64,{b64encode(png(draw())).decode()}">')
    return "\n".join(lines)
