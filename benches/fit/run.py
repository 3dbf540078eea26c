"""Predicted by measured time of random patterns that no fit saw; see README.md."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from random import Random
from statistics import mean, median
from typing import Any

import cellweave as cw
from cellweave.reproduce.patterns import pairs_with_repeats

HERE = Path(__file__).parent
# Another than `probe`'s 1, with which what is fitted is drawn.
SEED = 20091218
PATTERNS = 100
# As many as the paper: 49 for 16 SPEs.
TRANSFERS_EACH = 3
# Two small commands in flight for each: an SPE that reads nine times still has room for all of them. The limits of a
# computer are those of the largest transfers that were measured: small ones stay in nearer caches.
SIZE, BUFFERS = 4096, 2
SIMULATED_REPEATS = 64
GOALS = {"simulated": 13.0, "computer": 20.0}
CORES_FOR_A_GOAL = 4


def slowest_ns(machine: dict[str, Any], pairs: list[tuple[str, str]], bytes_each: int) -> float:
    """The time of the slowest limit, for (reader, source)."""

    def ns(limit: dict[str, Any]) -> float:
        blocks = [(set(b["from"]), set(b["to"])) for b in limit["pairs"]]
        held = sum(any(s in a and r in b for a, b in blocks) for r, s in pairs)
        return 1e9 * held * bytes_each / float(limit["capacity_bytes_per_s"])

    return max(map(ns, machine["limits"]))


def alone_gbs(machine: dict[str, Any], pairs: list[tuple[str, str]]) -> float:
    """What pairs moved one after the other when they were measured."""
    place = {e["name"]: i for i, e in enumerate(machine["elements"])}
    bandwidth = machine["distances"]["bandwidth_bytes_per_s"]
    return len(pairs) / sum(1e9 / float(bandwidth[place[r]][place[s]]) for r, s in pairs)


def look(on: str) -> dict[str, Any]:
    """Fits, measures what the fit never saw, predicts it."""
    found = cw.probe(on, machine_file=True)
    fitted = found.to_machine().to_dict()
    workers = [e["name"] for e in fitted["elements"] if fitted["roles"][e["kind"]] != "general"]
    random = Random(SEED)
    most = TRANSFERS_EACH * len(workers) + 1
    drawn = [pairs_with_repeats(len(workers), random.randint(2, most), random) for _ in range(PATTERNS)]
    written = [",".join(f"{reader}<-{source}" for reader, source in pairs) for pairs in drawn]
    if found.exact:
        options: dict[str, Any] = {"sizes": [SIZE], "buffers": [BUFFERS], "repeats": SIMULATED_REPEATS}
    else:
        size, buffers = max((m["size_bytes"], m["buffers"]) for m in found.measurements if m["partners"] == 1)
        options = {"sizes": [size], "buffers": [buffers]}
    measured = cw.probe(on, written, **options).measurements
    models = {"fitted": fitted}
    if found.exact:
        models["preset"] = cw.Machine.load(on).to_dict()
    ratios: dict[str, list[float]] = {name: [] for name in models}
    for pairs, m in zip(drawn, measured, strict=True):
        ends = [(workers[reader], workers[source]) for reader, source in pairs]
        for name, machine in models.items():
            ns = slowest_ns(machine, ends, m["size_bytes"] * m["repeats"])
            ratio = ns / (1e3 * m["span_us"]["p50"])
            # A computer changes within seconds: a pattern counts beside its own transfers alone, then and now.
            ratios[name].append(ratio if found.exact else ratio * alone_gbs(machine, ends) / m["alone_gbs"])
    return {
        "machine": on,
        "target": found.target,
        "identity": found.to_dict()["identity"],
        "exact": found.exact,
        "elements": len(workers),
        "patterns": PATTERNS,
        "transfers": [len(pairs) for pairs in drawn],
        "ratios": ratios,
        "notes": found.notes,
        "limits": [
            {"name": x["name"], "gbs": x["capacity_bytes_per_s"] / 1e9, "error": x["error"]} for x in fitted["limits"]
        ],
    }


def error(ratios: list[float]) -> float:
    """Mean of |ratio - 1| in percent."""
    return 100 * mean(abs(ratio - 1) for ratio in ratios)


def text(results: list[dict[str, Any]]) -> str:
    """`results.md`."""
    lines = ["# Fitted limits on patterns that the fit never saw", ""]
    lines += ["| machine | limits | patterns | mean error | goal | mean ratio | median ratio | within 25 % |"]
    lines += ["|---|---|---|---|---|---|---|---|"]
    for r in results:
        simulated, cores = r["exact"], r["elements"]
        goal = GOALS["simulated"] if simulated else GOALS["computer"] if cores >= CORES_FOR_A_GOAL else None
        for name, ratios in r["ratios"].items():
            near = 100 * mean(abs(ratio - 1) <= 0.25 for ratio in ratios)
            asked = f"{goal:.0f} %" if goal and name == "fitted" else "none" if name == "fitted" else ""
            where = r["target"] if simulated else f"{r['identity'].get('cpu_model', '')}, {cores} cpus"
            lines.append(
                f"| {where} | {name} | {len(ratios)} | {error(ratios):.1f} % | {asked} | {mean(ratios):.2f} "
                f"| {median(ratios):.2f} | {near:.0f} % |"
            )
    lines += ["", "Published (`streaming-schedule`, Figure 5, a real QS22): mean error 13 %, mean ratio 0.89.", ""]
    for r in results:
        lines += [f"## {r['target']}", "", *[f"- {note}" for note in r["notes"]], ""]
        shared = [
            x for x in r["limits"] if not x["name"].startswith(("input", "output")) and " reads SPE" not in x["name"]
        ]
        lines += ["| limit | GB/s | error |", "|---|---|---|"]
        for x in shared:
            says = "" if x["error"] is None else f"{100 * x['error']:.1f} %"
            lines.append(f"| {x['name']} | {x['gbs']:.2f} | {says} |")
        lines.append("")
    return "\n".join(lines)


def draw(results: list[dict[str, Any]], path: Path) -> None:
    """The distribution of predicted by measured time, a row per machine."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    import numpy as np

    figure, axes = plt.subplots(len(results), 1, figsize=(7, 2.6 * len(results)), squeeze=False, layout="constrained")
    bins = list(np.arange(0.3, 2.05, 0.05))
    for ax, r in zip(axes[:, 0], results, strict=True):
        for name, ratios in r["ratios"].items():
            shown = np.clip(ratios, bins[0], bins[-1])
            label = f"{name}: mean error {error(ratios):.1f} %"
            ax.hist(shown, bins=bins, histtype="stepfilled", alpha=0.5, label=label)
        ax.axvline(1, color="black", linewidth=0.8)
        ax.set_title(r["target"] if r["exact"] else r["identity"].get("cpu_model", r["target"]), fontsize=9)
        ax.set_ylabel("patterns")
        ax.legend(fontsize=8)
    axes[-1, 0].set_xlabel("predicted by measured time (the ends hold what lies beyond)")
    figure.savefig(path, dpi=120)


def main() -> None:
    machines = sys.argv[1:] or ["qs22", *(["host"] if len(cw.Machine.host().elements) > 1 else [])]
    results = [look(machine) for machine in machines]
    (HERE / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    (HERE / "results.md").write_text(text(results))
    draw(results, HERE / "results.png")
    print(text(results).split("\n\n## ")[0])


if __name__ == "__main__":
    main()
