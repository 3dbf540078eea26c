"""Is the prediction true, and is every difference explained? Twenty applications of as many sorts.

    .venv/bin/python benches/truth/run.py [NAME...] [--rounds N] [--tables]

Each application is profiled and planned by `auto`, `greedy` and `delegate`, and with every task on one core; the plans
run in interleaved rounds. Writes results.json and results.md. Names measure these applications anew and leave the
others as they are in results.json; `--tables` writes results.md again.
"""

from __future__ import annotations

import argparse
import datetime
import json
import statistics
import subprocess
from pathlib import Path
from typing import Any

import cellweave as cw
from applications import Application, applications
from cellweave.report.table import Table
from cellweave.report.units import rate_per_s

HERE = Path(__file__).resolve().parent
BUILD = HERE / "build"
RESULTS = HERE / "results.json"
PLANS = ("auto", "one core", "greedy", "delegate")
SECONDS = 0.4
"""A run's length by its prediction."""
WITHIN = (0.85, 1.15)
"""Goal: `auto`'s ratio in 80 % of the runs; all others explained."""
OF_BEST = 0.95
"""Goal: `auto` by the fastest of the four, in every application."""
NAMED = 0.05
"""Differences of at least this share are kept in results.json."""
UNEXPLAINED = 0.1
"""A run is explained when no more than this share of the predicted period is called unexplained."""


def library() -> str:
    """Build kernels.c; its path."""
    BUILD.mkdir(exist_ok=True)
    path = BUILD / "libtruth.so"
    include = Path(cw.__file__).parent / "include"
    flags = ["-O2", "-shared", "-fPIC", f"-I{include}"]
    subprocess.run(["gcc", *flags, str(HERE / "kernels.c"), "-o", str(path), "-lm"], check=True)
    (BUILD / "truth_kernels.py").write_text((HERE / "truth_kernels.py").read_text())
    return str(path)


def plans(graph: cw.Graph) -> dict[str, cw.Plan]:
    """The four plans."""
    first = cw.Machine.load("host").to_dict()["elements"][0]["name"]
    one = {task["name"]: first for task in graph.to_dict()["task"]}
    found = {"auto": cw.plan(graph, "host"), "one core": cw.plan(graph, "host", mapping=one)}
    for method in ("greedy", "delegate"):
        try:
            found[method] = cw.plan(graph, "host", method=method)
        except (cw.RequestError, cw.RunError) as e:  # a method may refuse a graph, and says why
            print(f"  {method}: {e}")
    return found


def explained(result: dict[str, Any]) -> bool:
    """Whether the difference has names."""
    left = sum(abs(d["share"]) for d in result["differences"] if d["kind"] == "unexplained")
    return left <= UNEXPLAINED


def measured(app: Application, rounds: int) -> dict[str, Any]:
    """Every plan, `rounds` times."""
    path = BUILD / f"{app['name']}.json"
    path.write_text(json.dumps(app))
    graph = cw.profile(path).graph
    made = plans(graph)
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in made}
    for round_ in range(rounds):
        # Each round begins with another plan: none is always the first after the others' pause.
        order = [*made.items()][round_ % len(made) :] + [*made.items()][: round_ % len(made)]
        for name, plan in order:
            instances = max(200, int(plan.throughput_per_s * SECONDS))
            result = cw.run(graph, plan=plan, instances=instances).to_dict()
            keys = ("throughput_per_s", "steady_per_s", "predicted_per_s", "ratio", "short")
            parts = [d for d in result["differences"] if abs(d["share"]) >= NAMED]
            runs[name].append(
                {
                    **{key: result[key] for key in keys},
                    "explained": explained(result),
                    "explanation": result["explanation"],
                    "differences": [{key: d[key] for key in ("kind", "subject", "share")} for d in parts],
                }
            )
    elements = {name: len({*plan.mapping.values()}) for name, plan in made.items()}
    return {"tasks": len(app["task"]), "elements": elements, "runs": runs}


def middle(runs: list[dict[str, Any]], key: str) -> float:
    """The median of the runs."""
    return statistics.median(run[key] for run in runs)


