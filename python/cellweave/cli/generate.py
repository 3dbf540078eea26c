"""`cellweave generate daggen`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cellweave.cli.options import Force, Json, Quiet, takes
from cellweave.cli.printer import Printer

app = typer.Typer(help="Applications drawn at random.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def _generate() -> None:
    pass


@app.command()
@takes("daggen")
def daggen(
    *,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write it here (.toml, .json); else to stdout."),
    ] = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
    **options: Any,
) -> None:
    """A graph after DagGen, with costs for PPEs and SPEs, peeks and sizes."""
    from cellweave.files import check_free
    from cellweave.graph import Graph

    printer = Printer(json, quiet)
    if output is not None:
        check_free(output, force)
    graph = Graph.daggen(**options)
    if output is not None:
        graph.save(output, force)
        printer.wrote(output)
        if json:
            printer.result(graph.to_dict(), graph.tables)
        else:
            printer.note(str(graph))
    elif json:
        printer.result(graph.to_dict(), graph.tables)
    else:
        printer.text(graph.to_toml())
