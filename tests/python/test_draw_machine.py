"""Pictures of machines: every element is drawn, with its name, inside the picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cellweave as cw
import pytest

RECORDED = Path(__file__).parents[2] / "crates" / "machine" / "tests" / "recorded"
COMPUTERS = RECORDED.parent / "computers"
NAMES = sorted(file.parent.name for file in RECORDED.glob("*/machine.toml"))


def drawn(machine: Any, tmp_path: Path) -> tuple[set[str], Any]:
    """The texts of the picture, all of which lie inside it."""
    import matplotlib.pyplot as plt
    from cellweave.report.machine import draw_machine

    figure = draw_machine(machine, tmp_path / "machine.png")
    assert (tmp_path / "machine.png").stat().st_size > 1000
    figure.canvas.draw()
    texts = [t for t in figure.findobj(plt.Text) if t.get_text().strip() and t.get_visible()]
    frame = figure.bbox.padded(2)
    for text in texts:
        box = text.get_window_extent()
        assert frame.x0 <= box.x0 and box.x1 <= frame.x1, text.get_text()
        assert frame.y0 <= box.y0 and box.y1 <= frame.y1, text.get_text()
    plt.close(figure)
    return {line for t in texts for line in t.get_text().splitlines()}, figure


@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_computer_is_drawn_with_every_cpu(name: str, tmp_path: Path) -> None:
    machine = cw.Machine.load(RECORDED / name / "machine.toml")
    texts, _ = drawn(machine.to_dict(), tmp_path)
    assert set(machine.element_names()) <= texts


@pytest.mark.parametrize("spec", ["ps3", "cell", "qs22", "qs22:ppe=1,spe=0", "cell:spe=3", "host"])
def test_a_machine_is_drawn_with_every_element(spec: str, tmp_path: Path) -> None:
    machine = cw.Machine.load(spec)
    texts, _ = drawn(machine.to_dict(), tmp_path)
    assert set(machine.element_names()) <= texts


def test_a_machine_that_is_no_cell_but_calls_its_elements_so_is_drawn_as_boxes(tmp_path: Path) -> None:
    names = [("SPE99", "spe", 0), ("SPEED", "spe", 7), ("PPE0", "spe", 0)]
    machine = {"name": "odd", "elements": [{"name": n, "kind": k, "place": {"chip": c}} for n, k, c in names]}
    texts, _ = drawn(machine, tmp_path)
    assert {"SPE99", "SPEED", "PPE0", "chip 7"} <= texts


def test_curves_and_slowdowns_are_drawn_below_the_boxes(tmp_path: Path) -> None:
    computer = cw.Machine.load(COMPUTERS / "two-cpus-large-l3.toml")
    texts, figure = drawn(computer.to_dict(), tmp_path)
    assert {"hand-overs, cpus that share an L3", "cpus at the same time", "256 B", "128 KiB"} <= texts
    assert "one core, hidden" not in texts and len(figure.axes) == 3
    texts, _ = drawn(cw.Machine.load(COMPUTERS / "two-siblings.toml").to_dict(), tmp_path)
    assert "one core, hidden" in texts


def test_a_machine_with_many_curves_and_groups_shows_the_slowest_groups(tmp_path: Path) -> None:
    machine = dict(cw.Machine.load(RECORDED / "epyc-2x64" / "machine.toml").to_dict())
    curve = cw.Machine.load(COMPUTERS / "two-cpus-large-l3.toml").to_dict()["handovers"][0]
    machine["handovers"] = [dict(curve, shares=what) for what in ("core", "l3", "chip", "nothing")]
    names = [e["name"] for e in machine["elements"]]
    machine["together"] = [
        {"elements": [a, b], "computing": 1 + i / 100, "memory": 1.0, "cpus": 1.5, "hidden_siblings": i > 60}
        for i, (a, b) in enumerate(zip(names[::2], names[1::2], strict=True))
    ]
    texts, _ = drawn(machine, tmp_path)
    assert {f"{names[-2]}, {names[-1]}", "cpus that share nothing but memory"} & texts
    assert f"{names[0]}, {names[1]}" not in texts


def test_distances_are_heat_maps_with_their_numbers(tmp_path: Path) -> None:
    machine = dict(cw.Machine.load(RECORDED / "vm-2" / "machine.toml").to_dict())
    machine["distances"] = {
        "latency_ns": [[0.0, 90.5], [88.0, 0.0]],
        "bandwidth_bytes_per_s": [[0.0, 6e9], [5.5e9, 0.0]],
    }
    texts, figure = drawn(machine, tmp_path)
    assert {"latency in ns", "bandwidth in GB/s", "90.5", "88", "6", "5.5"} <= texts
    assert len(figure.axes) == 5, "the boxes, two maps and their scales"
