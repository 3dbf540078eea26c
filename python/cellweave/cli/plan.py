"""`cellweave plan`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cellweave._core import RequestError
from cellweave.cli.exporting import Export, Exporting, ExportTo
from cellweave.cli.options import App, Force, Json, On, Out, Quiet, takes
from cellweave.cli.printer import Printer
from cellweave.report.units import percent, time_ns

if TYPE_CHECKING:
    from cellweave.plan import Advice, Plan
    from cellweave.report.table import Table


@takes(
    "plan",
    flags={"mapping": "--map"},
    metavars={"mapping": "TASK=ELEMENT", "forbid": "TASK=ELEMENT"},
    aliases={"mapping": "--fix"},
)
def plan(
    application: App,
    on: On = "host",
    *,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say what binds, and which change of machine or graph would help most.")
    ] = False,
    picture: Annotated[Path | None, typer.Option(metavar="FILE.png", help="Draw the mapping.")] = None,
    export: Export = None,
    export_to: ExportTo = None,
    output: Out = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
    **options: Any,
) -> None:
    """Which task runs where, what that gives, and what no mapping can beat. Exit code 1: no feasible plan.

    A machine with a range (qs22:spe=0..16) gives the speed-up over the first one, with its bound.
    """
    from cellweave.files import check_free
    from cellweave.plan import plan as make_plan
    from cellweave.whatif import spread_machine

    printer = Printer(json, quiet)
    if len(spread_machine(on)) > 1:
        if explain or export or output:
            raise RequestError("--on: a range of machines gives a curve; it has no --explain, --export and -o")
        _curve(printer, application, on, picture, force, options)
        return
    exporting = Exporting(printer, export, export_to, on, force)
    for path in (picture, output):
        if path is not None:
            check_free(path, force)
    with printer.progress(_describe) as progress:
        made = make_plan(application, on, progress=progress, **options)
        shown = _Explained(made, made.explain(progress=progress)) if explain else made
    with exporting.shows(shown):
        if output is not None:
            made.save(output, force)
            printer.wrote(output)
        if picture is not None:
            from cellweave.report.pictures import save

            save(made.plot("mapping"), picture, force)
            printer.wrote(picture)
    if not made.feasible:
        raise typer.Exit(1)


class _Explained:
    """A plan that is shown together with its advice."""

    def __init__(self, plan: Plan, advice: Advice) -> None:
        self._plan, self._advice = plan, advice

    def export(self, format: str) -> str:
        return self._plan.export(format)

    def to_dict(self) -> dict[str, Any]:
        return self._plan.to_dict() | {"advice": self._advice.to_dict()}

    def tables(self) -> list[Table]:
        return [*self._plan.tables(), *self._advice.tables()]


def _curve(
    printer: Printer, application: str, on: str, picture: Path | None, force: bool, options: dict[str, Any]
) -> None:
    """What the application gains from element to element."""
    from cellweave.files import check_free
    from cellweave.whatif import what_if

    if picture is not None:
        check_free(picture, force)
    with printer.progress(lambda state: (state["share"], state["what"])) as progress:
        found = what_if(application, on, progress=progress, **options)
    with printer.shows(found.to_dict(), found.tables):
        if picture is not None:
            from cellweave.report.pictures import save

            save(found.plot(), picture, force)
            printer.wrote(picture)
    if not all(row["feasible"] for row in found.rows):
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
