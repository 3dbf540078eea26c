"""The tables of a machine, a graph, a plan and a result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cellweave._core import spent_parts
from cellweave.report.costs import basis, spreads, unsteady
from cellweave.report.handovers import handover_tables
from cellweave.report.table import Table
from cellweave.report.units import bandwidth, number, percent, rate_per_s, size_bytes, time_ns

if TYPE_CHECKING:
    from datetime import datetime

Data = dict[str, Any]

_MOST_WAITS = 8  # per element; the longest come first


def _count(n: int, word: str) -> str:
    return f"{n} {word}" if n == 1 else f"{n} {word}s"


def machine_tables(machine: Data) -> list[Table]:
    """Elements, then limits that several elements share or that differ, then what was measured between cpus."""
    elements = machine["elements"]
    title = f"{machine['name']}: {machine['description']}" if machine.get("description") else machine["name"]
    kinds: dict[str, int] = {}
    for e in elements:
        kinds[e["kind"]] = kinds.get(e["kind"], 0) + 1
    roles = {kind: role for kind, role in machine.get("roles", {}).items() if role != "peer"}
    named = {kind: f"{kind} [{roles[kind]}]" if kind in roles else kind for kind in kinds}
    counted = ", ".join(f"{n} x {named[kind]}" for kind, n in kinds.items())
    what = Table(f"{title} ({counted})", ["element", "kind", "place", ">stream memory", ">edges in", ">edges out"])
    for e in elements:
        what.rows.append([e["name"], e["kind"], _place(e), _memory(e), _most(e.get("incoming_max")), _out(e)])
    if not machine.get("measured", True):
        what.notes.append(
            "limits unmeasured: a plan for this machine counts computing and hand-overs only, and says so"
        )
    for kind, overhead in (machine.get("overheads") or {}).items():
        what.notes.append(
            f"overhead of a {kind}: {number(overhead['per_transfer_ns'])} ns per transfer, "
            f"{number(overhead['per_byte_ns'])} ns per byte"
        )
    tables = [what]
    if machine["limits"]:
        known = any(x.get("error") is not None for x in machine["limits"])
        limits = Table("limits", ["limit", ">capacity", *([">error"] if known else [])])
        for x in machine["limits"]:
            error = ["" if x.get("error") is None else f"{100 * x['error']:.1f} %"] if known else []
            limits.rows.append([x["name"], bandwidth(x["capacity_bytes_per_s"]), *error])
        if known:
            limits.notes.append("error: mean of |predicted / measured - 1| over the patterns that the limit decides")
        tables.append(limits)
    return tables + handover_tables(machine)


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
    dated = bool((graph.get("profile") or {}).get("cost"))
    if dated:
        table.columns = [*table.columns, ">p10 to p90", "measured"]
    for task in graph["task"][:most]:
        cost = task.get("cost_ns") or {}
        costs = ", ".join(time_ns(ns) if kind == "*" else f"{kind} {time_ns(ns)}" for kind, ns in cost.items())
        row = [task["name"], task.get("kernel") or "", costs or "not measured"]
        table.rows.append([*row, *spreads(graph, task["name"])] if dated else row)
    if len(graph["task"]) > most:
        table.notes.append(f"and {len(graph['task']) - most} more tasks")
    return [table]


def plan_tables(plan: Data, now: datetime | None = None, most: int = 8) -> list[Table]:
    """The verdict, then what each element does, then the limits that carry most; ages of costs as seen from `now`."""
    verdict = Table(f"{plan['application']} on {plan['machine']}, planned by {plan['method']}", ["", ""])
    batch = f", {plan['batch']} instances per firing" if plan["batch"] > 1 else ""
    verdict.rows = [
        [
            "period",
            f"{time_ns(plan['period_ns'])} per instance: {rate_per_s(plan['throughput_per_s'])}{batch}",
        ],
        ["bound", f"{time_ns(plan['bound_ns'])}: no mapping is faster"],
        ["gap", percent(plan["gap"])],
        ["bottleneck", plan["bottleneck"]],
        ["buffers", f"{plan['buffering']}"],
        ["feasible", "yes" if plan["feasible"] else "NO"],
        ["effort", f"{plan['moves']} moves in {number(plan['seconds'])} s"],
    ]
    costs = plan.get("costs") or {}
    if basis(costs):
        verdict.rows.append(["costs", basis(costs, now)])
    verdict.notes = [f"broken: {v['text']}" for v in plan["violations"][:most]]
    if len(plan["violations"]) > most:
        verdict.notes.append(f"and {len(plan['violations']) - most} more")
    if not plan.get("measured", True):
        verdict.notes.append("the machine's limits are unmeasured: the period counts computing and hand-overs only")
    verdict.notes += unsteady(costs) + _guessed_depths(plan)

    compute = {c["subject"]: c["ns"] for c in plan["contributions"] if c["kind"] == "compute"}
    share = Table("elements", ["element", ">tasks", ">compute", ">of the period", ">buffers", "tasks in order"])
    for element, tasks in sorted(plan["order"].items(), key=lambda item: natural(item[0])):
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
    moved = Table("busiest limits", ["limit", ">per instance", ">of the period"])
    limits = [c for c in plan["contributions"] if c["kind"] != "compute" and c["ns"] > 0]
    for c in limits[:most]:
        part = percent(c["ns"] / plan["period_ns"]) if plan["period_ns"] else "-"
        moved.rows.append([c["name"], time_ns(c["ns"]), part])
    return [verdict, share, moved] if moved.rows else [verdict, share]


def _guessed_depths(plan: Data) -> list[str]:
    n = sum(1 for e in plan["edges"] if e.get("depth_from") == "caches")
    if not n:
        return []
    rings = "1 ring is as large as the caches of its ends" if n == 1 else f"{n} rings are as large as caches"
    return [f"{rings}, because no curve of hand-overs is known: `cellweave probe -o FILE.toml` measures it"]


def natural(name: str) -> tuple[str, int]:
    """A key that sorts SPE2 before SPE10."""
    head = name.rstrip("0123456789")
    return head, int(name[len(head) :] or 0)


def _some(names: list[str], most: int = 4) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown}, .. (+{len(names) - most})"


def _predicted(result: Data) -> str:
    """What the run was expected to reach, and where that is not the plan's own prediction."""
    rate, planned = rate_per_s(result["predicted_per_s"]), result.get("planned_per_s")
    if not planned or planned == result["predicted_per_s"]:
        return rate
    return f"{rate} with {result['predicted_with']}; the plan: {rate_per_s(planned)}"


