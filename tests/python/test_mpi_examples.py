"""Every MPI example does what its transcript says, and the same programs do so on MPICH's library."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cellweave.mpi import prefix
from test_examples import matches, steps

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted(path for path in (ROOT / "examples" / "mpi").iterdir() if path.is_dir())
SECONDS = 300  # a command that takes longer hangs
LAUNCH = re.compile(r"cellrun -n 2 (?P<program>.+)")


def run(command: str, folder: Path, mpi4py: Path, **env: str) -> str:
    """What a command prints, its exit code in the last line where it is not 0."""
    path = os.pathsep.join([str(prefix() / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path, "PYTHONPATH": str(mpi4py), **env},
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    printed = done.stdout + done.stderr
    return printed + (f"[exit {done.returncode}]\n" if done.returncode else "")


def copied(example: Path, tmp_path: Path) -> tuple[Path, list[tuple[str, list[str]]]]:
    """A copy of the example to build in, and its transcript's commands with what they print."""
    shutil.copytree(example, tmp_path / example.name)
    return tmp_path / example.name, steps((example / "transcript.txt").read_text(encoding="utf-8"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_an_mpi_example_does_what_its_transcript_says(example: Path, tmp_path: Path, mpi4py: Path) -> None:
    folder, commands = copied(example, tmp_path)
    for command, expected in commands:
        printed = run(command, folder, mpi4py)
        assert matches(expected, printed), f"$ {command}\nprinted:\n{printed}\nexpected:\n" + "\n".join(expected)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_the_same_program_prints_the_same_on_mpich(example: Path, tmp_path: Path, mpi4py: Path, mpich: Path) -> None:
    folder, commands = copied(example, tmp_path)
    tried = 0
    for command, expected in commands:
        launch = LAUNCH.fullmatch(command)
        if command.startswith("cellcc"):
            assert run(command, folder, mpi4py) == ""
        elif launch:
            there = f"{mpich}/bin/mpiexec -n 2 {launch['program']}"
            printed = run(there, folder, mpi4py, LD_LIBRARY_PATH=str(mpich / "lib"))
            assert matches(expected, printed), f"$ {there}\nprinted:\n{printed}\nexpected:\n" + "\n".join(expected)
            tried += 1
    assert tried == 2  # the C program and the Python program


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_every_mpi_example_is_in_c_and_python_with_a_page_and_both_numbers_of_ranks(example: Path) -> None:
    assert (example / "README.md").is_file()
    name = next(example.glob("*.c")).stem
    assert (example / f"{name}.py").is_file()
    commands = [command for command, _ in steps((example / "transcript.txt").read_text(encoding="utf-8"))]
    for launch in (f"./{name}", f"python {name}.py"):
        assert {f"cellrun -n 2 {launch}", f"cellrun -n 3 {launch}"} <= set(commands)
    assert f"[{example.name}]({example.name})" in (example.parent / "README.md").read_text(encoding="utf-8")
