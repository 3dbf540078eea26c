"""`cellweave profile`."""

from __future__ import annotations

from typing import Any

from cellweave.cli.options import App, Force, Json, On, Out, Quiet, takes
from cellweave.cli.printer import Printer


@takes("profile")
def profile(
    application: App,
    on: On = "host",
    *,
    output: Out = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
    **options: Any,
) -> None:
    """Measure what each task costs on this computer, with real data; -o writes the application with its costs."""
    from cellweave.files import check_free
    from cellweave.profile import profile as measure

    printer = Printer(json, quiet)
    if output is not None:
        check_free(output, force)
    with printer.progress(_describe) as progress:
        measured = measure(application, on, progress=progress, **options)
    with printer.shows(measured.to_dict(), measured.tables):
        if output is not None:
            measured.save(output, force)
            printer.wrote(output)


def _describe(state: dict[str, Any]) -> tuple[float | None, str]:
    return state.get("share"), str(state.get("what", "measuring"))
