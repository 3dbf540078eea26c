"""`cellweave tour`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cellweave.cli.options import Force, Json, Quiet
from cellweave.cli.printer import Printer


def tour(
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE.html", help="The page.")] = Path("tour.html"),
    on: Annotated[str, typer.Option("--on", metavar="MACHINE", help="host, or a part of it: host:cpus=0-1.")] = "host",
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Probe this computer, run a stream and a ring under a bad, the default and a good mapping: one page to show."""
    from cellweave.files import check_free
    from cellweave.tour import tour as take

    printer = Printer(json, quiet)
    check_free(output, force)
    with printer.progress(_describe) as progress:
        found = take(on, progress=progress)
    with printer.shows(found.to_dict(), found.tables):
        found.save(output, force)
        printer.wrote(output)


def _describe(state: dict[str, Any]) -> tuple[float | None, str]:
    return state["share"], str(state["what"])
