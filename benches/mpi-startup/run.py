"""How long it takes to start ranks, meet once and end.

.venv/bin/python benches/mpi-startup/run.py
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "mpi"))

import report
from bench import OURS, Bench
from peers import Library
from rounds import Figures, Found, lines

HERE = Path(__file__).resolve().parent
RANKS = [1, 2, 16]
LIMIT_S = 10.0


def main() -> None:
    bench = Bench(__doc__ or "", HERE / "empty.c")

    def figures(library: Library) -> Figures:
        found: Figures = {}
        for ranks in RANKS:
            began = time.perf_counter()
            lines(library.command(ranks, "empty"), library.environ(bench.cpus), LIMIT_S)
            took = time.perf_counter() - began
            if took < LIMIT_S:
                found[str(ranks)] = took * 1e3
        return found

    found = bench.measure(bench.contenders(figures))
    cases = {str(ranks): f"{ranks} ranks" for ranks in RANKS}
    note = (
        f"ms from the launcher's start to its end: MPI_Init, MPI_Barrier, MPI_Finalize; stopped after {LIMIT_S:.0f} s."
    )

    def tables(some: Found) -> list[str]:
        return [note, "", *report.table(some, cases, [OURS, *bench.peers], bench.peers, {"16": "0.5"})]

    shown = report.write(HERE, found, tables)
    report.bars(shown, cases, "Start, meet, end", "ms", HERE / "picture.png")


if __name__ == "__main__":
    main()
