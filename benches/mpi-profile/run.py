"""What `cellrun --profile` costs: messages between two ranks with and without it.

.venv/bin/python benches/mpi-profile/run.py
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "mpi"))

import report
from bench import OURS, Bench
from peers import Library
from rounds import Found, Run, split

HERE = Path(__file__).resolve().parent
SIZES = [8, 1024, 4096, 16384, 65536, 1 << 20]
PROFILED = "cellweave, profiled"
MOST = "1.02"
"""The largest ratio that is asked for from 4 kB on."""


def main() -> None:
    bench = Bench(__doc__ or "", HERE.parent / "mpi-latency" / "latency.c")
    ours = next(library for library in bench.libraries if library.name == OURS)
    with tempfile.TemporaryDirectory() as folder:
        profiled = replace(
            ours, name=PROFILED, launcher=[*ours.launcher, "--profile", str(Path(folder) / "profile.json")]
        )
        bench.libraries = [ours, profiled]

        def figures(library: Library) -> list[Run]:
            lines = bench.run(library, 2, "B", "plain", *map(str, SIZES))
            return [run for line in lines for run in split(line, str(line["size"]))]

        found = bench.measure(bench.contenders(figures))

    def tables(some: Found) -> list[str]:
        rows = [
            "us one way, send what was just received.",
            "",
            "| | without | with | with / without (95 %) | asked |",
            "|--|--:|--:|--:|--:|",
        ]
        for size in SIZES:
            ratio = some.ratio(str(size), PROFILED, OURS)
            values = [report.figure(some.median(name, str(size))) for name in (OURS, PROFILED)]
            told = f"**{ratio[0]:.3f}** ({ratio[1]:.3f} to {ratio[2]:.3f})" if ratio else ""
            asked = MOST if size >= 4096 else ""
            rows.append(f"| {report.size_name(size)} | {values[0]} | {values[1]} | {told} | {asked} |")
        return rows

    report.write(HERE, found, tables)


if __name__ == "__main__":
    main()
