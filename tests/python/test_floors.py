"""A crate imports only lower floors; `sim` and `model` never meet, and `model` never sees `host`."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# The table of ARCHITECTURE.md. A crate that is not here fails the test.
FLOORS = {
    "ground": 0,
    "machine": 1,
    "work": 1,
    "model": 2,
    "host": 2,
    "sim": 2,
    "place": 3,
    "transport": 3,
    "probe": 4,
    "plan": 4,
    "run": 4,
    "launch": 4,
    "mpi": 5,
    "cellweave": 6,
    "python": 7,
}

# Else predicted beside achieved would measure itself. Through any number of crates below `cellweave`.
WALLS = [("sim", "model"), ("model", "sim"), ("model", "host")]

Imports = dict[str, set[str]]


def room(package: str) -> str:
    """`cellweave-machine` -> `machine`."""
    return package.removeprefix("cellweave-")


def imports_of_workspace() -> Imports:
    """What each crate of the workspace imports of the workspace, as cargo sees it (also for tests and builds)."""
    out = subprocess.run(
        ["cargo", "metadata", "--no-deps", "--format-version", "1", "--offline"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    packages = json.loads(out.stdout)["packages"]
    members = {p["name"] for p in packages}
    return {
        room(p["name"]): {room(d["name"]) for d in p["dependencies"] if d["name"] in members} - {room(p["name"])}
        for p in packages
    }


def reached(imports: Imports, start: str) -> set[str]:
    """Everything that `start` imports, directly or not."""
    found: set[str] = set()
    todo = [start]
    while todo:
        for name in imports.get(todo.pop(), set()) - found:
            found.add(name)
            todo.append(name)
    return found


def broken(imports: Imports) -> list[str]:
    """Each breach of the floors in a sentence."""
    faults = [f"crate `{name}` has no floor: add it to FLOORS" for name in imports if name not in FLOORS]
    for name, below in sorted(imports.items()):
        for other in sorted(below):
            if name in FLOORS and other in FLOORS and FLOORS[other] >= FLOORS[name]:
                faults.append(f"`{name}` (floor {FLOORS[name]}) imports `{other}` (floor {FLOORS[other]})")
    for name, other in WALLS:
        if other in reached(imports, name):
            faults.append(f"`{name}` must never import `{other}`")
    return faults


def test_every_crate_imports_only_lower_floors() -> None:
    imports = imports_of_workspace()
    assert {"ground", "machine", "work", "python"} <= set(imports), "cargo metadata does not show the workspace"
    assert broken(imports) == []


@pytest.mark.parametrize(
    ("imports", "fault"),
    [
        ({"machine": {"model"}, "model": set()}, "`machine` (floor 1) imports `model` (floor 2)"),
        ({"model": {"host"}, "host": set()}, "`model` (floor 2) imports `host` (floor 2)"),
        ({"attic": set()}, "crate `attic` has no floor: add it to FLOORS"),
        ({"sim": {"work"}, "work": {"model"}, "model": set()}, "`sim` must never import `model`"),
    ],
)
def test_a_broken_floor_is_named(imports: Imports, fault: str) -> None:
    assert fault in broken(imports)
