#!/usr/bin/env bash
# Writes the tables of docs/running-on-a-cell.md: how near streams on a Cell come to their predictions, and what keeps
# them away. They are simulated: the same on every computer.
set -euo pipefail
cd "$(dirname "$0")/.."
share() { cargo run --quiet --release --locked -p cellweave-streams --example share -- "$@"; }
tables=$(mktemp)
trap 'rm -f "$tables"' EXIT
effects() { share effects "$1" | grep -v "| 16 |"; }
{ share; echo; effects "vocoder | qs22:ppe=1 | 1"; for ccr in 0.02 0.1; do effects "$ccr | qs22:ppe=1 | 1" | tail -n +3; done; } >"$tables"
python3 - "$tables" docs/running-on-a-cell.md <<'PYTHON'
import re
import sys
from pathlib import Path

tables, page = Path(sys.argv[1]).read_text().strip(), Path(sys.argv[2])
marks = re.compile(r"(<!-- effects: ci/effects.sh -->\n).*?(<!-- end of effects -->)", re.DOTALL)
text, n = marks.subn(lambda found: f"{found[1]}{tables}\n{found[2]}", page.read_text())
assert n == 1, f"{page}: no place for the tables"
page.write_text(text)
PYTHON
