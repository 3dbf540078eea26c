"""What every page that cellweave writes must be: whole, without any request, readable at any width."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

from browser import Browser

MOST_BYTES = 1_500_000
WIDTHS = [390, 1024, 1920]
VOID = {"meta", "br", "link", "img", "input", "hr"}


class Reader(HTMLParser):
    """Elements with their attributes; complains about tags that are not closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str]]] = []
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"{tag} at {self.getpos()}")


def read(page: Path | str) -> Reader:
    reader = Reader()
    reader.feed(page if isinstance(page, str) else page.read_text())
    reader.close()
    return reader


def asks_for_nothing(page: Path, most_bytes: int = MOST_BYTES) -> None:
    """It is small, and names nothing that a browser would fetch."""
    text = page.read_text()
    assert len(text.encode()) < most_bytes
    assert "default-src 'none'" in text
    for name, attributes in read(page).found:
        for attribute in ("src", "href", "xlink:href", "action", "poster", "data"):
            assert attributes.get(attribute, "#").startswith(("#", "data:image/")), (name, attributes)
    # What a picture holds itself.
    text = re.sub(r'"data:image/[^"]*"', "", text)
    # The namespace of SVG is a name that the script needs; it is nothing to fetch.
    assert "//" not in re.sub(r"http://www\.w3\.org/2000/svg|^\s*//.*$", "", text, flags=re.MULTILINE)
    assert not re.search(r"url\((?!#)", text) and "@import" not in text and "fetch(" not in text


def is_well_formed(page: Path) -> None:
    """Tags are closed in order, headings and titles are there, and every picture has a text."""
    reader = read(page)
    assert not reader.wrong and not reader.open
    headings = [name for name, _ in reader.found if re.fullmatch(r"h[1-6]", name)]
    assert headings[0] == "h1" and headings.count("h1") == 1 and "h2" in headings
    for name, attributes in reader.found:
        if name == "svg" or "mark" in attributes.get("class", "").split() or "frame" in attributes.get("class", ""):
            assert attributes["aria-label"].strip() and attributes["role"], (name, attributes)
        if name == "button":
            assert attributes["aria-label"] and attributes["type"] == "button"
    ids = [attributes["id"] for _, attributes in reader.found if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert ("html", {"lang": "en"}) in reader.found and any(name == "title" for name, _ in reader.found)


def shows_well(chromium: Browser, page: Path, width: int) -> None:
    """No complaint, no request, nothing that sticks out, no letters too small, also with everything opened."""
    chromium.evaluate("document.querySelectorAll('details').forEach((part) => (part.open = true))")
    assert chromium.evaluate("document.documentElement.scrollWidth") <= width
    small = """[...document.querySelectorAll('svg text')].filter((e) => e.textContent.trim()).map((e) =>
      parseFloat(getComputedStyle(e).fontSize) * Math.min(1, e.getScreenCTM().a)).filter((px) => px < 8.5).length"""
    assert chromium.evaluate(small) == 0
    assert chromium.complaints() == []
    assert chromium.requests() == [page.resolve().as_uri()]
