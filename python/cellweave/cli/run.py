"""`cellweave run`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cellweave.choice import at_least
from cellweave.cli.options import App, Force, Json, On, Out, Quiet, whole
from cellweave.cli.printer import Printer
from cellweave.report.units import percent, rate_per_s


def run(
    application: App,
    on: On = "host",
    plan: Annotated[
        Path | None, typer.Option(metavar="plan.json", help="Run this plan; default: profile and plan first.")
    ] = None,
    instances: Annotated[
        int | None,
        typer.Option(parser=whole, metavar="N", help="Stop after so many; default: when the sources end."),
    ] = None,
    batch: Annotated[
        int | None,
        typer.Option(parser=whole, metavar="N", help="Instances per firing at most; default: the plan's."),
    ] = None,
    trace: Annotated[Path | None, typer.Option(metavar="FILE", help="Write what ran when, for ui.perfetto.dev.")] = None,
    output: Out = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run an application and show predicted beside achieved. Ctrl-C drains and reports; a second one stops."""
    from cellweave.files import check_free
    from cellweave.run import run as stream

    printer = Printer(json, quiet)
    if instances is not None:
        at_least("--instances", instances, 1, 2**63)
    if batch is not None:
        at_least("--batch", batch, 1, 2**20)
    for path in (trace, output):
        if path is not None:
            check_free(path, force)
    with printer.progress(_describe) as progress:
        result = stream(
            application,
            on,
            plan,
            instances=instances,
            batch=batch,
            trace=trace,
            force=force,
            progress=progress,
        )
    if output is not None:
        result.save(output, force)
        printer.note(f"wrote {output}")
    if trace is not None:
        printer.note(f"wrote {trace}: open it at ui.perfetto.dev")
    printer.result(result.to_dict(), result.tables)


def _describe(state: dict[str, Any]) -> tuple[float | None, str]:
    words = []
    if state.get("what"):
        words.append(str(state["what"]))
    if state.get("per_s") is not None:
        words.append(rate_per_s(state["per_s"]))
    if state.get("predicted_per_s"):
        words.append(f"of {rate_per_s(state['predicted_per_s'])} predicted")
    busy = state.get("busy") or {}
    if busy:
        words.append("busy " + " ".join(f"{name} {percent(share)}" for name, share in list(busy.items())[:8]))
    if state.get("warning"):
        words.append(str(state["warning"]))
    return state.get("share"), ", ".join(words)
