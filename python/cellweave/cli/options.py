"""Options that several verbs share, worded once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

App = Annotated[str, typer.Argument(metavar="APP", help="Application: TOML, JSON, GraphML, DOT or DagGen's text.")]
On = Annotated[
    str,
    typer.Option("--on", metavar="MACHINE", help="ps3, cell, qs20, qs22 (with options: qs22:spe=6), host, or a machine file."),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout, for programs.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Nothing but errors.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite output that exists.")]
Out = Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write the result here, too.")]
