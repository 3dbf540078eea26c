"""Time to a proved gap of 5 %: our planner, HiGHS on the paper's formulation, and CP-SAT, one after the other.

    .venv/bin/python benches/plan-quality/run.py [--seconds 120] [--only NAME] [--first N] [--all]

Takes 20 named instances (``--all``: the 250). Each result is written to ``results.json`` as it comes; what is there
with the same limit of seconds is not run again. Peers are installed from PyPI into ``build/plan-quality``.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import cellweave as cw

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent.parent / "build" / "plan-quality"
RESULTS = HERE / "results.json"
GAP = 0.05
PEERS = {"highs": "highspy==1.15.1", "cpsat": "ortools==9.15.6755"}
# Every size, and every CCR twice: the smaller graphs first, which peers finish.
NAMED = [
    ("daggen-20-seed1", 0.001), ("daggen-20-seed1", 0.1), ("daggen-23-seed2", 0.01), ("daggen-26-seed3", 0.05),
    ("daggen-29-seed4", 0.07), ("daggen-32-seed5", 0.004), ("daggen-35-seed6", 0.02), ("daggen-38-seed7", 0.1),
    ("daggen-41-seed8", 0.002), ("daggen-45-seed9", 0.03), ("daggen-48-seed10", 0.007), ("daggen-52-seed11", 0.05),
    ("daggen-59-seed13", 0.01), ("daggen-87-seed14", 0.07), ("daggen-94-seed16", 0.001), ("daggen-102-seed58", 0.004),
    ("daggen-110-seed20", 0.03), ("daggen-120-seed22", 0.02), ("daggen-130-seed24", 0.002),
    ("daggen-135-seed25", 0.007),
]  # fmt: skip


def peer_python() -> str:
    """An interpreter with the peers, installed where they are not there yet."""
    python = BUILD / "venv" / "bin" / "python"
    done = BUILD / "installed"
    wanted = " ".join(PEERS.values())
    if not done.exists() or done.read_text() != wanted:
        subprocess.run([sys.executable, "-m", "venv", str(BUILD / "venv")], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *PEERS.values()], check=True)
        done.write_text(wanted)
    return str(python)


def instance(graph: cw.Graph, machine: cw.Machine) -> dict[str, Any]:
    """What a peer reads: numbers alone."""
    described, shape = machine.to_dict(), graph.to_dict()
    elements, names = described["elements"], [element["name"] for element in described["elements"]]
    at = {task["name"]: i for i, task in enumerate(shape["task"])}
    code = shape.get("code_bytes", 0)

    def pairs(limit: dict[str, Any]) -> list[tuple[int, int]]:
        blocks = [(block["from"], block["to"]) for block in limit["pairs"]]
        cross = {(i, j) for sources, sinks in blocks for i in sources for j in sinks}
        return sorted((i, j) for i, j in cross if i != j)

    def number(element: str | int) -> int:
        return names.index(element) if isinstance(element, str) else element

    for limit in described["limits"]:
        for block in limit["pairs"]:
            block["from"], block["to"] = [number(e) for e in block["from"]], [number(e) for e in block["to"]]
    room = [e["memory"]["bytes"] - code if (e.get("memory") or {}).get("hard") else None for e in elements]
    return {
        "tasks": [{"cost_ns": task["cost_ns"]} for task in shape["task"]],
        "edges": [
            {
                "from": at[edge["from"].split(".")[0]],
                "to": at[edge["to"].split(".")[0]],
                "bytes": edge["bytes"],
                "peek": edge.get("peek", 0),
            }
            for edge in shape["edge"]
        ],
        "elements": [
            {
                "kind": e["kind"],
                "room": room[i],
                "incoming": e.get("incoming_max"),
                "outgoing": e.get("outgoing_max") or {},
            }
            for i, e in enumerate(elements)
        ],
        "limits": [{"capacity": x["capacity_bytes_per_s"], "pairs": pairs(x)} for x in described["limits"]],
    }


def ours(graph: cw.Graph, machine: cw.Machine, seconds: float) -> dict[str, Any]:
    """The default method, under the paper's rule for buffers, as the peers."""
    began, wall = time.process_time(), time.perf_counter()
    plan = cw.plan(graph, machine, time_s=seconds, gap=GAP, batch=1, buffering="duplicated")
    took = {"seconds": time.process_time() - began, "wall_s": time.perf_counter() - wall}
    return {**took, "period_ns": plan.period_ns if plan.feasible else None, "bound_ns": plan.bound_ns}


