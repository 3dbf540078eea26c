"""Every example does what its transcript says.

A transcript holds commands, each on a line that starts with `$ `, and below each what it prints: standard
output, then standard error. A line `...` stands for any number of lines; `...` within a line for any text in
it. `[exit 1]` after the output is a command's exit code where it is not 0. Blank lines before a command
have no meaning. The commands run with bash in a copy of the folder.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TRANSCRIPTS = sorted(ROOT.glob("examples/*/transcript.txt"))
PRODUCTS = shutil.ignore_patterns(
    "*.so", "*.part", "*.raw", "out*.wav", "tone.wav", "__pycache__", "target", "plan.json", "result.json"
)
SECONDS = 300  # a command that takes longer hangs


def steps(text):
    """[(command, expected lines)] of a transcript."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found:
            found[-1][1].append(line)
        elif line:
            raise ValueError(f"line {number}: output before the first command")
    for _, lines in found:
        while lines and not lines[-1].strip():
            lines.pop()
    return found


def pattern(lines):
    """A regular expression for the expected lines."""
    parts = []
    for line in lines:
        if line.strip() == "...":
            parts.append(r"(?:[^\n]*\n)*?")
        else:
            parts.append(r"[^\n]*?".join(re.escape(part.rstrip()) for part in line.split("...")) + r"[ \t]*\n")
    return re.compile("".join(parts))


def matches(lines, printed):
    return pattern(lines).fullmatch(printed if not printed or printed.endswith("\n") else printed + "\n") is not None


def run(command, folder):
    """What a command prints, its exit code in the last line where it is not 0."""
    bin_folder = str(Path(sys.executable).parent)
    environment = os.environ | {
        "PATH": bin_folder + os.pathsep + os.environ["PATH"],
        "COLUMNS": "120",
        "NO_COLOR": "1",
        "TERM": "dumb",
        "LC_ALL": "C.UTF-8",
    }
    environment.pop("CARGO_TARGET_DIR", None)  # applications name what they build as `target/..`
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS
    )
    printed = done.stdout + done.stderr
    return printed + (f"[exit {done.returncode}]\n" if done.returncode else "")


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda path: path.parent.name)
def test_an_example_does_what_its_transcript_says(transcript, tmp_path):
    folder = tmp_path / "examples" / transcript.parent.name
    shutil.copytree(transcript.parent, folder, ignore=PRODUCTS)
    for neighbour in ("Cargo.toml", "crates", "python"):  # where `../..` leads
        (tmp_path / neighbour).symlink_to(ROOT / neighbour)
    for command, expected in steps(transcript.read_text(encoding="utf-8")):
        printed = run(command, folder)
        assert matches(expected, printed), f"$ {command}\nprinted:\n{printed}\nexpected:\n" + "\n".join(expected)


# Programs on a simulated machine have no application file.
SIMULATED = {"double-buffer", "hello-mailbox", "phases", "reduction", "spe-ring"}


def test_every_example_has_a_page_an_application_and_a_transcript():
    # has its own test
    folders = [path for path in (ROOT / "examples").iterdir() if path.is_dir() and path.name != "mpi"]
    assert {"c-kernel", "peek", "python-kernel", "vocoder"} | SIMULATED <= {path.name for path in folders}
    missing = [
        f"{path.name}/{name}"
        for path in folders
        for name in ("README.md", "app.toml", "transcript.txt")
        if not (path / name).is_file() and not (name == "app.toml" and path.name in SIMULATED)
    ]
    assert not missing


@pytest.mark.parametrize(
    ("expected", "printed", "same"),
    [
        ("a\nb", "a\nb\n", True),
        ("a\nb", "a\n", False),
        ("a", "a\nb\n", False),
        ("", "a\n", False),
        ("a\n...\nz", "a\nz\n", True),
        ("a\n...\nz", "a\nb\nc\nz\n", True),
        ("took ... s", "took 1.5 s\n", True),
        ("took ... s", "took 1.5\ns\n", False),
        ("1.5", "1x5\n", False),
        ("a", "a   \n", True),
    ],
)
def test_a_transcript_matches_what_it_says_and_nothing_else(expected, printed, same):
    assert matches(expected.splitlines(), printed) is same
