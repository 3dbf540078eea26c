"""`cellweave probe`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cellweave.choice import at_least
from cellweave.cli.options import Force, Json, Out, Quiet, whole
from cellweave.cli.printer import Printer
from cellweave.report.places import size_text


def probe(
    on: Annotated[
        str,
        typer.Option(
            "--on", metavar="MACHINE", help="host, a machine file of this computer, or simulated: ps3, cell, qs20, qs22."
        ),
    ] = "host",
    pattern: Annotated[
        list[str] | None,
        typer.Option(
            "--pattern", metavar="P", help="A name, or written out, reader first: '0<-7,7<-0,1->mem'. May be repeated."
        ),
    ] = None,
    size: Annotated[
        list[str] | None,
        typer.Option("--size", metavar="S", help="Bytes of a transfer: 128, 16k, 16..16k by doubling. May be repeated."),
    ] = None,
    buffers: Annotated[
        list[str] | None,
        typer.Option("--buffers", metavar="B", help="Transfers in flight per initiator: 4, 1..8. May be repeated."),
    ] = None,
    spes: Annotated[
        list[str] | None,
        typer.Option("--spes", metavar="N", help="Elements that take part: 6, 1..6. May be repeated."),
    ] = None,
    seed: Annotated[int, typer.Option(parser=whole, metavar="N", help="Of random patterns.")] = 1,
    draws: Annotated[int | None, typer.Option(parser=whole, metavar="N", help="Random patterns; default: 10.")] = None,
    samples: Annotated[
        int | None,
        typer.Option(parser=whole, metavar="N", help="Of each experiment; default: 30, where it is simulated 1."),
    ] = None,
    repeats: Annotated[
        int | None,
        typer.Option(parser=whole, metavar="N", help="Transfers in a sample, per line of the pattern; default: chosen."),
    ] = None,
    compute: Annotated[int, typer.Option(parser=whole, metavar="NS", help="Compute so long on each transfer.")] = 0,
    rules: Annotated[str | None, typer.Option(metavar="NAME", help="Rule set of the simulated bus's arbiter.")] = None,
    hidden: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="Physical SPEs that programs do not get: 1,6."),
    ] = None,
    parameters: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=N", help="A number of the simulated machine: memory.bank=128. May be repeated."),
    ] = None,
    stride: Annotated[
        str | None,
        typer.Option(metavar="BYTES", help="In main memory, from one transfer to the next: 2k is one bank of a Cell."),
    ] = None,
    cached: Annotated[bool, typer.Option("--cached", help="Main memory is in the simulated PPE's cache.")] = False,
    plot: Annotated[Path | None, typer.Option(metavar="FILE.png", help="Draw it: .png, .svg or .pdf.")] = None,
    patterns: Annotated[bool, typer.Option("--list", help="List the patterns that have names.")] = False,
    output: Out = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure how elements talk to each other; -o writes .json, .csv, or .toml (the machine as measured)."""
    from cellweave.files import check_free
    from cellweave.probe import RANGES, check_output
    from cellweave.probe import probe as measure

    printer = Printer(json, quiet)
    if patterns:
        _list(printer)
        return
    for flag, name, value in (
        ("--seed", "seed", seed),
        ("--draws", "draws", draws),
        ("--samples", "samples", samples),
        ("--repeats", "repeats", repeats),
        ("--compute", "compute_ns", compute),
    ):
        if value is not None:
            at_least(flag, value, *RANGES[name])
    unseen = _numbers(hidden) if hidden is not None else None
    if output is not None:
        check_output(output, force)
    if plot is not None:
        from cellweave.report.pictures import check_kind

        check_kind(plot)
        check_free(plot, force)
    with printer.progress(_describe) as progress:
        found = measure(
            on,
            pattern or [],
            sizes=size or [],
            buffers=buffers or [],
            spes=spes or [],
            seed=seed,
            draws=draws,
            samples=samples,
            repeats=repeats,
            compute_ns=compute,
            rules=rules,
            hidden=unseen,
            parameters=_pairs(parameters or []),
            stride=stride,
            cached=cached,
            machine_file=output is not None and output.suffix == ".toml",
            progress=progress,
        )
    if output is not None and (output.suffix != ".toml" or not found.stopped):
        found.save(output, force)
        printer.note(f"wrote {output}")
    if plot is not None:
        from cellweave.report.pictures import save

        save(found.plot(), plot, force)
        printer.note(f"wrote {plot}")
    printer.result(found.to_dict(), found.tables)
    if found.stopped and output is not None and output.suffix == ".toml":
        from cellweave import _core

        raise _core.RunError(f"stopped before everything was measured that {output} needs; it was not written")


def _list(printer: Printer) -> None:
    from cellweave.probe import pattern_names
    from cellweave.report.table import Table

    names = pattern_names()
    table = Table("patterns", ["name", "who talks to whom"], [list(pattern) for pattern in names])
    table.notes = ["or written out, reader first: 0<-7,7<-0 (0->7: 0 writes; 0<>7: in turn; mem, mem1: main memory; ppe0)"]
    printer.result([{"name": name, "about": about} for name, about in names], lambda: [table])


def _numbers(text: str) -> list[int]:
    from cellweave.probe import RANGES

    numbers = [whole(part.strip()) for part in text.split(",") if text.strip()]
    for number in numbers:
        at_least("--hidden", number, *RANGES["hidden"])
    return numbers


def _pairs(texts: list[str]) -> dict[str, int]:
    from cellweave import _core

    pairs: dict[str, int] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise _core.RequestError(f"--set: `{text}` is not of the form NAME=N")
        pairs[name.strip()] = whole(value.strip())
    return pairs


def _describe(state: dict[str, Any]) -> tuple[float | None, str]:
    point = f"{size_text(state['size_bytes'])} x {state['buffers']}"
    return state["share"], f"{state['done']} of {state['total']}: {state['pattern']}, {point}"
