"""What happens with more ranks than cores: 4 and 8 ranks on 2.

.venv/bin/python benches/mpi-crowded/run.py
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
LIMIT_S = 6.0
"""A run that takes longer is stopped; its figures up to then count, the others stay empty."""
WHAT = {
    "allreduce:8": "allreduce 8 B",
    "barrier:0": "barrier",
    "ring:8": "token once around",
    f"allreduce:{1 << 20}": "allreduce 1 MB",
}
RANKS = [4, 8]


def main() -> None:
    bench = Bench(__doc__ or "", HERE.parent / "mpi-collectives" / "collectives.c")

    def figures(library: Library) -> Figures:
        return {
            f"{line['ranks']} {line['name']}:{line['size']}": line["us"]
            for ranks in RANKS
            for line in bench.run(library, ranks, "0.5", *WHAT, limit_s=LIMIT_S)
        }

    found = bench.measure(bench.contenders(figures), steady=False)
    cases = {f"{ranks} {case}": f"{ranks} ranks, {title}" for ranks in RANKS for case, title in WHAT.items()}
    goals = {"4 allreduce:8": "1.1, 25 us", "8 allreduce:8": "1.1, 60 us"}
    note = f"us on 2 cores. A run is stopped after {LIMIT_S:.0f} s; empty cells were not reached by then."

    def tables(some: Found) -> list[str]:
        return [note, "", *report.table(some, cases, [OURS, *bench.peers], bench.peers, goals)]

    shown = report.write(HERE, found, tables)
    report.bars(shown, cases, "More ranks than cores", "us", HERE / "picture.png")


if __name__ == "__main__":
    main()
