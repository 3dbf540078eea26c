"""The tables of a machine, a graph, a plan and a result."""

from __future__ import annotations

from typing import Any

from cellweave.report.table import Table
from cellweave.report.units import bandwidth, number, percent, rate_per_s, size_bytes, time_ns

Data = dict[str, Any]


def _count(n: int, word: str) -> str:
    return f"{n} {word}" if n == 1 else f"{n} {word}s"


def machine_tables(machine: Data) -> list[Table]:
    """Elements, then limits that several elements share or that differ."""
    elements = machine["elements"]
    title = f"{machine['name']}: {machine['description']}" if machine.get("description") else machine["name"]
    kinds: dict[str, int] = {}
    for e in elements:
        kinds[e["kind"]] = kinds.get(e["kind"], 0) + 1
    counted = ", ".join(f"{n} x {kind}" for kind, n in kinds.items())
    what = Table(f"{title} ({counted})", ["element", "kind", "place", ">stream memory", ">edges in", ">edges out"])
    for e in elements:
        what.rows.append([e["name"], e["kind"], _place(e), _memory(e), _most(e.get("incoming_max")), _out(e)])
    if not machine.get("measured", True):
        what.notes.append("limits unmeasured: a plan for this machine counts compute alone, and says so")
    for kind, overhead in (machine.get("overheads") or {}).items():
        what.notes.append(
            f"overhead of a {kind}: {number(overhead['per_transfer_ns'])} ns per transfer, "
            f"{number(overhead['per_byte_ns'])} ns per byte"
        )
    tables = [what]
    if machine["limits"]:
        limits = Table("limits", ["limit", ">capacity"])
        limits.rows = [[x["name"], bandwidth(x["capacity_bytes_per_s"])] for x in machine["limits"]]
        tables.append(limits)
    return tables


def _place(element: Data) -> str:
    place = element.get("place") or {}
    words = [f"{key} {place[key]}" for key in ("chip", "numa", "l3", "l2", "core") if place.get(key) is not None]
    if element.get("os_cpu") is not None:
        words.append(f"cpu {element['os_cpu']}")
    if place.get("capacity") is not None:
        words.append(f"capacity {place['capacity']}")
    return ", ".join(words)


def _memory(element: Data) -> str:
    memory = element.get("memory")
    if not memory:
        return "not limited"
    return size_bytes(memory["bytes"]) + ("" if memory.get("hard") else " (cache)")


def _most(count: int | None) -> str:
    return "any" if count is None else str(count)


def _out(element: Data) -> str:
    return ", ".join(f"{n} to {kind}" for kind, n in (element.get("outgoing_max") or {}).items()) or "any"


def graph_line(graph: Data) -> str:
    """The graph in one line."""
    edges = graph.get("edge", [])
    moved = size_bytes(sum(e["bytes"] for e in edges))
    peeking = sum(1 for e in edges if e.get("peek"))
    tail = f", {peeking} of them peeking" if peeking else ""
    n_tasks, n_edges = _count(len(graph["task"]), "task"), _count(len(edges), "edge")
    return f"{graph['name']}: {n_tasks}, {n_edges}{tail}, {moved} per instance"


def graph_tables(graph: Data, most: int = 40) -> list[Table]:
    """The line, and the tasks."""
    table = Table(graph_line(graph), ["task", "kernel", ">cost"])
    for task in graph["task"][:most]:
        cost = task.get("cost_ns") or {}
        costs = ", ".join(time_ns(ns) if kind == "*" else f"{kind} {time_ns(ns)}" for kind, ns in cost.items())
        table.rows.append([task["name"], task.get("kernel") or "", costs or "not measured"])
    if len(graph["task"]) > most:
        table.notes.append(f"and {len(graph['task']) - most} more tasks")
    return [table]


def plan_tables(plan: Data, most: int = 8) -> list[Table]:
    """The verdict, then what each element does, then the largest contributions."""
    verdict = Table(f"{plan['application']} on {plan['machine']}, planned by {plan['method']}", ["", ""])
    batch = f", {plan['batch']} instances per firing" if plan["batch"] > 1 else ""
    verdict.rows = [
        ["period", f"{time_ns(plan['period_ns'])} per instance: {rate_per_s(plan['throughput_per_s'])}{batch}"],
        ["bound", f"{time_ns(plan['bound_ns'])}: no mapping is faster"],
        ["gap", percent(plan["gap"])],
        ["bottleneck", plan["bottleneck"]],
        ["buffers", f"{plan['buffering']}"],
        ["feasible", "yes" if plan["feasible"] else "NO"],
        ["effort", f"{plan['moves']} moves in {number(plan['seconds'])} s"],
    ]
    verdict.notes = [f"broken: {v}" for v in plan["violations"][:most]]
    if len(plan["violations"]) > most:
        verdict.notes.append(f"and {len(plan['violations']) - most} more")
    if not plan.get("measured", True):
        verdict.notes.append("the machine's limits are unmeasured: the period counts compute alone")

    compute = {c["name"].removeprefix("compute of "): c["ns"] for c in plan["contributions"] if "compute of " in c["name"]}
    share = Table("elements", ["element", ">tasks", ">compute", ">of the period", ">buffers", "tasks in order"])
    for element, tasks in plan["order"].items():
        if not tasks:
            continue
        ns = compute.get(element, 0.0)
        share.rows.append(
            [
                element,
                str(len(tasks)),
                time_ns(ns),
                percent(ns / plan["period_ns"]) if plan["period_ns"] else "-",
                size_bytes(plan["buffers_bytes"].get(element, 0)),
                _some(tasks),
            ]
        )
    largest = Table("largest contributions", ["contribution", ">per instance", ">of the period"])
    for c in plan["contributions"][:most]:
        part = percent(c["ns"] / plan["period_ns"]) if plan["period_ns"] else "-"
        largest.rows.append([c["name"], time_ns(c["ns"]), part])
    return [verdict, share, largest]


def _some(names: list[str], most: int = 4) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown}, .. (+{len(names) - most})"


def result_tables(result: Data) -> list[Table]:
    """Predicted beside achieved, then how busy each element was."""
    title = f"{result['application']} on {result['machine']}: {result['instances']} instances"
    verdict = Table(title, ["", ""])
    predicted = result.get("predicted_per_s")
    ratio = result.get("ratio")
    verdict.rows = [["elapsed", time_ns(result["elapsed_s"] * 1e9)], ["achieved", rate_per_s(result["throughput_per_s"])]]
    if predicted:
        verdict.rows.append(["predicted", rate_per_s(predicted)])
    if ratio:
        verdict.rows.append(["achieved / predicted", f"{ratio:.3f}"])
    latency = result.get("latency_ns") or {}
    if latency:
        quantiles = ", ".join(f"{q} {time_ns(ns)}" for q, ns in latency.items() if ns is not None)
        verdict.rows.append(["latency", quantiles])
    if result.get("pinned") is not None:
        verdict.rows.append(["pinned", "yes" if result["pinned"] else "not pinned"])
    verdict.notes = [str(note) for note in result.get("notes", [])]

    busy = Table("elements", ["element", ">busy", ">idle", ">busy share", ">firings"])
    for e in result["elements"]:
        total = e["busy_ns"] + e["idle_ns"]
        share = percent(e["busy_ns"] / total) if total else "-"
        busy.rows.append([e["name"], time_ns(e["busy_ns"]), time_ns(e["idle_ns"]), share, str(e["firings"])])
    return [verdict, busy]
