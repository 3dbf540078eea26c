"""MPI on a simulated Cell beside the figures of `buffered-mpi`: latency, bandwidth, both modes, matrix times vector.

    make demo && .venv/bin/python benches/mpi-cell/run.py

Times are simulated: this computer's speed does not matter, and every run gives the same. Writes results.json and
results.md.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from importlib.resources import files
from pathlib import Path

from cellweave.mpi import prefix
from cellweave.reproduce.facts import facts

HERE = Path(__file__).resolve().parent
PROGRAMS = files("cellweave.reproduce") / "programs"
MACHINE = "qs20"
SMALL = [0, 2, 4, 8, 16, 32, 64, 128, 256]
LARGE = [1 << power for power in range(10, 23)]
MODES = [0, 64, 256, 1024, 2048, 4096, 16384, 65536, 262144]


def ran(words: list[str]) -> str:
    """What a program prints on the simulated machine."""
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=Path, default=prefix(), help="the folder with bin, include and lib")
    binaries = parser.parse_args().tree / "bin"
    with tempfile.TemporaryDirectory() as made:

        def build(name: str) -> str:
            program = f"{made}/{name}"
            subprocess.run([binaries / "cellcc", "-O2", PROGRAMS / f"{name}.c", "-o", program, "-lm"], check=True)
            return program

        def launch(ranks: int, program: str, *words: object, buffered: int | None = None) -> str:
            limit = [] if buffered is None else ["--buffered", str(buffered)]
            start = [str(binaries / "cellrun"), "--on", MACHINE, *limit, "-n", str(ranks), program]
            return ran([*start, *map(str, words)])

        def times(sizes: list[int], buffered: int | None = None) -> dict[int, float]:
            lines = launch(2, build("pingpong"), *sizes, buffered=buffered).splitlines()
            return {int(line.split()[0]): float(line.split()[1]) for line in lines}

        us = times(SMALL + LARGE)
        both = {"buffered": times(MODES, 4 << 20), "synchronous": times(MODES, 0)}
        matvec = build("matvec")
        gflops = {n: float(launch(8, matvec, n)) for n in (512, 1024)}
    bandwidth = {size: size / us[size] / 1e3 for size in LARGE}
    crossing = next((n for n in MODES if n > 0 and both["synchronous"][n] < both["buffered"][n]), None)
    known = facts()
    published = {name: float(known[f"buffered-mpi-{number}"].value) for name, number in PUBLISHED.items()}
    obtained = {
        "latency_us": us[0],
        "peak_gb_s": max(bandwidth.values()),
        "matvec_512_gflops": gflops[512],
        "matvec_1024_gflops": gflops[1024],
    }
    results = {
        "machine": MACHINE,
        "us": us,
        "gb_s": bandwidth,
        "modes_us": both,
        "synchronous_is_faster_from_bytes": crossing,
        "published": published,
        "obtained": obtained,
    }
    (HERE / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    lines = ["| figure | published | simulated | ratio |", "|---|---|---|---|"]
    for name, value in obtained.items():
        ratio = value / published[name]
        lines.append(f"| {name.replace('_', ' ')} | {published[name]:g} | {value:.3g} | {ratio:.2f} |")
    lines += ["", "| bytes | us | GB/s |", "|---|---|---|"]
    lines += [f"| {n} | {t:.3f} | {n / t / 1e3:.2f} |" for n, t in us.items()]
    lines += ["", "| bytes | buffered, us | synchronous, us |", "|---|---|---|"]
    lines += [f"| {n} | {both['buffered'][n]:.3f} | {both['synchronous'][n]:.3f} |" for n in MODES]
    text = "\n".join(lines) + "\n"
    (HERE / "results.md").write_text(text)
    print(text, end="")


PUBLISHED = {
    "latency_us": "001",
    "peak_gb_s": "002",
    "matvec_512_gflops": "009",
    "matvec_1024_gflops": "010",
}


if __name__ == "__main__":
    main()
