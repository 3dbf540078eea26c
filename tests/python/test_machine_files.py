"""Machines that nothing in the code was written for: a file is all that planning and drawing need."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import cellweave as cw
import pytest
from cellweave.report.page import report

FOLDER = Path(__file__).parents[2] / "crates" / "machine" / "tests" / "machines"
NAMES = sorted(path.name for path in FOLDER.iterdir())


def chain(tasks: int) -> cw.Graph:
    """Tasks of unequal cost one after the other, any element can run each."""
    graph = cw.Graph("chain", code_bytes=16 << 10)
    for i in range(tasks):
        graph.task(f"t{i}", cost_ns=500.0 + 100 * (i % 3))
    for i in range(1, tasks):
        graph.edge(f"t{i - 1}", f"t{i}", bytes=256)
    return graph


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("method", ["greedy", "cluster", "delegate", "anneal", "auto"])
def test_every_search_plans_on_it(name: str, method: str) -> None:
    plan = cw.plan(chain(24), on=FOLDER / name, method=method, moves=20_000, buffering="duplicated")
    assert plan.bound_ns <= plan.period_ns
    assert {c["kind"] for c in plan.contributions} == {"compute", "limit"}
    assert len(set(plan.mapping.values())) > 1
    assert plan.feasible or plan.violations


@pytest.mark.parametrize("name", NAMES)
def test_the_exact_method_is_no_worse_than_a_search_on_it(name: str) -> None:
    pytest.importorskip("highspy", reason="the exact method needs HiGHS")
    graph = chain(3)
    search = cw.plan(graph, on=FOLDER / name, method="auto", moves=20_000, buffering="duplicated")
    exact = cw.plan(graph, on=FOLDER / name, method="exact", time_s=10)
    assert exact.feasible and exact.period_ns <= search.period_ns * (1 + 1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_its_picture_has_every_element_in_the_column_and_row_of_its_tile(name: str) -> None:
    import matplotlib.pyplot as plt

    machine = cw.Machine.load(FOLDER / name)
    figure = machine.plot()
    places = {t.get_text(): t.get_position() for t in figure.axes[0].texts}
    elements: list[dict[str, Any]] = machine.elements
    for a, b in pairwise(elements):
        (x, y), (next_x, next_y) = places[a["name"]], places[b["name"]]
        (column, row), (next_column, next_row) = a["place"]["tile"], b["place"]["tile"]
        assert (y < next_y) == (row < next_row)
        assert column >= next_column or x < next_x
    plt.close(figure)


@pytest.mark.parametrize("name", NAMES)
def test_its_plans_and_its_page_are_drawn(name: str, tmp_path: Path) -> None:
    plan = cw.plan(chain(24), on=FOLDER / name, moves=5_000)
    used = set(plan.mapping.values())
    shown = {t.get_text() for t in plan.plot("mapping").axes[0].get_legend().get_texts()}
    assert used == shown
    assert plan.plot("contributions").axes[0].patches
    report([FOLDER / name], tmp_path / "page.html")
    assert "tile" in (tmp_path / "page.html").read_text() or "mesh" in (tmp_path / "page.html").read_text()
