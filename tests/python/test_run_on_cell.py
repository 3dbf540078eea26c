"""Streams on the simulated Cell: what sinks get is what they get here, and two runs are one."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import cellweave as cw
import numpy as np
import pytest

BIN = Path(sys.executable).parent


def graph_of(sizes: tuple[int, int]) -> cw.Graph:
    """A source, two copies, and a sink; the first edge peeks."""
    graph = cw.Graph("copies")
    graph.task("in", cost_ns=100)
    graph.task("one", kernel="cellweave:copy", cost_ns=2_000)
    graph.task("two", kernel="cellweave:copy", cost_ns=2_000)
    graph.task("out", cost_ns=100)
    graph.edge("in", "one", bytes=sizes[0])
    graph.edge("one", "two", bytes=sizes[0])
    graph.edge("two", "out", bytes=sizes[1])
    return graph


@pytest.mark.parametrize("machine", ["ps3", "cell", "qs20", "qs22"])
@pytest.mark.parametrize("values", [1, 3, 1000])
def test_arrays_come_back_as_they_went_in(machine: str, values: int) -> None:
    rows = np.random.default_rng(7).integers(0, 255, (200, values), dtype=np.uint8)
    result = cw.run(graph_of((values, values)), machine, inputs={"in": rows}, outputs=["out"])
    assert (result.outputs["out"] == rows).all()
    assert result.instances == 200
    assert result.to_dict()["machine"] == machine


def test_a_run_until_it_is_steady_says_when_it_was(tmp_path: Path) -> None:
    graph = cw.Graph("two")
    graph.task("a", cost_ns=900)
    graph.task("b", cost_ns=700)
    graph.edge("a", "b", bytes=64)
    graph.save(tmp_path / "app.toml")
    command = [str(BIN / "cellweave"), "run", "app.toml", "--on", "qs22", "--until-steady"]
    out = subprocess.run([*command, "--json", "--quiet"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    found = json.loads(out.stdout)["until_steady"]
    assert found["decided"] and 0 < found["instances"] < 40_000 and "99 %" in found["criterion"]
    shown = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60).stdout
    assert f"99 % of it after {found['instances']} instances" in shown
    short = cw.run(graph, "qs22", instances=1_000, until_steady=True)
    assert short.instances == 1_000 and short.until_steady is not None
    with pytest.raises(cw.RequestError, match="until_steady: only a run on a simulated Cell"):
        cw.run(graph, "host", until_steady=True)


def test_two_runs_take_the_same_simulated_time() -> None:
    once, again = (cw.run(graph_of((64, 64)), "qs22", inputs={"in": np.zeros((500, 64), np.uint8)}) for _ in range(2))
    assert once.to_dict() == again.to_dict()


def test_costs_alone_are_enough(tmp_path: Path) -> None:
    (tmp_path / "app.toml").write_text(
        'name = "costs"\n'
        'task = [{ name = "a", cost_ns = { "*" = 900 } }, { name = "b", cost_ns = { "*" = 700 } }]\n'
        'edge = [{ from = "a", to = "b", bytes = 4096 }]\n'
    )
    command = [str(BIN / "cellweave"), "run", "app.toml", "--on", "qs22", "--json", "--quiet"]
    endless = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert endless.returncode == 2 and "instances" in endless.stderr and "`a`" in endless.stderr.replace("'", "`")
    out = subprocess.run([*command, "--instances", "300"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    data = json.loads(out.stdout)
    # 900 ns of computing an instance, and what the runtime adds: no more than 1.1 M/s.
    assert data["instances"] == 300 and 0 < data["throughput_per_s"] < 1.2e6


def costs(kind: str = "*") -> cw.Graph:
    """Two tasks that take their time and send zeros."""
    graph = cw.Graph("costs")
    graph.task("a", cost_ns={kind: 900.0})
    graph.task("b", cost_ns={kind: 700.0})
    graph.edge("a", "b", bytes=4096)
    return graph


def test_the_time_of_each_element_is_told_and_adds_up() -> None:
    plan = cw.plan(costs(), "qs22", mapping={"a": "SPE0", "b": "SPE9"})
    result = cw.run(costs(), "qs22", plan, instances=400)
    data = result.to_dict()
    elapsed_ns = 1e9 * data["elapsed_s"]
    for element in data["elements"]:
        spent = element["spent_ns"]
        # Each part is cut to whole ns.
        assert sum(spent.values()) == pytest.approx(elapsed_ns, abs=len(spent))
        assert element["busy_ns"] == pytest.approx(spent["tasks"] + spent["runtime"] + spent["commands"], abs=3)
    tasks = {e["name"]: e["spent_ns"]["tasks"] for e in data["elements"]}
    assert tasks == {"SPE0": pytest.approx(400 * 900, rel=1e-3), "SPE9": pytest.approx(400 * 700, rel=1e-3)}
    own = [d for d in result.differences if d["kind"] != "bottleneck"]
    assert sum(d["measured_ns"] for d in own) == pytest.approx(elapsed_ns / 400, rel=1e-6)
    assert sum(d["predicted_ns"] for d in own) == pytest.approx(1e9 / data["predicted_per_s"], rel=1e-6)


def test_bottlenecks_are_told_as_planned_and_as_simulated() -> None:
    plan = cw.plan(costs(), "qs22", mapping={"a": "SPE0", "b": "SPE9"})
    result = cw.run(costs(), "qs22", plan, instances=400)
    found = result.bottlenecks
    assert found is not None
    assert found["planned"] == {"name": plan.to_dict()["bottleneck"], "share": pytest.approx(1.0)}
    assert found["element"]["name"] == "SPE0" and 0 < found["element"]["share"] <= 1
    # Chip 1 reads from chip 0: data over the link, flags both ways.
    assert found["link"]["name"] == "link to chip 1" and 0 < found["link"]["share"] < 1
    outcome = result.simulated
    assert outcome is not None and outcome["loads"][0]["name"] == "link to chip 1"
    assert outcome["counters"]["spes"][9]["got_bytes"] >= 400 * 4096
    assert "bottleneck, simulated" in str(result) and "SPE9" in str(result)
    assert len(result.plot(what="floorplan").axes) == 2


@pytest.mark.parametrize("instances", [10**15, 2**63])
def test_ctrl_c_drains_a_run_without_an_end_and_reports(instances: int) -> None:
    sent: list[threading.Timer] = []

    def interrupt(state: dict[str, object]) -> None:
        if state.get("what") == "running" and not sent:
            # A little later, when this thread is in the run again.
            sent.append(threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)))
            sent[0].start()

    result = cw.run(costs(), "cell", instances=instances, progress=interrupt)
    assert sent and result.to_dict()["stopped"] and 0 < result.instances < instances
    assert "Ctrl-C" in str(result)


def test_a_second_ctrl_c_stops_what_does_not_drain(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(
        "import os\nimport signal\nimport time\nimport cellweave as cw\n\nseen = []\n\n\n"
        '@cw.kernel(inputs={"in": "uint8"})\ndef slow(x):\n    seen.append(x)\n'
        "    if len(seen) in (2, 3):\n        os.kill(os.getpid(), signal.SIGINT)\n    time.sleep(1)\n"
    )
    (tmp_path / "app.toml").write_text(
        'task = [{ name = "a", kernel = "cellweave:count", cost_ns = { "*" = 9 } },\n'
        '{ name = "b", kernel = "python:slow:slow", cost_ns = { "*" = 9000 } }]\n'
        'edge = [{ from = "a", to = "b.in", bytes = 64 }]\n'
    )
    command = [str(BIN / "cellweave"), "run", "app.toml", "--on", "cell", "-o", "result.json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1, (done.stdout, done.stderr)
    assert "stopped" in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "result.json").exists()


def test_progress_tells_simulated_time_and_what_each_element_does() -> None:
    seen: list[dict[str, object]] = []
    plan = cw.plan(costs(), "cell", mapping={"a": "SPE0", "b": "SPE1"})
    n = 20_000
    while len(seen) < 2 and n < 10_000_000:
        seen.clear()
        cw.run(costs(), "cell", plan, instances=n, progress=seen.append)
        n *= 4
    state = seen[-1]
    assert state["is_simulated"] and set(state["busy"]) == {"SPE0", "SPE1"}  # type: ignore[call-overload]
    assert all(0 <= share <= 1 for share in state["busy"].values())  # type: ignore[attr-defined]
    from cellweave.cli.run import _describe

    assert re.search(r"\d+ instances in [0-9.]+ [mu]?s simulated, .*busy SPE", _describe(state)[1])


def test_buffers_that_do_not_fit_a_local_store_are_refused_with_what_would_fit() -> None:
    graph = cw.Graph("large")
    graph.task("a", cost_ns=1000)
    graph.task("b", cost_ns=1000)
    graph.edge("a", "b", bytes=150_000)
    plan = cw.plan(graph, on="cell", mapping={"a": "SPE0", "b": "SPE1"})
    with pytest.raises((cw.RunError, cw.RequestError), match=r"SPE0 do not fit its local store.*would fit"):
        cw.run(graph, "cell", plan, instances=10)


def refused(match: str, graph: cw.Graph, machine: object, **more: object) -> None:
    with pytest.raises(cw.RequestError, match=match):
        cw.run(graph, machine, **{"instances": 10, **more})  # type: ignore[arg-type]


def test_a_plan_for_another_machine_is_refused() -> None:
    plan = cw.plan(costs(), "cell")
    refused(
        r"the plan is for the machine cell, and this run is on qs22: plan again with --on qs22",
        costs(),
        "qs22",
        plan=plan,
    )


def test_a_machine_file_that_only_calls_itself_a_cell_is_refused(tmp_path: Path) -> None:
    cw.Machine.load("cell").save(tmp_path / "cell.toml")
    text = (tmp_path / "cell.toml").read_text()
    assert cw.run(costs(), tmp_path / "cell.toml", instances=10).instances == 10
    for was, now, what in [
        ("bytes = 262144", "bytes = 524288", "SPE0 has another kind, chip or memory there"),
        ("SPE7", "SPE8", "SPE8 has none there"),
    ]:
        assert was in text
        (tmp_path / "changed.toml").write_text(text.replace(was, now))
        refused(
            f"calls itself cell, and is not the cell that is simulated: its {what}", costs(), tmp_path / "changed.toml"
        )


def test_a_task_without_costs_or_on_an_element_that_it_has_no_cost_on_is_refused() -> None:
    unknown = costs("fpga")
    refused(r"task 'a' has no cost on any kind of element of cell \(ppe, spe\), and no kernel", unknown, "cell")
    plan = cw.plan(costs(), "cell", mapping={"a": "PPE0", "b": "SPE0"})
    refused(
        r"the plan has task 'a' on PPE0, and it has no cost on a ppe: it has costs on spe",
        costs("spe"),
        "cell",
        plan=plan,
    )


@pytest.mark.parametrize("n", [0, -1, 2**63 + 1])
def test_instances_out_of_range_are_refused(n: int) -> None:
    refused("instances", costs(), "cell", instances=n)


def test_an_element_that_the_machine_lacks_is_refused_with_the_nearest() -> None:
    with pytest.raises(cw.RequestError, match=r"no element `SPE9`; did you mean `SPE"):
        cw.plan(costs(), "cell", mapping={"a": "SPE9"})


def test_a_trace_names_the_phases_of_each_element(tmp_path: Path) -> None:
    mapping = {"in": "SPE0", "one": "SPE1", "two": "SPE2", "out": "PPE0"}
    cw.run(graph_of((64, 64)), "cell", instances=10, mapping=mapping, trace=tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    rows = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name" and e["pid"] == 0}

    def named(kind: str) -> set[tuple[str, str]]:
        return {(rows[e["tid"]].split(" (")[0], e["name"]) for e in events if e.get("cat") == kind}

    for task, element in mapping.items():
        assert any(row == element and name.startswith(f"compute {task}") for row, name in named("computation"))
    assert {name.split()[0] for _, name in named("communication")} == {"get", "put", "tell"}
    # A step holds what its unit computed in that time.
    first = next(e for e in events if e.get("cat") == "computation")
    inside = [e for e in events if e.get("cat") == "compute" and e["tid"] == first["tid"] and e["ts"] >= first["ts"]]
    assert inside[0]["ts"] + inside[0]["dur"] <= first["ts"] + first["dur"] + 1e-6


def test_a_full_disk_loses_the_trace_and_no_result() -> None:
    result = cw.run(costs(), "cell", instances=10, trace="/dev/full", force=True)
    said = result.to_dict()["warnings"]
    assert any("/dev/full: the trace could not be written: No space left" in why for why in said)


def test_a_sinks_full_disk_names_task_element_and_instance() -> None:
    graph = costs()
    graph = cw.Graph("full")
    graph.task("a", kernel="cellweave:count", cost_ns=900.0)
    graph.task("b", kernel="cellweave:write", params={"path": "/dev/full"}, cost_ns=700.0)
    graph.edge("a", "b", bytes=4096)
    plan = cw.plan(graph, "cell", mapping={"a": "SPE0", "b": "SPE1"})
    with pytest.raises(
        cw.RunError, match=r"task 'b' failed at instance \d+: on SPE1: cannot write '/dev/full': No space"
    ):
        cw.run(graph, "cell", plan, instances=1000)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise ValueError('odd')", "ValueError: odd"),
        ("return x.shape[0] + 5", ""),
        ("y[:] = np.zeros((3, 3, 3))", ""),
    ],
    ids=["raises", "says more than it was asked for", "wrong size"],
)
def test_a_kernel_that_fails_on_an_spe_names_task_element_and_instance(body: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text(
        "import cellweave as cw\nimport numpy as np\n\n\n"
        '@cw.kernel(inputs={"in": "uint8"}, outputs={"out": "uint8"})\n'
        f"def odd(x, y):\n    {body}\n"
    )
    (tmp_path / "app.toml").write_text(
        'task = [{ name = "a", kernel = "cellweave:count", cost_ns = { "*" = 500 } },\n'
        '{ name = "odd", kernel = "python:odd:odd", cost_ns = { "*" = 500 } },\n'
        '{ name = "c", kernel = "cellweave:discard", cost_ns = { "*" = 500 } }]\n'
        'edge = [{ from = "a", to = "odd.in", bytes = 64 }, { from = "odd.out", to = "c", bytes = 64 }]\n'
    )
    command = [str(BIN / "cellweave"), "run", "app.toml", "--on", "cell", "--instances", "50"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1, done.stdout
    assert re.search(r"task 'odd' failed at instance \d: on (SPE|PPE)\d: ", done.stderr) and said in done.stderr
    assert "Traceback" not in done.stderr
