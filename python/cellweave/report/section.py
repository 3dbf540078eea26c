"""A part of a page, and its HTML."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cellweave.report.web.marks import figure, fold, frame, tag, text
from cellweave.report.web.shell import section
from cellweave.report.web.table import framed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure

    from cellweave.report.table import Table


@dataclass
class Section:
    """A part of the page: a heading, paragraphs, tables, pictures.

    Parameters
    ----------
    title : str
        The heading.
    tables : sequence of Table
        Shown as they are; where there is a `body`, they are folded below it.
    pictures : dict of str to callable
        Name of a file -> what draws it. Where there is a `body`, they are files only: it has drawings of its own.
    text : sequence of str
        Paragraphs under the heading.
    body : str
        HTML.
    """

    title: str
    tables: Sequence[Table]
    pictures: dict[str, Callable[[], Figure]] = field(default_factory=dict)
    text: Sequence[str] = ()
    body: str = ""

    def html(self) -> str:
        """The part as it stands in the page."""
        said = "".join(tag("p", text(paragraph)) for paragraph in self.text)
        if self.body:
            tables = fold("All figures", framed(self.tables)) if self.tables else ""
            return section(self.title, said, self.body, tables)
        return section(self.title, said, framed(self.tables), *(self._drawn(draw) for draw in self.pictures.values()))

    def _drawn(self, draw: Callable[[], Figure]) -> str:
        from cellweave.report.pictures import inline_svg

        return figure(frame(f"picture: {self.title}", inline_svg(draw(), self.title), class_="frame drawn"))
