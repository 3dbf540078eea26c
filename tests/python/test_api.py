"""The Python API: arrays in and out, objects that print well, errors that name what was wrong."""

from __future__ import annotations

import json
from pathlib import Path

import cellweave as cw
import numpy as np
import pytest


def pair() -> cw.Graph:
    graph = cw.Graph("pair")
    graph.task("make", cost_ns={"ppe": 900.0, "spe": 300.0, "core": 300.0})
    graph.task("use", cost_ns={"ppe": 500.0, "spe": 400.0, "core": 400.0})
    graph.edge("make", "use", bytes=256, peek=1)
    return graph


def through(kernel: object, n_bytes: int, peek: int = 0, **params: object) -> cw.Graph:
    """source -> kernel -> sink, one row per instance."""
    graph = cw.Graph("through")
    graph.task("source", cost_ns=50)
    graph.task("middle", kernel=kernel, cost_ns=200, params=params)  # type: ignore[arg-type]
    graph.task("sink", cost_ns=50)
    built_in = isinstance(kernel, str)
    graph.edge("source", "middle" if built_in else "middle.x", bytes=n_bytes, peek=peek)
    graph.edge("middle" if built_in else "middle.y", "sink", bytes=n_bytes)
    return graph


def test_a_graph_that_was_built_is_the_graph_that_is_read_back(tmp_path: Path) -> None:
    graph = pair()
    graph.save(tmp_path / "pair.toml")
    graph.save(tmp_path / "pair.json")
    assert cw.Graph.load(tmp_path / "pair.toml").to_dict() == graph.to_dict()
    assert cw.Graph.load(tmp_path / "pair.json").to_dict() == graph.to_dict()
    assert cw.Graph.from_toml(graph.to_toml()).to_dict() == graph.to_dict()


def test_a_file_is_not_overwritten_unless_asked_and_is_whole_or_not_there(tmp_path: Path) -> None:
    pair().save(tmp_path / "pair.toml")
    with pytest.raises(cw.RequestError, match="force"):
        pair().save(tmp_path / "pair.toml")
    pair().save(tmp_path / "pair.toml", force=True)
    assert [p.name for p in tmp_path.iterdir()] == ["pair.toml"], "nothing is left beside it"


def test_a_full_disk_is_an_error_with_the_file_s_name() -> None:
    with pytest.raises(cw.RunError, match=r"/dev/full.*No space"):
        pair().save("/dev/full", force=True)


def test_errors_of_a_built_graph_name_the_task(tmp_path: Path) -> None:
    graph = pair()
    graph.edge("use", "mkae", bytes=4)
    with pytest.raises(cw.RequestError, match=r"mkae.*make"):
        graph.to_toml()


def test_machines_are_equal_when_their_files_are() -> None:
    assert cw.Machine.load("qs22:spe=6") == cw.Machine.from_toml(cw.Machine.load("qs22:spe=6").to_toml())
    assert cw.Machine.load("qs22:spe=6") != cw.Machine.load("qs22:spe=7")
    assert len({cw.Machine.load("ps3"), cw.Machine.load("ps3")}) == 1


def test_a_plan_says_what_limits_it_and_is_read_back(tmp_path: Path) -> None:
    plan = cw.plan(pair(), on="qs22")
    assert plan.feasible and plan.violations == []
    assert plan.period_ns == 400.0 and plan.gap == 0.0
    assert plan.throughput_per_s == pytest.approx(2.5e6)
    assert set(plan.mapping) == {"make", "use"}
    plan.save(tmp_path / "plan.json")
    assert cw.Plan.load(tmp_path / "plan.json").to_dict() == plan.to_dict()


def test_a_given_mapping_is_evaluated_not_searched() -> None:
    plan = cw.plan(pair(), on="qs22", mapping={"make": "PPE0", "use": "PPE0"})
    assert plan.mapping == {"make": "PPE0", "use": "PPE0"}
    assert plan.period_ns == 1400.0


def test_the_same_moves_and_seed_give_the_same_plan() -> None:
    graph = cw.Graph.daggen(tasks=60, seed=3)
    plans = [cw.plan(graph, on="qs22", method="anneal", moves=20_000, gap=0.0, seed=5).to_dict() for _ in range(2)]
    for plan in plans:
        del plan["seconds"]
    assert plans[0] == plans[1]


def test_progress_is_reported_while_planning_and_its_exception_comes_out() -> None:
    graph = cw.Graph.daggen(tasks=120, seed=3)
    seen: list[dict[str, object]] = []
    cw.plan(graph, on="qs22", method="anneal", time_s=0.5, gap=0.0, progress=seen.append)
    assert seen and {"method", "moves", "moves_per_s", "gap", "period_ns", "share"} <= set(seen[-1])

    def raises(state: dict[str, object]) -> None:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        cw.plan(graph, on="qs22", method="anneal", time_s=5, gap=0.0, progress=raises)


