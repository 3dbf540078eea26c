"""How long collectives take on two ranks with a core each, beside every peer.

.venv/bin/python benches/mpi-collectives/run.py
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
WHAT = ["bcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall"]
CASES = {"barrier:0": "barrier"} | {
    f"{name}:{size}": f"{name} {report.size_name(size)}" for name in WHAT for size in (8, 4096, 1 << 20)
}
GOALS = {f"{name}:{1 << 20}": "1.0" for name in WHAT} | dict.fromkeys(
    ["barrier:0", "allreduce:8", f"allreduce:{1 << 20}"], "0.9"
)


def main() -> None:
    bench = Bench(__doc__ or "", HERE / "collectives.c")

    def figures(library: Library) -> Figures:
        return {f"{line['name']}:{line['size']}": line["us"] for line in bench.run(library, 2, "0.5", *CASES)}

    found = bench.measure(bench.contenders(figures))

    def tables(some: Found) -> list[str]:
        text = report.table(some, CASES, [OURS, *bench.peers], bench.peers, GOALS)
        return ["us, 2 ranks on 2 cpus; bytes per rank.", "", *text]

    drawn = report.write(HERE, found, tables)
    shown = {case: title for case, title in CASES.items() if not case.endswith(":4096")}
    report.bars(drawn, shown, "Collectives on two ranks", "us", HERE / "picture.png")


if __name__ == "__main__":
    main()
