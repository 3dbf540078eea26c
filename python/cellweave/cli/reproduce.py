"""`cellweave reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cellweave._core import RequestError
from cellweave.cli.options import Force, Json, Quiet
from cellweave.cli.printer import Printer


def reproduce(
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="ID", help="Groups, figures, tables or papers (streaming-schedule/fig-4), or all."),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="Show every id, and what it is.")] = False,
    rules: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Rule set of the bus's arbiter, or all; by default the default one."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer choices, mappings and rounds: a look, not a result.")
    ] = False,
    cache: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Keep what was found here, and do not measure it again.")
    ] = None,
    campaigns: Annotated[
        list[Path] | None,
        typer.Option("--campaign", metavar="PATH", help="Judge the scheduler paper by this campaign's runs; several."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE.html", help="One page with all tables and pictures.")
    ] = None,
    pictures: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Write each picture there as .png.")] = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """A paper's table, figure or claim on the simulated machine: published beside obtained, ratio and verdict."""
    from cellweave.files import check_free
    from cellweave.report.page import make_folder
    from cellweave.reproduce import tables
    from cellweave.reproduce.page import write, write_pictures
    from cellweave.reproduce.run import reproduce as do

    printer = Printer(json, quiet)
    if listed:
        printer.result(tables.list_data(), lambda: [tables.list_table()])
        return
    if not ids:
        raise RequestError("name what to reproduce, or say all; `cellweave reproduce --list` shows what there is")
    # Before minutes of work, not after them.
    if output is not None:
        check_free(output, force)
    if pictures is not None:
        make_folder(pictures)
        if not force and any(pictures.glob("*.png")):
            raise RequestError(f"--pictures: {pictures} holds pictures: say --force to overwrite them")
    with printer.progress(lambda state: (state["share"], state["what"])) as progress:
        done = do(ids, rules, quick, cache, campaigns or (), progress)
    with printer.shows(done.to_dict(), done.tables):
        if output is not None:
            for path in write(done, output, pictures, force):
                printer.wrote(path)
        elif pictures is not None:
            for path in write_pictures(done, pictures, force):
                printer.wrote(path)
