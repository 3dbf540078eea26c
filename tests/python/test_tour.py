"""`cellweave tour`: one page about this computer, whatever it is like."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import cellweave as cw
import pytest
from browser import Browser
from cellweave.tour import Tour, circle, stream, tour
from conftest import Command
from pages import WIDTHS, asks_for_nothing, is_well_formed, shows_well


@pytest.fixture(scope="module")
def found() -> Tour:
    return tour("host")


@pytest.fixture(scope="module")
def page(found: Tour, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tour") / "tour.html"
    found.save(path)
    return path


def test_a_stream_and_a_ring_ran_under_three_mappings(found: Tour) -> None:
    assert [contest.graph.name for contest in found.contests] == ["stream", "ring"]
    for contest in found.contests:
        assert list(contest.plans) == list(contest.results) == ["worst", "default", "chosen"]
        period = {name: made.period_ns for name, made in contest.plans.items()}
        assert period["worst"] >= period["default"] and period["worst"] >= period["chosen"] * (1 - 1e-9)
        for runs in contest.results.values():
            assert len(runs) == 5 and all(run["throughput_per_s"] > 0 and not run.get("stopped") for run in runs)
        made = contest.to_dict()["mappings"]["chosen"]
        assert min(made["rounds_per_s"]) <= made["achieved_per_s"] <= max(made["rounds_per_s"])
    assert json.loads(json.dumps(found.to_dict()))["contests"][1]["application"] == "ring"


def test_its_page_is_one_file_well_formed_and_says_what_was_measured(found: Tour, page: Path) -> None:
    asks_for_nothing(page)
    is_well_formed(page)
    text = page.read_text()
    for heading in ("The stream under three mappings", "The ring under three mappings", "This computer"):
        assert f"<h2>{heading}" in text
    for name in ("worst", "default", "chosen"):
        assert re.search(rf'aria-label="{name}: predicted [^"]+, achieved [^"]+ in 5 runs', text)
    assert ("reads from" in text) == (len(found.machine.elements) > 1)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_chromium_shows_the_tour_without_a_complaint(chromium: Browser, page: Path, width: int, dark: bool) -> None:
    chromium.open(page, width, dark)
    shows_well(chromium, page, width)


def test_a_large_machine_has_room_on_the_page(chromium: Browser, found: Tour, tmp_path: Path) -> None:
    n = 64
    text = 'name = "large"\n' + "".join(
        f'[[element]]\nname = "CPU{i}"\nkind = "core"\nos_cpu = {i}\nchip = {i // 32}\ncore = {i}\n' for i in range(n)
    )
    far = [[None if i == j else 50.0 + 100 * (i // 32 != j // 32) for j in range(n)] for i in range(n)]
    distances = {"latency_ns": far, "bandwidth_bytes_per_s": far, "sizes_bytes": [16, 16384]}
    large = replace(found, machine=cw.Machine.from_toml(text), distances=distances)
    large.save(tmp_path / "large.html")
    chromium.open(tmp_path / "large.html", 390)
    shows_well(chromium, tmp_path / "large.html", 390)


def test_one_core_that_no_thread_can_be_pinned_to_is_no_reason_to_fail(tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text('name = "one"\n[[element]]\nname = "CPU0"\nkind = "core"\nos_cpu = 8191\n')
    alone = tour(str(tmp_path / "one.toml"))
    assert alone.distances is None and any("one core" in note for note in alone.notes)
    assert any(note.startswith("not pinned") for note in alone.notes)
    alone.save(tmp_path / "one.html")
    text = (tmp_path / "one.html").read_text()
    assert "there is nothing to place" in text and "not pinned" in text
    is_well_formed(tmp_path / "one.html")


@pytest.mark.parametrize("n", [1, 2, 16])
def test_the_graphs_grow_with_the_computer_and_can_be_planned_anywhere(n: int) -> None:
    elements = "".join(f'[[element]]\nname = "CPU{i}"\nkind = "core"\n' for i in range(n))
    machine = cw.Machine.from_toml(f'name = "some"\n{elements}')
    for graph, about in (stream(n), circle(n)):
        data = graph.to_dict()
        assert len(data["task"]) >= 2 * n and about
        for task in data["task"]:
            task["cost_ns"] = {"*": 300.0}
        costed = cw.Graph.from_dict(data)
        made = cw.plan(costed, machine, batch=16, moves=2000)
        assert made.feasible and (len(set(made.mapping.values())) > 1) == (n > 1)


def test_a_full_disk_is_an_error_and_an_existing_page_is_kept(found: Tour, command: Command, tmp_path: Path) -> None:
    (tmp_path / "full.html").symlink_to("/dev/full")
    with pytest.raises(cw.RunError, match=r"full\.html could not be written"):
        found.save(tmp_path / "full.html", force=True)
    (tmp_path / "mine.html").write_text("mine")
    done = command("tour", "-o", "mine.html")
    assert done.returncode == 2 and "--force" in done.stderr
    assert (tmp_path / "mine.html").read_text() == "mine"
    done = command("tour", "--on", "qs22")
    assert done.returncode == 2 and "not this computer" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("stage", ["what its tasks cost", "mapping runs"])
def test_ctrl_c_ends_it_without_a_page_whatever_it_does(tmp_path: Path, stage: str) -> None:
    terminal, end = pty.openpty()
    taken = subprocess.Popen(
        [sys.executable, "-m", "cellweave", "tour"],
        cwd=tmp_path,
        env={**os.environ, "COLUMNS": "200", "TERM": "xterm"},
        stdout=subprocess.DEVNULL,
        stderr=end,
    )
    os.close(end)
    said = ""
    while stage not in said:
        # Progress tells what it does; the end of the output ends the loop with an error.
        said += os.read(terminal, 4096).decode()
    taken.send_signal(signal.SIGINT)
    with contextlib.suppress(OSError):
        # The terminal fails to read where nobody writes to it any more.
        while part := os.read(terminal, 4096):
            said += part.decode()
    os.close(terminal)
    assert taken.wait(60) == 1 and "cellweave tour: stopped" in said and "Traceback" not in said, said
    assert list(tmp_path.iterdir()) == []
