"""`cellweave probe`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cellweave.cli.options import Force, Json, Out, Quiet, takes
from cellweave.cli.printer import Printer
from cellweave.report.places import size_text
from cellweave.report.units import time_ns

if TYPE_CHECKING:
    from collections.abc import Callable

_WORTH_SAYING_S = 2.0


@takes(
    "probe",
    flags={"patterns": "--pattern", "sizes": "--size", "parameters": "--set"},
    metavars={
        "patterns": "P",
        "sizes": "BYTES",
        "buffers": "B",
        "spes": "N",
        "cores": "LIST",
        "rules": "NAME",
        "hidden": "A,B",
        "parameters": "NAME=N",
        "stride": "BYTES",
    },
    without=["machine_file"],
)
def probe(
    on: Annotated[
        str,
        typer.Option(
            "--on",
            metavar="MACHINE",
            help="host, a machine file of this computer, or simulated: ps3, cell, qs20, qs22.",
        ),
    ] = "host",
    *,
    plot: Annotated[Path | None, typer.Option(metavar="FILE.png", help="Draw it: .png, .svg or .pdf.")] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the patterns that have names.")] = False,
    output: Out = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
    **options: Any,
) -> None:
    """Measure how elements talk to each other; -o writes .json, .csv, or .toml (the machine as measured)."""
    from cellweave.files import check_free
    from cellweave.probe import check_output
    from cellweave.probe import probe as measure

    printer = Printer(json, quiet)
    if listed:
        _list(printer)
        return
    if output is not None:
        check_output(output, force)
    if plot is not None:
        from cellweave.report.pictures import check_kind

        check_kind(plot)
        check_free(plot, force)
    wanted = output is not None and output.suffix == ".toml"
    with printer.progress(_describe) as progress:
        told = _Beforehand(printer, progress)
        found = measure(on, machine_file=wanted, progress=told, **options)
    with printer.shows(found.to_dict(), found.tables):
        if output is not None and not (wanted and found.stopped):
            found.save(output, force)
            printer.wrote(output)
        if plot is not None:
            from cellweave.report.pictures import save

            save(found.plot(), plot, force)
            printer.wrote(plot)
    if found.stopped and wanted:
        from cellweave import _core

        raise _core.RunError(f"stopped before everything was measured that {output} needs; it was not written")


class _Beforehand:
    """Says how long it takes before it begins, where that is worth a line."""

    def __init__(self, printer: Printer, then: Callable[[dict[str, Any]], None] | None) -> None:
        self._printer = printer
        self._then = then
        self._told = False

    def __call__(self, state: dict[str, Any]) -> None:
        expected = state["expected_s"]
        if not self._told and expected and expected[1] >= _WORTH_SAYING_S:
            least, most = (time_ns(s * 1e9) for s in expected)
            self._printer.note(f"{state['total']} experiments: from {least} to {most}")
        self._told = True
        if self._then is not None:
            self._then(state)


def _list(printer: Printer) -> None:
    from cellweave.probe import pattern_names
    from cellweave.report.table import Table

    names = pattern_names()
    table = Table("patterns", ["name", "who talks to whom"], [list(pattern) for pattern in names])
    table.notes = [
        "or written out, reader first: 0<-7,7<-0 (0->7: 0 writes; 0<>7: in turn; mem, mem1: main memory; ppe0)"
    ]
    printer.result([{"name": name, "about": about} for name, about in names], lambda: [table])


def _describe(state: dict[str, Any]) -> tuple[float | None, str]:
    point = f"{size_text(state['size_bytes'])} x {state['buffers']}"
    return state["share"], f"{state['done']} of {state['total']}: {state['pattern']}, {point}"
