"""`cellweave mpi report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cellweave.cli.options import Force, Json, Quiet
from cellweave.cli.printer import Printer

app = typer.Typer(help="MPI programs on this machine.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def _mpi() -> None:
    pass


@app.command()
def report(
    profile: Annotated[Path, typer.Argument(metavar="PROFILE.json", help="What `cellrun --profile` wrote.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE.html", help="The page.")] = Path(
        "report.html"
    ),
    pictures: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write each picture there as .png, too.")
    ] = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Who sent how much to whom and time in MPI by function: tables, and a page with pictures."""
    from cellweave.report.page import read_profile
    from cellweave.report.page import report as make_report
    from cellweave.report.pattern import pattern_tables

    printer = Printer(json, quiet)
    data = read_profile(profile)
    for path in make_report([profile], output, pictures, force):
        printer.wrote(path)
    printer.result(data, lambda: pattern_tables(data))
