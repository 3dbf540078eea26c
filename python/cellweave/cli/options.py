"""Options that several verbs share, worded once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def whole(text: str) -> int:
    """An integer; the error repeats what was written."""
    try:
        return int(str(text))
    except ValueError:
        raise typer.BadParameter(f"`{text}` is no whole number") from None


def real(text: str) -> float:
    """A number; the error repeats what was written."""
    try:
        return float(str(text))
    except ValueError:
        raise typer.BadParameter(f"`{text}` is no number") from None


App = Annotated[str, typer.Argument(metavar="APP", help="Application: TOML, JSON, GraphML, DOT or DagGen's text.")]
On = Annotated[
    str,
    typer.Option(
        "--on",
        metavar="MACHINE",
        help="ps3, cell, qs20, qs22 (with options: qs22:spe=6), host, or a machine file.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout, for programs.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Nothing but errors.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite output that exists.")]
Out = Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write the result here, too.")]
