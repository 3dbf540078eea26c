"""The exact method: equal to brute force, and a result also when it is stopped early."""

from __future__ import annotations

import math
import os
import random
import signal
import subprocess
import sys
import threading
from itertools import product
from pathlib import Path

import cellweave as cw
import pytest

pytest.importorskip("highspy", reason="the extra `exact` is not installed")

HOST = """
format = 1
name = "small host"
[[element]]
name = "CPU0"
kind = "core"
[[element]]
name = "CPU1"
kind = "core"
[[element]]
name = "CPU2"
kind = "small"
[[limit]]
name = "into the first two"
capacity_bytes_per_s = 3e9
pairs = [{ from = ["CPU0", "CPU1", "CPU2"], to = ["CPU0", "CPU1"] }]
[overhead.core]
per_transfer_ns = 60.0
per_byte_ns = 0.05
[overhead.small]
per_transfer_ns = 90.0
per_byte_ns = 0.1
"""


def host_without_memory() -> cw.Machine:
    """Three cores of two kinds with overheads and a limit that is no port."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "host.toml"
        path.write_text(HOST)
        return cw.Machine.load(path)


def draw(rng: random.Random, tasks: int, most_bytes: int) -> cw.Graph:
    data = {"name": "g", "code_bytes": 65536, "task": [], "edge": []}
    for t in range(tasks):
        ppe = rng.uniform(100, 4000)
        data["task"].append({"name": f"t{t}", "cost_ns": {"ppe": ppe, "spe": ppe * rng.uniform(0.3, 2), "*": ppe}})
    for target in range(1, tasks):
        for source in range(target):
            if rng.random() < 1.5 / target:
                port, size = str(len(data["edge"])), rng.randint(1, most_bytes)
                earlier = [e for e in data["edge"] if e["from"].startswith(f"t{source}.")]
                if earlier and rng.random() < 0.4:
                    port, size = earlier[0]["from"].split(".")[1], earlier[0]["bytes"]
                edge = {"from": f"t{source}.{port}", "to": f"t{target}.{len(data['edge'])}"}
                data["edge"].append(edge | {"bytes": size, "peek": rng.choice([0, 0, 1])})
    return cw.Graph.from_dict(data)


def brute_force(graph: cw.Graph, machine: cw.Machine, batch: int) -> float:
    """The best feasible period under the duplicated rule."""
    tasks = [t["name"] for t in graph.to_dict()["task"]]
    best = math.inf
    for on in product(machine.element_names(), repeat=len(tasks)):
        mapping = dict(zip(tasks, on, strict=True))
        plan = cw.plan(graph, machine, mapping=mapping, buffering="duplicated", batch=batch)
        if plan.feasible:
            best = min(best, plan.period_ns)
    return best


@pytest.mark.parametrize("formulation", ["compact", "paper"])
@pytest.mark.parametrize("name", ["cell:spe=2", "qs22:ppe=2,spe=9", "host"])
def test_exact_is_brute_force(name: str, formulation: str) -> None:
    rng = random.Random(name + formulation)
    machine = host_without_memory() if name == "host" else cw.Machine.load(name)
    sizes = {"cell:spe=2": (12, 5), "qs22:ppe=2,spe=9": (3, 3), "host": (12, 5)}
    rounds, most = sizes[name]
    for _ in range(rounds):
        graph = draw(rng, rng.randint(1, most), rng.choice([300, 3_000, 30_000]))
        batch = rng.choice([1, 1, 4])
        best = brute_force(graph, machine, batch)
        asked = {"batch": batch, "buffering": "duplicated", "formulation": formulation}
        plan = cw.plan(graph, machine, "exact", gap=0.0, time_s=30, **asked)  # type: ignore[arg-type]
        assert plan.period_ns == pytest.approx(best, rel=1e-5)
        assert plan.feasible
        assert plan.gap < 1e-5, "HiGHS proved it"
        assert plan.to_dict()["method"] == "exact"


def test_both_formulations_prove_the_same_on_a_larger_graph() -> None:
    graph = cw.Graph.daggen(tasks=20, fat=0.4, ccr=0.1, seed=5)
    machine = cw.Machine.load("qs22:ppe=1,spe=4")
    plans = [cw.plan(graph, machine, "exact", gap=0.001, time_s=60, formulation=f) for f in ("compact", "paper")]
    for plan in plans:
        assert plan.feasible and plan.to_dict()["buffering"] == "duplicated"
        other = plans[0]
        assert plan.bound_ns <= other.period_ns * (1 + 1e-6)
        assert other.bound_ns <= plan.period_ns * (1 + 1e-6)


def test_a_time_limit_keeps_the_best_mapping_and_an_honest_gap() -> None:
    graph = cw.Graph.daggen(tasks=60, fat=0.6, ccr=0.1, seed=8)
    plan = cw.plan(graph, "qs22:ppe=1", "exact", gap=0.0, time_s=3)
    assert plan.feasible
    assert plan.bound_ns <= plan.period_ns
    assert plan.gap == pytest.approx(1 - plan.bound_ns / plan.period_ns)


def test_progress_reports_incumbent_and_bound_and_its_exception_comes_out() -> None:
    graph = cw.Graph.daggen(tasks=60, fat=0.6, ccr=0.1, seed=11)
    machine = cw.Machine.load("qs22:ppe=1")
    seen: list[dict] = []
    cw.plan(graph, machine, "exact", gap=0.0, time_s=4, progress=seen.append)
    assert seen and all(s["method"] == "exact" and 0 <= s["share"] <= 1 for s in seen)
    told = [s for s in seen if "period_ns" in s]
    assert told and all(s["bound_ns"] <= s["period_ns"] * (1 + 1e-6) for s in told)

    def fails(_: dict) -> None:
        raise RuntimeError("the caller's own")

    with pytest.raises(RuntimeError, match="the caller's own"):
        cw.plan(graph, machine, "exact", gap=0.0, time_s=20, progress=fails)


def test_ctrl_c_keeps_the_incumbent() -> None:
    graph = cw.Graph.daggen(tasks=60, fat=0.6, ccr=0.1, seed=11)
    timer = threading.Timer(4.0, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        plan = cw.plan(graph, "qs22:ppe=1", "exact", gap=0.0, time_s=120)
    finally:
        timer.cancel()
    assert plan.feasible
    assert plan.to_dict()["seconds"] < 60


def test_a_graph_that_fits_nowhere_is_said_to_be_infeasible() -> None:
    graph = cw.Graph.from_dict(
        {
            "name": "large",
            "task": [{"name": "a", "cost_ns": {"spe": 1.0}}, {"name": "b", "cost_ns": {"spe": 1.0}}],
            "edge": [{"from": "a.0", "to": "b.0", "bytes": 300_000}],
        }
    )
    plan = cw.plan(graph, "cell", "exact", time_s=5)
    assert not plan.feasible and any(v["equation"] == 16 for v in plan.violations)


def chain(kernels: bool) -> cw.Graph:
    """Three fine tasks for a host: with costs, or with kernels that are to be measured."""
    graph = cw.Graph("chain")
    names = {"count": "cellweave:count", "copy": "cellweave:copy", "drop": "cellweave:discard"}
    for name, kernel in names.items():
        graph.task(name, kernel=kernel if kernels else None, cost_ns=None if kernels else 5.0)
    graph.edge("count", "copy", bytes=8)
    graph.edge("copy", "drop", bytes=8)
    return graph


def test_the_largest_batch_that_is_asked_for_counts() -> None:
    assert cw.plan(chain(kernels=False), method="exact", time_s=2).to_dict()["batch"] > 4
    assert cw.plan(chain(kernels=False), method="exact", time_s=2, max_batch=4).to_dict()["batch"] <= 4


def test_costs_that_are_missing_are_measured_as_for_every_method() -> None:
    plan = cw.plan(chain(kernels=True), method="exact", time_s=2)
    assert plan.feasible and plan.to_dict()["method"] == "exact"
    assert plan.graph is not None
    assert all(task["cost_ns"] for task in plan.graph.to_dict()["task"])


def test_wrong_formulations_are_refused() -> None:
    graph = cw.Graph.daggen(tasks=5, seed=1)
    with pytest.raises(cw.RequestError, match=r"compcat.*compact"):
        cw.plan(graph, "cell", "exact", formulation="compcat")


def test_without_highspy_the_message_says_what_to_install() -> None:
    program = """
import sys
sys.modules["highspy"] = None
import cellweave as cw
try:
    cw.plan(cw.Graph.daggen(tasks=5, seed=1), "cell", "exact")
except cw.RequestError as e:
    print(e)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert "pip install cellweave[exact]" in done.stdout
