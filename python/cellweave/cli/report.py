"""`cellweave report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cellweave.cli.options import Force, Quiet
from cellweave.cli.printer import Printer


def report(
    results: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULT...",
            help="What other verbs wrote: result.json, plan.json, probe.json, trace.json, profile.json, app.toml, ...",
        ),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE.html", help="The page.")] = Path(
        "report.html"
    ),
    pictures: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write each picture there as .png, too.")
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """One page with tables and pictures of everything given; it needs no other file and no network."""
    from cellweave.report.page import report as make_report

    printer = Printer(False, quiet)
    for path in make_report(results, output, pictures, force):
        printer.wrote(path)
