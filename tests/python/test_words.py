"""One word per concept: the types in the glossary of ARCHITECTURE.md exist, and no crate takes another one's word."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(r"^\| \*(.+?)\* \| (.+?) \| (.+?) \|$", re.MULTILINE)
NAMED = re.compile(r"`(\w+)::(\w+)(?:\.(\w+))?`")
DEFINITION = re.compile(
    r"^(?P<public>pub )?(?:pub\([\w: ]+\) )?(?:unsafe )?(?P<kind>struct|enum|union|trait|type) (?P<name>\w+)",
    re.MULTILINE,
)


# The same type name in two crates, each with its reason.
TWINS = {
    "Graph": "crates/python wraps it",
    "Machine": "crates/python wraps it",
    "Plan": "crates/python wraps it",
    "Ranking": "crates/python wraps it",
    "Simulation": "crates/python wraps it",
}

# Nobody imports them: mpi becomes a C library, python a module of Python. Their `pub` exports no name.
LEAVES = {"mpi", "python"}

# Too general for any crate: the name must say whose they are, as PlanOptions does.
BARE = {"Options", "Progress"}


class Definition(NamedTuple):
    """Where a type is defined, and whether other crates may see it."""

    crate: str
    file: str
    public: bool
    text: str


def definitions() -> dict[str, list[Definition]]:
    """Every type that a crate defines, by its name; modules of tests aside."""
    found: dict[str, list[Definition]] = defaultdict(list)
    for path in sorted((ROOT / "crates").glob("*/src/**/*.rs")):
        if "tests" in path.relative_to(ROOT).parts or path.name == "tests.rs":
            continue
        text = path.read_text()
        for match in DEFINITION.finditer(text):
            crate, file = path.relative_to(ROOT).parts[1], str(path.relative_to(ROOT))
            body = text[match.start() : text.find("\n}", match.start())]
            found[match["name"]].append(Definition(crate, file, bool(match["public"]), body))
    return found


def glossary() -> dict[str, str]:
    """Word -> where it is defined, as the table says."""
    section = (ROOT / "ARCHITECTURE.md").read_text().split("\n## Glossary\n")[1].split("\n## ")[0]
    return {match[1]: match[3] for match in ROW.finditer(section)}


def missing(named: str, found: dict[str, list[Definition]]) -> list[str]:
    """What a row of the glossary names and the tree does not have."""
    faults = []
    for crate, name, field in NAMED.findall(named):
        here = [d for d in found.get(name, []) if d.crate == crate]
        if not here:
            faults.append(f"crate `{crate}` defines no `{name}`")
        elif field and not any(re.search(rf"\b{field}: ", d.text) for d in here):
            faults.append(f"`{crate}::{name}` has no field `{field}`")
    return faults


def twins(found: dict[str, list[Definition]]) -> dict[str, list[str]]:
    """Type names that one crate exports and another one defines as well, with their files."""
    return {
        name: [d.file for d in here]
        for name, here in found.items()
        if any(d.public and d.crate not in LEAVES for d in here) and len({d.crate for d in here}) > 1
    }


def test_no_crate_defines_a_type_that_another_one_exports() -> None:
    found = twins(definitions())
    assert {name: files for name, files in found.items() if name not in TWINS} == {}
    assert sorted(set(TWINS) - set(found)) == [], "exceptions that nothing needs any more"


def test_options_and_progress_say_in_their_name_whose_they_are() -> None:
    assert {name: [d.file for d in here] for name, here in definitions().items() if name in BARE} == {}


def test_every_word_of_the_glossary_is_defined_where_it_says() -> None:
    found, rows = definitions(), glossary()
    assert len(rows) > 40, "the glossary's table was not found"
    assert {word: faults for word, named in rows.items() if (faults := missing(named, found))} == {}


def test_the_glossary_says_each_word_once() -> None:
    section = (ROOT / "ARCHITECTURE.md").read_text().split("\n## Glossary\n")[1].split("\n## ")[0]
    words = [word for row in ROW.finditer(section) for word in row[1].split(", ")]
    assert sorted(words) == sorted(set(words))


def test_a_twin_is_found() -> None:
    one, two = Definition("machine", "a.rs", True, ""), Definition("run", "b.rs", False, "")
    assert twins({"Place": [one, two], "Port": [two], "Task": [one, one]}) == {"Place": ["a.rs", "b.rs"]}


@pytest.mark.parametrize(
    ("named", "fault"),
    [
        ("`machine::Widget`", "crate `machine` defines no `Widget`"),
        ("`sim::Machine`", "crate `sim` defines no `Machine`"),
        ("`machine::Machine.colour`", "`machine::Machine` has no field `colour`"),
    ],
)
def test_a_wrong_row_is_named(named: str, fault: str) -> None:
    assert missing(named, definitions()) == [fault]
