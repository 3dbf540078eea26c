"""CONTRIBUTING.md and ARCHITECTURE.md name files, scripts and verbs of make that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXTS = ["CONTRIBUTING.md", "ARCHITECTURE.md"]
SPAN = re.compile(r"`([^`]+)`")
TOP = {path.name for path in ROOT.iterdir()}
MADE = {".venv", "demo", "build", "target", "dist"}
"""What the verbs of make leave behind: not there in a fresh clone."""


def named_paths(text: str) -> set[str]:
    """The paths of the tree that a text names in code spans, alone or in a command; NAME stands for anything."""
    words = [word for span in SPAN.findall(text) for word in span.split()]
    paths = {word.rstrip("/") for word in words if "/" in word or word.endswith((".md", ".toml"))}
    return {path for path in paths if path.split("/")[0] in TOP - MADE and "NAME" not in path}


def named_verbs(text: str) -> set[str]:
    """The verbs of make that a text names."""
    return {verb for span in SPAN.findall(text) for verb in re.findall(r"^make ([a-z]+)$", span)}


@pytest.mark.parametrize("name", TEXTS)
def test_every_path_that_the_text_names_exists(name: str) -> None:
    paths = named_paths((ROOT / name).read_text())
    assert len(paths) > 10, "no paths were found"
    assert sorted(path for path in paths if not list(ROOT.glob(path))) == []


def test_contributing_names_every_verb_of_make() -> None:
    verbs = set(re.findall(r"^([a-z]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE)) - {"help"}
    assert named_verbs((ROOT / "CONTRIBUTING.md").read_text()) == verbs


@pytest.mark.parametrize("script", ["test", "lint"])
def test_contributing_names_every_step(script: str) -> None:
    text = (ROOT / "ci" / f"{script}.sh").read_text()
    looped = [step for steps in re.findall(r"^for \w+ in ([a-z ]+); do$", text, re.MULTILINE) for step in steps.split()]
    steps = {*looped, *re.findall(r"^step ([a-z]+)\b", text, re.MULTILINE)}
    row = re.search(rf"^\| `make {script}` .*$", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE)
    assert row is not None
    assert steps == set(re.findall(r"`ci/([a-z]+)\.sh`", row[0]))
