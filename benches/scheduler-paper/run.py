"""The standard campaign of the scheduler paper as tables, and how far longer runs differ from those until steady.

``run.py FOLDER`` works off the campaigns beside this file into FOLDER, `scaling` only with ``--all``, goes on where it
was stopped, and writes their tables. Then it runs 50 cells until they are steady and for 5,000 instances, and writes
what differs.
"""

from __future__ import annotations

import argparse
import json
import random
from itertools import islice, product
from pathlib import Path
from statistics import mean, median
from typing import Any

from cellweave import RunError
from cellweave.campaign.run import campaign
from cellweave.campaign.store import Store
from cellweave.graph import Graph
from cellweave.machine import Machine
from cellweave.plan import plan
from cellweave.reproduce.campaigns import write_table
from cellweave.reproduce.scenarios import steady
from cellweave.run import run
from cellweave.sets import graph_set, ratio_of

HERE = Path(__file__).resolve().parent
CAMPAIGNS = ("sixteen", "alone", "scaling-part")
WHOLE = "scaling"
CCRS = (0.001, 0.02, 0.1)
OPTIONS: dict[str, Any] = {"batch": 1, "buffering": "duplicated", "gap": 0.05, "moves": 2_000_000}
METHODS = ("greedy", "delegate", "cluster", "auto")
# The cells that are run for longer, and for how many instances.
SAMPLE, SEED = 50, 1
LONG = 5_000


def crossings() -> None:
    """Write which share of the edges goes to another element, and to the other chip, by CCR and method."""
    machine = Machine.load("qs22:ppe=1,spe=16")
    chips = {element["name"]: element["place"]["chip"] for element in machine.elements}
    told: dict[str, dict[str, list[float]]] = {}
    for ccr, method in product(CCRS, METHODS):
        shares = []
        for graph in (graph for graph in graph_set("paper250") if ratio_of(graph.name) == ccr):
            on = plan(graph, machine, method, **OPTIONS).mapping
            ends = [[on[edge[end].rpartition(".")[0]] for end in ("from", "to")] for edge in graph.to_dict()["edge"]]
            shares.append((mean(a != b for a, b in ends), mean(chips[a] != chips[b] for a, b in ends)))
        told.setdefault(f"CCR {ccr}", {})[method] = [round(mean(share), 3) for share in zip(*shares, strict=True)]
    (HERE / "crossings.json").write_text(json.dumps(told, indent=1) + "\n")


def longer(cell: tuple[Graph, str]) -> dict[str, Any] | None:
    """What a run until it is steady says, and the line through it and a longer one; None where buffers do not fit."""
    graph, method = cell
    machine = Machine.load("qs22:ppe=1,spe=16")
    made = plan(graph, machine, method, **OPTIONS)
    try:
        short = run(graph, machine, made, until_steady=True)
    except RunError:
        return None
    line = steady(short, run(graph, machine, made, instances=LONG))
    found = short.until_steady
    assert found is not None
    return {
        "cell": f"{graph.name}, {method}",
        "instances": short.instances,
        "throughput": round(line.per_s / found["highest_per_s"], 5),
        "steady_after": found["instances"],
        "of_longer": round(line.after),
    }


def check() -> None:
    """Run cells that are drawn of the grid for longer, and write how far they differ."""
    grid = list(product(graph_set("paper250"), METHODS))
    drawn = random.Random(SEED).sample(grid, len(grid))
    found = list(islice((one for one in map(longer, drawn) if one is not None), SAMPLE))
    off = sorted(abs(one["throughput"] - 1) for one in found)
    after = sorted(abs(one["of_longer"] / one["steady_after"] - 1) for one in found)
    told = {
        "instances": LONG,
        "runs": len(found),
        "throughput_off_median": round(median(off), 5),
        "throughput_off_worst": round(off[-1], 5),
        "steady_after_off_median": round(median(after), 3),
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
    parser.add_argument("--all", action="store_true", help="the whole of scaling, too")
    parser.add_argument(
        "--only", choices=["tables", "crossings", "check"], help="run no campaign; take the rows that are there"
    )
    given = parser.parse_args()
    for name in (*CAMPAIGNS, WHOLE) if given.all else CAMPAIGNS:
        if given.only is None:
            campaign(HERE / f"{name}.toml", given.folder / name, given.dask, workers=given.workers)
        if given.only in (None, "tables") and (given.folder / name).is_dir():
            write_table(HERE / f"{name}.csv", Store(given.folder / name).rows())
    if given.only in (None, "crossings"):
        crossings()
    if given.only in (None, "check"):
        check()


if __name__ == "__main__":
    main()
