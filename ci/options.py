"""The tables of options in the book, written from what the core knows of each verb.

``python ci/options.py`` rewrites them; a test compares.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from cellweave import _core
from cellweave.cli import generate, place, plan, probe, profile, run

BOOK = Path(__file__).resolve().parents[1] / "docs"
TABLE = re.compile(r"(<!-- options: (\w+) -->\n).*?(<!-- end of options -->\n)", re.DOTALL)
COMMANDS: dict[str, Any] = {
    "probe": probe.probe,
    "place": place.place,
    "profile": profile.profile,
    "plan": plan.plan,
    "run": run.run,
    "daggen": generate.daggen,
}


def table(verb: str) -> str:
    """A row per option: the flag, the argument in Python, what it means, what is allowed, the default."""
    rows = ["| flag | in Python | what it means | allowed | default |", "|---|---|---|---|---|"]
    flags = COMMANDS[verb].flags if verb in COMMANDS else {}
    for field in _core.options(verb):
        flag = f"`{flags[field.name]}`" if field.name in flags else ""
        default = "" if field.default in (None, [], {}) else f"`{field.default}`"
        help_text = field.help.replace("|", "\\|")
        rows.append(f"| {flag} | `{field.name}` | {help_text} | {field.allowed} | {default} |")
    return "\n".join(rows) + "\n"


def written(text: str) -> str:
    """The page with its tables as they should be."""
    return TABLE.sub(lambda match: match[1] + table(match[2]) + match[3], text)


if __name__ == "__main__":
    for page in sorted(BOOK.glob("*.md")):
        text = page.read_text()
        if written(text) != text:
            page.write_text(written(text))
            print(f"wrote {page.name}")
