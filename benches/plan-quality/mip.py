"""Whether `exact` agrees with `auto` on what MIP is in the scheduler paper's campaign: proved within 5 %.

    .venv/bin/python benches/plan-quality/mip.py

One scenario of each of the 25 graphs, the ratios in turn. `auto` makes at most two million moves, as in
`benches/scheduler-paper/sixteen.toml`; `exact` has 60 s. HiGHS starts from a mapping of the planner and goes on
until its own bound proves 5 %. Each row is written to ``mip.json`` as it comes, and is not computed again; ``mip.md``
is the table.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import cellweave as cw
from cellweave.sets import graph_set

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "mip.json"
GAP, MOVES, SECONDS = 0.05, 2_000_000, 60.0
CCRS_PER_GRAPH = 10
# Each next graph takes the ratio that is so many places on: all ten come up.
STEP = 3


def scenarios() -> list[cw.Graph]:
    """One of each graph, the ratios in turn."""
    graphs = graph_set("paper250")
    shapes = range(len(graphs) // CCRS_PER_GRAPH)
    return [graphs[shape * CCRS_PER_GRAPH + shape * STEP % CCRS_PER_GRAPH] for shape in shapes]


def planned(graph: cw.Graph, machine: cw.Machine, method: str, **options: Any) -> dict[str, float]:
    """A method's period and bound in ns, and CPU seconds of this process."""
    began = time.process_time()
    plan = cw.plan(graph, machine, method, gap=GAP, batch=1, buffering="duplicated", **options)
    seconds = round(time.process_time() - began, 4)
    return {"period_ns": plan.period_ns, "bound_ns": plan.bound_ns, "gap": plan.gap, "seconds": seconds}


def agree(row: dict[str, Any]) -> bool:
    """Whether both are proved within 5 % and neither's bound is above the other's period."""
    auto, exact = row["auto"], row["exact"]
    each = [(auto["bound_ns"], exact["period_ns"]), (exact["bound_ns"], auto["period_ns"])]
    return all(bound <= period * (1 + 1e-6) for bound, period in each) and max(auto["gap"], exact["gap"]) <= GAP + 1e-9


def table(rows: dict[str, Any]) -> str:
    """The rows as text."""
    text = "| scenario | `auto`, ns | gap | `exact`, ns | gap | CPU s of `exact` | `exact` over `auto` |\n"
    text += "|---|---:|---:|---:|---:|---:|---:|\n"
    for name, row in rows.items():
        auto, exact = row["auto"], row["exact"]
        ratio = exact["period_ns"] / auto["period_ns"]
        cells = [f"{auto['period_ns']:.0f}", f"{auto['gap']:.1%}", f"{exact['period_ns']:.0f}", f"{exact['gap']:.1%}"]
        text += f"| {name} | {' | '.join(cells)} | {exact['seconds']:.2g} | {ratio:.3f} |\n"
    agreeing = sum(agree(row) for row in rows.values())
    return (
        text
        + f"\nBoth are proved within 5 %, and no bound is above the other's period, in {agreeing} of {len(rows)}.\n"
    )


def main() -> None:
    """Plan what is not there yet."""
    machine = cw.Machine.load("qs22:ppe=1,spe=16")
    rows: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for graph in scenarios():
        if graph.name not in rows:
            auto = planned(graph, machine, "auto", moves=MOVES)
            rows[graph.name] = {"auto": auto, "exact": planned(graph, machine, "exact", time_s=SECONDS)}
            RESULTS.write_text(json.dumps(rows, indent=1) + "\n")
            (HERE / "mip.md").write_text(table(rows))


if __name__ == "__main__":
    main()
