"""The table of what is compiled into the wheel, written from Cargo's own data.

``python ci/licences.py`` rewrites it in docs/installing.md; a test compares.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "installing.md"
TABLE = re.compile(r"(<!-- licences -->\n).*?(<!-- end of licences -->\n)", re.DOTALL)
SHIPPED = {"cellweave-python", "cellweave-mpi", "cellweave-launch"}
"""The crates that become the wheel's binaries."""


def crates() -> list[tuple[str, str, str]]:
    """Name, version and licence of other people's crates whose code is in the binaries."""
    line = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", "x86_64-unknown-linux-gnu"]
    data = json.loads(subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
    package: dict[str, Any] = {p["id"]: p for p in data["packages"]}
    needs: dict[str, Any] = {node["id"]: node["deps"] for node in data["resolve"]["nodes"]}
    left = [at for at, p in package.items() if p["name"] in SHIPPED]
    seen: set[str] = set()
    while left:
        at = left.pop()
        # What only writes code while it is compiled is in no binary.
        if at in seen or any("proc-macro" in target["kind"] for target in package[at]["targets"]):
            continue
        seen.add(at)
        left += [need["pkg"] for need in needs[at] if any(kind["kind"] is None for kind in need["dep_kinds"])]
    others = (package[at] for at in seen if package[at]["source"])
    return sorted((p["name"], p["version"], p["license"]) for p in others)


def written(text: str) -> str:
    """The page with its table as it should be."""
    rows = ["| crate | version | licence |", "|---|---|---|"]
    rows += [f"| {name} | {version} | {licence} |" for name, version, licence in crates()]
    return TABLE.sub(lambda match: match[1] + "\n".join(rows) + "\n" + match[2], text)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text()))
    print(f"wrote {PAGE}")
