"""How long a message between two ranks takes, one way, beside every peer and the hand-written limit.

.venv/bin/python benches/mpi-latency/run.py
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "mpi"))

import report
from bench import OURS, Bench
from peers import Library
from rounds import Found, Run, split

HERE = Path(__file__).resolve().parent
SIZES = [0, 8, 32, 48, 64, 256, 1024, 4096, 16384, 65536, 262144, 1 << 20, 4 << 20]
SOME = [8, 1024, 65536, 1 << 20]
"""Measured again with wildcards, a vector type, threads, buffers as malloc gives them, rewritten ones, a third rank."""
HOWS = {
    "any": "MPI_ANY_SOURCE",
    "vector": "every second double",
    "threads": "MPI_THREAD_MULTIPLE",
    "malloc": "buffers 16 bytes into a page",
    "rewritten": "all data rewritten between, which is part of the time",
    "third": "a third rank waits",
}


def goal(variant: str, size: int) -> str:
    """The largest ratio to the best peer that is asked for."""
    if variant == "B":
        return "0.8" if size <= 48 else "0.9" if size <= 1 << 20 else "0.65"
    return "1.0"


def main() -> None:
    bench = Bench(__doc__ or "", HERE / "latency.c")

    def seen(lines: list[dict[str, Any]], how: str) -> list[Run]:
        return [run for line in lines for run in split(line, f"{line['variant']} {how} {line['size']}")]

    def plain(variant: str, library: Library) -> list[Run]:
        return seen(bench.run(library, 2, variant, "plain", *map(str, SIZES)), "plain")

    def others(how: str, library: Library) -> list[Run]:
        ranks, program = (3, "plain") if how == "third" else (2, how)
        return seen(bench.run(library, ranks, "B", program, *map(str, SOME), limit_s=20), how)

    def by_hand(variant: str) -> list[Run]:
        return seen(bench.by_hand(variant, *map(str, filter(None, SIZES))), "plain")

    parts = [*(partial(plain, variant) for variant in "BA"), *(partial(others, how) for how in HOWS)]
    contenders = bench.contenders(*parts)
    contenders["hand-written"] = [partial(by_hand, variant) for variant in "BA"]
    found = bench.measure(contenders)

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