def gap(row: dict[str, Any]) -> float:
    """1 where nothing was found."""
    return 1 - row["bound_ns"] / row["period_ns"] if row["period_ns"] else 1.0


def crossed(row: dict[str, Any]) -> bool:
    """Whether a solver's bound is above another's period by more than CP-SAT rounds."""
    every = [row[who] for who in ("auto", *PEERS)]
    periods = [one["period_ns"] for one in every if one["period_ns"]]
    return max(one["bound_ns"] for one in every) > 1.001 * min(periods)


def table(results: dict[str, Any]) -> str:
    """The results as text."""
    text = "| instance | limit | auto | HiGHS | CP-SAT | HiGHS over auto |\n|---|---|---|---|---|---|\n"
    ratios, left, worse = [], 0, 0
    for name, row in sorted(results["instances"].items()):

        def said(who: dict[str, Any]) -> str:
            done = gap(who) <= GAP + 1e-6
            return (
                f"{who['seconds']:.3g} s, {gap(who):.1%}" if done else f"not in {who['seconds']:.0f} s: {gap(who):.0%}"
            )

        finished = gap(row["highs"]) <= GAP + 1e-6
        ratio = row["highs"]["seconds"] / row["auto"]["seconds"]
        if finished:
            ratios.append(ratio)
        left += not finished
        worse += gap(row["auto"]) > GAP + 1e-6
        over = f"{ratio:.0f}" if finished else f"> {ratio:.0f}"
        cells = [said(row[who]) for who in ("auto", "highs", "cpsat")]
        text += f"| {name} | {row['limit_s']:g} s | {' | '.join(cells)} | {over} |\n"
    if ratios:
        text += f"\nTime to 5 % of HiGHS over ours, median of the {len(ratios)} that HiGHS finishes: "
        text += f"{statistics.median(ratios):.0f}."
    text += f" HiGHS does not finish {left}; `auto` does not finish {worse}."
    rows = list(results["instances"].values())
    text += f" No bound is above a period of another in {sum(not crossed(row) for row in rows)} of {len(rows)}.\n"
    return text


def main() -> None:
    """Run what is not there yet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120.0, help="limit of each solver")
    parser.add_argument("--only", help="one instance")
    parser.add_argument("--first", type=int, default=250, help="instances that are run at most")
    parser.add_argument("--all", action="store_true", help="all 250")
    args = parser.parse_args()
    python = peer_python()
    machine = cw.Machine.load("qs22:ppe=1")
    subprocess.run(
        [
            str(Path(sys.executable).parent / "cellweave"),
            "generate",
            "paper250",
            "--to",
            str(BUILD / "set"),
            "--force",
            "--quiet",
        ],
        check=True,
    )
    named = [f"{graph}-ccr{ccr:g}" for graph, ccr in NAMED]
    files = {path.name.split(".toml")[0]: path for path in (BUILD / "set").rglob("*.toml")}
    chosen = sorted(files) if args.all else named
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"format": 1, "gap": GAP, "instances": {}}
    results["peers"] = PEERS
    run = 0
    for name in chosen:
        known = results["instances"].get(name)
        if run == args.first or (args.only and name != args.only) or (known and known["limit_s"] >= args.seconds):
            continue
        run += 1
        graph = cw.Graph.load(files[name])
        path = BUILD / f"{name}.json"
        path.write_text(json.dumps(instance(graph, machine)))
        row: dict[str, Any] = {"limit_s": args.seconds, "auto": ours(graph, machine, args.seconds)}
        for peer in PEERS:
            command = [python, str(HERE / "peer.py"), peer, str(path), str(args.seconds), str(GAP)]
            row[peer] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        row["date"] = time.strftime("%Y-%m-%d", time.gmtime())
        results["instances"][name] = row
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
        (HERE / "results.md").write_text(table(results))
        print(
            name,
            {who: (round(row[who]["seconds"], 3), round(gap(row[who]), 4)) for who in ("auto", *PEERS)},
            flush=True,
        )


if __name__ == "__main__":
    main()
