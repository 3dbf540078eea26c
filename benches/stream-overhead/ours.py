"""cellweave: costs from profile, mapping from plan, one run. Called by run.py with the project's own Python.

    ours.py CONTENDER CASE STAGES ITEMS SPIN CPU CPU

A number after a slash (ours:two_cores/4096) is the size in kB of the ring between the cores, in place of the plan's.

ours:auto lets the planner choose; ours:two_cores forces the first half of a chain onto the first core and
the rest onto the second (diamond: the source alone, as in the reference). The profiled application and both
plans are kept in build/ours, which run.py empties when it starts, so that every run of the bench profiles and
plans anew. Profiling measures the cost of a hand-over by its own calibration; it does not know the lengths and
sizes used here.
"""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import cellweave as cw

BUILD = Path(__file__).resolve().parent / "build"
KEPT = BUILD / "ours"
ITEM_BYTES = {"copy16k": 16384}
LIBRARY = BUILD / "libstages.so"


def application(contender: str, case: str, stages: int, items: int, spin: int) -> dict[str, Any]:
    """The task graph, as an application file."""
    params = {"contender": contender, "case": case, "stages": stages, "items": items, "spin": spin}

    def task(name: str, kernel: str) -> dict[str, Any]:
        return {"name": name, "kernel": f"{LIBRARY}:stage_{kernel}_kernel", "params": params}

    def edge(source: str, target: str) -> dict[str, Any]:
        return {"from": source, "to": target, "bytes": ITEM_BYTES.get(case, 64)}

    if case == "diamond":
        middle = [f"branch{k}" for k in range(stages - 2)]
        tasks = [task("source", "source"), *(task(m, "copy") for m in middle), task("join", "join")]
        edges = [edge("source.out", f"{m}.in") for m in middle]
        edges += [edge(f"{m}.out", f"join.in{k}") for k, m in enumerate(middle)]
    else:
        names = ["source", *(f"copy{k}" for k in range(1, stages - 1)), "sink"]
        tasks = [task(n, n.rstrip("0123456789")) for n in names]
        edges = [edge(f"{a}.out", f"{b}.in") for a, b in pairwise(names)]
    return {"name": f"{case}-{stages}", "task": tasks, "edge": edges}


def halves(tasks: list[str], case: str, elements: list[str]) -> dict[str, str]:
    """Task -> element: the cut that the hand-written reference makes."""
    first = 1 if case == "diamond" else len(tasks) // 2
    return {name: elements[0 if k < first else 1] for k, name in enumerate(tasks)}


def costs(app: dict[str, Any]) -> dict[str, Any]:
    """The application with measured costs; measured once per run of the bench."""
    path = KEPT / f"{app['name']}.json"
    if not path.exists():
        bare = KEPT / f"{app['name']}.bare.json"
        bare.write_text(json.dumps(app))
        cw.profile(bare).save(path, force=True)
    found: dict[str, Any] = json.loads(path.read_text())
    for entry, now in zip(found["task"], app["task"], strict=True):
        entry["params"] = now["params"]
    return found


def cut(plan: cw.Plan, graph: cw.Graph) -> list[tuple[dict[str, Any], int]]:
    """The plan's edges between two elements, with the bytes of an instance."""
    edges = [(e, g["bytes"]) for e, g in zip(plan.to_dict()["edges"], graph.to_dict()["edge"], strict=True)]
    on = plan.mapping
    return [(e, b) for e, b in edges if on[e["from"].split(".")[0]] != on[e["to"].split(".")[0]]]


def ring_bytes(plan: cw.Plan, graph: cw.Graph) -> int:
    """Bytes of the largest ring between two elements; 0 where there is none."""
    return max(((e["slots_out"] + e["slots_in"]) * b for e, b in cut(plan, graph)), default=0)


def with_ring(plan: cw.Plan, graph: cw.Graph, wanted: int) -> cw.Plan:
    """The plan with rings of that many bytes between elements, or of the fewest slots that cannot hang."""
    told = plan.to_dict()
    batch = told["batch"]
    ends = {(e["from"], e["to"]): b for e, b in cut(plan, graph)}
    for e in told["edges"]:
        if (e["from"], e["to"]) in ends:
            slots = max(wanted // ends[e["from"], e["to"]] // (2 * batch), 2) * batch
            e["slots_out"] = e["slots_in"] = slots
    changed = KEPT / "ring.plan.json"
    changed.write_text(json.dumps(told))
    return cw.Plan.load(changed)


def main(argv: list[str]) -> int:
    contender, case, stages, items, spin = argv[0], argv[1], *map(int, argv[2:5])
    contender, _, ring_kb = contender.partition("/")
    if contender not in ("ours:auto", "ours:two_cores"):
        print(f"CONTENDER: '{contender}' is none of ours:auto, ours:two_cores", file=sys.stderr)
        return 2
    KEPT.mkdir(exist_ok=True)
    app = costs(application(contender, case, stages, items, spin))
    graph = cw.Graph.from_dict(app)
    machine = cw.Machine.load("host")
    saved = KEPT / f"{app['name']}-{contender.split(':')[1]}.plan.json"
    if saved.exists():
        plan = cw.Plan.load(saved)
    else:
        mapping = None
        if contender == "ours:two_cores":
            elements = [e["name"] for e in machine.to_dict()["elements"]]
            mapping = halves([t["name"] for t in app["task"]], case, elements)
        plan = cw.plan(graph, on=machine, mapping=mapping)
        plan.save(saved)
    if ring_kb:
        plan = with_ring(plan, graph, int(ring_kb) * 1024)
    result = cw.run(graph, on=machine, plan=plan, instances=items)
    told = result.to_dict()
    print(
        json.dumps(
            {
                "ratio": result.ratio,
                "predicted_ns_per_firing": 1e9 / result.predicted_per_s / stages,
                "batch": plan.to_dict()["batch"],
                "mapping": plan.mapping,
                "pinned": told.get("pinned"),
                "ring_kb": ring_bytes(plan, graph) / 1024,
            }
        ),
        flush=True,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
