"""`cellweave plan`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cellweave.choice import at_least, choice
from cellweave.cli.options import App, Force, Json, On, Out, Quiet, real, whole
from cellweave.cli.printer import Printer
from cellweave.report.units import percent, time_ns


def plan(
    application: App,
    on: On = "host",
    method: Annotated[str, typer.Option(help="auto, greedy, cluster, delegate, anneal or exact.")] = "auto",
    time: Annotated[float | None, typer.Option(parser=real, metavar="S", help="Seconds that a search may take.")] = None,
    moves: Annotated[
        int | None,
        typer.Option(parser=whole, metavar="N", help="Moves of a search: the same number repeats a plan exactly."),
    ] = None,
    gap: Annotated[float | None, typer.Option(parser=real, metavar="X", help="Stop when this gap is proved, 0 to 1.")] = None,
    seed: Annotated[int, typer.Option(parser=whole, metavar="N", help="Of the search.")] = 1,
    buffering: Annotated[str | None, typer.Option(help="shared or duplicated; default: the method's own.")] = None,
    batch: Annotated[int | None, typer.Option(parser=whole, metavar="N", help="Instances per firing; default: chosen.")] = None,
    max_batch: Annotated[
        int | None,
        typer.Option(parser=whole, metavar="N", help="The most that may be chosen: a bound on latency."),
    ] = None,
    formulation: Annotated[str, typer.Option(help="Of the exact method's program: compact or paper.")] = "compact",
    dmax: Annotated[
        int | None,
        typer.Option(parser=whole, metavar="N", help="delegate: the largest radius of a neighbourhood; default: 2."),
    ] = None,
    read_back: Annotated[
        float | None,
        typer.Option(parser=real, metavar="GB/S", help="delegate: from a chip's SPEs to its PPE; default: min(25, 2 * SPEs)."),
    ] = None,
    mapping: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="TASK=ELEMENT", help="Put a task there; may be repeated."),
    ] = None,
    picture: Annotated[Path | None, typer.Option(metavar="FILE.png", help="Draw the mapping.")] = None,
    output: Out = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Which task runs where, what that gives, and what no mapping can beat. Exit code 1: no feasible plan."""
    from cellweave.files import check_free
    from cellweave.graph import Graph
    from cellweave.machine import Machine
    from cellweave.plan import BUFFERINGS, FORMULATIONS, METHODS, RANGES
    from cellweave.plan import plan as make_plan

    printer = Printer(json, quiet)
    choice("--method", method, METHODS)
    choice("--formulation", formulation, FORMULATIONS)
    if buffering is not None:
        choice("--buffering", buffering, BUFFERINGS)
    for flag, name, value in (
        ("--time", "time", time),
        ("--moves", "moves", moves),
        ("--gap", "gap", gap),
        ("--batch", "batch", batch),
        ("--max-batch", "max_batch", max_batch),
        ("--dmax", "dmax", dmax),
        ("--read-back", "read_back_gbs", read_back),
        ("--seed", "seed", seed),
    ):
        if value is not None:
            at_least(flag, value, *RANGES[name])
    for path in (picture, output):
        if path is not None:
            check_free(path, force)
    graph, machine = Graph.load(application), Machine.load(on)
    with printer.progress(_describe) as progress:
        made = make_plan(
            graph,
            machine,
            method,
            time_s=time,
            moves=moves,
            gap=gap,
            seed=seed,
            buffering=buffering,
            batch=batch,
            max_batch=max_batch,
            formulation=formulation,
            dmax=dmax,
            read_back_gbs=read_back,
            mapping=_mapping(mapping) if mapping else None,
            progress=progress,
        )
    if output is not None:
        made.save(output, force)
        printer.note(f"wrote {output}")
    if picture is not None:
        from cellweave.report.pictures import save

        save(made.plot("mapping"), picture, force)
        printer.note(f"wrote {picture}")
    printer.result(made.to_dict(), made.tables)
    if not made.feasible:
        raise typer.Exit(1)


def _mapping(pairs: list[str]) -> dict[str, str]:
    from cellweave import _core

    mapping: dict[str, str] = {}
    for pair in pairs:
        task, equals, element = pair.partition("=")
        if not (task and equals and element):
            raise _core.RequestError(f"--map: `{pair}` is not TASK=ELEMENT")
        if mapping.setdefault(task, element) != element:
            raise _core.RequestError(f"--map: task `{task}` is put on `{mapping[task]}` and on `{element}`")
    return mapping


def _describe(state: dict[str, Any]) -> tuple[float | None, str]:
    words = [str(state.get("what") or state.get("method", "planning"))]
    if state.get("period_ns"):
        words.append(f"period {time_ns(state['period_ns'])}")
    if state.get("gap") is not None:
        words.append(f"gap {percent(state['gap'])}")
    if state.get("moves_per_s"):
        words.append(f"{state['moves_per_s'] / 1e6:.2f} M moves/s")
    return state.get("share"), ", ".join(words)
