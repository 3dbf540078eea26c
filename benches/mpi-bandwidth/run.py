"""How many messages and bytes a second go from one rank to another, with 64 under way.

.venv/bin/python benches/mpi-bandwidth/run.py
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
from rounds import Figures, Found

HERE = Path(__file__).resolve().parent
SIZES = [8, 64, 1024, 4096, 16384, 32768, 65536, 1 << 18, 1 << 20, 4 << 20]
SHORT = [SIZES[:4], SIZES[4:7], SIZES[7:]]
"""Sizes that are measured in one run: short ones, because the two cpus may change their state each second."""


def main() -> None:
    bench = Bench(__doc__ or "", HERE / "bandwidth.c")

    def figures(sizes: list[int], library: Library) -> Figures:
        return {str(line["size"]): line["us"] for line in bench.run(library, 2, *map(str, sizes))}

    # The wire has to be of one kind during a run, not quiet.
    parts = [partial(figures, sizes) for sizes in SHORT]
    found = bench.measure(bench.contenders(*parts), limit=rounds.APART**0.5)
    cases = {str(size): report.size_name(size) for size in SIZES}
    goals = {str(size): "0.77" if size == SIZES[0] else "1.0" for size in SIZES}
    who = [OURS, *bench.peers]

    def tables(some: Found) -> list[str]:
        text = ["us per message, 64 under way (0.77 of the time is 1.3 times the rate).", ""]
        text += [*report.table(some, cases, who, bench.peers, goals), "", "The same as rates:", ""]
        text += ["| | " + " | ".join(who) + " |", "|--|" + "--:|" * len(who)]
        for size in SIZES:
            values = [some.median(name, str(size)) for name in who]
            unit = "M messages/s" if size < 4096 else "GB/s"
            rates = [None if us is None else 1 / us if size < 4096 else size / us * 1e-3 for us in values]
            text.append(
                f"| {report.size_name(size)}, {unit} | " + " | ".join(report.figure(rate) for rate in rates) + " |"
            )
        return text

    shown = report.write(HERE, found, tables)
    report.curves(
        shown,
        {"64 messages under way": {size: str(size) for size in SIZES}},
        "Streams between two ranks",
        "us per message",
        HERE / "picture.png",
    )


if __name__ == "__main__":
    main()
