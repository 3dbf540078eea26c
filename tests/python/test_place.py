"""`place`: a communication pattern onto a machine, from Python and the command line."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import cellweave as cw
import numpy as np
import pytest
from cellweave.place import pattern_names
from conftest import Command

KEYS = [
    "pattern",
    "machine",
    "objective",
    "mapping",
    "cost",
    "best",
    "worst",
    "identity",
    "median",
    "evaluated",
    "proved",
    "seconds",
]
AFFINITIES = ["Overlap", "EvenOdd", "Identity", "Ring", "Leap2", "Default"]


def test_every_named_pattern_is_placed_by_every_model() -> None:
    for (name, _), objective in itertools.product(pattern_names(), ["rings", "model", "distance"]):
        placed = cw.place(name, on="cell", objective=objective, parts=6, moves=1000)
        assert sorted(set(placed.permutation)) == sorted(placed.permutation)
        assert placed.cost <= placed.identity and placed.cost <= placed.median <= placed.worst


def test_the_command_prints_a_table_and_json_with_the_promised_keys(command: Command) -> None:
    found = command("place", "ring", "--on", "qs22", "--objective", "model", "--json")
    data = json.loads(found.stdout)
    assert set(KEYS) <= set(data) and len(data["mapping"]) == 16 and data["proved"]
    assert [a["name"] for a in data["affinities"]] == AFFINITIES
    assert all(sorted(a["permutation"]) == list(range(16)) for a in data["affinities"])
    table = command("place", "ring", "--on", "qs22", "--objective", "rings", "--moves", "1000").stdout
    assert all(name in table for name in AFFINITIES) and "do not write them out" in table
    assert "recursive-doubling" in command("place", "--list").stdout


def test_limits_say_all_equal_where_they_cannot_tell_mappings_apart() -> None:
    placed = cw.place("ring-both", on="cell")
    assert placed.all_equal and any("all equal" in note for note in placed.to_dict()["notes"])
    assert not cw.place("ring-both", on="qs22").all_equal


def test_the_assumed_rotation_is_tried_and_said_not_to_hold() -> None:
    placed = cw.place("ring", on="cell", objective="rings", symmetry="rotation")
    assert placed.to_dict()["evaluated"] == 5040
    assert any("does not hold" in note for note in placed.to_dict()["notes"])
    assert cw.place("ring", on="cell", objective="rings", symmetry="none").to_dict()["evaluated"] == 40320


def test_what_the_paper_leaves_for_its_future_work_changes_costs() -> None:
    plain = cw.place("recursive-doubling", on="cell", objective="rings")
    phases = cw.place("recursive-doubling", on="cell", objective="rings", phases=True)
    sizes = cw.place("recursive-doubling", on="cell", objective="rings", sizes=True)
    sides = cw.place("recursive-doubling", on="cell", objective="rings", sides=True)
    assert len({plain.median, phases.median, sizes.median, sides.median}) == 4


def test_a_matrix_of_numpy_is_a_pattern() -> None:
    matrix = np.zeros((16, 16))
    matrix[0:8, 0:8] = matrix[8:16, 8:16] = 1000
    placed = cw.place(matrix, on="qs22", objective="distance", moves=20_000)
    chips = [seat // 8 for seat in placed.permutation]
    assert chips[:8] in ([0] * 8, [1] * 8) and sum(chips) == 8


def test_simulated_beats_every_named_affinity_and_repeats_itself() -> None:
    def once() -> cw.Placing:
        return cw.place("ring", on="cell", objective="simulated", runs=30)

    placed = once()
    assert placed.unit == "ns" and placed.to_dict()["evaluated"] == 30
    assert all(placed.cost <= a["cost"] for a in placed.to_dict()["affinities"])
    again = once()
    assert (again.permutation, again.cost) == (placed.permutation, placed.cost)


def test_more_bytes_take_longer_where_they_are_simulated() -> None:
    def ns(matrix: list[list[int]]) -> float:
        return cw.place(matrix, on="cell", objective="simulated", runs=1).cost

    assert ns([[0, 65536], [0, 0]]) == pytest.approx(4 * ns([[0, 16384], [0, 0]]), rel=0.1)
    assert ns([[0, 65536, 0], [0, 0, 16384], [0, 0, 0]]) < 1.5 * ns([[0, 65536, 0], [0, 0, 0], [0, 0, 0]])


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="two cpus are placed")
@pytest.mark.parametrize("objective", ["measured", "robust"])
def test_a_race_on_this_computer_names_a_winner_or_leaves_it_to_the_kernel(objective: str) -> None:
    cpus = sorted(os.sched_getaffinity(0))[:2]
    on = f"host:cpus={cpus[0]},{cpus[1]}"
    placed = cw.place("ring", on=on, objective=objective, bytes=1024, runs=8)
    data = placed.to_dict()
    assert data["race"][0]["name"] == "kernel" and all(c["mean_ns"] > 0 for c in data["race"] if c["n"])
    assert placed.pin in (True, False) and ("do not pin" in data["verdict"]) == (not placed.pin)
    assert "kernel" in str(placed)


def test_a_result_without_any_pinned_run_is_shown_all_the_same() -> None:
    data = cw.place("pipeline", on="cell", parts=2).to_dict()
    alone = {"name": "kernel", "permutation": None, "n": 8, "mean_ns": 5.0, "p90_ns": 6.0, "variance_ns2": 1.0}
    refused = {**alone, "name": "identity", "permutation": [0, 1], "n": 0, "left": "pinning was refused: cpu 0"}
    data |= {"cost": None, "identity": None, "race": [{**alone, "left": None}, refused], "pin": False, "known": True}
    data["affinities"] = [{**a, "cost": None} for a in data["affinities"]]
    shown = str(cw.Placing(data))
    assert "not run" in shown and "identity: pinning was refused: cpu 0" in shown
    assert cw.Placing(data).plot() is not None


def test_measured_refuses_what_is_not_this_computer(tmp_path: Path) -> None:
    with pytest.raises(cw.RequestError, match="no cpu of this computer"):
        cw.place("ring", on="cell", objective="measured")
    other = tmp_path / "other.toml"
    elements = "".join(f'[[element]]\nname = "CPU{cpu}"\nkind = "core"\nos_cpu = {cpu}\n' for cpu in (4000, 4001))
    other.write_text(f'name = "other"\n{elements}')
    with pytest.raises(cw.RequestError, match="CPU4000 of other is no cpu that this process may use"):
        cw.place("ring", on=str(other), objective="measured")


def _file_of(tmp_path: Path, cpus: list[int], top: str = "", of_element: str = "") -> Path:
    """A machine file with these cpus of this computer, written by hand."""
    path = tmp_path / "by-hand.toml"
    elements = "".join(f'[[element]]\nname = "CPU{cpu}"\nkind = "core"\nos_cpu = {cpu}\n{of_element}' for cpu in cpus)
    path.write_text(f'name = "by-hand"\n{top}\n{elements}')
    return path


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="two cpus are placed")
def test_a_quota_below_one_cpu_is_said_and_the_race_still_ends(tmp_path: Path) -> None:
    machine = _file_of(tmp_path, sorted(os.sched_getaffinity(0))[:2], "quota_cpus = 0.5")
    placed = cw.place("ring", on=machine, objective="measured", bytes=1024, runs=8)
    assert placed.pin in (True, False)
    assert any("a quota of 0.5 cpus for 2 threads" in note for note in placed.to_dict()["notes"])


@pytest.mark.parametrize("objective", ["measured", "robust"])
def test_the_file_of_another_computer_is_refused_before_anything_runs(
    objective: str, command: Command, tmp_path: Path
) -> None:
    machine = _file_of(tmp_path, [min(os.sched_getaffinity(0)), 4000], of_element="chip = 77\n")
    found = command("place", "ring", "--parts", "2", "--on", str(machine), "--objective", objective)
    assert found.returncode == 2
    assert "by-hand is of another one" in found.stderr


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="two cpus are placed")
def test_traffic_to_main_memory_is_raced_too(tmp_path: Path) -> None:
    job = tmp_path / "job.csv"
    job.write_text("source,destination,bytes\n0,1,4096\nmemory,0,4096\n1,memory,4096\n")
    cpus = sorted(os.sched_getaffinity(0))[:2]
    placed = cw.place(job, on=f"host:cpus={cpus[0]},{cpus[1]}", objective="measured", runs=8)
    assert placed.pin in (True, False)
    assert not any("does not count" in note for note in placed.to_dict()["notes"])


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="two cpus are placed")
def test_simulated_needs_a_machine_that_can_be_simulated() -> None:
    with pytest.raises(cw.RequestError, match=r"needs a machine that can be simulated.*qs22"):
        cw.place("ring", on="host", objective="simulated", parts=2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rinq", "--on", "cell"], "did you mean `ring`"),
        (["ring", "--on", "cell", "--parts", "9"], "ring has 9 parts; cell has 8 accelerators"),
        (["ring", "--on", "cell:spe=1"], "at least 2 communicate"),
        (["torus-2d:3x3", "--on", "cell"], "torus-2d:4x2"),
        (["ring", "--on", "cell", "--phase", "7"], "no phase 7"),
        (["ring", "--on", "host", "--objective", "ringz"], "did you mean `rings`"),
        (["empty.csv", "--on", "cell"], "the matrix is empty"),
        (["oblong.csv", "--on", "cell"], "the matrix is not square"),
        (["negative.csv", "--on", "cell"], "-3 bytes"),
        (["nan.csv", "--on", "cell"], "NaN bytes"),
        (["huge.mtx", "--on", "cell"], "100000000 entries; at most"),
        (["silent.csv", "--on", "cell"], "nobody sends anything"),
        (["none.csv", "--on", "cell"], "none.csv"),
        ([], "name a pattern"),
    ],
)
def test_wrong_requests_say_what_is_allowed_and_exit_with_2(
    arguments: list[str], message: str, command: Command, tmp_path: Path
) -> None:
    files = {
        "empty.csv": "",
        "oblong.csv": "0,1,2\n1,0,2\n",
        "negative.csv": "0,-3\n0,0\n",
        "nan.csv": "0,nan\n0,0\n",
        "silent.csv": "0,0\n0,0\n",
        "huge.mtx": "%%MatrixMarket matrix coordinate real general\n20000 20000 100000000\n1 2 3\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    found = command("place", *arguments)
    assert found.returncode == 2
    assert message in found.stderr and "Traceback" not in found.stderr


@pytest.mark.parametrize(
    ("matrix", "message"),
    [([[0, 1], [2]], "same length"), ([1, 2], "1 dimensions"), ([[0, -1], [0, 0]], "-1 bytes"), ([], "dimensions")],
)
def test_wrong_matrices_are_refused(matrix: object, message: str) -> None:
    with pytest.raises(cw.RequestError, match=message):
        cw.place(matrix, on="cell")  # type: ignore[arg-type]


def test_ranks_that_exchange_nothing_are_placed_and_named() -> None:
    matrix = np.zeros((6, 6))
    matrix[0, 1] = matrix[3, 4] = 64
    notes = cw.place(matrix, on="cell", objective="rings").to_dict()["notes"]
    assert any("parts 2, 5 exchange nothing" in note for note in notes)


@pytest.mark.parametrize(("asked", "said"), [({}, True), ({"memory": True}, False)])
def test_traffic_to_memory_that_does_not_count_is_named(tmp_path: Path, asked: dict[str, bool], said: bool) -> None:
    job = tmp_path / "job.csv"
    job.write_text("source,destination,bytes\n0,1,4096\nmemory,0,4096\n")
    placed = cw.place(job, on="cell", objective="rings", **asked)
    assert any("main memory does not count" in note for note in placed.to_dict()["notes"]) is said


def test_the_file_is_read_by_the_launcher_and_not_overwritten(command: Command, tmp_path: Path) -> None:
    out = tmp_path / "place.json"
    command("place", "pipeline", "--parts", "2", "--on", "cell", "-o", str(out), "--plot", str(tmp_path / "p.png"))
    assert json.loads(out.read_text())["mapping"] == ["SPE0", "SPE1"]
    assert (tmp_path / "p.png").stat().st_size > 1000
    refused = command("place", "pipeline", "--parts", "2", "--on", "cell", "-o", str(out))
    assert refused.returncode == 2 and "--force" in refused.stderr


def test_a_search_that_is_killed_leaves_no_half_written_file(tmp_path: Path) -> None:
    out = tmp_path / "place.json"
    arguments = ["place", "torus-2d", "--on", "qs22", "--objective", "rings", "--moves", "1000000000", "-o", str(out)]
    process = subprocess.Popen([sys.executable, "-m", "cellweave", *arguments], cwd=tmp_path)
    time.sleep(1.0)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert list(tmp_path.iterdir()) == []
