"""The pipeline on a simulated Cell, its eight stages placed by each objective: predicted beside achieved.

    python placing.py [FRAMES]

Once with the costs of app.toml; once the eight stages alone, as if computing took next to nothing, so that only data
between local stores counts. Tasks have no kernels here: they take their time and send zeros. Tables in Markdown.
"""

import sys
from pathlib import Path
from statistics import median

import cellweave as cw
import tomllib

FRAMES = int(sys.argv[1]) if len(sys.argv) > 1 else 500
ON = "cell"
# What a task costs where no computing counts, in ns.
NOTHING = 100.0

app = tomllib.loads(Path("app.toml").read_text())
tasks = {task["name"]: task["cost_ns"] for task in app["task"]}
stages = [name for name in tasks if name not in ("read", "write")]  # those use files, on the PPE
edges = [(edge["from"].partition(".")[0], edge["to"].partition(".")[0], edge["bytes"]) for edge in app["edge"]]
traffic = [[sum(size for a, b, size in edges if (a, b) == (one, other)) for other in stages] for one in stages]


def graph(computing: bool) -> cw.Graph:
    """The pipeline without kernels; its stages alone where no computing counts."""
    made = cw.Graph(app["name"])
    own = list(tasks) if computing else stages
    for name in own:
        made.task(name, cost_ns=tasks[name] if computing else NOTHING)
    for sender, receiver, size in edges:
        if sender in own and receiver in own:
            made.edge(sender, receiver, bytes=size)
    return made


def chosen() -> dict[str, list[int]]:
    """The SPE of each stage, by what chose it."""
    placed = {name: cw.place(traffic, ON, name).permutation for name in ("rings", "model", "distance")}
    ours = cw.place(traffic, ON, "simulated", runs=60, moves=20_000)
    named = {a["name"]: a["permutation"] for a in ours.to_dict()["affinities"]}
    return named | placed | {"simulated": ours.permutation}


def ran(made: cw.Graph, spes: list[int]) -> cw.Result:
    """The stream with each stage on its SPE; the others are planned around them."""
    mapping = {stage: f"SPE{spe}" for stage, spe in zip(stages, spes, strict=True)}
    return cw.run(made, ON, mapping=mapping, instances=FRAMES)


for title, computing in (("costs of app.toml", True), (f"stages alone, {NOTHING:g} ns each", False)):
    made = graph(computing)
    print(f"| {title} | SPEs of the stages | predicted, frames/s | achieved | ratio |")
    print("|---|---|---:|---:|---:|")
    rates = []
    for name, spes in chosen().items():
        result = ran(made, spes)
        rates.append(result.throughput_per_s)
        told = f"{result.predicted_per_s:,.0f} | {result.throughput_per_s:,.0f} | {result.ratio:.3f}"
        print(f"| {name} | {' '.join(map(str, spes))} | {told} |")
    print(f"\nBest by worst: {max(rates) / min(rates):.3f}; by the median: {max(rates) / median(rates):.3f}\n")
