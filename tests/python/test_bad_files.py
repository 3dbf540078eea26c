"""Files that read well and make no sense, and what a mapping of some tasks does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import cellweave as cw
import pytest
from conftest import Command


def planned(command: Command, tmp_path: Path, app: str = "chain.toml") -> dict[str, Any]:
    """The plan of an application whose tasks have kernels and costs, as JSON."""
    text = (tmp_path / app).read_text().replace("kernel =", 'cost_ns = { "*" = 100.0 }\nkernel =')
    (tmp_path / "app.toml").write_text(text)
    done = command("plan", "app.toml", "--moves", "100", "-o", "plan.json", "-q")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads((tmp_path / "plan.json").read_text())
    return found


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"period_ns": 1e-30}, "period_ns is"),
        ({"period_ns": 1e300}, "period_ns is"),
        ({"throughput_per_s": 1e300}, "throughput_per_s is"),
        ({"edges.first_period": 10**9}, "first_period"),
        ({"first_period": 10**9}, "first_period"),
        ({"edges.bytes": 63}, "63 bytes on the edge"),
    ],
    ids=str,
)
def test_a_plan_that_cannot_be_one_of_this_application_is_refused(
    change: dict[str, Any], words: str, command: Command, tmp_path: Path
) -> None:
    plan = planned(command, tmp_path)
    for key, value in change.items():
        if key.startswith("edges."):
            plan["edges"][0][key.removeprefix("edges.")] = value
        elif key == "first_period":
            last = max(plan["first_period"], key=plan["first_period"].get)
            plan["first_period"][last] = value
            for edge in plan["edges"]:
                if edge["to"].startswith(f"{last}."):
                    edge["first_period"] = value
        else:
            plan[key] = value
    (tmp_path / "bad.json").write_text(json.dumps(plan))
    done = command("run", "app.toml", "--plan", "bad.json", "--instances", "1000")
    assert done.returncode == 2 and words in done.stderr, done.stderr


def test_a_plan_for_other_bytes_is_refused(command: Command, tmp_path: Path) -> None:
    planned(command, tmp_path)
    (tmp_path / "app.toml").write_text((tmp_path / "app.toml").read_text().replace("bytes = 64", "bytes = 128"))
    done = command("run", "app.toml", "--plan", "plan.json", "--instances", "1000")
    assert done.returncode == 2 and "64 bytes on the edge" in done.stderr and "plan again" in done.stderr


@pytest.mark.parametrize("seed", range(1, 6))
def test_the_widest_random_graph_has_edges_and_costs_and_a_sane_throughput(seed: int) -> None:
    graph = cw.Graph.daggen(tasks=20, fat=1.0, seed=seed, ccr=1000.0).to_dict()
    assert graph["edge"]
    assert all(cost > 0 for task in graph["task"] for cost in task["cost_ns"].values())


def test_a_task_without_a_cost_is_named_with_file_and_line(command: Command, tmp_path: Path) -> None:
    (tmp_path / "app.toml").write_text(
        '[[task]]\nname = "a"\ncost_ns = { ppe = 5.0 }\n\n[[task]]\nname = "b"\ncost_ns = { dsp = 5.0 }\n'
    )
    done = command("plan", "app.toml", "--on", "qs22")
    assert done.returncode == 2 and "app.toml:6: task b has no cost" in done.stderr, done.stderr
    done = command("plan", "app.toml", "--on", "host")
    assert done.returncode == 2 and "app.toml:2: task a has no cost" in done.stderr, done.stderr


def test_a_plan_says_where_the_costs_of_a_core_stand_for_those_of_a_cell(command: Command, tmp_path: Path) -> None:
    (tmp_path / "app.toml").write_text(
        '[[task]]\nname = "a"\ncost_ns = { ppe = 5.0 }\n\n[[task]]\nname = "b"\ncost_ns = { core = 5.0 }\n'
    )
    done = command("plan", "app.toml", "--on", "qs22", "-o", "plan.json")
    said = "1 of 2 tasks have no costs on a Cell: what they cost on a core of this computer stands for that"
    assert done.returncode == 0 and said in " ".join(done.stdout.split())
    assert json.loads((tmp_path / "plan.json").read_text())["costs"]["stands_in"] == said
    assert command("plan", "costed.toml", "--on", "qs22", "-o", "own.json").returncode == 0
    assert "stands_in" not in json.loads((tmp_path / "own.json").read_text())["costs"]


@pytest.mark.parametrize("n_bytes", ["-4", "0", "1.5"])
def test_bytes_below_1_are_refused_with_what_is_allowed(n_bytes: str, command: Command, tmp_path: Path) -> None:
    (tmp_path / "app.toml").write_text(
        (tmp_path / "costed.toml").read_text().replace("bytes = 256", f"bytes = {n_bytes}")
    )
    done = command("plan", "app.toml", "--on", "qs22")
    assert done.returncode == 2 and "app.toml:" in done.stderr and "from 1" in done.stderr, done.stderr


@pytest.mark.parametrize("method", ["auto", "greedy", "cluster", "delegate", "anneal", "exact"])
def test_a_mapping_of_some_tasks_is_planned_around(method: str) -> None:
    if method == "exact":
        pytest.importorskip("highspy", reason="needs the extra `exact`: pip install 'cellweave[exact]'")
    graph = cw.Graph.daggen(tasks=12, seed=3)
    free = cw.plan(graph, on="cell", method=method, moves=2000, time_s=5.0)
    slowest = max(graph.to_dict()["task"], key=lambda task: task["cost_ns"]["ppe"])["name"]
    fixed = {slowest: "PPE0", "t3": "SPE5"}
    if slowest == "t3":
        fixed = {"t3": "PPE0"}
    made = cw.plan(graph, on="cell", method=method, moves=2000, time_s=5.0, mapping=fixed)
    assert fixed.items() <= made.mapping.items()
    assert len(set(made.mapping.values())) > 2, "the others are still spread"
    assert made.bound_ns <= made.period_ns and made.bound_ns >= free.bound_ns * (1 - 1e-9)


def test_a_mapping_of_every_task_is_evaluated(command: Command) -> None:
    done = command("plan", "costed.toml", "--on", "qs22", "--map", "a=SPE0", "--map", "b=SPE1", "--json")
    plan = json.loads(done.stdout)
    assert plan["method"] == "given" and plan["mapping"] == {"a": "SPE0", "b": "SPE1"}


def test_a_task_fixed_where_it_cannot_run_is_named(command: Command, tmp_path: Path) -> None:
    (tmp_path / "app.toml").write_text(
        '[[task]]\nname = "a"\ncost_ns = { spe = 5.0 }\n[[task]]\nname = "b"\ncost_ns = { spe = 5.0 }\n'
    )
    done = command("plan", "app.toml", "--on", "cell", "--map", "a=PPE0")
    assert done.returncode == 2 and "task a" in done.stderr and "ppe" in done.stderr, done.stderr


def test_a_kernel_that_is_source_code_says_how_it_becomes_one(command: Command, tmp_path: Path) -> None:
    (tmp_path / "k.c").touch()
    (tmp_path / "app.toml").write_text((tmp_path / "chain.toml").read_text().replace("cellweave:copy", "k.c:copy"))
    done = command("run", "app.toml", "--instances", "10")
    assert done.returncode == 2 and "'k.c' is source code" in done.stderr and "gcc -shared" in done.stderr
