"""The scenarios of the scheduler paper: graphs planned by every method on a QS22 with one PPE, and run on it."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from statistics import fmean, mean, stdev
from typing import TYPE_CHECKING

from cellweave import _core
from cellweave.graph import Graph
from cellweave.machine import Machine
from cellweave.plan import Plan, plan
from cellweave.run import Result, run
from cellweave.sets import SMALL_TASKS, graph_set, ratio_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cellweave.reproduce.bench import Bench

HEURISTICS = ("greedy", "delegate", "cluster")
MIP = "mip"
METHODS = (*HEURISTICS, MIP)
SPES = 16
# The paper's CPLEX stops when its solution is within so much of the optimum.
_GAP = 0.05
_MOVES = 2_000_000
_EXACT_S = 60.0
# The quick look: a small part of the set, and a short search.
_QUICK_GRAPHS = (0, 3, 5, 13, 17)
_QUICK_MOVES = 20_000
_CCRS_PER_GRAPH = 10
# Without a campaign only every second graph is run, at these ratios; a quick look runs three graphs.
RUN_CCRS = (0.001, 0.02, 0.1)
_RUN_EVERY = 2  # graph
_QUICK_RUN_GRAPHS = (0, 5, 13)
# The graph of 204 edges, as figure 9(b) of the paper.
_DENSEST = 17


@dataclass(frozen=True)
class Planned:
    """A mapping of one scenario by one method.

    Attributes
    ----------
    graph : str
        The scenario's graph.
    ccr : float
        Its ratio of communication to computation.
    large : bool
        Whether the paper counts it to the larger graphs.
    spes : int
        That the machine has.
    method : str
        One of `METHODS`.
    per_s : float
        Predicted instances/s.
    gap : float
        To the bound.
    feasible, limited : bool
        Whether no hard limit is broken; whether (17) or (18) is.
    seconds : float
        That planning took.
    """

    graph: str
    ccr: float
    large: bool
    spes: int
    method: str
    per_s: float
    gap: float
    feasible: bool
    limited: bool
    seconds: float


@cache
def _set() -> list[Graph]:
    return graph_set("paper250")


@cache
def machine(spes: int) -> Machine:
    """One PPE, as the paper's framework could use, and so many SPEs."""
    return Machine.load(f"qs22:ppe=1,spe={spes}")


