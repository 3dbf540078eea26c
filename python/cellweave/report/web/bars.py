"""Bars with a name before and a figure behind each; they are readable at any width of the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cellweave.report.web.marks import mark, picture, share, tag, text

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass
class Bar:
    """One bar.

    Parameters
    ----------
    name, figure : str
        Before and behind the bar.
    value : float
        Its length, in the unit of all bars beside it.
    says : str
        What it says when pointed at.
    kind : str
        Its colour: ``predicted``, ``achieved``, ``warning`` or ``plain``.
    before : float, optional
        A thin bar above it: what was predicted.
    """

    name: str
    figure: str
    value: float
    says: str
    kind: str = "plain"
    before: float | None = None


def bars(title: str, rows: Sequence[Bar], line: float | None = None) -> str:
    """Draw bars below each other; `line` marks a value in each of them."""
    longest = max([*(max(row.value, row.before or 0.0) for row in rows), line or 0.0, 1e-30])
    return tag("div", *(_row(row, longest, line) for row in rows), class_="bars", role="group", aria_label=title)


def _row(row: Bar, longest: float, line: float | None) -> str:
    return (
        tag("span", text(row.name), class_="name")
        + bar(row, longest, line)
        + tag("span", text(row.figure), class_="figure")
    )


def bar(row: Bar, longest: float, line: float | None = None) -> str:
    """The bar alone."""
    top = "0" if row.before is None else "40%"
    shapes = [tag("rect", width="100%", height="100%", class_="track")]
    if row.before is not None:
        shapes.append(tag("rect", width=share(max(0.0, row.before) / longest), height="36%", class_="predicted"))
    shapes.append(tag("rect", y=top, width=share(max(0.0, row.value) / longest), height="100%", class_=row.kind))
    if line is not None:
        at = share(line / longest)
        shapes.append(tag("line", x1=at, x2=at, y1=0, y2="100%", class_="limit"))
    return picture(row.name, [mark(row.says, *shapes)], high=18 if row.before is None else 24, class_="bar")
