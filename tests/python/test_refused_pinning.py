"""Where the system refuses to pin, everything runs, and says that it was not pinned."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import cellweave as cw
import pytest

pytestmark = pytest.mark.skipif(len(cw.Machine.host().elements) < 2, reason="two cpus are placed")

CELLRUN = Path(sys.executable).with_name("cellrun")
APP = """
name = "copies"
[[task]]
name = "numbers"
kernel = "cellweave:count"
cost_ns = { core = 100 }
[[task]]
name = "copy"
kernel = "cellweave:copy"
cost_ns = { core = 100 }
[[task]]
name = "end"
kernel = "cellweave:discard"
cost_ns = { core = 100 }
[[edge]]
from = "numbers"
to = "copy"
bytes = 64
[[edge]]
from = "copy"
to = "end"
bytes = 64
"""


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A program that starts another one, which the kernel refuses to pin."""
    program = tmp_path_factory.mktemp("refused") / "refuse_pinning"
    source = Path(__file__).with_name("refuse_pinning.c")
    subprocess.run(["gcc", "-Wall", "-Wextra", "-Werror", "-o", str(program), str(source)], check=True)
    tried = subprocess.run([str(program), "true"], check=False)
    if tried.returncode:
        pytest.skip("this kernel has no seccomp filters")
    return str(program)


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(a) for a in arguments], capture_output=True, text=True, timeout=120, check=True)


def test_a_stream_runs_and_says_which_elements_are_not_pinned(refused: str, tmp_path: Path) -> None:
    app = tmp_path / "app.toml"
    app.write_text(APP)
    cellweave = [sys.executable, "-m", "cellweave"]
    both = [option for task in ("numbers=CPU0", "copy=CPU1", "end=CPU1") for option in ("--map", task)]
    run(*cellweave, "plan", app, *both, "-o", tmp_path / "plan.json")
    line = [*cellweave, "run", app, "--plan", tmp_path / "plan.json", "--instances", 1000, "--json"]
    result = json.loads(run(refused, *line).stdout)
    assert result["instances"] == 1000 and result["pinned"] is False
    assert [n.split(":")[0] for n in result["not_pinned"]] == ["CPU0", "CPU1"]
    assert all("not permitted" in note for note in result["not_pinned"])


def test_a_probe_says_that_it_is_not_known_what_was_measured(refused: str) -> None:
    line = [sys.executable, "-m", "cellweave", "probe", "--pattern", "line", "--json"]
    result = json.loads(run(refused, *line).stdout)
    assert [x["quality"] for x in result["exchanges"]] == ["unpinned"]
    assert "not to be trusted" in run(refused, *line[:-1]).stdout


def test_a_race_leaves_out_what_cannot_be_pinned(refused: str) -> None:
    line = [sys.executable, "-m", "cellweave", "place", "ring", "--parts", 2, "--objective", "measured"]
    assert "pinning was refused" in run(refused, *line).stdout


def test_ranks_run_where_the_kernel_puts_them(refused: str) -> None:
    ended = run(refused, CELLRUN, "-n", 2, "sh", "-c", "echo here")
    assert ended.stdout.splitlines() == ["here", "here"]
    assert "not permitted" in ended.stderr