def test_arrays_go_in_and_come_out_in_order() -> None:
    x = np.random.default_rng(1).standard_normal((5000, 16)).astype("float32")
    graph = cw.Graph("copy")
    graph.task("source", cost_ns=50)
    graph.task("copy", kernel="cellweave:copy", cost_ns=50)
    graph.task("sink", cost_ns=50)
    graph.edge("source", "copy", bytes=64)
    graph.edge("copy", "sink", bytes=64)
    result = cw.run(graph, inputs={"source": x}, outputs={"sink": "float32"})
    assert result.instances == 5000
    np.testing.assert_array_equal(result.outputs["sink"], x)
    raw = cw.run(graph, inputs={"source": x}, outputs=["sink"]).outputs["sink"]
    assert raw.dtype == np.uint8 and raw.shape == (5000, 64)


@cw.kernel(inputs={"x": "float32"}, outputs={"y": "float32"})
def scaled(x: np.ndarray, y: np.ndarray, factor: float = 2.0) -> None:
    y[:] = factor * x


@cw.kernel(inputs={"x": "float64"}, outputs={"y": "float64"})
def difference(x: np.ndarray, y: np.ndarray) -> None:
    """Needs a peek of 1."""
    y[:] = x[1:] - x[:-1]


@cw.kernel(inputs={"x": "float64"}, outputs={"y": "float64"}, state=lambda: np.zeros(1))
def running_sum(x: np.ndarray, y: np.ndarray, state: np.ndarray) -> None:
    for j in range(y.shape[0]):
        state[0] += x[j, 0]
        y[j, 0] = state[0]


@cw.kernel(outputs={"y": ("int64", (1,))}, state=lambda n: {"left": n})
def limited(y: np.ndarray, n: int, state: dict[str, int]) -> int:
    made = min(len(y), state["left"])
    y[:made] = 7
    state["left"] -= made
    return made


@cw.kernel(inputs={"x": "float32"}, outputs={"y": "float32"})
def fails(x: np.ndarray, y: np.ndarray) -> None:
    raise ValueError("no good")


def test_costs_that_are_missing_are_measured_before_arrays_flow() -> None:
    graph = cw.Graph("unmeasured")
    graph.task("source")
    graph.task("middle", kernel=scaled, params={"factor": 5})
    graph.task("sink")
    graph.edge("source", "middle.x", bytes=16)
    graph.edge("middle.y", "sink", bytes=16)
    x = np.ones((1000, 4), "float32")
    result = cw.run(graph, inputs={"source": x}, outputs={"sink": "float32"})
    np.testing.assert_array_equal(result.outputs["sink"], 5 * x)


def test_a_plain_kernel_gets_parameters_and_the_arrays_of_a_batch() -> None:
    x = np.arange(4000, dtype="float32").reshape(1000, 4)
    result = cw.run(through(scaled, 16, factor=3), inputs={"source": x}, outputs={"sink": "float32"})
    np.testing.assert_array_equal(result.outputs["sink"], 3 * x)


def test_a_peeking_kernel_sees_the_next_rows_and_zeros_after_the_end() -> None:
    x = np.random.default_rng(2).standard_normal((1000, 3))
    result = cw.run(through(difference, 24, peek=1), inputs={"source": x}, outputs={"sink": "float64"})
    expected = np.vstack([x[1:], np.zeros(3)]) - x
    np.testing.assert_array_equal(result.outputs["sink"], expected)


@pytest.mark.parametrize("jit", [None, "numba"])
def test_a_kernel_keeps_state_plain_or_compiled(jit: str | None) -> None:
    if jit:
        pytest.importorskip("numba")
    x = np.ones((777, 1))
    extra = {"jit": jit} if jit else {}
    result = cw.run(through(running_sum, 8, **extra), inputs={"source": x}, outputs={"sink": "float64"})
    np.testing.assert_array_equal(result.outputs["sink"][:, 0], np.arange(1, 778))


def test_a_python_source_ends_the_stream_by_returning_fewer() -> None:
    graph = cw.Graph("limited")
    graph.task("source", kernel=limited, cost_ns=100, params={"n": 1234})
    graph.task("sink", cost_ns=50)
    graph.edge("source.y", "sink", bytes=8)
    result = cw.run(graph, outputs={"sink": "int64"})
    assert result.instances == 1234
    assert (result.outputs["sink"] == 7).all()


