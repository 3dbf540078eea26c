"""`--export` of `place` and `plan`."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cellweave.cli.printer import Printer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, Protocol

    from cellweave.report.table import Table

    class Shown(Protocol):
        """A placing or a plan."""

        def to_dict(self) -> dict[str, Any]: ...
        def tables(self) -> list[Table]: ...
        def export(self, format: str) -> str: ...


def _list(name: str | None) -> str | None:
    """Show the formats and leave, before anything else of the command line is asked for."""
    if name != "list":
        return name
    from cellweave.export import FORMATS
    from cellweave.report.table import Table

    rows: list[Sequence[str]] = [(form.name, form.holds, form.use, form.lost) for form in FORMATS.values()]
    table = Table("formats of --export", ["format", "what it holds", "how it is used", "what is lost"], rows)
    Printer().result(None, lambda: [table])
    raise typer.Exit


def _formats(incomplete: str) -> list[str]:
    """What the Tab key offers."""
    from cellweave.export import FORMATS

    return [name for name in ["list", *FORMATS] if name.startswith(incomplete)]


Export = Annotated[
    str | None,
    typer.Option(
        metavar="FORMAT",
        callback=_list,
        autocompletion=_formats,
        is_eager=True,
        help="Print what another tool reads (taskset, omp-places, openmpi5, gnuradio, ..) instead of a table; `list` "
        "shows the formats.",
    ),
]
ExportTo = Annotated[
    Path | None, typer.Option("--export-to", metavar="FILE", help="Write the export to a file, beside the table.")
]


class Exporting:
    """What a verb shows and exports.

    Parameters
    ----------
    printer : Printer
        Shows it.
    name : str or None
        The format; none, where nothing is exported.
    path : Path or None
        Where the export goes; by default to the standard output, instead of the tables.
    on : str
        The machine, which the format must be able to name the cpus of.
    force : bool
        Overwrite `path`.

    Raises
    ------
    cellweave.RequestError
        Where this cannot work, before any work is done.
    """

    def __init__(self, printer: Printer, name: str | None, path: Path | None, on: str, force: bool) -> None:
        from cellweave._core import RequestError
        from cellweave.export import check
        from cellweave.files import check_free
        from cellweave.machine import Machine

        self._printer, self._name, self._path, self._force = printer, name, path, force
        if name is None:
            if path is not None:
                raise RequestError(f"--export-to {path}: name its format with --export; `--export list` shows them")
            return
        check(name, Machine.load(on))
        if path is not None:
            check_free(path, force)
        elif printer.as_json:
            raise RequestError("--export and --json both print: name a file for the export with --export-to")

    @contextmanager
    def shows(self, found: Shown) -> Iterator[None]:
        """Show the result, or its export, at the end of the block that saves it."""
        if self._name is not None and self._path is None:
            yield
            self._printer.text(found.export(self._name))
            if getattr(found, "pin", None) is False:
                self._printer.note("the race found no gain over the kernel's own placement: better do not pin")
            return
        with self._printer.shows(found.to_dict(), found.tables):
            yield
            if self._name is not None and self._path is not None:
                from cellweave.files import write_whole

                write_whole(self._path, found.export(self._name), self._force)
                self._printer.wrote(self._path)
