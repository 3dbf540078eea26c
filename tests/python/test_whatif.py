"""What-if: curves over machines, what binds and what would help, where tasks must and must not run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import cellweave as cw
import pytest
from cellweave.whatif import spread_machine, what_if
from conftest import Command


def pair(a_spe: float = 300.0, bytes: int = 256) -> cw.Graph:
    graph = cw.Graph("pair")
    graph.task("a", cost_ns={"ppe": 900.0, "spe": a_spe})
    graph.task("b", cost_ns={"ppe": 900.0, "spe": 100.0})
    graph.edge("a", "b", bytes=bytes)
    return graph


def test_a_range_is_a_row_of_machines() -> None:
    assert spread_machine("qs22:ppe=1,spe=0..2") == [f"qs22:ppe=1,spe={n}" for n in range(3)]
    assert spread_machine("qs22:spe=4") == ["qs22:spe=4"]
    for word in ("qs22:spe=3..1", "qs22:ppe=1..2,spe=1..2", "qs22:spe=0..4000000000"):
        with pytest.raises(cw.RequestError, match=r"backwards|one range|too long"):
            spread_machine(word)


def test_a_machine_that_does_not_exist_is_told_before_anything_is_planned() -> None:
    told: list[dict[str, Any]] = []
    with pytest.raises(cw.RequestError, match="spe"):
        what_if(cw.Graph.daggen(tasks=25, seed=4), "qs22:spe=15..17", progress=told.append)
    assert told == []


def test_the_curve_begins_at_one_and_never_beats_its_bound() -> None:
    curve = what_if(cw.Graph.daggen(tasks=25, seed=4), "qs22:ppe=1,spe=0..5", moves=3000)
    assert curve.rows[0]["speedup"] == 1.0
    assert curve.rows[5]["speedup"] > 2
    assert all(row["speedup"] <= row["bound"] * (1 + 1e-9) for row in curve.rows)
    assert len(curve.plot().axes[0].lines) == 2


def test_the_command_gives_the_curve_and_its_picture(command: Command, tmp_path: Path) -> None:
    cw.Graph.daggen(tasks=15, seed=2).save(tmp_path / "app.toml")
    picture = tmp_path / "curve.png"
    words = ["plan", str(tmp_path / "app.toml"), "--on", "qs22:spe=0..2", "--moves", "500"]
    out = command(*words, "--picture", str(picture), "--json")
    assert out.returncode == 0, out.stderr
    assert [row["machine"] for row in json.loads(out.stdout)["rows"]] == ["qs22:spe=0", "qs22:spe=1", "qs22:spe=2"]
    assert picture.stat().st_size > 1000
    refused = command(*words, "-o", str(tmp_path / "plan.json"))
    assert refused.returncode == 2 and "range" in refused.stderr


def test_explaining_names_what_binds_and_what_helps_most() -> None:
    made = cw.plan(pair(), on="qs22:ppe=1,spe=2", moves=1000)
    assert made.period_ns == 300.0
    advice = made.explain(moves=1000)
    assert advice.binds.startswith("compute of SPE") and "a 100 %" in advice.binds
    gains = {change["what"]: change["gain"] for change in advice.changes}
    assert gains["task a at half its cost"] == pytest.approx(2.0)
    assert gains["every spe twice as fast"] == pytest.approx(2.0)
    assert not any("edge" in what for what in gains), "the bytes do not bind"
    assert [c["gain"] for c in advice.changes] == sorted((c["gain"] for c in advice.changes), reverse=True)


def test_where_bytes_bind_fewer_bytes_and_more_bandwidth_help() -> None:
    mapping = {"a": "SPE0", "b": "PPE0"}
    made = cw.plan(pair(bytes=16000), on="qs22:ppe=1,spe=1", mapping=mapping, batch=1)
    assert made.period_ns == 8000.0, "a PPE reads 2 GB/s from an SPE"
    advice = made.explain()
    assert made.bottleneck in advice.binds and "a -> b 16000 B" in advice.binds
    gains = {change["what"]: change["gain"] for change in advice.changes}
    assert gains["every edge with half its bytes"] == pytest.approx(2.0)
    assert gains[f"twice the bandwidth of {made.bottleneck}"] == pytest.approx(2.0)
    assert "every spe twice as fast" not in gains


def test_a_plan_of_a_file_cannot_be_explained(tmp_path: Path) -> None:
    cw.plan(pair(), on="qs22:spe=2", moves=100).save(tmp_path / "plan.json")
    with pytest.raises(cw.RequestError, match="read from a file"):
        cw.Plan.load(tmp_path / "plan.json").explain()


def test_the_command_explains(command: Command, tmp_path: Path) -> None:
    pair().save(tmp_path / "app.toml")
    words = ["plan", str(tmp_path / "app.toml"), "--on", "qs22:spe=2", "--moves", "500", "--explain"]
    told = command(*words).stdout
    assert "what binds" in told and "task a at half its cost" in told
    assert json.loads(command(*words, "--json").stdout)["advice"]["changes"]


@pytest.mark.parametrize("method", ["auto", "greedy", "cluster", "delegate", "anneal"])
def test_a_task_is_never_where_it_is_forbidden(method: str) -> None:
    graph = cw.Graph.daggen(tasks=24, seed=6)
    made = cw.plan(graph, "qs22:ppe=1,spe=4", method, moves=2000)
    task, element = next((t, e) for t, e in made.mapping.items() if e.startswith("SPE"))
    without = cw.plan(graph, "qs22:ppe=1,spe=4", method, moves=2000, forbid=[f"{task}={element}"])
    assert without.mapping[task] != element
    general = cw.plan(graph, "qs22:ppe=1,spe=4", method, moves=2000, forbid=[f"{task}=spe"])
    assert general.mapping[task] == "PPE0"


def test_fix_is_map(command: Command, tmp_path: Path) -> None:
    pair().save(tmp_path / "app.toml")
    words = ["plan", str(tmp_path / "app.toml"), "--on", "qs22:spe=2", "--moves", "500", "--json"]
    for flag in ("--fix", "--map"):
        out = command(*words, flag, "a=SPE1", "--forbid", "b=SPE1", "--forbid", "b=SPE0")
        mapping = json.loads(out.stdout)["mapping"]
        assert mapping["a"] == "SPE1" and mapping["b"].startswith("PPE"), flag


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"forbid": ["a"]}, "TASK=ELEMENT"),
        ({"forbid": ["c=SPE0"]}, "no task `c`"),
        ({"forbid": ["a=SPE9"]}, "no element and no kind `SPE9`"),
        ({"forbid": ["a=spe", "a=ppe"]}, "must not run on any element"),
        ({"forbid": ["a=SPE0"], "mapping": {"a": "SPE0"}}, "is fixed to SPE0"),
    ],
)
def test_a_wish_that_cannot_be_is_named(options: dict[str, object], told: str) -> None:
    with pytest.raises(cw.RequestError, match=told):
        cw.plan(pair(), "qs22:spe=2", moves=100, **options)  # type: ignore[arg-type]
