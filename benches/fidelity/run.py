"""How close the simulated Cell is to the published figures, and how much the ring's mapping matters on it.

    .venv/bin/python benches/fidelity/run.py

Reproduces everything under the default rule set and, as a quick look, under every other; runs the ring of 8 under all
5,040 mappings, and some of them with four times the rounds. Writes results.json, results.md and, into build/fidelity,
the page with all pictures. About twenty minutes on two cores.
"""

from __future__ import annotations

import datetime
import json
import time
from pathlib import Path
from random import Random
from typing import Any

import cellweave as cw
from cellweave.reproduce.run import rule_sets
from cellweave.reproduce.summary import summary, votes

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "build/fidelity/page.html"
ROUNDS = 500
SAMPLE = 300


def reproduced() -> tuple[dict[str, Any], list[str]]:
    """Every row and vote of the default rule set, the page, and the counts of every rule set in a quick look."""
    done = cw.reproduce("all")
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    done.page(PAGE, force=True)
    rows = done.rows()
    lines = [
        f"Rule set `{done.rules[0]}`, exact, n = 1.",
        "",
        "| group | role | verdict | farthest row | met |",
        "|" + "--|" * 5,
    ]
    for vote in votes(rows):
        far = "" if vote.deviation is None else f"{vote.deviation:.1%}"
        lines.append(f"| {vote.group} | {vote.role} | {vote.verdict} | {far} | {'yes' if vote.met() else '**no**'} |")
    found: dict[str, Any] = {"rules": done.rules[0], "summary": summary(rows), "quick": {}}
    found["rows"] = [row for row in done.to_dict()["rows"] if row["verdict"] != "not published"]
    lines += ["", "| row | published | obtained | unit | ratio | verdict |", "|" + "--|" * 6]
    for row in found["rows"]:
        ratio = "" if row["ratio"] is None else f"{row['ratio']:.3f}"
        obtained = f"{row['obtained']:.4g}" if isinstance(row["obtained"], float) else row["obtained"]
        lines.append(f"| {row['id']} | {row['published']} | {obtained} | {row['unit']} | {ratio} | {row['verdict']} |")
    lines += ["", "Every rule set, a quick look (fewer patterns, mappings and rounds):", ""]
    lines += ["| rule set | fitted met | validation met | contradictions |", "|" + "--|" * 4]
    for name in rule_sets():
        counts = summary(cw.reproduce("all", rules=name, quick=True).rows())
        found["quick"][name] = counts
        fitted, validation = (f"{counts[role]['met']} of {counts[role]['groups']}" for role in ("fitted", "validation"))
        lines.append(f"| `{name}` | {fitted} | {validation} | {len(counts['contradictions'])} |")
    return found, lines


def mappings() -> tuple[dict[str, Any], list[str]]:
    """Wall time, and worst by best, of all mappings; how ranks agree with four times the rounds and another start."""
    start = time.perf_counter()
    every = cw.ring("qs22", rounds=ROUNDS, runs=1)
    seconds = time.perf_counter() - start
    some = [mapping for mapping, _ in Random(1).sample(every.ranked(), SAMPLE)]

    def ranked(rounds: int, seed: int) -> cw.Ring:
        return cw.ring("qs22", rounds=rounds, runs=1, seed=seed, mappings=some)

    once, longer, other = ranked(ROUNDS, 1), ranked(4 * ROUNDS, 1), ranked(ROUNDS, 2)
    found = {
        "mappings": len(every.mappings),
        "rounds": ROUNDS,
        "wall_s": seconds,
        "worst_by_best": every.worst_by_best(),
        "sample": SAMPLE,
        "spearman_4x_rounds": once.correlation(longer),
        "spearman_other_start": once.correlation(other),
    }
    lines = [
        f"All {found['mappings']} mappings of the ring of 8, both ways, 1 kB, {ROUNDS} rounds, one run: "
        f"{seconds:.0f} s of wall time, worst by best {found['worst_by_best']:.2f}. On {SAMPLE} of them, "
        f"rank correlation with four times the rounds {found['spearman_4x_rounds']:.2f}, "
        f"with another start state {found['spearman_other_start']:.2f}."
    ]
    return found, lines


def main() -> None:
    """Measure, write the results, and print where they are."""
    ring, ring_lines = mappings()
    rows, row_lines = reproduced()
    data = {"date": datetime.date.today().isoformat(), "cellweave": cw.__version__, "ring": ring, **rows}
    (HERE / "results.json").write_text(json.dumps(data, indent=1) + "\n")
    (HERE / "results.md").write_text("\n".join([*ring_lines, "", *row_lines]) + "\n")
    print(f"wrote {HERE / 'results.md'} and {PAGE}")


if __name__ == "__main__":
    main()