def scenarios(bench: Bench, ccrs: Sequence[float] | None = None) -> list[Graph]:
    """The set, or in a quick look a few of it, at some or all ratios."""
    shapes = _QUICK_GRAPHS if bench.quick else range(len(_set()) // _CCRS_PER_GRAPH)
    chosen = [_set()[shape * _CCRS_PER_GRAPH + i] for shape in shapes for i in range(_CCRS_PER_GRAPH)]
    if ccrs is None and bench.quick:
        ccrs = (0.001, 0.02, 0.1)
    return [graph for graph in chosen if ccrs is None or ratio_of(graph.name) in ccrs]


def densest(ccr: float) -> Graph:
    """The graph with the most edges, at a ratio."""
    ten = _set()[_DENSEST * _CCRS_PER_GRAPH : (_DENSEST + 1) * _CCRS_PER_GRAPH]
    return next(graph for graph in ten if ratio_of(graph.name) == ccr)


def planned(graph: Graph, method: str, spes: int, quick: bool) -> Plan:
    """The mapping of a method.

    All are planned with the paper's rule for buffers and one instance per firing. MIP is the first mapping that is
    proved within 5 % of the bound, under (17) and (18); the heuristics do not know these. `auto` proves it, or `exact`
    where that does not, with all SPEs and where its solver is installed.
    """
    rule = {"batch": 1, "buffering": "duplicated"}
    if method != MIP:
        return plan(graph, machine(spes), method, **rule)  # type: ignore[arg-type]
    moves = _QUICK_MOVES if quick else _MOVES
    found = plan(graph, machine(spes), "auto", gap=_GAP, moves=moves, **rule)  # type: ignore[arg-type]
    if quick or spes < SPES or found.gap <= _GAP or find_spec("highspy") is None:
        return found
    proved = plan(graph, machine(spes), "exact", gap=_GAP, time_s=_EXACT_S, **rule)  # type: ignore[arg-type]
    return proved if proved.feasible and proved.gap < found.gap else found


def all_planned(bench: Bench, spes: int = SPES, ccrs: Sequence[float] | None = None) -> list[Planned]:
    """Every scenario by every method. The bus has no part in it, so that it is done once for all rule sets."""
    key = (bench.quick, spes, None if ccrs is None else tuple(ccrs))
    if key not in _DONE:
        work = [(graph, method) for graph in scenarios(bench, ccrs) for method in METHODS]
        _DONE[key] = bench.map(lambda item: _plan(*item, spes, bench.quick), work)
    return _DONE[key]


_DONE: dict[tuple[bool, int, tuple[float, ...] | None], list[Planned]] = {}


def _plan(graph: Graph, method: str, spes: int, quick: bool) -> Planned:
    start = time.monotonic()
    made = planned(graph, method, spes, quick)
    seconds = time.monotonic() - start
    broken = {violation["kind"] for violation in made.violations}
    return Planned(
        graph.name,
        ratio_of(graph.name) or 0.0,
        len(graph.to_dict()["task"]) > SMALL_TASKS,
        spes,
        method,
        made.throughput_per_s,
        made.gap,
        made.feasible,
        bool(broken & {"incoming", "outgoing"}),
        seconds,
    )


def over_mip(found: Sequence[tuple[str, str, float]]) -> dict[str, list[float]]:
    """Method -> its figure over that of MIP, scenario by scenario.

    Parameters
    ----------
    found : sequence of (graph, method, figure)

    Examples
    --------
    >>> over_mip([("g", "greedy", 1.0), ("g", "mip", 2.0)])
    {'greedy': [0.5], 'mip': [1.0]}
    """
    bases = {graph: figure for graph, method, figure in found if method == MIP}
    ratios: dict[str, list[float]] = {}
    for graph, method, figure in found:
        if graph in bases:
            ratios.setdefault(method, []).append(figure / bases[graph])
    return ratios


def best_share(ratios: dict[str, list[float]], method: str) -> float:
    """Percent of the scenarios in which no method is better.

    Examples
    --------
    >>> best_share({"greedy": [0.5, 1.0], "mip": [1.0, 1.0]}, "greedy")
    50.0
    """
    scenario = list(zip(*ratios.values(), strict=True))
    own = ratios[method]
    return 100.0 * fmean(mine >= max(all_of_them) * (1 - 1e-6) for mine, all_of_them in zip(own, scenario, strict=True))


def spread(values: Sequence[float]) -> dict[str, float]:
    """What a row of the paper's tables says."""
    deviation = stdev(values) if len(values) > 1 else 0.0
    return {"min": min(values), "max": max(values), "avg": mean(values), "std": deviation}


@dataclass(frozen=True)
class Ran:
    """A mapping that ran on the simulated Cell until its throughput was steady.

    Attributes
    ----------
    planned_per_s, per_s : float
        Instances/s: predicted, and the highest from the start on.
    steady_after : float
        Instances after which 99 % of that was reached.
    decided : bool
        Whether it was reached before the run had to end.
    of_runs : float
        Instances of a whole run, to its end, whose throughput is 99 % of the highest: mostly fewer than `steady_after`,
        because at its end elements no longer work ahead.
    """

    graph: str
    ccr: float
    large: bool
    spes: int
    method: str
    planned_per_s: float
    per_s: float
    steady_after: float
    decided: bool
    of_runs: float


def all_ran(bench: Bench) -> list[Ran]:
    """Scenarios by every method on all SPEs of the simulated Cell, under its default rules.

    Those of the bench's campaigns; without one a sample is run, once. A scenario in which a mapping does not fit the
    simulated local stores is left out: the heuristics do not know the code and the rounding of the buffers.
    """
    return whole([one for one in of_campaigns(bench) if one.spes == SPES] or _sample(bench))


def whole(ran: Sequence[Ran]) -> list[Ran]:
    """The scenarios that every method ran."""
    count = Counter((one.graph, one.spes) for one in ran)
    return [one for one in ran if count[one.graph, one.spes] == len(METHODS)]


def of_campaigns(bench: Bench) -> list[Ran]:
    """What the bench's campaigns ran until it was steady, without the cells that failed."""
    return [
        Ran(
            row["graph"],
            row["ccr"],
            row["size"] == "large",
            row["elements"] - 1,
            MIP if row["method"] == "auto" else row["method"],
            row["predicted_per_s"],
            row["highest_per_s"],
            row["steady_after"],
            row["decided"],
            _of_runs(row["ran"], row["achieved_per_s"], row["highest_per_s"]),
        )
        for row in bench.campaigns
        if row["error"] is None and row["highest_per_s"] is not None
    ]


def _of_runs(instances: int, achieved_per_s: float, highest_per_s: float) -> float:
    """N of ``N / (S + N / r) = 0.99 r``, with the S of a run that achieved so much.

    Examples
    --------
    >>> round(_of_runs(1000, 990.0, 1000.0))
    1000
    """
    return max(0.0, 99.0 * instances * (highest_per_s / achieved_per_s - 1))


def _sample(bench: Bench) -> list[Ran]:
    if bench.quick not in _RAN:
        every = range(0, len(_set()) // _CCRS_PER_GRAPH, _RUN_EVERY)
        shapes = _QUICK_RUN_GRAPHS if bench.quick else every
        graphs = [_set()[shape * _CCRS_PER_GRAPH + i] for shape in shapes for i in range(_CCRS_PER_GRAPH)]
        ccrs = (RUN_CCRS[0], RUN_CCRS[-1]) if bench.quick else RUN_CCRS
        work = [(graph, method) for graph in graphs if ratio_of(graph.name) in ccrs for method in METHODS]
        found = bench.map(lambda item: _run(*item, bench.quick), work)
        _RAN[bench.quick] = [one for one in found if one is not None]
    return _RAN[bench.quick]


_RAN: dict[bool, list[Ran]] = {}


def _run(graph: Graph, method: str, quick: bool) -> Ran | None:
    """None where the mapping does not fit the local stores."""
    made = planned(graph, method, SPES, quick)
    try:
        result = run(graph, machine(SPES), made, until_steady=True)
    except _core.RunError:
        return None
    found = result.until_steady
    if found is None:
        return None
    of_runs = _of_runs(result.instances, result.throughput_per_s, found["highest_per_s"])
    large = len(graph.to_dict()["task"]) > SMALL_TASKS
    steady_after, decided = found["instances"], found["decided"]
    ccr, planned_per_s = ratio_of(graph.name) or 0.0, made.throughput_per_s
    per_s = found["highest_per_s"]
    return Ran(graph.name, ccr, large, SPES, method, planned_per_s, per_s, steady_after, decided, of_runs)


@dataclass(frozen=True)
class Steady:
    """What two runs of the same mapping say: N instances take ``start_s + N / per_s``.

    Attributes
    ----------
    per_s : float
        Instances/s once the stream flows.
    after : float
        Instances of a run whose throughput, start and drain included, is 99 % of that.
    """

    per_s: float
    after: float


def steady(shorter: Result, longer: Result) -> Steady:
    """The line through two runs, of different numbers of instances.

    Of a run of N instances, 99 % of the steady throughput means ``N / (S + N / r) = 0.99 r``, so ``N = 99 S r``.
    """
    more = longer.instances - shorter.instances
    per_s = more / (longer.elapsed_s - shorter.elapsed_s)
    return Steady(per_s, max(0.0, 99.0 * (longer.elapsed_s - longer.instances / per_s) * per_s))
