"""`cellrun --profile` and `cellweave mpi report`; `cellrun --stuck-after`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cellweave.mpi import prefix

BIN = prefix() / "bin"

# Phase 1: rank 0 sends 3 x 100 ints to everybody else. Phase 5: a ring of 70000 bytes. Then nothing is counted.
TRAFFIC = """#include <mpi.h>
#include <unistd.h>
static char data[70000], got[70000];
int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 3 && rank > 0; i++) MPI_Recv(got, 100, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int to = 1; to < size && rank == 0; to++)
        for (int i = 0; i < 3; i++) MPI_Send(data, 100, MPI_INT, to, i, MPI_COMM_WORLD);
    MPI_Pcontrol(5);
    MPI_Sendrecv(data, sizeof data, MPI_CHAR, (rank + 1) % size, 0, got, sizeof got, MPI_CHAR,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Pcontrol(0);
    MPI_Sendrecv(data, 9, MPI_CHAR, (rank + 1) % size, 0, got, sizeof got, MPI_CHAR,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (argc > 1) MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Finalize();
    return 0;
}
"""

# Rank 0 and rank 1 wait for each other until a thread of rank 1 sends the message that rank 0 waits for.
STUCK = """#include <mpi.h>
#include <pthread.h>
#include <unistd.h>
static void *rescue(void *none) {
    int value = 1;
    sleep(2);
    MPI_Send(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    return none;
}
int main(int argc, char **argv) {
    int rank, provided, value = 0;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Recv(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&value, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&value, 1, MPI_INT, 2, 9, MPI_COMM_WORLD);
    } else if (rank == 1) {
        pthread_create(&thread, NULL, rescue, NULL);
        MPI_Ssend(&value, 1, MPI_INT, 0, 6, MPI_COMM_WORLD);
        pthread_join(thread, NULL);
    } else if (rank == 2) {
        MPI_Probe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&value, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
"""

# One rank computes for a while: the job is not stuck.
COMPUTES = """#include <mpi.h>
#include <unistd.h>
int main(int argc, char **argv) {
    int rank, value = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) MPI_Recv(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) {
        sleep(2);
        MPI_Send(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
"""

Data = dict[str, Any]


def run(*command: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs, built, and a profile of one of them."""
    folder = tmp_path_factory.mktemp("profile")
    for name, text in {"traffic": TRAFFIC, "stuck": STUCK, "computes": COMPUTES}.items():
        (folder / f"{name}.c").write_text(text)
        done = run(BIN / "cellcc", "-pthread", f"{name}.c", "-o", name, cwd=folder)
        assert done.returncode == 0, done.stderr
    done = run(BIN / "cellrun", "-n", 3, "--profile", "out.json", "./traffic", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    return folder


def profile_of(folder: Path) -> Data:
    data: Data = json.loads((folder / "out.json").read_text())
    return data


def test_every_message_is_counted_once_by_phase_and_size(folder: Path) -> None:
    phases = {phase["level"]: phase for phase in profile_of(folder)["phases"]}
    assert set(phases) == {1, 5}
    sent = {(t["source"], t["destination"]): t["sizes"] for t in phases[1]["transfers"]}
    size = {"least_bytes": 256, "most_bytes": 511, "bytes": 1200, "messages": 3}
    assert sent == {(0, 1): [size], (0, 2): [size]}
    sent = {(t["source"], t["destination"]): t["sizes"] for t in phases[5]["transfers"]}
    size = {"least_bytes": 65536, "most_bytes": 131071, "bytes": 70000, "messages": 1}
    assert sent == {(0, 1): [size], (1, 2): [size], (2, 0): [size]}


def test_the_pattern_adds_up_the_phases_and_names_the_machine(folder: Path) -> None:
    data = profile_of(folder)
    assert data["pattern"] == [
        {"source": 0, "destination": 1, "bytes": 71200, "messages": 4},
        {"source": 0, "destination": 2, "bytes": 1200, "messages": 3},
        {"source": 1, "destination": 2, "bytes": 70000, "messages": 1},
        {"source": 2, "destination": 0, "bytes": 70000, "messages": 1},
    ]
    assert (data["format"], data["n"]) == (1, 3)
    assert {"cpu_model", "cpus", "kernel", "cellweave_version"} <= set(data["identity"])


def test_calls_are_counted_by_function_and_rank(folder: Path) -> None:
    phases = {phase["level"]: phase for phase in profile_of(folder)["phases"]}
    calls = {(f["name"], f["rank"]): f for f in phases[1]["functions"]}
    assert calls["MPI_Send", 0]["calls"] == 6
    assert [calls["MPI_Recv", rank]["calls"] for rank in (1, 2)] == [3, 3]
    assert ("MPI_Recv", 0) not in calls
    assert all(f["ns"] > 0 for f in calls.values())
    assert {f["name"] for f in phases[5]["functions"]} == {"MPI_Sendrecv"}


def test_long_waits_count_for_the_function_that_waits(folder: Path, tmp_path: Path) -> None:
    done = run(BIN / "cellrun", "-n", 2, "--profile", tmp_path / "out.json", "./computes", cwd=folder)
    assert done.returncode == 0, done.stderr
    functions = [f for phase in profile_of(tmp_path)["phases"] for f in phase["functions"] if f["rank"] == 0]
    longest = max(functions, key=lambda f: int(f["ns"]))
    assert longest["name"] == "MPI_Recv", "rank 1 sleeps for two seconds meanwhile"
    assert longest["ns"] < profile_of(tmp_path)["elapsed_s"] * 1e9


def test_a_job_that_fails_leaves_its_profile_and_its_exit_code(folder: Path, tmp_path: Path) -> None:
    done = run(BIN / "cellrun", "-n", 3, "--profile", tmp_path / "out.json", "./traffic", "fails", cwd=folder)
    assert done.returncode == 3, done.stderr
    assert sum(t["messages"] for t in profile_of(tmp_path)["pattern"]) == 9


def test_a_profile_that_cannot_be_written_is_refused_before_anything_runs(folder: Path) -> None:
    done = run(BIN / "cellrun", "-n", 2, "--profile", "nowhere/out.json", "./traffic", cwd=folder)
    assert done.returncode == 2
    assert "nowhere" in done.stderr and "--profile" in done.stderr


def test_a_profile_that_the_disk_has_no_room_for_is_told_and_a_device_stays_one(folder: Path, tmp_path: Path) -> None:
    # A link of our own: a fault here must not replace the device itself.
    (tmp_path / "full").symlink_to("/dev/full")
    done = run(BIN / "cellrun", "-n", 2, "--profile", tmp_path / "full", "./traffic", cwd=folder)
    assert done.returncode == 1
    assert "full: No space left on device" in done.stderr and "--profile" in done.stderr
    assert (tmp_path / "full").is_char_device()


def test_the_report_draws_matrix_and_calls(folder: Path, tmp_path: Path) -> None:
    command = (sys.executable, "-m", "cellweave", "mpi", "report")
    done = run(*command, folder / "out.json", "-o", "page.html", "--pictures", "pictures", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (tmp_path / "pictures").iterdir()} == {"out-traffic.png", "out-calls.png"}
    page = (tmp_path / "page.html").read_text()
    assert page.count("<svg") == 2 and "traffic on 3 ranks" in page
    assert "MPI_Sendrecv" in done.stdout and "65536 to 131071 B" in done.stdout
    (tmp_path / "other.json").write_text("{}")
    done = run(*command, "other.json", "-o", "page2.html", cwd=tmp_path)
    assert done.returncode == 2 and "other.json" in done.stderr, done.stderr
    done = run(*command, folder / "out.json", "--json", "-o", "page3.html", cwd=tmp_path)
    assert json.loads(done.stdout) == profile_of(folder)


def test_a_stuck_job_says_once_who_waits_for_whom_and_goes_on(folder: Path) -> None:
    done = run(BIN / "cellrun", "-n", 4, "--stuck-after", "0.4", "./stuck", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("cellrun: nothing has moved for 0.4 s; the job goes on:\n")
    assert done.stderr.count("rank 0 waits in MPI_Recv for a message from rank 1 with tag 5\n") == 1
    assert "rank 1 waits in MPI_Ssend for rank 0 to receive 4 bytes with tag 6\n" in done.stderr
    assert "rank 2 waits in MPI_Probe for a message from any rank with tag 9\n" in done.stderr
    assert "rank 3 has called MPI_Finalize\n" in done.stderr


def test_a_rank_that_computes_is_not_stuck(folder: Path) -> None:
    done = run(BIN / "cellrun", "-n", 2, "--stuck-after", "0.4", "./computes", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
