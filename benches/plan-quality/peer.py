"""One instance in a peer: HiGHS or CP-SAT on equations (10) to (19) of ``streaming-schedule``, from nothing.

    python peer.py highs|cpsat INSTANCE.json SECONDS GAP

The instance has tasks, edges, elements, limits and the room of local stores; nothing of the planner is used, neither
its bounds nor a mapping to start from. Seconds are CPU time of this process, the limit too: other work on the computer
does not count. Prints one line of JSON: seconds, wall_s, period and bound in ns.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

# The wall clock ends a solver that gets no CPU, after so many times its limit.
PATIENCE = 100.0


def buffers(instance: dict[str, Any]) -> list[int]:
    """Bytes of all buffers of each task (16): an edge's bytes times its distance in periods, at both ends."""
    first = [0] * len(instance["tasks"])
    edges = instance["edges"]
    for _ in first:
        for edge in edges:
            first[edge["to"]] = max(first[edge["to"]], first[edge["from"]] + edge["peek"] + 2)
    held = [0] * len(first)
    for edge in edges:
        distance = first[edge["to"]] - first[edge["from"]]
        held[edge["from"]] += edge["bytes"] * distance
        held[edge["to"]] += edge["bytes"] * distance
    return held


def timed(solve: Callable[[], object]) -> dict[str, float]:
    """Seconds that `solve` takes, by this process's CPU time and by the clock."""
    began, wall = time.process_time(), time.perf_counter()
    solve()
    return {"seconds": time.process_time() - began, "wall_s": time.perf_counter() - wall}


def highs(instance: dict[str, Any], seconds: float, gap: float) -> dict[str, Any]:
    """HiGHS with one thread; beta is continuous in [0, 1], as (12) and (13) allow."""
    import highspy

    solver = highspy.Highs()
    solver.silent()
    solver.setOptionValue("time_limit", PATIENCE * seconds)
    solver.setOptionValue("mip_rel_gap", gap)
    solver.setOptionValue("threads", 1)
    model = highspy.HighsLp()
    tasks, edges, elements = instance["tasks"], instance["edges"], instance["elements"]
    n = len(elements)
    columns = 1 + len(tasks) * n + len(edges) * n * n
    rows: list[tuple[dict[int, float], float, float]] = []
    infinity = highspy.kHighsInf

    def alpha(task: int, element: int) -> int:
        return 1 + task * n + element

    def beta(edge: int, i: int, j: int) -> int:
        return 1 + len(tasks) * n + (edge * n + i) * n + j

    scale = sum(min(task["cost_ns"].values()) for task in tasks) / n  # a period is about 1
    for t in range(len(tasks)):  # (11)
        rows.append(({alpha(t, e): 1.0 for e in range(n)}, 1.0, 1.0))
    for d, edge in enumerate(edges):  # (12), (13)
        for i in range(n):
            rows.append(({**{beta(d, i, j): 1.0 for j in range(n)}, alpha(edge["from"], i): -1.0}, 0.0, 0.0))
            rows.append(({**{beta(d, j, i): 1.0 for j in range(n)}, alpha(edge["to"], i): -1.0}, 0.0, 0.0))
    for e, element in enumerate(elements):  # (14), (15)
        load = {alpha(t, e): task["cost_ns"][element["kind"]] / scale for t, task in enumerate(tasks)}
        rows.append(({**load, 0: -1.0}, -infinity, 0.0))
    for limit in instance["limits"]:  # (1) to (9)
        ns = 1e9 / limit["capacity"] / scale
        load = {beta(d, i, j): edge["bytes"] * ns for d, edge in enumerate(edges) for i, j in limit["pairs"]}
        rows.append(({**load, 0: -1.0}, -infinity, 0.0))
    held = buffers(instance)
    for e, element in enumerate(elements):
        if element["room"] is not None:  # (16)
            room = element["room"]
            rows.append(({alpha(t, e): held[t] / room for t in range(len(tasks))}, -infinity, 1.0))
        if element["incoming"] is not None:  # (17)
            other = [i for i in range(n) if i != e]
            rows.append(
                ({beta(d, i, e): 1.0 for d in range(len(edges)) for i in other}, -infinity, element["incoming"])
            )
        for kind, most in element["outgoing"].items():  # (18)
            to = [j for j in range(n) if j != e and elements[j]["kind"] == kind]
            rows.append(({beta(d, e, j): 1.0 for d in range(len(edges)) for j in to}, -infinity, most))
    model.num_col_, model.num_row_ = columns, len(rows)
    model.col_cost_ = [1.0] + [0.0] * (columns - 1)
    model.col_lower_ = [0.0] * columns
    model.col_upper_ = [infinity] + [1.0] * (columns - 1)
    model.row_lower_ = [row[1] for row in rows]
    model.row_upper_ = [row[2] for row in rows]
    start, index, value = [0], [], []
    for row, _, _ in rows:
        index.extend(row)
        value.extend(row.values())
        start.append(len(index))
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_, model.a_matrix_.index_, model.a_matrix_.value_ = start, index, value
    whole, continuous = highspy.HighsVarType.kInteger, highspy.HighsVarType.kContinuous
    model.integrality_ = [continuous] + [whole] * (len(tasks) * n) + [continuous] * (len(edges) * n * n)
    solver.passModel(model)
    end = time.process_time() + seconds

    def stop(event: Any) -> None:
        if time.process_time() > end:
            event.interrupt()

    solver.cbMipInterrupt += stop
    solver.cbSimplexInterrupt += stop
    took = timed(solver.run)
    info = solver.getInfo()
    found = info.primal_solution_status == 2
    period = info.objective_function_value * scale if found else None
    bound = max(info.mip_dual_bound, 0.0) * scale
    return {**took, "period_ns": period, "bound_ns": bound if bound < 1e30 else 0.0}


