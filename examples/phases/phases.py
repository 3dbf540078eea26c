"""A program of three patterns: where its 16 ranks go when it is placed as a whole, and phase by phase.

A stencil of 4 x 4 ranks exchanges borders, then all add up a value over a tree, now and then rank 0 collects results.
`python phases.py 300` simulates 300 mappings instead of 40 before it chooses one.
"""

import random
import sys
from pathlib import Path

import cellweave as cw

RANKS, SIDE = 16, 4
ON = "qs22"
RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 40  # mappings that are simulated


def halo():
    """Neighbours in the grid exchange 8 kB, 100 times."""
    for rank in range(RANKS):
        row, column = divmod(rank, SIDE)
        for other in ([rank + 1] if column + 1 < SIDE else []) + ([rank + SIDE] if row + 1 < SIDE else []):
            yield rank, other, 8192, "halo", 100
            yield other, rank, 8192, "halo", 100


def sums():
    """Every rank's 1 kB come together in rank 0, over four steps of a tree, 100 times."""
    for step in range(4):
        for rank in range(0, RANKS, 2 << step):
            yield rank + (1 << step), rank, 1024, f"sum {step}", 100


def master():
    """Rank 0 collects 16 kB of each other rank, 5 times."""
    for rank in range(1, RANKS):
        yield rank, 0, 16384, "master", 5


PATTERNS = {"halo": halo, "sum": sums, "master": master}


def write(name, flows, element=range(RANKS)):
    """A file of traffic, with rank i as number ``element[i]``."""
    lines = ["source,destination,bytes,phase,weight"]
    lines += [f"{element[a]},{element[b]},{size},{phase},{times}" for a, b, size, phase, times in flows]
    path = Path(f"{name}.csv")
    path.write_text("\n".join(lines) + "\n")
    return path


def time_us(pattern, mapping):
    """How long a pattern takes under a mapping: its time when every rank has the number of its element."""
    path = write("renamed", PATTERNS[pattern](), mapping)
    return cw.place(path, ON, "simulated", runs=1, moves=1).identity / 1000


def simulated(path):
    """The mapping that takes least of those that are simulated; a few swaps by the models are enough to begin with."""
    return cw.place(path, ON, "simulated", runs=RUNS, moves=10_000).permutation


files = {name: write(name, flows()) for name, flows in PATTERNS.items()}
job = write("job", [flow for flows in PATTERNS.values() for flow in flows()])
placed = {
    "a random mapping": random.Random(1).sample(range(RANKS), RANKS),
    "rank i on SPE i": list(range(RANKS)),
    "the whole, by limits": cw.place(job, ON, "model").permutation,
    "the whole, simulated": simulated(job),
}
placed |= {f"{name} alone": simulated(path) for name, path in files.items()}
times = {name: {pattern: time_us(pattern, mapping) for pattern in PATTERNS} for name, mapping in placed.items()}
times["each phase its own"] = {pattern: times[f"{pattern} alone"][pattern] for pattern in PATTERNS}

print(f"{'us of the simulated blade':26}", *(f"{name:>8}" for name in [*PATTERNS, "all"]))
for name, each in times.items():
    print(f"{name:26}", *(f"{us:8.1f}" for us in [*each.values(), sum(each.values())]))
