"""The tour: what this computer's cores are to each other, and what a good mapping is worth on them."""

from __future__ import annotations

import json
import random
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from cellweave import _core
from cellweave.files import write_whole
from cellweave.graph import Graph
from cellweave.machine import Machine
from cellweave.plan import Plan, plan
from cellweave.probe import probe
from cellweave.profile import profile
from cellweave.run import run

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from cellweave.report.table import Table

_ELEMENTS_MOST = 16  # what is probed grows with the square of it
_PROBED, _EACH = 0.1, 0.42  # of the tour's time: probing, and each of its two graphs
_ROUNDS = 5  # of all mappings in turn, so that they share what else the computer does
_RUN_S = 0.3
_INSTANCES = (2000, 2_000_000)  # the least and most of a run
_TRACED = 2000  # instances of the run whose timeline is shown
_DRAWN = 24  # mappings drawn at random, among which the worst is looked for
_BATCH = 16
_SEED = 1
_RING_BYTES = 1024


@dataclass
class Contest:
    """A graph under three mappings: the worst that was found, the default, and the one that was chosen.

    Attributes
    ----------
    about : str
        What the graph is like.
    graph : Graph
        With its costs.
    plans : dict of str to Plan
        ``worst``, ``default`` and ``chosen``.
    results : dict of str to list of dict
        The runs under each, one per round, as in ``result.json``.
    looked_at : int
        Mappings among which the worst was looked for.
    """

    about: str
    graph: Graph
    plans: dict[str, Plan]
    results: dict[str, list[dict[str, Any]]]
    looked_at: int

    def typical(self, name: str) -> dict[str, Any]:
        """The run of a mapping whose throughput is the median."""
        runs = sorted(self.results[name], key=lambda r: float(r["throughput_per_s"]))
        return runs[len(runs) // 2]

    def rate(self, name: str) -> float:
        """The median throughput, instances/s."""
        return median(float(r["throughput_per_s"]) for r in self.results[name])

    def to_dict(self) -> dict[str, Any]:
        """As ``cellweave tour --json`` prints it."""
        mappings = {
            name: {
                "mapping": made.mapping,
                "planned_per_s": made.throughput_per_s,
                "predicted_per_s": self.typical(name)["predicted_per_s"],
                "achieved_per_s": self.rate(name),
                "rounds_per_s": [r["throughput_per_s"] for r in self.results[name]],
                "ratio": self.typical(name)["ratio"],
            }
            for name, made in self.plans.items()
        }
        return {"application": self.graph.name, "looked_at": self.looked_at, "mappings": mappings}


@dataclass
class Tour:
    """What a tour found.

    Attributes
    ----------
    machine : Machine
        The elements that took part.
    distances : dict or None
        ``latency_ns`` and ``bandwidth_bytes_per_s``, ``[reader][source]``, of transfers of ``sizes_bytes``.
    contests : list of Contest
        The stream, then the ring.
    trace : dict or None
        What ran when under the stream's chosen mapping.
    notes : list of str
        What was not possible here, and why.
    seconds : float
        How long it all took.
    """

    machine: Machine
    distances: dict[str, Any] | None
    contests: list[Contest]
    trace: dict[str, Any] | None
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """As ``cellweave tour --json`` prints it."""
        return {
            "machine": self.machine.to_dict(),
            "distances": self.distances,
            "contests": [contest.to_dict() for contest in self.contests],
            "notes": self.notes,
            "seconds": self.seconds,
        }

    def tables(self) -> list[Table]:
        """What ``cellweave tour`` prints."""
        from cellweave.report.tour import tour_tables

        return tour_tables(self)

    def html(self) -> str:
        """The page."""
        from cellweave.report.tour import tour_page

        return tour_page(self)

    def save(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write the page; an existing file only with `force`."""
        write_whole(Path(path), self.html(), force)


def tour(on: str = "host", *, progress: Callable[[dict[str, Any]], None] | None = None) -> Tour:
    """Probe this computer, then run a small stream and a ring under the worst, the default and the chosen mapping.

    Parameters
    ----------
    on : str
        ``host``, or a part of it: ``host:cpus=0-1``. Of more than sixteen cpus, sixteen take part.
    progress : callable, optional
        Called now and then with a dict (``share``, ``what``).

    Returns
    -------
    Tour

    Raises
    ------
    cellweave.RequestError
        Where `on` is not this computer.
    KeyboardInterrupt
        At Ctrl-C, whatever goes on.
    """
    begun = time.monotonic()
    told = _Told(progress)
    machine, notes = _part(on)
    distances = _distances(machine, notes, told)
    contests = []
    for i, (graph, about) in enumerate((stream(len(machine.elements)), circle(len(machine.elements)))):
        contests.append(_contest(graph, about, machine, told, _PROBED + _EACH * i, _EACH))
    trace = _traced(contests[0], machine, notes)
    results = [r for contest in contests for runs in contest.results.values() for r in runs]
    notes += sorted({f"not pinned: {why}" for r in results for why in r.get("not_pinned", [])})
    told(1.0, "done")
    return Tour(machine, distances, contests, trace, notes, time.monotonic() - begun)


def stream(n_elements: int) -> tuple[Graph, str]:
    """A source, bands of unequal work, and what brings them together."""
    bands = max(4, 2 * n_elements)
    graph = Graph("stream")
    graph.task("source", kernel="cellweave:count")
    graph.task("mix", kernel="cellweave:spin", params={"ns": 500})
    graph.task("sink", kernel="cellweave:discard")
    for i in range(bands):
        graph.task(f"band{i}", kernel="cellweave:spin", params={"ns": 400 * (1 + i % 4)})
        graph.edge("source.0", f"band{i}", bytes=512)
        graph.edge(f"band{i}", f"mix.{i}", bytes=512)
    graph.edge("mix", "sink", bytes=512)
    return graph, f"A source, {bands} bands of unequal work, and a task that brings them together."


def circle(n_elements: int) -> tuple[Graph, str]:
    """Tasks that pass data around in a ring."""
    parts = max(4, 2 * n_elements)
    graph = Graph("ring")
    graph.task("source", kernel="cellweave:count")
    for i in range(parts):
        graph.task(f"part{i}", kernel="cellweave:spin", params={"ns": 300})
    graph.task("sink", kernel="cellweave:discard")
    for i in range(parts):
        # What goes around is there from the start; every transfer between elements holds two batches of it.
        delay = 8 * parts * _BATCH if i == parts - 1 else 0
        graph.edge(f"part{i}.0", f"part{(i + 1) % parts}.0", bytes=_RING_BYTES, delay=delay)
    graph.edge("source", "part0.1", bytes=_RING_BYTES)
    graph.edge(f"part{parts - 1}.1", "sink", bytes=_RING_BYTES)
    return graph, f"{parts} parts of equal work; each sends to the next, the last to the first."


class _Told:
    """Tells `progress`; what the verbs inside tell becomes a part of it."""

    def __init__(self, progress: Callable[[dict[str, Any]], None] | None) -> None:
        self._progress = progress

    def __call__(self, share: float, what: str) -> None:
        if self._progress is not None:
            self._progress({"share": share, "what": what})

    def within(self, begin: float, part: float, what: str) -> Callable[[dict[str, Any]], None]:
        """What a verb takes as its own `progress`."""
        return lambda state: self(begin + part * float(state.get("share") or 0.0), what)


def _part(on: str) -> tuple[Machine, list[str]]:
    """The elements that take part: all, or some from end to end of a large machine."""
    machine = Machine.load(on)
    cpus = [e.get("os_cpu") for e in machine.elements]
    if not cpus or any(cpu is None for cpu in cpus):
        raise _core.RequestError(f"`{on}` is not this computer: a tour runs on `host`, or `host:cpus=0-1`")
    if len(cpus) <= _ELEMENTS_MOST:
        return machine, []
    some = [cpus[i * (len(cpus) - 1) // (_ELEMENTS_MOST - 1)] for i in range(_ELEMENTS_MOST)]
    listed = ",".join(map(str, some))
    return Machine.load(f"host:cpus={listed}"), [f"{len(some)} of {len(cpus)} cpus take part: {listed}"]


def _distances(machine: Machine, notes: list[str], told: _Told) -> dict[str, Any] | None:
    """Latency and bandwidth between the elements, ``[reader][source]``; nothing where that cannot be measured."""
    n = len(machine.elements)
    if n == 1:
        notes.append("there is one core: nothing to measure between cores, and only one mapping")
        return None
    cpus = ",".join(str(e["os_cpu"]) for e in machine.elements)
    try:
        inside = told.within(0.0, _PROBED, "how far the cores are from each other")
        found = probe(f"host:cpus={cpus}", "all-pairs", progress=inside)
    except (_core.RunError, _core.RequestError) as e:
        notes.append(f"distances were not measured: {e}")
        return None
    if found.stopped:
        raise KeyboardInterrupt
    sizes = sorted({int(m["size_bytes"]) for m in found.measurements})
    empty: list[list[float | None]] = [[None] * n for _ in range(n)]
    latency, bandwidth = ([row[:] for row in empty] for _ in range(2))
    for m in found.measurements:
        reader, _, source = str(m["transfers"]).partition("<-")
        if not (reader.isdigit() and source.isdigit()):
            continue
        if m["size_bytes"] == sizes[0]:
            latency[int(reader)][int(source)] = float(m["latency_ns"]["p50"])
        if m["size_bytes"] == sizes[-1]:
            bandwidth[int(reader)][int(source)] = 1e9 * float(m["bandwidth_gbs"]["p50"])
    return {"latency_ns": latency, "bandwidth_bytes_per_s": bandwidth, "sizes_bytes": [sizes[0], sizes[-1]]}


def _contest(graph: Graph, about: str, machine: Machine, told: _Told, begin: float, part: float) -> Contest:
    what = f"{graph.name}: what its tasks cost"
    costed = profile(graph, machine, progress=told.within(begin, 0.3 * part, what)).graph
    told(begin + 0.3 * part, f"{graph.name}: where its tasks should run")
    chosen = plan(costed, machine, batch=_BATCH, seed=_SEED)
    elements = [str(e["name"]) for e in machine.elements]
    tasks = [str(t["name"]) for t in graph.to_dict()["task"]]
    default = plan(costed, machine, batch=_BATCH, mapping=_dealt(tasks, elements))
    looked = [plan(costed, machine, batch=_BATCH, mapping=m) for m in _candidates(tasks, elements)]
    worst = max([default, *looked], key=lambda made: made.period_ns)
    plans = {"worst": worst, "default": default, "chosen": chosen}
    results: dict[str, list[dict[str, Any]]] = {name: [] for name in plans}
    for turn in range(_ROUNDS):
        for i, (name, made) in enumerate(plans.items()):
            done = (turn * len(plans) + i) / (_ROUNDS * len(plans))
            told(begin + part * (0.4 + 0.6 * done), f"{graph.name}: the {name} mapping runs")
            results[name].append(_run(costed, machine, made))
    return Contest(about, costed, plans, results, len(looked) + 1)


def _dealt(tasks: Sequence[str], elements: Sequence[str]) -> dict[str, str]:
    """Tasks dealt out in turn, as they stand in the file: what is done where nobody thinks about it."""
    return {task: elements[i % len(elements)] for i, task in enumerate(tasks)}


def _candidates(tasks: Sequence[str], elements: Sequence[str]) -> Iterator[Mapping[str, str]]:
    """Mappings that may be bad: all on one element, in blocks, and drawn at random."""
    for element in elements:
        yield dict.fromkeys(tasks, element)
    if len(elements) > 1:
        yield {task: elements[i * len(elements) // len(tasks)] for i, task in enumerate(tasks)}
        draw = random.Random(_SEED)
        for _ in range(_DRAWN):
            yield {task: draw.choice(elements) for task in tasks}


def _run(graph: Graph, machine: Machine, made: Plan, **more: Any) -> dict[str, Any]:
    wanted = round(made.throughput_per_s * _RUN_S)
    instances = more.pop("instances", max(_INSTANCES[0], min(_INSTANCES[1], wanted)))
    result = run(graph, machine, made, instances=instances, **more)
    data = result.to_dict()
    if data.get("stopped"):
        # A run drains at Ctrl-C and returns; the tour ends there.
        raise KeyboardInterrupt
    return data


def _traced(contest: Contest, machine: Machine, notes: list[str]) -> dict[str, Any] | None:
    """What ran when, of a short run under the chosen mapping."""
    try:
        with tempfile.TemporaryDirectory(prefix="cellweave-tour-") as folder:
            path = Path(folder) / "trace.json"
            _run(contest.graph, machine, contest.plans["chosen"], instances=_TRACED, trace=path)
            return json.loads(path.read_text())  # type: ignore[no-any-return]
    except (_core.RunError, OSError) as e:
        notes.append(f"there is no timeline: {e}")
        return None
