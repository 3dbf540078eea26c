"""Why table 2 comes out as it does: the 250 applications planned again with something changed.

``whatif.py`` writes ``whatif.json`` beside itself: what each method reaches over MIP as it is, without (17) and (18),
and with data twice as large; and in which scenarios the period is what one task costs, which no mapping divides.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from statistics import mean
from typing import Any

from cellweave.graph import Graph
from cellweave.machine import Machine
from cellweave.plan import Plan, plan
from cellweave.reproduce.scenarios import HEURISTICS, MIP, best_share, over_mip
from cellweave.sets import SMALL_TASKS, graph_set

HERE = Path(__file__).resolve().parent
OPTIONS: dict[str, Any] = {"batch": 1, "buffering": "duplicated"}
METHODS = (*HEURISTICS, MIP)
STORE = 262144
HAIR = 1 + 1e-6


def planned(graphs: list[Graph], machine: Machine) -> dict[tuple[str, str], Plan]:
    """(graph, method) -> its mapping."""
    mip: dict[str, Any] = {"gap": 0.05, "moves": 2_000_000}
    return {
        (graph.name, method): plan(graph, machine, "auto", **OPTIONS, **mip)
        if method == MIP
        else plan(graph, machine, method, **OPTIONS)  # type: ignore[arg-type]
        for graph in graphs
        for method in METHODS
    }


def told(made: dict[tuple[str, str], Plan], own: dict[tuple[str, str], Plan]) -> dict[str, Any]:
    """Averages over MIP and best cases, and what MIP has gained over `own`."""
    ratios = over_mip([(graph, method, plan.throughput_per_s) for (graph, method), plan in made.items()])
    gains = [p.throughput_per_s / own[key].throughput_per_s for key, p in made.items() if key[1] == MIP]
    return {
        "average": {method: round(mean(ratios[method]), 4) for method in HEURISTICS},
        "best": {method: round(best_share(ratios, method), 1) for method in METHODS},
        "better_than_mip": sum(ratio > HAIR for method in HEURISTICS for ratio in ratios[method]),
        "mip_gains_at_most": round(max(gains) - 1, 4),
        "not_proved": sum(p.gap > 0.05 + 1e-9 for (_, method), p in made.items() if method == MIP),
    }


def one_task(graphs: list[Graph], made: dict[tuple[str, str], Plan]) -> dict[str, Any]:
    """Where MIP's period is the cost of one task where it is cheapest: which methods are best there, and CLUSTER."""

    def per_s(graph: Graph, method: str) -> float:
        return made[graph.name, method].throughput_per_s

    def single(graph: Graph) -> bool:
        heaviest = max(min(task["cost_ns"].values()) for task in graph.to_dict()["task"])
        return 1e9 / per_s(graph, MIP) <= heaviest * HAIR

    def best(graph: Graph, method: str) -> bool:
        return per_s(graph, method) * HAIR >= max(per_s(graph, other) for other in METHODS)

    def over(chosen: list[Graph]) -> float:
        return round(mean(per_s(graph, "cluster") / per_s(graph, MIP) for graph in chosen), 4)

    there = [graph for graph in graphs if single(graph)]
    rest = [graph for graph in graphs if not single(graph)]
    return {
        "scenarios": len(there),
        "small": sum(len(graph.to_dict()["task"]) <= SMALL_TASKS for graph in there),
        "best": {m: [sum(best(g, m) for g in graphs), sum(best(g, m) for g in there)] for m in HEURISTICS},
        "graphs_of_best": {
            m: len({graph.name.rpartition("-ccr")[0] for graph in graphs if best(graph, m)}) for m in HEURISTICS
        },
        "cluster_over_mip": {"there": over(there), "elsewhere": over(rest)},
    }


def main() -> None:
    """Plan everything."""
    graphs = graph_set("paper250")
    text = Machine.load("qs22:ppe=1,spe=16").to_toml()
    code = graphs[0].to_dict()["code_bytes"]
    own = planned(graphs, Machine.from_toml(text))
    free = re.sub(r"(?m)^(incoming_max|outgoing_max) = .*\n", "", text)
    half = text.replace(f"bytes = {STORE}", f"bytes = {code + (STORE - code) // 2}")
    found = {
        "as it is": told(own, own),
        "without (17) and (18)": told(planned(graphs, Machine.from_toml(free)), own),
        "data twice as large": told(planned(graphs, Machine.from_toml(half)), own),
        "period of one task": one_task(graphs, own),
    }
    (HERE / "whatif.json").write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
