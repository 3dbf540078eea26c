"""MPI on a simulated Cell beside the figures of `buffered-mpi`: latency, bandwidth, both modes, matrix times vector;
collectives through local stores beside those on messages; data in local stores.

    make demo && .venv/bin/python benches/mpi-cell/run.py

Times are simulated: this computer's speed does not matter, and every run gives the same. Writes results.json,
results.md and the table of collectives in docs/mpi-on-a-cell.md.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

from cellweave.mpi import prefix
from cellweave.reproduce.facts import facts

HERE = Path(__file__).resolve().parent
PROGRAMS = files("cellweave.reproduce") / "programs"
MACHINE = "qs20"
SMALL = [0, 2, 4, 8, 16, 32, 64, 128, 256]
LARGE = [1 << power for power in range(10, 23)]
# What two buffers of a program may have in local stores.
LOCAL = 65536
SIZES = [8, 1024, 16384, 262144]
RANKS = [2, 4, 8, 16]
MODES = [0, 64, 256, 1024, 2048, 4096, 16384, 65536, 262144]


def source(name: str) -> Path:
    """A program of this bench, or one of the experiment `buffered-mpi`."""
    here = HERE / f"{name}.c"
    return here if here.is_file() else Path(str(PROGRAMS / f"{name}.c"))


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
            subprocess.run([binaries / "cellcc", "-O2", source(name), "-o", program, "-lm"], check=True)
            return program

        def launch(ranks: int, program: str, *words: object, how: tuple[str, ...] = ()) -> str:
            start = [str(binaries / "cellrun"), "--on", MACHINE, *how, "-n", str(ranks), program]
            return ran([*start, *map(str, words)])

        def times(sizes: list[int], *how: str) -> dict[int, float]:
            lines = launch(2, build("pingpong"), *sizes, how=how).splitlines()
            return {int(line.split()[0]): float(line.split()[1]) for line in lines}

        us = times(SMALL + LARGE)
        both = {"buffered": times(MODES, "--buffered", str(4 << 20)), "synchronous": times(MODES, "--buffered", "0")}
        local = times([size for size in SMALL + LARGE if size <= LOCAL], "--data", "local")
        collectives = {way: collected(launch, build("collectives"), way) for way in ("messages", "stores")}
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
        "local_us": local,
        "collectives_us": collectives,
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
    lines += ["", "| bytes | data in main memory, us | in local stores, us | GB/s |", "|---|---|---|---|"]
    lines += [f"| {n} | {us[n]:.3f} | {t:.3f} | {n / t / 1e3:.2f} |" for n, t in local.items()]
    table = beside(collectives)
    lines += ["", *table]
    book(table)
    text = "\n".join(lines) + "\n"
    (HERE / "results.md").write_text(text)
    print(text, end="")


def collected(launch: Callable[..., str], program: str, way: str) -> dict[str, dict[int, float]]:
    """us of collectives by name and bytes, and ranks, on messages or through local stores."""
    found: dict[str, dict[int, float]] = {}
    for ranks in RANKS:
        how = ("-genv", "CELLWEAVE_MPI_COLLECTIVES", way)
        for line in launch(ranks, program, *SIZES, how=how).splitlines():
            name, size, us = line.split()
            found.setdefault(f"{name} {size}", {})[ranks] = float(us)
    return found


def beside(collectives: dict[str, dict[str, dict[int, float]]]) -> list[str]:
    """A table: messages, local stores, and how many times sooner."""
    lines = [
        "| collective, bytes | " + " | ".join(f"{ranks} ranks" for ranks in RANKS) + " |",
        "|---|" + "---|" * len(RANKS),
    ]
    order = sorted(collectives["stores"], key=lambda name: (name.split()[0] != "barrier", name.split()[0]))
    for name in order:
        cells = []
        for ranks in RANKS:
            slow, quick = (collectives[way][name][ranks] for way in ("messages", "stores"))
            cells.append(f"{slow:.2f} / {quick:.2f} = {slow / quick:.1f}")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def book(table: list[str]) -> None:
    """Puts the table of collectives into the book."""
    page = HERE.parent.parent / "docs" / "mpi-on-a-cell.md"
    before, _, rest = page.read_text().partition("<!-- collectives -->\n")
    _, end, after = rest.partition("<!-- end of collectives -->")
    page.write_text(before + "<!-- collectives -->\n" + "\n".join(table) + "\n" + end + after)


PUBLISHED = {
    "latency_us": "001",
    "peak_gb_s": "002",
    "matvec_512_gflops": "009",
    "matvec_1024_gflops": "010",
}


if __name__ == "__main__":
    main()
