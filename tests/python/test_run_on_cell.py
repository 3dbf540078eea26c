"""Streams on the simulated Cell: what sinks get is what they get here, and two runs are one."""

from __future__ import annotations

import json
import subprocess
import sys
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


def test_buffers_that_do_not_fit_a_local_store_are_refused_with_what_would_fit() -> None:
    graph = cw.Graph("large")
    graph.task("a", cost_ns=1000)
    graph.task("b", cost_ns=1000)
    graph.edge("a", "b", bytes=150_000)
    plan = cw.plan(graph, on="cell", mapping={"a": "SPE0", "b": "SPE1"})
    with pytest.raises((cw.RunError, cw.RequestError), match=r"SPE0 do not fit its local store.*would fit"):
        cw.run(graph, "cell", plan, instances=10)
