"""How many messages and bytes a second go from one rank to another, with 64 under way.

.venv/bin/python benches/mpi-bandwidth/run.py
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "mpi"))

import report
from bench import OURS, Bench
from peers import Library
from rounds import Figures

HERE = Path(__file__).resolve().parent
SIZES = [8, 64, 1024, 4096, 16384, 65536, 1 << 20, 4 << 20]


def main() -> None:
    bench = Bench(__doc__ or "", HERE / "bandwidth.c")

    def figures(library: Library) -> Figures:
        return {str(line["size"]): line["us"] for line in bench.run(library, 2, *map(str, SIZES))}

    found = bench.measure(bench.contenders(figures))
    cases = {str(size): report.size_name(size) for size in SIZES}
    text = ["us per message, 64 under way (the ratio of rates is one by the ratio of times; 0.67 is 1.5 times the rate).", ""]
    text += [*report.table(found, cases, [OURS, *bench.peers], bench.peers, {"8": "0.67"}), "", "The same as rates:", ""]
    text += ["| | " + " | ".join([OURS, *bench.peers]) + " |", "|--|" + "--:|" * (1 + len(bench.peers))]
    for size in SIZES:
        values = [found.median(name, str(size)) for name in [OURS, *bench.peers]]
        unit = "M messages/s" if size < 4096 else "GB/s"
        rates = [None if us is None else 1 / us if size < 4096 else size / us * 1e-3 for us in values]
        text.append(f"| {report.size_name(size)}, {unit} | " + " | ".join(report.figure(rate) for rate in rates) + " |")
    report.write(HERE, found, bench.rounds, text)
    report.curves(
        found,
        {"64 messages under way": {size: str(size) for size in SIZES}},
        "Streams between two ranks",
        "us per message",
        HERE / "picture.png",
    )


if __name__ == "__main__":
    main()
