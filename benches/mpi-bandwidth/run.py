"""How many messages and bytes a second go from one rank to another, with 64 under way, or both ways.

.venv/bin/python benches/mpi-bandwidth/run.py
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "mpi"))

import report
from bench import OURS, Bench
from peers import Library
from rounds import Found, Run, split

HERE = Path(__file__).resolve().parent
SIZES = [8, 64, 1024, 4096, 16384, 32768, 65536, 1 << 18, 1 << 20, 4 << 20]
EXCHANGED = [1024, 4096, 16384, 65536, 1 << 17, 1 << 18, 1 << 20]
"""Of each of the two messages that each rank sends the other one at a time."""


def case(line: dict[str, Any]) -> str:
    """The case of a line: of a stream, its size."""
    return str(line["size"]) if line["name"] == "stream" else f"{line['name']}:{line['size']}"


def main() -> None:
    bench = Bench(__doc__ or "", HERE / "bandwidth.c")

    def figures(library: Library) -> list[Run]:
        cases = [f"stream:{size}" for size in SIZES] + [f"exchange:{size}" for size in EXCHANGED]
        lines = bench.run(library, 2, *cases)
        return [run for line in lines for run in split(line, case(line))]

    found = bench.measure(bench.contenders(figures))
    cases = {str(size): report.size_name(size) for size in SIZES}
    goals = {str(size): "0.77" if size == SIZES[0] else "1.0" for size in SIZES}
    exchanges = {f"exchange:{size}": report.size_name(size) for size in EXCHANGED}
    exchange_goals = dict.fromkeys(exchanges, "1.0")
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
        text += ["", "us per exchange: each rank sends the other one two messages of so many bytes at a time.", ""]
        return [*text, *report.table(some, exchanges, who, bench.peers, exchange_goals)]

    shown = report.write(HERE, found, tables)
    report.curves(
        shown,
        {
            "64 messages under way": {size: str(size) for size in SIZES},
            "an exchange: two each way": {size: f"exchange:{size}" for size in EXCHANGED},
        },
        "Streams and exchanges between two ranks",
        "us per message or exchange",
        HERE / "picture.png",
    )


if __name__ == "__main__":
    main()
