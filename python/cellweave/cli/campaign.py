"""`cellweave campaign`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from cellweave.cli.options import Force, Json, Quiet, files, whole
from cellweave.cli.printer import Printer


class _RunsByDefault(TyperGroup):
    """`campaign FILE.toml` is `campaign run FILE.toml`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        words = [arg for arg in args if not arg.startswith("-")]
        if args and args[0] != "--help" and not any(word in self.commands for word in words[:1]):
            args = ["run", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_RunsByDefault,
    help="A grid of plans or simulated runs on a Dask cluster: `campaign FILE.toml`, then `campaign summary FOLDER`.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command()
def run(
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="The grid of the campaign.", autocompletion=files)],
    *,
    dask: Annotated[
        str | None,
        typer.Option("--dask", metavar="ADDRESS", help="A Dask scheduler; by default workers on this computer."),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", metavar="N", parser=whole, help="Workers on this computer; by default one per cpu."),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Repeat cells that failed.")] = False,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FOLDER", help="Keep the rows there; by default FILE.campaign."),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Work off the cells of a grid; the same command goes on after a stop. Exit code 1: some cell failed."""
    from cellweave.campaign.run import campaign
    from cellweave.choice import at_least

    if workers is not None:
        at_least("--workers", workers, 1)
    printer = Printer(json, quiet)
    with printer.progress(lambda state: (state["share"], state["what"])) as progress:
        done = campaign(file, output, dask, workers=workers, again=again, progress=progress)
    printer.result(done.to_dict(), done.tables)
    printer.note(f"{done.folder}: {len(done.rows)} cells, {done.repeated} of them computed now")
    failed = [row for row in done.rows if row["error"] is not None]
    if failed:
        first = failed[0]
        printer.note(f"{len(failed)} failed, the first on {first['graph']} ({first['method']}): {first['error']}")
        raise typer.Exit(1)


@app.command()
def summary(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The campaign's folder.", autocompletion=files)],
    *,
    by: Annotated[
        str, typer.Option("--by", metavar="COLUMN,..", help="Columns that make groups [default: method].")
    ] = "method",
    of: Annotated[
        str, typer.Option("--of", metavar="COLUMN", help="The column to average [default: predicted_per_s].")
    ] = "predicted_per_s",
    over: Annotated[
        str | None,
        typer.Option("--over", metavar="COLUMN=VALUE", help="Divide by the row that differs in this column only."),
    ] = None,
    picture: Annotated[Path | None, typer.Option(metavar="FILE.png", help="Draw the means.")] = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """The rows of a campaign in groups; also while it runs."""
    from cellweave.campaign.summary import summary as summed
    from cellweave.files import check_free

    printer = Printer(json, quiet)
    if picture is not None:
        check_free(picture, force)
    found = summed(folder, [name.strip() for name in by.split(",") if name.strip()], of, over)
    with printer.shows(found.to_dict(), found.tables):
        if picture is not None:
            from cellweave.report.pictures import save

            save(found.plot(), picture, force)
            printer.wrote(picture)