def table(found: dict[str, Any]) -> Table:
    """A row per application."""
    columns = ["application", ">tasks", ">cores", ">predicted", ">achieved", ">ratio", ">one core's ratio"]
    rows = Table("", [*columns, ">of the best", "explained by"])
    for name, one in found.items():
        auto = one["runs"]["auto"]
        best = max(middle(runs, "throughput_per_s") for runs in one["runs"].values())
        run = min(auto, key=lambda r: abs(r["ratio"] - middle(auto, "ratio")))
        named = [f"{d['kind']} {d['subject']} {d['share']:+.2f}" for d in run["differences"] if abs(d["share"]) >= 0.05]
        rows.rows.append(
            [
                name,
                str(one["tasks"]),
                str(one["elements"]["auto"]),
                rate_per_s(middle(auto, "predicted_per_s")),
                rate_per_s(middle(auto, "throughput_per_s")),
                f"{middle(auto, 'ratio'):.2f}",
                f"{middle(one['runs']['one core'], 'ratio'):.2f}",
                f"{middle(auto, 'throughput_per_s') / best:.2f}",
                "; ".join(named[:3]) if not 0.9 <= run["ratio"] <= 1.1 else "",
            ]
        )
    return rows


def goals(found: dict[str, Any]) -> list[str]:
    """Each goal beside what was reached."""
    runs = [run for one in found.values() for run in one["runs"]["auto"]]
    inside = [run for run in runs if WITHIN[0] <= run["ratio"] <= WITHIN[1]]
    outside = [run for run in runs if run not in inside]
    named = [run for run in outside if run["explained"]]
    every = [run for one in found.values() for plan in one["runs"].values() for run in plan]
    errors = [abs(run["ratio"] - 1) for run in every]
    of_best = {
        name: middle(one["runs"]["auto"], "throughput_per_s")
        / max(middle(r, "throughput_per_s") for r in one["runs"].values())
        for name, one in found.items()
    }
    below = ", ".join(f"{name} {share:.2f}" for name, share in of_best.items() if share < OF_BEST)
    far = [run for run in every if abs(run["ratio"] - 1) > 0.25]
    return [
        f"`auto`'s ratio from {WITHIN[0]} to {WITHIN[1]} in {len(inside)} of {len(runs)} runs (goal 80 %); "
        f"{len(named)} of the {len(outside)} others explained (goal: all).",
        f"`auto` reaches {OF_BEST} of the fastest in {sum(s >= OF_BEST for s in of_best.values())} of {len(of_best)} "
        f"applications (goal: all){': below it ' + below if below else ''}.",
        f"Error of the prediction over all {len(every)} runs of all plans: median {statistics.median(errors):.1%} "
        f"(goal 10 %), {sum(e <= 0.15 for e in errors) / len(errors):.0%} within 15 % (goal 90 %); "
        f"{sum(run['explained'] for run in far)} of the {len(far)} beyond 25 % explained (goal: all).",
    ]


def write(results: dict[str, Any]) -> None:
    """results.md."""
    found = results["applications"]
    lines = [
        "# Is the prediction true?",
        "",
        f"{results['date']}, {results['machine']}, {len(found)} applications, medians of {results['rounds']} rounds.",
        "",
        *(f"- {goal}" for goal in goals(found)),
        "",
        table(found).markdown(),
        "",
        "What `run` says of every run of `auto` outside 0.9 to 1.1:",
        "",
    ]
    for name, one in found.items():
        for run in one["runs"]["auto"]:
            if run["explanation"]:
                lines.append(f"- {name}, ratio {run['ratio']:.2f}: {run['explanation']}")
    (HERE / "results.md").write_text("\n".join(lines) + "\n")


def main() -> None:
    """Measure, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tables", action="store_true")
    arguments = parser.parse_args()
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"applications": {}}
    if not arguments.tables:
        every = applications(library())
        for name in arguments.names or every:
            results["applications"][name] = measured(every[name], arguments.rounds)
            auto = results["applications"][name]["runs"]["auto"]
            print(name, *(f"{run['ratio']:.2f}" for run in auto), auto[-1]["explanation"], flush=True)
            results["date"] = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
            results["rounds"] = arguments.rounds
            host = cw.Machine.load("host").to_dict()
            results["machine"] = host.get("description") or host["name"]
            results["applications"] = {n: results["applications"][n] for n in every if n in results["applications"]}
            RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    write(results)


if __name__ == "__main__":
    main()
