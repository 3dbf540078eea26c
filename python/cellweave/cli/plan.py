"""`cellweave plan`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cellweave.cli.exporting import Export, Exporting, ExportTo
from cellweave.cli.options import App, Force, Json, On, Out, Quiet, takes
from cellweave.cli.printer import Printer
from cellweave.report.units import percent, time_ns


@takes("plan", flags={"mapping": "--map"}, metavars={"mapping": "TASK=ELEMENT"})
def plan(
    application: App,
    on: On = "host",
    *,
    picture: Annotated[Path | None, typer.Option(metavar="FILE.png", help="Draw the mapping.")] = None,
    export: Export = None,
    export_to: ExportTo = None,
    output: Out = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
    **options: Any,
) -> None:
    """Which task runs where, what that gives, and what no mapping can beat. Exit code 1: no feasible plan."""
    from cellweave.files import check_free
    from cellweave.plan import plan as make_plan

    printer = Printer(json, quiet)
    exporting = Exporting(printer, export, export_to, on, force)
    for path in (picture, output):
        if path is not None:
            check_free(path, force)
    with printer.progress(_describe) as progress:
        made = make_plan(application, on, progress=progress, **options)
    with exporting.shows(made):
        if output is not None:
            made.save(output, force)
            printer.wrote(output)
        if picture is not None:
            from cellweave.report.pictures import save

            save(made.plot("mapping"), picture, force)
            printer.wrote(picture)
    if not made.feasible:
        raise typer.Exit(1)


def _describe(state: dict[str, Any]) -> tuple[float | None, str]:
    words = [str(state.get("what") or state.get("method", "planning"))]
    if state.get("period_ns"):
        words.append(f"period {time_ns(state['period_ns'])}")
    if state.get("gap") is not None:
        words.append(f"gap {percent(state['gap'])}")
    if state.get("moves_per_s"):
        words.append(f"{state['moves_per_s'] / 1e6:.2f} M moves/s")
    return state.get("share"), ", ".join(words)
