"""How long collectives take on 2, 4 and 8 ranks on 2 cpus, beside every peer and, on 2 ranks, the hand-written limit.

.venv/bin/python benches/mpi-collectives/run.py
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "mpi"))

import report
from bench import BEFORE, OURS, Bench
from peers import Library
from rounds import Found, Run, split

HERE = Path(__file__).resolve().parent
SECONDS = 0.04
"""How long each case is measured, at most."""
BY_HAND_SECONDS = 0.01
"""The same by hand, with each size of cells and each place where data lands."""
BY_HAND = "hand-written"
LIMIT_S = 16.0
"""A run that takes longer is stopped. Its figures up to then count; the library is not run with so many ranks again."""
CROWDED = [4, 8]
"""Numbers of ranks that share the two cpus."""
WHAT = ["bcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall"]
SMALL = [8, 4 << 10]
LARGE = [16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20]
RING = {f"ring:{size}": f"{report.size_name(size)} once around" for size in [8, 64 << 10, 256 << 10]}
"""From rank to rank, where there are more than two."""
CASES = (
    {"barrier:0": "barrier"}
    | RING
    | {f"{name}:{size}": f"{name} {report.size_name(size)}" for size in SMALL + LARGE for name in WHAT}
)
GOALS = {f"{ranks} {name}:{size}": "1.0" for ranks in [2, *CROWDED] for name in WHAT for size in LARGE} | {
    "2 barrier:0": "0.9",
    "2 allreduce:8": "0.9",
    "4 allreduce:8": "1.1, 25 us",
    "8 allreduce:8": "1.1, 60 us",
}


def cases(ranks: int) -> dict[str, str]:
    """The cases of so many ranks, by collective and then by size, and their titles."""
    names = ["barrier", "ring", *WHAT]
    known = [case for case in CASES.items() if ranks in CROWDED or case[0] not in RING]
    ordered = sorted(known, key=lambda case: names.index(case[0].split(":")[0]))
    return {f"{ranks} {case}": title for case, title in ordered}


def drawn(shown: Found, path: Path) -> None:
    """One panel per collective and number of ranks: the time over the size."""
    series = {
        f"{name}, {ranks} ranks": {size: f"{ranks} {name}:{size}" for size in SMALL + LARGE}
        for ranks in [2, *CROWDED]
        for name in WHAT
    }
    title = f"Collectives on 2 cpus, while a line took {shown.wire_ns() or 0:.0f} ns"
    report.curves(shown, series, title, "us", path, columns=len(WHAT))


def note_stop(stopped: set[tuple[str, int]], name: str, ranks: int, figures: int) -> None:
    """A peer that gave some figures, but not all, was stopped."""
    if 0 < figures < len(CASES) and name not in (OURS, BEFORE):
        stopped.add((name, ranks))


def seen(lines: list[dict[str, Any]]) -> list[Run]:
    """The runs that the program told of."""
    return [run for line in lines for run in split(line, f"{line['ranks']} {line['name']}:{line['size']}")]


def main() -> None:
    bench = Bench(__doc__ or "", HERE / "collectives.c", reference=HERE / "by_hand.c")
    stopped: set[tuple[str, int]] = set()

    def figures(ranks: int, library: Library) -> list[Run]:
        if (library.name, ranks) in stopped:
            return []
        lines = bench.run(library, ranks, str(SECONDS), *CASES, limit_s=LIMIT_S)
        if ranks in CROWDED:
            note_stop(stopped, library.name, ranks, len(lines))
        return seen(lines)

    def by_hand() -> list[Run]:
        large = [f"{name}:{size}" for size in LARGE for name in WHAT]
        return seen(bench.by_hand(str(BY_HAND_SECONDS), *large))

    contenders = bench.contenders(*(partial(figures, ranks) for ranks in [2, *CROWDED]))
    contenders[BY_HAND] = [by_hand]
    found = bench.measure(contenders)

    def tables(some: Found) -> list[str]:
        text = ["us; bytes per rank."]
        for ranks in [2, *CROWDED]:
            if not any(case.startswith(f"{ranks} ") for run in some.runs for case in run.figures):
                continue
            text += ["", f"### {ranks} ranks on 2 cpus", ""]
            if ranks in CROWDED:
                text += [
                    f"A run is stopped after {LIMIT_S:.0f} s: empty cells were not reached by then, and such a library "
                    "is run only once.",
                    "",
                ]
            who = [OURS, *bench.peers, *([] if ranks in CROWDED else [BY_HAND])]
            text += report.table(some, cases(ranks), who, bench.peers, GOALS)
        return text

    drawn(report.write(HERE, found, tables), HERE / "picture.png")


if __name__ == "__main__":
    main()
