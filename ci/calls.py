"""The classes `Spe` and `Ppe` of the stub, written from the table of the simulated Cell's calls.

``python ci/calls.py`` rewrites them; a test compares.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "crates" / "sim" / "src" / "table.rs"
STUB = ROOT / "python" / "cellweave" / "_core.pyi"
MARKED = re.compile(r"(# calls: written by ci/calls\.py\n).*?(# end of calls\n)", re.DOTALL)
CLASS = re.compile(r"^(?P<name>\w+) \w+ \{\n(?P<rows>.*?)^\}$", re.MULTILINE | re.DOTALL)
CALL = re.compile(r"^    (?:call|step) (?P<name>\w+)\((?P<arguments>[^)]*)\)(?: -> \S+)?\s+=> .*?;$", re.MULTILINE)
ROW = re.compile(r"^    (?:call|step) ", re.MULTILINE)

# What Python gives for a type of the table; for all others a whole number.
PYTHON = {
    "Payload": "bytes | bytearray",
    "ListElements": "Iterable[tuple[int, int]]",
    "DmaKind": "str",
    "bool": "bool",
}


def calls() -> dict[str, list[tuple[str, list[str]]]]:
    """Each class with its calls: a name, and the arguments as the table has them."""
    found = {}
    for kind in CLASS.finditer(TABLE.read_text()):
        rows = [(row["name"], row["arguments"].split(", ")) for row in CALL.finditer(kind["rows"])]
        assert len(rows) == len(ROW.findall(kind["rows"])), f"a row of {kind['name']} is not like the others"
        found[kind["name"]] = rows
    return found


def argument(text: str) -> str:
    """An argument in Python: `tag: Tag = 0` is `tag: int = 0`."""
    name, _, rest = text.partition(": ")
    kind, equals, default = rest.partition(" = ")
    return f"{name}: {PYTHON.get(kind, 'int')}{equals}{default.capitalize()}"


def classes() -> str:
    """The classes of the stub."""
    texts = []
    for kind, rows in calls().items():
        lines = [f"class {kind}(Unit):", f"    def __new__(cls, number: int) -> {kind}: ..."]
        for name, arguments in rows:
            inside = ", ".join(["self", *map(argument, filter(None, arguments))])
            lines.append(f"    def {name}({inside}) -> Operation: ...")
        texts += [*lines, ""]
    return "\n".join([*texts, ""])


def written(text: str) -> str:
    """The stub with its classes as they should be."""
    return MARKED.sub(lambda match: match[1] + classes() + match[2], text)


if __name__ == "__main__":
    STUB.write_text(written(STUB.read_text()))
