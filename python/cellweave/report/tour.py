"""The tour as a page, and as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cellweave._core import __version__
from cellweave.report.table import Table
from cellweave.report.tables import machine_tables
from cellweave.report.units import number, percent, rate_per_s
from cellweave.report.web import shell
from cellweave.report.web.bars import Bar, bars
from cellweave.report.web.graph import draw_graph, task_figures
from cellweave.report.web.kernels import task_costs
from cellweave.report.web.machine import busy_of, draw_distances, draw_loads, loads_of
from cellweave.report.web.marks import fold, key, tag, text
from cellweave.report.web.table import framed
from cellweave.report.web.timeline import draw_timeline

if TYPE_CHECKING:
    from cellweave.tour import Contest, Tour

_NEAR = 0.15  # predictions further off than this need a reason
_TOLD_APART = 12  # tasks that get colours of their own
_SAME = 1.05  # below this, runs of one mapping differ as much


def tour_tables(tour: Tour) -> list[Table]:
    """What each mapping was predicted to reach, and reached."""
    tables = [_table(contest) for contest in tour.contests]
    tables[-1].notes += tour.notes
    return tables


def _table(contest: Contest) -> Table:
    table = Table(contest.graph.name, ["mapping", ">predicted", ">achieved", ">achieved / predicted", ">by worst"])
    for name in contest.plans:
        run, rate = contest.typical(name), contest.rate(name)
        ratio, gain = f"{run['ratio']:.2f}", number(rate / contest.rate("worst"))
        table.rows.append([name, rate_per_s(run["predicted_per_s"]), rate_per_s(rate), ratio, gain])
    return table


def tour_page(tour: Tour) -> str:
    """The page as the text of one file."""
    machine = tour.machine.to_dict()
    elements = machine["elements"]
    names = [str(e["name"]) for e in elements]
    figure, sentence = _headline(tour.contests[0], len(elements))
    identity = tour.contests[0].typical("chosen").get("identity") or {}
    about = " \u00b7 ".join(filter(None, [str(identity.get("cpu_model") or machine["name"]), _cores(len(elements))]))
    parts = [_contest(contest, names) for contest in tour.contests]
    stream = tour.contests[0]
    if tour.trace is not None:
        tasks = [str(t["name"]) for t in stream.graph.to_dict()["task"]]
        own = {task: task for task in tasks} if len(tasks) <= _TOLD_APART else {}
        parts.insert(1, shell.section("What ran when, under the chosen mapping", draw_timeline(tour.trace, own, names)))
    planned = stream.plans["chosen"].to_dict()
    counts = {element: len(tasks) for element, tasks in planned["order"].items() if tasks}
    loads = draw_loads(elements, loads_of(planned), busy_of(stream.typical("chosen")), counts)
    distances = draw_distances(tour.distances, names)
    parts.append(
        shell.section(
            "This computer",
            tag("p", text("The elements, with their loads from the stream under the chosen mapping.")),
            loads,
            tag("h3", text("How far the cores are from each other")) + distances if distances else "",
            fold("All figures", framed(machine_tables(machine))),
        )
    )
    parts.append(shell.section("How this was measured", *_method(tour)))
    title = f"cellweave tour: {figure} {sentence}"
    foot = f"Written by cellweave {__version__}. The page is one file and asks no other computer for anything."
    return shell.page(title, shell.lead(figure, sentence, about), parts, foot)


def _cores(n: int) -> str:
    return "1 core" if n == 1 else f"{n} cores"


def _headline(stream: Contest, n: int) -> tuple[str, str]:
    """How much the mapping is worth here, and whether that was predicted."""
    chosen, default, worst = (stream.rate(name) for name in ("chosen", "default", "worst"))
    off = max(abs(1 - float(stream.typical(name)["ratio"])) for name in stream.plans)
    told = f"All three rates are within {percent(round(off, 2))} of their predictions."
    if off > _NEAR:
        told = f"Rates are up to {percent(round(off, 2))} off their predictions; what follows says why."
    reached = "is what a small stream reaches"
    if n == 1:
        return rate_per_s(chosen), f"{reached} on the one core here; there is nothing to place. {told}"
    if chosen < _SAME * worst:
        return rate_per_s(chosen), f"{reached} here, under a good mapping and a bad one alike. {told}"
    predicted = [float(stream.typical(name)["predicted_per_s"]) for name in ("chosen", "worst")]
    beside = f"{number(predicted[0] / predicted[1])} were predicted; {number(chosen / default)} times the default"
    return (
        f"{number(chosen / worst)} times",
        f"as fast as the worst mapping ({beside}): a small stream on {_cores(n)}. {told}",
    )


def _contest(contest: Contest, elements: list[str]) -> str:
    graph = contest.graph.to_dict()
    rows: list[Bar] = []
    why: list[str] = []
    for name, made in contest.plans.items():
        run, rate = contest.typical(name), contest.rate(name)
        rates = [float(r["throughput_per_s"]) for r in contest.results[name]]
        predicted = float(run["predicted_per_s"])
        spread = f"{rate_per_s(min(rates))} to {rate_per_s(max(rates))} in {len(rates)} runs"
        says = f"{name}: predicted {rate_per_s(predicted)}, achieved {rate_per_s(rate)} ({spread}). "
        says += f"The plan says {rate_per_s(made.throughput_per_s)}; its bottleneck is {made.bottleneck}."
        if abs(1 - float(run["ratio"])) > _NEAR and run.get("explanation"):
            why.append(tag("p", text(f"{name}: {run['explanation']}"), class_="note"))
        rows.append(Bar(name, f"{rate_per_s(predicted)} \u2192 {rate_per_s(rate)}", rate, says, "achieved", predicted))
    legend = key([("var(--predicted)", "predicted"), ("var(--achieved)", "achieved")])
    drawn = []
    kinds: dict[str, str] = {}
    for name in ("chosen", "default", "worst"):
        mapping = contest.plans[name].mapping
        sampled = contest.typical(name).get("sampled") or {}
        figures = task_figures(graph, task_costs(graph, mapping, kinds), sampled)
        drawn.append(draw_graph(graph, mapping, elements, figures))
    return shell.section(
        f"The {contest.graph.name} under three mappings",
        tag("p", text(contest.about)),
        legend,
        bars("instances per second, predicted and achieved", rows),
        *why,
        tag("h3", text("Where its tasks run: the chosen mapping")),
        drawn[0],
        fold("The default mapping", drawn[1]),
        fold("The worst mapping", drawn[2]),
    )


def _method(tour: Tour) -> list[str]:
    looked, rounds = tour.contests[0].looked_at, len(tour.contests[0].results["chosen"])
    said = [
        "Every rate is the median of "
        f"{rounds} runs; the mappings ran in turn, so that they share what else the computer did meanwhile.",
        "Predictions were made before each run, from the costs of the tasks, what hand-overs cost between these cores, "
        "and how fast the cores were just then.",
        f"Worst: the longest predicted period of {looked} mappings (all tasks on one core, in blocks, dealt out, and "
        "drawn at random). Default: tasks dealt out to the cores in turn. Chosen: what cellweave plans.",
        f"The tour took {tour.seconds:.0f} s.",
    ]
    return [tag("p", text(words)) for words in said] + [tag("p", text(note), class_="note") for note in tour.notes]
