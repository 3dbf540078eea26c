"""`cellweave profile`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from cellweave.choice import at_least
from cellweave.cli.options import App, Force, Json, On, Out, Quiet, whole
from cellweave.cli.printer import Printer


def profile(
    application: App,
    on: On = "host",
    instances: Annotated[
        int | None,
        typer.Option(parser=whole, metavar="N", help="Instances to send through; default: until costs are known well."),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Measure tasks whose cost is given, too.")] = False,
    output: Out = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure what each task costs on this computer, with real data; -o writes the application with its costs."""
    from cellweave.files import check_free
    from cellweave.profile import profile as measure

    printer = Printer(json, quiet)
    if instances is not None:
        at_least("--instances", instances, 1, 10**15)
    if output is not None:
        check_free(output, force)
    with printer.progress(_describe) as progress:
        measured = measure(application, on, instances=instances, again=again, progress=progress)
    if output is not None:
        measured.save(output, force)
        printer.note(f"wrote {output}")
    printer.result(measured.to_dict(), measured.tables)


def _describe(state: dict[str, Any]) -> tuple[float | None, str]:
    return state.get("share"), str(state.get("what", "measuring"))
