"""How long a message between two ranks takes, one way, beside every peer and the hand-written limit.

.venv/bin/python benches/mpi-latency/run.py
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "mpi"))

import report
import rounds
from bench import OURS, Bench
from peers import Library
from rounds import Figures, Found, lines

HERE = Path(__file__).resolve().parent
SIZES = [0, 8, 32, 48, 64, 256, 1024, 4096, 16384, 65536, 262144, 1 << 20, 4 << 20]
SHORT = [SIZES[:8], SIZES[8:11], SIZES[11:]]
"""Sizes that are measured in one run: short ones, because the two cpus may change their state each second."""
SOME = [8, 1024, 65536, 1 << 20]
"""Measured again with wildcards, a vector type, threads, buffers as malloc gives them, and a third rank."""
HOWS = {
    "any": "MPI_ANY_SOURCE",
    "vector": "every second double",
    "threads": "MPI_THREAD_MULTIPLE",
    "malloc": "buffers 16 bytes into a page",
    "third": "a third rank waits",
}


def goal(variant: str, size: int) -> str:
    """The largest ratio to the best peer that is asked for."""
    if variant == "B":
        return "0.8" if size <= 48 else "0.9" if size <= 1 << 20 else "0.65"
    return "1.0"


def main() -> None:
    bench = Bench(__doc__ or "", HERE / "latency.c")

    def plain(variant: str, sizes: list[int], library: Library) -> Figures:
        return {
            f"{variant} plain {line['size']}": line["us"]
            for line in bench.run(library, 2, variant, "plain", *map(str, sizes))
        }

    def others(how: str, library: Library) -> Figures:
        ranks, program = (3, "plain") if how == "third" else (2, how)
        lines_ = bench.run(library, ranks, "B", program, *map(str, SOME), limit_s=20)
        return {f"B {how} {line['size']}": line["us"] for line in lines_}

    def by_hand(variant: str, sizes: list[int]) -> Figures:
        command = [*bench.first, str(bench.reference), "pingpong", variant, *map(str, filter(None, sizes))]
        return {f"{variant} plain {line['size']}": line["us"] for line in lines(command, bench.environ(), 60)}

    plains = [(variant, sizes) for variant in "BA" for sizes in SHORT]
    parts = [*(partial(plain, *asked) for asked in plains), *(partial(others, how) for how in HOWS)]
    contenders = bench.contenders(*parts)
    contenders["hand-written"] = [partial(by_hand, *asked) for asked in plains]
    # Runs last half a second: the wire has to be of one kind then, not quiet.
    found = bench.measure(contenders, limit=rounds.APART**0.5)

    def tables(some: Found) -> list[str]:
        text: list[str] = []
        who = [OURS, *bench.peers]
        for variant, meaning in (("B", "send what was just received"), ("A", "buffers that nobody rewrites")):
            cases = {f"{variant} plain {size}": report.size_name(size) for size in SIZES}
            goals = {f"{variant} plain {size}": goal(variant, size) for size in SIZES}
            text += [f"### {variant}: {meaning}, us one way", ""]
            text += [*report.table(some, cases, [*who, "hand-written"], bench.peers, goals), ""]
        for how, meaning in HOWS.items():
            cases = {f"B {how} {size}": report.size_name(size) for size in SOME}
            text += [f"### B with {meaning}, us one way", "", *report.table(some, cases, who, bench.peers, {}), ""]
        return text[:-1]

    shown = report.write(HERE, found, tables)
    series = {
        f"{variant}: {meaning}": {size: f"{variant} plain {size}" for size in SIZES if size}
        for variant, meaning in (("A", "buffers nobody rewrites"), ("B", "send what you received"))
    }
    report.curves(shown, series, "A message between two ranks", "us one way", HERE / "picture.png")


if __name__ == "__main__":
    main()
