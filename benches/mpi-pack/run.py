"""How long packing and unpacking typical datatypes takes, beside every peer and loops written by hand.

.venv/bin/python benches/mpi-pack/run.py
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "mpi"))

import report
from bench import OURS, Bench
from peers import Library
from rounds import Figures, Found

HERE = Path(__file__).resolve().parent
HAND = "hand-written"
GOAL = "1.11"
"""Of the best peer's time: 0.9 of its speed."""


def main() -> None:
    bench = Bench(__doc__ or "", HERE / "pack.c")
    own = next(library for library in bench.libraries if library.name == OURS)

    def figures(how: str, library: Library) -> Figures:
        return {f"{line['what']} {line['name']}": line["us"] for line in bench.run(library, 1, how)}

    contenders = bench.contenders(partial(figures, "library"))
    contenders[HAND] = [partial(figures, "hand", own)]
    found = bench.measure(contenders)
    cases = list(dict.fromkeys(case for run in found.runs for case in run.figures))
    titles = {case: case for case in cases}

    def tables(some: Found) -> list[str]:
        text = report.table(some, titles, [OURS, HAND, *bench.peers], bench.peers, dict.fromkeys(cases, GOAL))
        return ["us, one process.", "", *text]

    drawn = report.write(HERE, found, tables)
    shown = {case: case.removeprefix("pack ") for case in cases if case.startswith("pack ")}
    report.bars(drawn, shown, "MPI_Pack", "us", HERE / "picture.png")


if __name__ == "__main__":
    main()
