"""Elements of HTML and SVG as text; marks of a picture that say their figures."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_SHRUNK = 0.75  # of its width, a picture's letters can still be read; below that its frame scrolls
_EMPTY = {"rect", "line", "path", "circle", "br"}


def tag(_name: str, /, *content: str, **attributes: object) -> str:
    """An element; a trailing ``_`` of an attribute's name is dropped, other ``_`` become ``-``, None leaves it out.

    Examples
    --------
    >>> tag("rect", x=1.0, width="40%", class_="bar")
    '<rect x="1" width="40%" class="bar"/>'
    >>> tag("p", text("a < b"))
    '<p>a &lt; b</p>'
    """
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(_short(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    if _name in _EMPTY and not content:
        return f"<{_name}{written}/>"
    return f"<{_name}{written}>{''.join(content)}</{_name}>"


def _short(value: object) -> str:
    """A number with a tenth of a pixel at most, so that pages stay small."""
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


def text(words: str) -> str:
    """Words as they stand in HTML."""
    return escape(words, quote=False)


def mark(says: str, *shapes: str, class_: str = "mark") -> str:
    """Shapes that are one thing in a picture: pointed at, touched or reached by arrow keys they say `says`."""
    return tag("g", *shapes, class_=class_, role="img", aria_label=says)


def share(part: float) -> str:
    """A part of 1 as the percentage that SVG and CSS take.

    >>> share(0.3333)
    '33.33%'
    """
    return f"{100 * part:.2f}".rstrip("0").rstrip(".") + "%"


def picture(
    says: str, content: Iterable[str], wide: float | None = None, high: float = 0.0, class_: str | None = None
) -> str:
    """An ``<svg>`` with marks; without `wide` it is as wide as its place, and its content counts in per cent."""
    return tag(
        "svg",
        *content,
        class_=class_,
        role="group",
        aria_label=says,
        width="100%" if wide is None else wide,
        height=high,
        viewBox=None if wide is None else f"0 0 {_short(wide)} {_short(high)}",
        style=None if wide is None else f"min-width:{_SHRUNK * wide:.0f}px",
    )


def frame(says: str, content: str, class_: str = "frame") -> str:
    """A part that scrolls inside its frame where it is wider than the page; the keyboard reaches it."""
    return tag("div", content, class_=class_, role="region", aria_label=says, tabindex=0)


def figure(content: str, caption: str = "") -> str:
    """A picture with a line below it."""
    return tag("figure", content, tag("figcaption", text(caption)) if caption else "")


def key(entries: Iterable[tuple[str, str]]) -> str:
    """A legend: colour (or CSS variable) and name."""
    listed = (tag("li", tag("span", "", style=f"background:{colour}"), text(name)) for colour, name in entries)
    return tag("ul", *listed, class_="key")


def fold(summary: str, content: str, class_: str = "fold") -> str:
    """A line that opens; `summary` is HTML."""
    return tag("details", tag("summary", summary), tag("div", content, class_="inside"), class_=class_)
