"""`cellweave machine list | show | import | export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cellweave import _core
from cellweave.cli.options import Force, Json, Out, Quiet
from cellweave.cli.printer import Printer

app = typer.Typer(help="The machines that cellweave knows.", no_args_is_help=True, rich_markup_mode=None)


@app.command("list")
def list_machines(json: Json = False, quiet: Quiet = False) -> None:
    """The presets, and this computer."""
    from cellweave.report.table import Table

    presets = _core.presets()
    data = [{"name": name, "description": description} for name, description in presets]
    table = Table("machines", ["name", "description"], [list(preset) for preset in presets])
    table.notes = ["or the name of a machine file; `cellweave machine show NAME` says more"]
    Printer(json, quiet).result(data, lambda: [table])


@app.command()
def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A preset (qs22:ppe=1,spe=6), host, or a machine file.")],
    picture: Annotated[Path | None, typer.Option(metavar="FILE.png", help="Draw it: .png, .svg or .pdf.")] = None,
    output: Out = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """A machine's elements and limits, as a table and a picture; -o writes its machine file."""
    from cellweave.files import check_free
    from cellweave.machine import Machine

    printer = Printer(json, quiet)
    for path in (picture, output):
        if path is not None:
            check_free(path, force)
    machine = Machine.load(name)
    if picture is not None:
        from cellweave.report.pictures import save

        save(machine.plot(), picture, force)
        printer.wrote(picture)
    if output is not None:
        machine.save(output, force)
        printer.wrote(output)
    printer.result(machine.to_dict(), machine.tables)


@app.command("import")
def import_machine(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Latencies (CSV), hwloc's XML, or likwid-topology's text."),
    ],
    output: Out = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """A machine from another tool's file; -o writes its machine file. Limits are unmeasured in all of them."""
    from cellweave.files import check_free
    from cellweave.machine import Machine

    printer = Printer(json, quiet)
    if output is not None:
        check_free(output, force)
    machine, notes = Machine.import_file(file)
    for note in notes:
        printer.note(note)
    if output is not None:
        machine.save(output, force)
        printer.note(f"wrote {output}")
    printer.result(machine.to_dict(), machine.tables)


@app.command("export")
def export_machine(
    name: Annotated[str, typer.Argument(metavar="NAME", help="host, or a machine file of cpus.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE.xml", help="hwloc's XML, version 2.")],
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """A machine as hwloc's XML with its distances, for lstopo, hwloc-calc and whatever links hwloc."""
    from cellweave.choice import choice
    from cellweave.files import check_free, write_whole
    from cellweave.machine import Machine

    choice("the ending of the file's name", output.suffix.lstrip("."), ["xml"])
    check_free(output, force)
    write_whole(output, Machine.load(name).to_hwloc(), force)
    Printer(False, quiet).note(f"wrote {output}")
