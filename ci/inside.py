"""Bring `docs/inside.md` up to date: run the programs that draw its pictures, and write its table of rule sets."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from cellweave import sim

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "inside.md"
BEGIN, END = "<!-- rule sets -->\n", "<!-- end of rule sets -->\n"


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


def main() -> None:
    """Rewrite the table, run the programs, keep the pictures."""
    text = PAGE.read_text()
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    PAGE.write_text(head + BEGIN + rule_table() + END + tail)
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
