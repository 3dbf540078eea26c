"""Bring `docs/inside.md` up to date: run the programs that draw its pictures, and write its tables."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from cellweave import sim
from cellweave.reproduce.rows import Row
from cellweave.reproduce.summary import groups_table, summary

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "inside.md"
RESULTS = ROOT / "benches" / "fidelity" / "results.json"


def rule_table() -> str:
    """Every rule set, the default first."""
    rows = [
        "| rule set | hold | half way | alone from | order | packets per ring | starts every | gap | margin |",
        "|" + "---|" * 9,
    ]
    for i, r in enumerate(sim.rule_sets()):
        words = {key: re.sub(r"(?<=[a-z])(?=[A-Z])", " ", str(r[key])).lower() for key in ("hold", "half_way", "order")}
        name = f"`{r['name']}`" + (" (default)" if i == 0 else "")
        rest = f"{r['per_ring']} | {r['start_interval']} cycles | {r['gap']} | {r['margin']}"
        rows.append(
            f"| {name} | {words['hold']} | {words['half_way']} | {r['alone_from_hops']} | {words['order']} | {rest} |"
        )
    return "\n".join(rows) + "\n"


def votes_table() -> str:
    """Every group with its verdict under the default rule set, and the counts, from the results of the bench."""
    rules = json.loads(RESULTS.read_text())["rules"]
    rows = [Row(**row) for row in next(iter(rules.values()))]
    told = summary(rows)
    counts = ", ".join(
        f"{told[key]['met']} of {told[key]['groups']} {words}"
        for key, words in (
            ("fitted", "fitted groups within 5 %"),
            ("validation", "validation groups within 25 % or with a claim that holds"),
            ("not_explained", "groups that are not explained"),
        )
    )
    return f"{groups_table(rows).markdown()}\n\nMet: {counts}.\n"


TABLES = {"rule sets": rule_table, "groups": votes_table}


def with_tables(text: str) -> str:
    """The page with every table between its two marks written anew."""
    for name, table in TABLES.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
        head, _, rest = text.partition(begin)
        _, _, tail = rest.partition(end)
        text = head + begin + table() + end + tail
    return text


def main() -> None:
    """Rewrite the tables, run the programs, keep the pictures."""
    text = with_tables(PAGE.read_text())
    PAGE.write_text(text)
    with tempfile.TemporaryDirectory() as folder:
        for program in re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            if "savefig" in program:
                environment = {**os.environ, "MPLBACKEND": "Agg"}
                subprocess.run(
                    [sys.executable, "-c", program], cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL
                )
        for picture in sorted(Path(folder).glob("*.png")):
            shutil.copy(picture, ROOT / "docs" / "pictures" / picture.name)


if __name__ == "__main__":
    main()
