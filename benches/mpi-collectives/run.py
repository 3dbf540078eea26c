"""How long collectives take on 2, 4 and 8 ranks on 2 cpus, beside every peer.

.venv/bin/python benches/mpi-collectives/run.py
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "mpi"))

import report
import rounds
from bench import BEFORE, OURS, Bench
from peers import Library
from rounds import Figures, Found, earlier

HERE = Path(__file__).resolve().parent
SECONDS = 0.02
"""How long each case is measured, at most."""
LIMIT_S = 5.0
"""A run that takes longer is stopped. Its figures up to then count; the library is not run with so many ranks again."""
CROWDED = [4, 8]
"""Numbers of ranks that share the two cpus."""
WHAT = ["bcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall"]
SMALL = [8, 4 << 10]
LARGE = [16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20]
CASES = {"barrier:0": "barrier", "ring:8": "token once around"} | {
    f"{name}:{size}": f"{name} {report.size_name(size)}" for size in SMALL + LARGE for name in WHAT
}
GOALS = {f"{ranks} {name}:{size}": "1.0" for ranks in [2, *CROWDED] for name in WHAT for size in LARGE} | {
    "2 barrier:0": "0.9",
    "2 allreduce:8": "0.9",
    "4 allreduce:8": "1.1, 25 us",
    "8 allreduce:8": "1.1, 60 us",
}


def cases(ranks: int) -> dict[str, str]:
    """The cases of so many ranks, by collective and then by size, and their titles."""
    names = ["barrier", "ring", *WHAT]
    known = [case for case in CASES.items() if ranks in CROWDED or case[0] != "ring:8"]
    ordered = sorted(known, key=lambda case: names.index(case[0].split(":")[0]))
    return {f"{ranks} {case}": title for case, title in ordered}


def drawn(found: Found, path: Path) -> None:
    """One panel per collective and number of ranks: the time over the size. Two ranks in the state with more runs."""
    crowd = [run for run in found.runs if not run.wire_ns]
    pairs = Found([run for run in found.runs if run.wire_ns])
    shown = pairs.in_state(pairs.states()[0]) if pairs.runs else pairs
    series = {
        f"{name}, {ranks} ranks": {size: f"{ranks} {name}:{size}" for size in SMALL + LARGE}
        for ranks in [2, *CROWDED]
        for name in WHAT
    }
    title = f"Collectives on 2 cpus (2 ranks: while a line took {shown.wire_ns() or 0:.0f} ns)"
    report.curves(Found(crowd + shown.runs), series, title, "us", path, columns=len(WHAT))


def note_stop(stopped: set[tuple[str, int]], name: str, ranks: int, figures: int) -> None:
    """A peer that gave some figures, but not all, was stopped."""
    if 0 < figures < len(CASES) and name not in (OURS, BEFORE):
        stopped.add((name, ranks))


def main() -> None:
    bench = Bench(__doc__ or "", HERE / "collectives.c")
    stopped: set[tuple[str, int]] = set()
    kept = earlier(HERE / "results.json") if bench.options.add else []
    for run in kept:
        for ranks in CROWDED:
            note_stop(stopped, run.who, ranks, sum(case.startswith(f"{ranks} ") for case in run.figures))

    def figures(library: Library, ranks: int, some: list[str]) -> Figures:
        if (library.name, ranks) in stopped:
            return {}
        lines = bench.run(library, ranks, str(SECONDS), *some, limit_s=LIMIT_S)
        if ranks in CROWDED:
            note_stop(stopped, library.name, ranks, len(lines))
        return {f"{ranks} {line['name']}:{line['size']}": line["us"] for line in lines}

    def part(ranks: int, some: list[str]) -> Callable[[Library], Figures]:
        return lambda library: figures(library, ranks, some)

    # The two cpus may change their state each second, so two ranks are measured in short runs. The wire has to be of
    # one kind then, not quiet.
    short = [[case for case in CASES if case.startswith(name)] for name in ["barrier", *WHAT]]
    found = bench.measure(bench.contenders(*(part(2, some) for some in short)), limit=rounds.APART**0.5)
    crowd = bench.measure(bench.contenders(*(part(ranks, list(CASES)) for ranks in CROWDED)), steady=False)
    found.runs += crowd.runs[len(kept) :]

    def tables(some: Found) -> list[str]:
        text = ["us; bytes per rank."]
        for ranks in [2, *CROWDED]:
            if not any(case.startswith(f"{ranks} ") for run in some.runs for case in run.figures):
                continue
            text += ["", f"### {ranks} ranks on 2 cpus", ""]
            if ranks in CROWDED:
                text += [
                    f"Measured whatever the wire was. A run is stopped after {LIMIT_S:.0f} s: empty cells were not "
                    "reached by then, and such a library is run only once.",
                    "",
                ]
            text += report.table(some, cases(ranks), [OURS, *bench.peers], bench.peers, GOALS)
        return text

    report.write(HERE, found, tables)
    drawn(found, HERE / "picture.png")


if __name__ == "__main__":
    main()
