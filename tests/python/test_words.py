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


def test_every_word_of_the_glossary_is_defined_where_it_says() -> None:
    found, rows = definitions(), glossary()
    assert len(rows) > 40, "the glossary's table was not found"
    assert {word: faults for word, named in rows.items() if (faults := missing(named, found))} == {}


def test_the_glossary_says_each_word_once() -> None:
    section = (ROOT / "ARCHITECTURE.md").read_text().split("\n## Glossary\n")[1].split("\n## ")[0]
    words = [word for row in ROW.finditer(section) for word in row[1].split(", ")]
    assert sorted(words) == sorted(set(words))


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