def result_tables(result: Data, explain: bool = True) -> list[Table]:
    """Predicted beside achieved, then how busy each element was; with `explain` all that tells why they differ."""
    title = f"{result['application']} on {result['machine']}: {result['instances']} instances"
    verdict = Table(title, ["", ""])
    verdict.rows = [
        ["achieved", f"{rate_per_s(result['throughput_per_s'])}: instances / elapsed"],
        ["predicted", _predicted(result)],
        ["achieved / predicted", f"{result['ratio']:.3f}"],
        ["elapsed", _elapsed(result)],
    ]
    if result.get("steady_per_s") is not None:
        where = f"median of equal windows from instance {result['steady_after']} on"
        verdict.rows.insert(1, ["steady", f"{rate_per_s(result['steady_per_s'])}: {where}"])
    if result.get("until_steady"):
        verdict.rows.insert(1, ["highest", _highest(result["until_steady"])])
    if (result.get("stalls") or {}).get("n"):
        verdict.rows.append(["stalls", _stalls(result["stalls"])])
    if result.get("latency_ns"):
        spread = [f"{q} {time_ns(result['latency_ns'][q])}" for q in ("p50", "p90", "p99") if q in result["latency_ns"]]
        verdict.rows.append(["latency", ", ".join(spread)])
    if "bottlenecks" in result:
        verdict.rows += bottleneck_rows(result["bottlenecks"])
    if "simulated" not in result:
        verdict.rows.append(["pinned", "yes" if result["pinned"] else "not pinned"])
    if result.get("short"):
        verdict.notes.append("short run: start and drain count; more --instances tell more of the steady state")
    if result.get("stopped"):
        verdict.notes.append("stopped before the end, by Ctrl-C or a signal")
    verdict.notes += [f"not pinned: {why}" for why in result.get("not_pinned", [])]
    verdict.notes += [str(warning) for warning in result.get("warnings", [])]
    if result.get("explanation"):
        verdict.notes.append(str(result["explanation"]))

    busy = Table("elements", ["element", ">busy", ">idle", ">busy share", ">firings"])
    for e in result["elements"]:
        total = e["busy_ns"] + e["idle_ns"]
        share = percent(e["busy_ns"] / total) if total else "-"
        busy.rows.append([e["name"], time_ns(e["busy_ns"]), time_ns(e["idle_ns"]), share, str(e["firings"])])
    if "simulated" in result:
        from cellweave.report.chip import busiest_table

        moved = busiest_table(result["simulated"])
        return [
            verdict,
            spent_table(result),
            *([moved] if moved.rows else []),
            *(_explained(result) if explain else []),
        ]
    return [verdict, busy, *(_explained(result) if explain else [])]


def _highest(found: Data) -> str:
    per_s, instances = rate_per_s(found["highest_per_s"]), found["instances"]
    return f"{per_s}: 99 % of it after {instances} instances" if found["decided"] else f"{per_s}: not yet steady"


def bottleneck_rows(found: Data) -> list[list[str]]:
    """What takes most of the time, as planned and as it was."""
    planned, element, link = found["planned"], found["element"], found["link"]
    busiest = f"{element['name']}, occupied for {percent(element['share'])} of the time"
    carried = f"{link['name']}, with {percent(link['share'])} of what it can carry"
    first, second = (carried, busiest) if found["simulated"] == link else (busiest, carried)
    return [
        ["bottleneck, planned", f"{planned['name']}, for {percent(planned['share'])} of the period"],
        ["bottleneck, simulated", f"{first}; {second}"],
    ]


