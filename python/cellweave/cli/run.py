"""`cellweave run`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cellweave.cli.options import App, Force, Json, On, Out, Quiet, takes
from cellweave.cli.printer import Printer
from cellweave.report.units import percent, rate_per_s, time_ns


@takes("run", flags={"mapping": "--map"}, metavars={"mapping": "TASK=ELEMENT", "trace": "FILE"})
def run(
    application: App,
    on: On = "host",
    plan: Annotated[
        Path | None, typer.Option(metavar="plan.json", help="Run this plan; default: profile and plan first.")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Also show every difference, the waits, the tasks and the speeds.")
    ] = False,
    *,
    output: Out = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
    **options: Any,
) -> None:
    """Run an application and show predicted beside achieved. Ctrl-C drains and reports; a second one stops."""
    from cellweave.files import check_free
    from cellweave.run import run as stream

    printer = Printer(json, quiet)
    if output is not None:
        check_free(output, force)
    with printer.progress(_describe) as progress:
        result = stream(application, on, plan, force=force, progress=progress, **options)
    data = result.to_dict()
    with printer.shows(data, lambda: result.tables(explain)):
        if "trace" in data:
            printer.wrote(data["trace"], ": open it at ui.perfetto.dev")
        if output is not None:
            result.save(output, force)
            printer.wrote(output)


def _describe(state: dict[str, Any]) -> tuple[float | None, str]:
    words = []
    if state.get("what"):
        words.append(str(state["what"]))
    if state.get("is_simulated"):
        words.append(f"{state['instances']} instances in {time_ns(state['elapsed_s'] * 1e9)} simulated")
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
