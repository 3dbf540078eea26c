"""The standard campaign of the scheduler paper as tables, and how far longer runs differ from those until steady.

``run.py FOLDER`` works off the three campaigns beside this file into FOLDER, and goes on where it was stopped. Then it
writes the tables, runs 50 cells again for 10,000 instances, and writes what differs.
"""

from __future__ import annotations

import argparse
import json
import os
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any

from cellweave.campaign import campaign
from cellweave.campaign.store import Store
from cellweave.graph import Graph
from cellweave.machine import Machine
from cellweave.plan import plan
from cellweave.reproduce.campaigns import write_table
from cellweave.reproduce.scenarios import steady
from cellweave.run import run
from cellweave.sets import graph_set

HERE = Path(__file__).resolve().parent
CAMPAIGNS = ("sixteen", "alone", "scaling")
# The cells that are run again, and for how many instances.
SAMPLE, SEED = 50, 1
LONG = (2_000, 10_000)


def longer(row: dict[str, Any], graph: Graph) -> dict[str, Any]:
    """What the line through two longer runs says, over what the run until it was steady says."""
    machine = Machine.load(row["machine"])
    made = plan(graph, machine, row["method"], seed=row["seed"], **json.loads(row["options"]))
    line = steady(*(run(graph, machine, made, instances=n) for n in LONG))
    cell = f"{row['graph']}, {row['method']}"
    return {
        "cell": cell,
        "throughput": line.per_s / row["highest_per_s"],
        "steady_after": row["steady_after"],
        "of_longer": line.after,
    }


def check(folder: Path, most: int) -> None:
    """Run a sample of cells for longer and write how far they differ."""
    rows = [row for row in Store(folder).rows() if row["decided"]]
    graphs = {graph.name: graph for graph in graph_set("paper250")}
    chosen = random.Random(SEED).sample(rows, min(most, len(rows)))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda row: longer(row, graphs[row["graph"]]), chosen))
    off = sorted(abs(one["throughput"] - 1) for one in found)
    after = sorted(abs(one["of_longer"] / one["steady_after"] - 1) for one in found)
    told = {
        "instances": LONG,
        "runs": len(found),
        "throughput_off_median": median(off),
        "throughput_off_worst": off[-1],
        "steady_after_off_median": median(after),
        "steady_after_within_15_percent": sum(one <= 0.15 for one in after) / len(after),
        "cells": found,
    }
    (HERE / "longer.json").write_text(json.dumps(told, indent=1) + "\n")
    print({name: value for name, value in told.items() if name != "cells"})


def main() -> None:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="keeps the rows")
    parser.add_argument("--workers", type=int, help="processes; by default one per cpu")
    parser.add_argument("--dask", help="the address of a Dask scheduler")
    parser.add_argument("--only", choices=["tables", "check"], help="run no campaign; take the rows that are there")
    parser.add_argument("--sample", type=int, default=SAMPLE, help="cells that are run for longer")
    given = parser.parse_args()
    for name in CAMPAIGNS:
        if given.only is None:
            campaign(HERE / f"{name}.toml", given.folder / name, given.dask, workers=given.workers)
        if given.only != "check" and (given.folder / name).is_dir():
            write_table(HERE / f"{name}.csv", Store(given.folder / name).rows())
    if given.only != "tables":
        check(given.folder / CAMPAIGNS[0], given.sample)


if __name__ == "__main__":
    main()
