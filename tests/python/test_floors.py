"""A crate imports only lower floors; `sim` and `model` never meet, and `model` never sees `host`.

Inside a crate, modules form layers too: the table on its first page (`src/lib.rs`) says which module imports which,
from the ground up, and is what the code says.
"""

from __future__ import annotations

import ast
import json
import re
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
    "ranks": 3,
    "probe": 4,
    "plan": 4,
    "run": 4,
    "launch": 4,
    "streams": 5,
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


# Crates whose first page says which module imports which.
LAYERED = ["sim", "ranks", "transport", "launch", "run", "mpi"]
ROW = re.compile(r"^//! \| (?P<names>[^|]*`[^|]*) \| [^|]* \| (?P<imports>[^|]*)\|$", re.MULTILINE)
TESTS = re.compile(r"^#\[cfg\((?:test|all\(test\b.*\))\)\]\n(?:#\[.*\]\n)*mod \w+ \{.*", re.MULTILINE | re.DOTALL)
EXPORTED = re.compile(r"^pub(?:\(crate\))? use (\w+)::(\w+|\{[^}]*\})", re.MULTILINE)
USED = re.compile(r"(?P<way>\bcrate|(?:\bsuper::)*\bsuper)::(?P<names>\w+|\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\})")


def words(text: str) -> list[str]:
    """The first word of each item of `a, b::c, d::{e, f}`."""
    return re.findall(r"(?:^|,)\s*(?:self::)?(\w+)", re.sub(r"\{[^{}]*\}", "", text.strip().strip("{}")))


def modules(crate: Path) -> Imports:
    """What each top-level module of a crate imports of the others; what only tests import aside."""
    source = crate / "src"
    names = {path.stem for path in source.glob("*.rs")} | {path.parent.name for path in source.glob("*/mod.rs")}
    names -= {"lib", "main"}
    lib = (source / "lib.rs").read_text()
    home = {item: module for module, items in EXPORTED.findall(lib) for item in words(items)}
    imports: Imports = {name: set() for name in names}
    for path in source.glob("**/*.rs"):
        *folders, file = path.relative_to(source).parts
        module = folders[0] if folders else file.removesuffix(".rs")
        if module not in names or file == "tests.rs":
            continue
        depth = len(folders) + (file != "mod.rs")
        text = re.sub(r"//.*", "", TESTS.sub("", path.read_text()))
        for match in USED.finditer(text):
            if match["way"] == "crate" or match["way"].count("super") == depth:
                found = {home.get(word, word) for word in words(match["names"])}
                imports[module] |= (found & names) - {module}
    return imports


def table(lib: str) -> list[tuple[list[str], str]]:
    """The rows of the table on a crate's first page: modules, and what they import."""
    return [(re.findall(r"`(?:mod@)?(\w+)`", row["names"]), row["imports"].strip()) for row in ROW.finditer(lib)]


def untrue(lib: str, imports: Imports) -> list[str]:
    """Each way in which the table on a crate's first page is not what its code says, in a sentence."""
    rows = table(lib)
    listed = [name for names, _ in rows for name in names]
    faults = [f"the table does not list `{name}`" for name in sorted(imports) if name not in listed]
    above: set[str] = set()
    for names, said in rows:
        allowed, exactly = set(re.findall(r"\w+", said)), True
        if said.split(" ")[0] == "all":
            allowed, exactly = above - set(said.replace(",", " ").split()), False
        for name in names:
            used = imports.get(name, set())
            faults += [f"`{name}` imports `{other}`, which is not above it" for other in sorted(used - above)]
            faults += [
                f"`{name}` imports `{other}`: the table does not say so" for other in sorted((used & above) - allowed)
            ]
            if exactly:
                faults += [f"`{name}` does not import `{other}`" for other in sorted(allowed - used)]
        above |= set(names)
    return faults


@pytest.mark.parametrize("crate", LAYERED)
def test_the_modules_of_a_crate_are_layers_as_its_first_page_says(crate: str) -> None:
    folder = ROOT / "crates" / crate
    assert untrue((folder / "src" / "lib.rs").read_text(), modules(folder)) == []


@pytest.mark.parametrize(
    ("imports", "fault"),
    [
        ({"low": {"high"}, "high": {"low"}, "top": set()}, "`low` imports `high`, which is not above it"),
        ({"low": set(), "high": set(), "top": set()}, "`high` does not import `low`"),
        ({"low": set(), "high": {"low"}, "top": {"high", "low"}}, "`top` imports `low`: the table does not say so"),
        ({"low": set(), "high": {"low"}, "top": set(), "new": set()}, "the table does not list `new`"),
    ],
)
def test_an_untrue_table_is_named(imports: Imports, fault: str) -> None:
    lib = "//! | `low` | stands below | |\n//! | `high` | on it | low |\n//! | `top` | on all | all but low |\n"
    assert fault in untrue(lib, imports)


def test_imports_are_read_from_code_and_not_from_its_tests(tmp_path: Path) -> None:
    source = tmp_path / "src"
    (source / "high").mkdir(parents=True)
    (source / "lib.rs").write_text("mod low;\nmod middle;\nmod high;\npub use low::{Thing, Other};\n")
    (source / "low.rs").write_text("// use crate::high;\n#[cfg(test)]\nmod tests {\n    use crate::high::X;\n}\n")
    (source / "middle.rs").write_text("use crate::{Thing};\n")
    (source / "high" / "mod.rs").write_text("mod part;\nuse super::middle::{self, A};\n")
    (source / "high" / "part.rs").write_text("use super::other;\nuse super::super::low;\n")
    assert modules(tmp_path) == {"low": set(), "middle": {"low"}, "high": {"low", "middle"}}


def python_imports(package: Path) -> Imports:
    """What each module of the Python package imports of it, inside functions as well; for types alone aside."""
    names = {}
    for path in package.rglob("*.py"):
        parts = path.relative_to(package.parent).with_suffix("").parts
        names[".".join(parts).removesuffix(".__init__")] = path
    imports: Imports = {name: set() for name in names}

    def look(name: str, node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            if isinstance(child, ast.ImportFrom) and child.module:
                found = [f"{child.module}.{alias.name}" for alias in child.names]
                imports[name] |= {f if f in names else child.module for f in found if not f.endswith("._core")}
            elif isinstance(child, ast.Import):
                imports[name] |= {alias.name for alias in child.names}
            look(name, child)

    for name, path in names.items():
        look(name, ast.parse(path.read_text()))
    return {name: (found & set(names)) - {name} for name, found in imports.items()}


def in_circles(imports: Imports) -> list[str]:
    """The modules that import themselves through others."""
    return sorted(name for name in imports if name in reached(imports, name))


def test_no_module_of_the_python_package_imports_itself_through_others() -> None:
    imports = python_imports(ROOT / "python" / "cellweave")
    assert imports["cellweave.plan"] >= {"cellweave.graph", "cellweave.report.tables"}
    assert in_circles(imports) == []


def test_a_circle_of_imports_is_found(tmp_path: Path) -> None:
    package = tmp_path / "house"
    package.mkdir()
    (package / "__init__.py").write_text("from house.low import x\n")
    (package / "low.py").write_text("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import house.high\n")
    (package / "high.py").write_text("def f():\n    from house import circle\n")
    (package / "circle.py").write_text("import house.high\n")
    assert in_circles(python_imports(package)) == ["house.circle", "house.high"]
