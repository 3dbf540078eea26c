"""How long a message between two ranks takes, one way, beside every peer and the hand-written limit.

.venv/bin/python benches/mpi-latency/run.py
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "mpi"))

import report
from bench import OURS, Bench
from peers import Library
from rounds import Figures, lines

HERE = Path(__file__).resolve().parent
SIZES = [0, 8, 32, 48, 64, 256, 1024, 4096, 16384, 65536, 262144, 1 << 20, 4 << 20]
SOME = [8, 1024, 65536, 1 << 20]
"""What is repeated with wildcards, a vector type, threads and a third rank."""
HOWS = {
    "any": "MPI_ANY_SOURCE",
    "vector": "every second double",
    "threads": "MPI_THREAD_MULTIPLE",
    "third": "a third rank waits",
}


def goal(variant: str, size: int) -> str:
    """What is asked of ours by the best peer."""
    if variant == "B":
        return "0.8" if size <= 48 else "1.0" if size <= 16384 else "0.9" if size <= 1 << 20 else "0.65"
    return "1.0" if size <= 48 or size >= 16384 else "1.1"


def main() -> None:
    bench = Bench(__doc__ or "", HERE / "latency.c")

    def figures(library: Library) -> Figures:
        found: Figures = {}
        for variant in "AB":
            for line in bench.run(library, 2, variant, "plain", *map(str, SIZES)):
                found[f"{variant} plain {line['size']}"] = line["us"]
        for how in HOWS:
            program = "plain" if how == "third" else how
            for line in bench.run(library, 3 if how == "third" else 2, "B", program, *map(str, SOME), limit_s=30):
                found[f"B {how} {line['size']}"] = line["us"]
        return found

    def by_hand() -> Figures:
        return {
            f"{variant} plain {line['size']}": line["us"]
            for variant in "AB"
            for line in lines([str(bench.reference), "pingpong", variant, *map(str, SIZES[1:])], bench.environ(), 60)
        }

    found = bench.measure({**bench.contenders(figures), "hand-written": by_hand})
    who = [OURS, *bench.peers]
    text: list[str] = []
    for variant, meaning in (("B", "send what was just received"), ("A", "buffers that nobody rewrites")):
        cases = {f"{variant} plain {size}": report.size_name(size) for size in SIZES}
        goals = {f"{variant} plain {size}": goal(variant, size) for size in SIZES}
        text += [f"### {variant}: {meaning}, us one way", ""]
        text += [*report.table(found, cases, [*who, "hand-written"], bench.peers, goals), ""]
    for how, meaning in HOWS.items():
        cases = {f"B {how} {size}": report.size_name(size) for size in SOME}
        text += [f"### B with {meaning}, us one way", ""]
        text += [*report.table(found, cases, who, bench.peers, {}), ""]
    report.write(HERE, found, bench.rounds, text[:-1])
    series = {
        f"{variant}: {meaning}": {size: f"{variant} plain {size}" for size in SIZES if size}
        for variant, meaning in (("A", "buffers nobody rewrites"), ("B", "send what you received"))
    }
    report.curves(found, series, "A message between two ranks", "us one way", HERE / "picture.png")


if __name__ == "__main__":
    main()
