"""How long packing, unpacking and sending typical datatypes takes, beside every peer and loops written by hand.

.venv/bin/python benches/mpi-pack/run.py
"""

from __future__ import annotations

import math
import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "mpi"))

import report
from bench import OURS, Bench
from peers import Library
from rounds import Found, Run, split

HERE = Path(__file__).resolve().parent
HAND = "hand-written"
GOAL = "1.11"
"""Of the best peer's time: 0.9 of its speed."""
SIZES = {1 << 10: "1 kB", 64 << 10: "64 kB", 1 << 20: "1 MB", 4 << 20: "4 MB"}
SHOWN = SIZES[64 << 10]
TITLES = {
    "pack": "MPI_Pack",
    "unpack": "MPI_Unpack",
    "send": "A message between two ranks, one way, sent from and received into the datatype",
}


def shows(found: Found, cases: list[str]) -> bool:
    """Whether there are figures of some of these cases."""
    return not found.cases().isdisjoint(cases)


def about(size: int) -> str:
    """The nearest of the sizes that are asked for: many datatypes come only near it."""
    return SIZES[min(SIZES, key=lambda other: abs(math.log(other / size)))]


def main() -> None:
    bench = Bench(__doc__ or "", HERE / "pack.c")
    own = next(library for library in bench.libraries if library.name == OURS)

    def figures(ranks: int, how: list[str], library: Library) -> list[Run]:
        lines = bench.run(library, ranks, *how)
        return [run for line in lines for run in split(line, f"{line['what']} {line['name']}, {about(line['bytes'])}")]

    sends = [partial(figures, 2, ["send", str(size)]) for size in range(3)]
    contenders = bench.contenders(partial(figures, 1, ["library"]), *sends)
    contenders[HAND] = [partial(figures, 1, ["hand"], own)]
    found = bench.measure(contenders)
    cases = list(dict.fromkeys(case for run in found.runs for case in run.figures))
    of = {what: [case for case in cases if case.startswith(what)] for what in TITLES}

    def tables(some: Found) -> list[str]:
        text: list[str] = []
        for what, title in TITLES.items():
            if not shows(some, of[what]):
                continue
            titles = {case: case.removeprefix(f"{what} ") for case in of[what]}
            who = [OURS, *[HAND] * (what == "pack"), *bench.peers]
            text += [
                f"### {title}, us",
                "",
                *report.table(some, titles, who, bench.peers, dict.fromkeys(cases, GOAL)),
                "",
            ]
        return text[:-1]

    report.write(HERE, found, tables)
    alone = next(some for state in found.states() if shows(some := found.in_state(state), of["pack"]))
    shown = {case: case.removeprefix("pack ").removesuffix(f", {SHOWN}") for case in of["pack"] if case.endswith(SHOWN)}
    report.bars(alone, shown, f"MPI_Pack of {SHOWN}", "us", HERE / "picture.png")


if __name__ == "__main__":
    main()
