"""A whole page: the head, the lead, the sections; nothing is fetched from anywhere."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from cellweave.report.web.marks import tag, text

if TYPE_CHECKING:
    from collections.abc import Iterable

# The browser itself refuses what a page of ours should never ask for.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
_FOLDER = Path(__file__).parent


@cache
def asset(name: str) -> str:
    """The text of a file beside this module."""
    return (_FOLDER / name).read_text()


def lead(figure: str, sentence: str, kicker: str = "") -> str:
    """What a page says first: one figure, and the sentence that it begins."""
    parts = [tag("p", text(kicker), class_="kicker")] if kicker else []
    parts.append(tag("h1", tag("b", text(figure)) + " " if figure else "", text(sentence)))
    return tag("header", *parts, class_="lead")


def section(title: str, *content: str) -> str:
    """A part of the page under a heading."""
    return tag("section", tag("h2", text(title)), *content, "\n")


def page(title: str, top: str, sections: Iterable[str], foot: str = "") -> str:
    """The page as the text of one file."""
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="color-scheme" content="light dark">' + tag("title", text(title)) + tag("style", asset("page.css"))
    )
    body = (
        tag("a", "Skip to the content", class_="skip", href="#content")
        + top
        + tag("main", *sections, id="content")
        + (tag("footer", text(foot)) if foot else "")
        + tag("div", "", id="tip", role="status", hidden="hidden")
        + tag("script", "\n", asset("page.js"))
    )
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>{body}</body></html>\n'