def test_an_exception_in_a_kernel_ends_the_run_and_names_task_instance_and_line() -> None:
    x = np.zeros((100, 4), "float32")
    with pytest.raises(cw.RunError, match=r"middle.*instance 0.*ValueError: no good.*test_api\.py:\d+"):
        cw.run(through(fails, 16), inputs={"source": x}, outputs=["sink"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"inputs": {"source": np.zeros((5, 3), "float32")}}, "12 bytes.*16"),
        ({"inputs": {"source": np.zeros((0, 4), "float32")}}, "at least one"),
        ({"inputs": {"source": np.float32(1)}}, "row per instance"),
        ({"inputs": {"source": np.array([[...]], dtype=object)}}, "objects"),
        ({"inputs": {"suorce": np.zeros((5, 4), "float32")}}, "suorce.*source"),
        ({"outputs": ["sikn"]}, "sikn.*sink"),
        ({"outputs": ["source"]}, "takes nothing"),
        ({"outputs": {"sink": "complex256"}}, "16|NumPy"),
        ({"outputs": {"sink": "nonsense"}}, "NumPy type"),
        ({"instances": 0}, "instances"),
        ({"plan": "nowhere.json"}, "nowhere.json"),
        ({"on": "nowhere"}, "nowhere"),
    ],
    ids=str,
)
def test_a_wrong_argument_of_run_is_named(change: dict[str, object], message: str) -> None:
    arguments: dict[str, object] = {"inputs": {"source": np.zeros((5, 4), "float32")}, "outputs": {"sink": "float32"}}
    with pytest.raises(cw.RequestError, match=message):
        cw.run(through(scaled, 16), **{**arguments, **change})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("declare", "message"),
    [
        (lambda: cw.kernel(inputs={"x": "float33"}), "float33"),
        (lambda: cw.kernel(inputs={"x": "bool"}), "bool.*float32"),
        (lambda: cw.kernel(jit="nubma"), "nubma.*numba"),
    ],
)
def test_a_wrong_declaration_of_a_kernel_is_named(declare: object, message: str) -> None:
    with pytest.raises(cw.RequestError, match=message):
        declare()(lambda x: None)  # type: ignore[operator]


def test_a_kernel_compiled_by_its_decorator_holds_no_lock_in_a_plan(tmp_path: Path) -> None:
    text = "import cellweave as cw\n"
    for name, jit in (("compiled", '"numba"'), ("plain", "None")):
        text += f"@cw.kernel(inputs={{'x': 'float32'}}, outputs={{'y': 'float32'}}, jit={jit})\n"
        text += f"def {name}(x, y):\n    y[:] = x\n"
    (tmp_path / "decorated.py").write_text(text)
    for name, locks in (("compiled", []), ("plain", ["python"])):
        tasks = [{"name": n, "kernel": f"python:decorated:{name}", "cost_ns": {"*": 1000.0}} for n in "ab"]
        app = {"name": "two", "task": tasks, "edge": [{"from": "a.y", "to": "b.x", "bytes": 4}]}
        (tmp_path / f"{name}.json").write_text(json.dumps(app))
        plan = cw.plan(tmp_path / f"{name}.json", method="greedy").to_dict()
        assert [c["subject"] for c in plan["contributions"] if c["kind"] == "lock"] == locks


def test_a_kernel_that_numba_cannot_compile_says_why() -> None:
    pytest.importorskip("numba")

    @cw.kernel(inputs={"x": "float32"}, outputs={"y": "float32"}, jit="numba")
    def impossible(x: np.ndarray, y: np.ndarray) -> None:
        y[:] = json.loads("1")

    with pytest.raises(cw.RequestError, match=r"middle.*numba cannot compile `impossible`"):
        cw.run(through(impossible, 16), inputs={"source": np.zeros((5, 4), "float32")}, outputs=["sink"])


def test_everything_prints_as_a_table_and_as_html() -> None:
    graph = pair()
    plan = cw.plan(graph, on="qs22")
    x = np.zeros((100, 4), "float32")
    result = cw.run(through("cellweave:copy", 16), inputs={"source": x}, outputs=["sink"])
    for thing, words in [
        (cw.Machine.load("ps3"), ["PPE0", "SPE5", "GB/s"]),
        (graph, ["pair", "2 tasks"]),
        (plan, ["period", "bound", "gap", "bottleneck", "SPE"]),
        (result, ["achieved", "predicted", "busy"]),
    ]:
        for word in words:
            assert word in str(thing), str(thing)
        page = thing._repr_html_()
        assert page.count("<table>") == page.count("</table>") > 0
        assert "<script" not in page


def test_names_in_tables_are_text_in_html() -> None:
    graph = cw.Graph("<b>bold</b>")
    graph.task("a<b", cost_ns=5)
    assert "<b>" not in graph._repr_html_()


def test_pictures_have_a_mark_for_everything(tmp_path: Path) -> None:
    import matplotlib.pyplot as plt

    graph = cw.Graph.daggen(tasks=25, seed=2)
    plan = cw.plan(graph, on="qs22:spe=4", method="greedy")
    texts = [t.get_text() for t in graph.plot(plan).axes[0].texts]
    assert {f"t{i}" for i in range(25)} <= set(texts)
    bars = plan.plot("contributions").axes[0].patches
    assert 0 < len(bars) <= 16
    assert cw.Machine.load("qs22").plot().axes
    plt.close("all")


def test_a_trace_is_drawn_with_a_row_per_element(tmp_path: Path) -> None:
    import matplotlib.pyplot as plt

    trace = tmp_path / "trace.json"
    result = cw.run(
        through("cellweave:copy", 16),
        inputs={"source": np.zeros((5000, 4), "float32")},
        outputs=["sink"],
        trace=trace,
    )
    events = json.loads(trace.read_text())["traceEvents"]
    assert any(e["ph"] == "X" for e in events)
    rows = [t.get_text() for t in result.plot().axes[0].get_yticklabels()]
    assert rows and len(rows) == len(result.elements)
    plt.close("all")
