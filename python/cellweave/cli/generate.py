"""`cellweave generate`."""

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


@app.command()
def paper250(
    *,
    to: Annotated[Path, typer.Option("--to", metavar="FOLDER", help="Write the files there.")],
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """The 250 applications after streaming-schedule 5.2: 25 graphs, each with ten ratios of communication."""
    from cellweave.report.table import Table
    from cellweave.sets import write_set

    printer = Printer(json, quiet)
    index = write_set("paper250", to, force)

    def tables() -> list[Table]:
        graphs = index["graphs"]
        table = Table("paper250", ["", ">graphs", ">applications", ">tasks", ">edges"])
        for size in ("small", "large"):
            own = [g for g in graphs if g["size"] == size]
            tasks, edges = ([g[key] for g in own] for key in ("tasks", "edges"))
            shapes = len({g["name"].partition("-ccr")[0] for g in own})
            spans = [f"{min(values)} to {max(values)}" for values in (tasks, edges)]
            table.rows.append([size, str(shapes), str(len(own)), *spans])
        table.notes = [f"sha256 of all: {index['sha256']}"]
        return [table]

    printer.result(index, tables)
    printer.wrote(to, f": {len(index['graphs'])} applications and set.json")
