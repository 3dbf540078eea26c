"""`cellweave generate daggen`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cellweave.choice import at_least
from cellweave.cli.options import Force, Json, Quiet, real, whole
from cellweave.cli.printer import Printer

app = typer.Typer(help="Applications drawn at random.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def _generate() -> None:
    pass


@app.command()
def daggen(
    tasks: Annotated[int, typer.Option(parser=whole, metavar="N", help="Tasks.")] = 100,
    fat: Annotated[float, typer.Option(parser=real, metavar="X", help="Width, 0 (a chain) to 1.")] = 0.5,
    regular: Annotated[float, typer.Option(parser=real, metavar="X", help="How equal the layers are, 0 to 1.")] = 0.5,
    density: Annotated[float, typer.Option(parser=real, metavar="X", help="Edges between neighbouring layers, 0 to 1.")] = 0.2,
    jump: Annotated[int, typer.Option(parser=whole, metavar="N", help="Layers that an edge may span.")] = 1,
    ccr: Annotated[float, typer.Option(parser=real, metavar="X", help="4-byte elements that move per operation.")] = 0.01,
    peek: Annotated[int, typer.Option(parser=whole, metavar="N", help="The largest peek.")] = 2,
    seed: Annotated[int, typer.Option(parser=whole, metavar="N", help="The same seed gives the same graph, for ever.")] = 1,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write it here (.toml, .json); else to stdout."),
    ] = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """A graph after DagGen, with costs for PPEs and SPEs, peeks and sizes."""
    from cellweave.files import check_free
    from cellweave.graph import Graph

    printer = Printer(json, quiet)
    at_least("--tasks", tasks, 1, 100_000)
    for flag, value in (("--fat", fat), ("--regular", regular), ("--density", density)):
        at_least(flag, value, 0, 1)
    at_least("--jump", jump, 1, 100_000)
    at_least("--ccr", ccr, 1e-6, 1e3)
    at_least("--peek", peek, 0, 64)
    at_least("--seed", seed, 0, 2**64 - 1)
    if output is not None:
        check_free(output, force)
    graph = Graph.daggen(tasks, fat, regular, density, jump, ccr, peek, seed)
    if output is not None:
        graph.save(output, force)
        printer.note(f"wrote {output}")
        if json:
            printer.result(graph.to_dict(), graph.tables)
        else:
            printer.note(str(graph))
    elif json:
        printer.result(graph.to_dict(), graph.tables)
    else:
        printer.text(graph.to_toml())
