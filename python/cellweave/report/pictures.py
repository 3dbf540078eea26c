"""Figures as files."""

from __future__ import annotations

import re
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING

from cellweave.choice import choice
from cellweave.files import write_whole

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_KINDS = ["png", "svg", "pdf"]


def save(figure: Figure, path: Path, force: bool) -> None:
    """Write a picture, whole or not at all; its kind is the name's ending.

    Raises
    ------
    cellweave.RequestError
        Where the ending is none of png, svg, pdf, or the file exists and `force` is not given.
    """
    write_whole(path, _bytes(figure, check_kind(path)), force)


def check_kind(path: Path) -> str:
    """The kind of picture that a name's ending asks for; other endings are refused before anything is drawn."""
    return choice("the ending of a picture's name", path.suffix.lstrip("."), _KINDS)


def inline_svg(figure: Figure, says: str) -> str:
    """The picture as an ``<svg>`` element, for a page without other files."""
    import matplotlib as mpl

    with mpl.rc_context({"svg.fonttype": "none"}):
        text = _bytes(figure, "svg").decode()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    text = re.sub(r' xmlns(:\w+)?="[^"]*"', "", text)
    return text.replace("<svg", f'<svg role="img" aria-label="{escape(says)}"', 1)


def figure_of(axes: Axes) -> Figure:
    """The figure that contains a drawing."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    return figure


def png(figure: Figure) -> bytes:
    """The picture as a notebook shows it."""
    return _bytes(figure, "png", dpi=80)


def _bytes(figure: Figure, kind: str, dpi: int = 144) -> bytes:
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    out = BytesIO()
    # No date and no random names: the same result gives the same file.
    stamp = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[kind]
    with mpl.rc_context({"svg.hashsalt": "cellweave"}):
        figure.savefig(out, format=kind, dpi=dpi, metadata=stamp)
    plt.close(figure)
    return out.getvalue()