# What the time of an element goes to, as in `spent_ns` of a result: the key, and what it is called. Waits come last.
SPENT = {key: {"contention": "slowed", "queue": "queue full"}.get(key, key) for key, _ in spent_parts()}
OCCUPIED = ("tasks", "runtime", "commands")


def spent_table(result: Data) -> Table:
    """What the time of each element of a simulated machine went to."""
    elements = result["elements"]
    known = [key for key in SPENT if any(e["spent_ns"].get(key) for e in elements)]
    title = "what the time of each element went to, %; the last of these are waits"
    table = Table(title, ["element", ">firings", *(f">{SPENT[key]}" for key in known)])
    for e in elements:
        total = sum(e["spent_ns"].values())
        shares = [f"{100 * e['spent_ns'].get(key, 0) / total:.1f}" if total else "-" for key in known]
        table.rows.append([e["name"], str(e["firings"]), *shares])
    return table


def _explained(result: Data) -> list[Table]:
    """Differences, waits, sampled tasks and speeds, as far as there are any."""
    parts = Table(
        "differences per instance; a share is what it adds to the predicted period",
        ["kind", "of", ">predicted", ">measured", ">share", "why"],
    )
    for d in result.get("differences") or []:
        share = percent(d["share"]) if d["share"] else "-"
        parts.rows.append(
            [d["kind"], d["subject"], time_ns(d["predicted_ns"]), time_ns(d["measured_ns"]), share, d["why"]]
        )
    waits = Table("waits", ["element", "for", "on", ">waits", ">in all", ">longest"])
    for e in result["elements"]:
        for w in (e.get("waits") or [])[:_MOST_WAITS]:
            times = [time_ns(w["total_ns"]), time_ns(w["longest_ns"])]
            waits.rows.append([e["name"], w["for"], w["edge"] or "", str(w["n"]), *times])
    tasks = Table(
        "tasks, ns per firing from a sample of calls",
        ["task", ">calls", ">mean", ">first half", ">second half"],
    )
    for name, t in (result.get("sampled") or {}).items():
        means = [time_ns(t[key]) for key in ("mean_ns", "first_half_ns", "second_half_ns")]
        tasks.rows.append([name, str(t["n"]), *means])
    speeds = Table(
        "speeds: a pass of the fixed kernels (integer, floating, memory)",
        ["element", "when", ">alone", ">together"],
    )
    for name, speed in (result.get("speeds") or {}).items():
        for when in ("profiled", "before", "after"):
            look = speed.get(when)
            if look:
                speeds.rows.append([name, when, _passes(look["alone_ns"]), _passes(look["together_ns"])])
    return [table for table in (parts, waits, tasks, speeds) if table.rows]


def _passes(times_ns: list[float]) -> str:
    return ", ".join(time_ns(ns) for ns in times_ns) or "-"


def _elapsed(result: Data) -> str:
    elapsed = time_ns(result["elapsed_s"] * 1e9)
    if "start_s" not in result:
        return elapsed
    start, drain = (time_ns(result[key] * 1e9) for key in ("start_s", "drain_s"))
    return f"{elapsed}, of which start {start}, drain {drain}"


def _stalls(stalls: Data) -> str:
    least, total, longest = (time_ns(stalls[key]) for key in ("least_ns", "total_ns", "longest_ns"))
    who = f" ({stalls['longest']})" if stalls.get("longest") else ""
    return f"{_count(stalls['n'], 'wait')} of {least} or more, {total} in all, longest {longest}{who}"


def profile_tables(profile: Data, now: datetime | None = None) -> list[Table]:
    """What each task costs, with the spread of its samples, and what a hand-over costs; ages as seen from `now`."""
    title = f"{profile['application']} measured on {profile['machine']}"
    table = Table(title, ["task", "kind", ">cost", ">min", ">p10", ">p50", ">p90", ">samples"])
    for cost in profile["tasks"]:
        samples = cost["samples_ns"]
        spread = [time_ns(samples[q]) for q in ("min", "p10", "p50", "p90")]
        table.rows.append([cost["task"], cost["kind"], time_ns(cost["cost_ns"]), *spread, str(samples["n"])])
    if not profile["tasks"]:
        table.notes.append("every task has its cost already: --again measures them anew")
    if profile["samples_left_out"]:
        table.notes.append(f"{profile['samples_left_out']} samples left out: the thread lost its cpu meanwhile")
    table.notes += [f"not pinned: {why}" for why in profile["not_pinned"]]
    if basis(profile["costs"]):
        table.notes.append(f"all costs: {basis(profile['costs'], now)}")
    table.notes += unsteady(profile["costs"])
    for kind, o in profile["overheads"].items():
        table.notes.append(
            f"a hand-over costs a {kind} {time_ns(o['per_transfer_ns'])} and {number(o['per_byte_ns'])} ns per byte"
        )
    return [table]