def cpsat(instance: dict[str, Any], seconds: float, gap: float) -> dict[str, Any]:
    """CP-SAT with one worker; times in tenths of a ns, as the costs are given."""
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    tasks, edges, elements = instance["tasks"], instance["edges"], instance["elements"]
    n = len(elements)
    most = round(sum(max(task["cost_ns"].values()) for task in tasks) * 10) * 100
    period = model.new_int_var(0, most, "period")
    alpha = [[model.new_bool_var("") for _ in range(n)] for _ in tasks]
    beta = [[[model.new_bool_var("") for _ in range(n)] for _ in range(n)] for _ in edges]
    for row in alpha:
        model.add_exactly_one(row)
    for d, edge in enumerate(edges):
        for i in range(n):
            model.add(sum(beta[d][i]) == alpha[edge["from"]][i])
            model.add(sum(beta[d][j][i] for j in range(n)) == alpha[edge["to"]][i])
    for e, element in enumerate(elements):
        cost = [round(task["cost_ns"][element["kind"]] * 10) for task in tasks]
        model.add(sum(cost[t] * alpha[t][e] for t in range(len(tasks))) <= period)
    for limit in instance["limits"]:
        moved = sum(edge["bytes"] * beta[d][i][j] for d, edge in enumerate(edges) for i, j in limit["pairs"])
        model.add(1000 * moved <= round(limit["capacity"] / 1e7) * period)
    held = buffers(instance)
    for e, element in enumerate(elements):
        if element["room"] is not None:
            model.add(sum(held[t] * alpha[t][e] for t in range(len(tasks))) <= element["room"])
        if element["incoming"] is not None:
            other = [i for i in range(n) if i != e]
            model.add(sum(beta[d][i][e] for d in range(len(edges)) for i in other) <= element["incoming"])
        for kind, count in element["outgoing"].items():
            to = [j for j in range(n) if j != e and elements[j]["kind"] == kind]
            model.add(sum(beta[d][e][j] for d in range(len(edges)) for j in to) <= count)
    model.minimize(period)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = PATIENCE * seconds
    solver.parameters.relative_gap_limit = gap
    solver.parameters.num_workers = 1
    end, solved = time.process_time() + seconds, threading.Event()

    def stop() -> None:
        while not solved.wait(0.05):
            if time.process_time() > end:
                solver.stop_search()

    watch = threading.Thread(target=stop)
    watch.start()
    status: Any = None

    def solve() -> None:
        nonlocal status
        status = solver.solve(model)

    took = timed(solve)
    solved.set()
    watch.join()
    found = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    value = solver.objective_value / 10 if found else None
    return {**took, "period_ns": value, "bound_ns": max(solver.best_objective_bound, 0.0) / 10}


def main() -> None:
    """Solve one instance."""
    which, path, seconds, gap = sys.argv[1:5]
    solve = {"highs": highs, "cpsat": cpsat}[which]
    print(json.dumps(solve(json.loads(Path(path).read_text()), float(seconds), float(gap))))


if __name__ == "__main__":
    main()
