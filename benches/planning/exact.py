"""Whether `exact`, with HiGHS, finds the best of all mappings of small graphs.

    cargo run --release -p cellweave-plan --example optimum -- benches/planning --cases build/planning-cases
    .venv/bin/python benches/planning/exact.py build/planning-cases

The first command writes the cases with the optimum that the oracle found; this one plans each with `exact` and writes
`exact.md` beside itself.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import cellweave as cw


def main() -> None:
    """Plan every case and count."""
    folder = Path(sys.argv[1])
    rows: dict[tuple[str, str], Counter[str]] = {}
    for number in range(len(list(folder.glob("*-graph.json")))):
        case = json.loads((folder / f"{number}.json").read_text())
        row = rows.setdefault((case["sort"], case["buffering"]), Counter())
        row["cases"] += 1
        if case["best_ns"] is None:
            continue
        row["plannable"] += 1
        graph = cw.Graph.load(folder / f"{number}-graph.json")
        machine = cw.Machine.load(folder / f"{number}-machine.toml")
        asked = {"buffering": case["buffering"], "batch": case["batch"], "time_s": 10, "gap": 0.0}
        plan = cw.plan(graph, machine, "exact", **asked)
        best = case["best_ns"]
        optimal = plan.feasible and abs(plan.period_ns - best) <= 1e-6 * best
        row["optimal"] += optimal
        row["proved"] += plan.gap <= 1e-6 and plan.bound_ns <= best * (1 + 1e-6)
        if not optimal:
            print(number, case, plan.period_ns, plan.gap)
    text = "| machine | buffers | cases | with a plan | optimal | proved |\n|---|---|---|---|---|---|\n"
    for (sort, rule), row in sorted(rows.items()):
        counts = " | ".join(str(row[key]) for key in ("cases", "plannable", "optimal", "proved"))
        text += f"| {sort} | {rule} | {counts} |\n"
    total: Counter[str] = sum(rows.values(), Counter())
    text += f"\nOptimal: {total['optimal']} of {total['plannable']} that have a plan.\n"
    (Path(__file__).parent / "exact.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
