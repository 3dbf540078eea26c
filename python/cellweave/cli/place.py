"""`cellweave place`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cellweave.cli.exporting import Export, Exporting, ExportTo
from cellweave.cli.options import Force, Json, On, Out, Quiet, takes
from cellweave.cli.printer import Printer


@takes("place", flags={"bytes": "--size"}, metavars={"bytes": "BYTES"})
def place(
    pattern: Annotated[
        str | None, typer.Argument(metavar="PATTERN", help="A pattern's name (--list), or a file with a matrix.")
    ] = None,
    on: On = "host",
    *,
    plot: Annotated[Path | None, typer.Option(metavar="FILE.png", help="Draw how much mappings cost.")] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the patterns that have names.")] = False,
    export: Export = None,
    export_to: ExportTo = None,
    output: Out = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
    **options: Any,
) -> None:
    """Which element each part of a communication pattern gets; -o writes a file that `cellrun --place` reads."""
    from cellweave._core import RequestError
    from cellweave.files import check_free
    from cellweave.place import place as find

    printer = Printer(json, quiet)
    if listed:
        _list(printer)
        return
    if pattern is None:
        raise RequestError("name a pattern, or a file with one; --list shows the names")
    exporting = Exporting(printer, export, export_to, on, force)
    for path in (plot, output):
        if path is not None:
            check_free(path, force)
    if plot is not None:
        from cellweave.report.pictures import check_kind

        check_kind(plot)
    with printer.progress(_describe) as progress:
        found = find(pattern, on, progress=progress, **options)
    with exporting.shows(found):
        if output is not None:
            found.save(output, force)
            printer.wrote(output)
        if plot is not None:
            from cellweave.report.pictures import save

            save(found.plot(), plot, force)
            printer.wrote(plot)


def _list(printer: Printer) -> None:
    from cellweave.place import pattern_names
    from cellweave.report.table import Table

    names = pattern_names()
    table = Table("patterns", ["name", "who sends to whom"], [list(pattern) for pattern in names])
    table.notes = ["or a file: .csv, .mtx, .json of cellrun --profile, .prof and .mat of Open MPI's monitoring"]
    printer.result([{"name": name, "about": about} for name, about in names], lambda: [table])


def _describe(state: dict[str, Any]) -> tuple[float | None, str]:
    return state["share"], str(state.get("what", "searching"))
