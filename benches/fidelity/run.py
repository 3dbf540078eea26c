"""How near the simulated Cell is to what was published, and how much the ring's mapping matters on it.

    .venv/bin/python benches/fidelity/run.py

Reproduces everything in full under every rule set; runs the ring of 8 under all 5,040 mappings, and some of them with
more rounds and from another start state. Writes results.json, results.md and, into build/fidelity, the page with all
pictures. What was found is kept in build/fidelity/found: a run that was stopped goes on where it was. Hours of one
core. `--only-default` leaves the other rule sets out, `--quick-others` gives the ring a quick look only under them, and
`--tables` writes the tables again from results.json.
"""

from __future__ import annotations

import argparse
import datetime
import json
import time
from pathlib import Path
from random import Random
from typing import Any

import cellweave as cw
from cellweave.reproduce.known import experiments
from cellweave.reproduce.rows import Row
from cellweave.reproduce.run import rule_sets
from cellweave.reproduce.summary import comparison_table, groups_table, summary_table

HERE = Path(__file__).resolve().parent
BUILD = HERE.parents[1] / "build/fidelity"
# Curves of hundreds of points, which the page draws.
_CURVES = {f"dma-benchmark/fig-A.{i}" for i in range(1, 17)} | {"dma-benchmark/computing", "dma-benchmark/alternating"}
ROUNDS = 100
SAMPLE = 300


def reproduced(names: list[str], quick_others: bool) -> dict[str, Any]:
    """Every row under every rule set named, and the page; after the first, the longest may have a quick look only."""
    order = list(experiments())
    voting = {name: e for name, e in experiments().items() if e.groups}
    long = [name for name in voting if name.startswith("ring-mapping/fig-")]
    short = [name for name in voting if name not in long]
    done = cw.reproduce("all", cache=BUILD / "found")
    for name in names[1:]:
        for ids, quick in ((short, False), (long, quick_others)):
            done.results += cw.reproduce(ids, rules=name, quick=quick, cache=BUILD / "found").results
        done.rules.append(name)
    done.results.sort(key=lambda result: (order.index(result.experiment.id), names.index(result.rules)))
    done.page(BUILD / "page.html", BUILD / "pictures", force=True)
    rows = {name: [row.to_dict() for row in done.rows(name) if row.role != "shown"] for name in done.rules}
    shown = [row.to_dict() for row in done.rows() if row.role == "shown" and row.group not in _CURVES]
    return {"ring_quick": names[1:] if quick_others else [], "rules": rows, "shown": shown}


def mappings() -> dict[str, Any]:
    """Wall time, and worst by best, of all mappings; how ranks agree with four times the rounds and another start."""
    start = time.perf_counter()
    every = cw.ring("qs22", rounds=ROUNDS, runs=1)
    seconds = time.perf_counter() - start
    some = [mapping for mapping, _ in Random(1).sample(every.ranked(), SAMPLE)]

    def ranked(rounds: int, seed: int) -> cw.Ring:
        return cw.ring("qs22", rounds=rounds, runs=1, seed=seed, mappings=some)

    once, longer, other = ranked(ROUNDS, 1), ranked(4 * ROUNDS, 1), ranked(ROUNDS, 2)
    return {
        "mappings": len(every.mappings),
        "rounds": ROUNDS,
        "wall_s": seconds,
        "worst_by_best": every.worst_by_best,
        "sample": SAMPLE,
        "spearman_4x_rounds": once.correlation(longer),
        "spearman_other_start": once.correlation(other),
    }


def tables(found: dict[str, Any]) -> str:
    """What was found, for people."""
    rows = {name: [Row(**row) for row in own] for name, own in found["rules"].items()}
    default, *others = rows
    lines = [f"Rule set `{default}`, {found['date']}, exact, n = 1.", ""]
    for table in (summary_table(rows[default], default), groups_table(rows[default])):
        lines += [table.markdown(), ""]
    lines += ["| row | published | obtained | unit | ratio | verdict |", "|" + "---|" * 6]
    for row in rows[default]:
        ratio = "" if row.ratio is None else f"{row.ratio:.3f}"
        obtained = f"{row.obtained:.4g}" if isinstance(row.obtained, float) else row.obtained
        lines.append(f"| {row.id} | {row.published} | {obtained} | {row.unit} | {ratio} | {row.verdict} |")
    if others:
        quick = ", ".join(f"`{name}`" for name in found["ring_quick"])
        looked = f"in full, but for a quick look at the figures of ring-mapping under {quick}" if quick else "in full"
        lines += ["", f"Every rule set, {looked}:", "", comparison_table(rows).markdown()]
    lines += ["", "Obtained, without a vote:", "", "| row | what | obtained | unit |", "|" + "---|" * 4]
    for row in (Row(**row) for row in found["shown"]):
        lines.append(f"| {row.id} | {row.quantity}, {row.conditions} | {row.obtained:.4g} | {row.unit} |")
    ring = found["ring"]
    lines += [
        "",
        f"All {ring['mappings']} mappings of the ring of 8, both ways, 1 kB, {ring['rounds']} rounds, one run: "
        f"{ring['wall_s']:.0f} s of wall time, worst by best {ring['worst_by_best']:.2f}. On {ring['sample']} of them, "
        f"rank correlation with four times the rounds {ring['spearman_4x_rounds']:.2f}, "
        f"with another start state {ring['spearman_other_start']:.2f}.",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, write, and say where."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only-default", action="store_true", help="only the default rule set")
    parser.add_argument("--quick-others", action="store_true", help="a quick look at the ring under other rule sets")
    parser.add_argument("--tables", action="store_true", help="measure nothing")
    asked = parser.parse_args()
    results = HERE / "results.json"
    if not asked.tables:
        BUILD.mkdir(parents=True, exist_ok=True)
        found = {
            "date": datetime.date.today().isoformat(),
            "cellweave": cw.__version__,
            **reproduced(rule_sets()[:1] if asked.only_default else rule_sets(), asked.quick_others),
            "ring": mappings(),
        }
        results.write_text(json.dumps(found).replace("}, {", "},\n {") + "\n")  # a row per line
    (HERE / "results.md").write_text(tables(json.loads(results.read_text())))
    print(f"wrote {HERE / 'results.md'}")


if __name__ == "__main__":
    main()
