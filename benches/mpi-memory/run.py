"""How much memory a rank takes at 128 ranks, after a ring and after an all-to-all.

.venv/bin/python benches/mpi-memory/run.py
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "mpi"))

import report
from bench import OURS, Bench
from peers import Library
from rounds import Figures, Found

HERE = Path(__file__).resolve().parent
RANKS = 128
LIMIT_S = 20.0
CASES = {"start": "after MPI_Init", "ring": "after a ring of 8 B", "alltoall": "after an all-to-all of 8 B"}


def main() -> None:
    bench = Bench(__doc__ or "", HERE / "memory.c")

    def figures(library: Library) -> Figures:
        return {line["after"]: line["pss_mean_bytes"] * 1e-6 for line in bench.run(library, RANKS, limit_s=LIMIT_S)}

    found = bench.measure(bench.contenders(figures))
    note = f"MB (1e6 bytes) of proportional memory (PSS) per rank, mean of {RANKS} on 2 cores; at most {LIMIT_S:.0f} s."

    def tables(some: Found) -> list[str]:
        return [
            note,
            "",
            *report.table(some, CASES, [OURS, *bench.peers], bench.peers, {"ring": "8 MB", "alltoall": "12 MB"}),
        ]

    shown = report.write(HERE, found, tables)
    report.bars(shown, CASES, f"Memory of a rank, {RANKS} ranks", "MB", HERE / "picture.png")


if __name__ == "__main__":
    main()
