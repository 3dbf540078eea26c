"""What a report tells: of each file its part of the page, in the order in which a reader asks."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from cellweave.report.pattern import pattern_tables, title
from cellweave.report.probe import probe_tables
from cellweave.report.section import Section
from cellweave.report.tables import graph_line, machine_tables, natural, plan_tables, result_tables
from cellweave.report.web import headline, kernels
from cellweave.report.web.chip import draw_floorplan
from cellweave.report.web.columns import draw_columns
from cellweave.report.web.graph import draw_graph, task_figures
from cellweave.report.web.machine import busy_of, draw_distances, draw_links, draw_loads, loads_of
from cellweave.report.web.marks import tag, text
from cellweave.report.web.spent import draw_spent
from cellweave.report.web.timeline import draw_timeline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Data = dict[str, Any]


@dataclass
class Found:
    """The files of a report by kind, each with the stem of its name."""

    result: list[tuple[str, Data]] = field(default_factory=list)
    plan: list[tuple[str, Data]] = field(default_factory=list)
    graph: list[tuple[str, Data]] = field(default_factory=list)
    trace: list[tuple[str, Data]] = field(default_factory=list)
    machine: list[tuple[str, Data]] = field(default_factory=list)
    probe: list[tuple[str, Data]] = field(default_factory=list)
    pattern: list[tuple[str, Data]] = field(default_factory=list)

    def of(self, kind: str, key: str, name: str) -> Data | None:
        """The first file of a kind whose `key` is `name`."""
        return next((data for _, data in getattr(self, kind) if data[key] == name), None)

    def plan_of(self, result: Data) -> Data | None:
        """The plan of a run: for the same application and machine."""
        run = result["application"], result["machine"]
        return next((plan for _, plan in self.plan if (plan["application"], plan["machine"]) == run), None)

    def first_of(self, application: str) -> tuple[Data | None, Data | None]:
        """The first result of an application, and the plan of that run; without a result, its first plan."""
        result = self.of("result", "application", application)
        plan = self.plan_of(result) if result else None
        return result, plan or self.of("plan", "application", application)

    def elements(self) -> list[Data]:
        """The elements of the first machine; without one, those that the runs and plans name."""
        if self.machine:
            return list(self.machine[0][1]["elements"])
        names = {str(e["name"]) for _, r in self.result for e in r["elements"]}
        names |= {e for _, p in self.plan for e, tasks in p["order"].items() if tasks}
        return [{"name": name, "kind": name.rstrip("0123456789").lower()} for name in sorted(names, key=natural)]


def lead(found: Found) -> tuple[str, str, str]:
    """The page's first figure, the sentence that goes on from it, and what it is about."""
    if found.result:
        result = found.result[0][1]
        model = (result.get("identity") or {}).get("cpu_model")
        where = f"{result['machine']} ({model})" if model else result["machine"]
        return *headline.result_headline(result), f"{result['application']} on {where}, {result['instances']} instances"
    if found.plan:
        plan = found.plan[0][1]
        return *headline.plan_headline(plan), f"{plan['application']} on {plan['machine']}, planned by {plan['method']}"
    if found.graph:
        return "", graph_line(found.graph[0][1]), ""
    if found.probe:
        return "", f"{found.probe[0][1]['target']}: measured", ""
    if found.machine:
        machine = found.machine[0][1]
        return "", f"{machine['name']}: {len(machine['elements'])} elements", str(machine.get("description") or "")
    return "", title(found.pattern[0][1]) if found.pattern else "what ran when", ""


def sections(found: Found) -> Iterator[Section]:
    """Predicted and achieved, the graph, the timeline, the machine, the tasks, then whatever else was given."""
    said = [data["application"] for _, data in (*found.result, *found.plan)] + [g["name"] for _, g in found.graph]
    several = len(set(said)) > 1

    def before(name: str) -> str:
        return f"{name}: " if several else ""

    plans = [_plan(stem, plan, before(plan["application"])) for stem, plan in found.plan]
    yield from _columns(found, before)
    for stem, result in found.result:
        place = f"{result['machine']}: " if len(found.result) > 1 else ""
        yield _result(result, before(result["application"]) + place)
        if "simulated" in result:
            yield _floorplan(stem, result, before(result["application"]))
    if not found.result:
        yield from plans
    for stem, graph in found.graph:
        yield _graph(stem, graph, found, before(graph["name"]))
    for stem, trace in found.trace:
        yield _trace(stem, trace, found)
    yield from _machine(found)
    for _, graph in found.graph:
        yield _tasks(graph, found, before(graph["name"]))
    if found.result:
        yield from plans
    for stem, probe in found.probe:
        name = "What was measured" + (f" on {probe['target']}" if len(found.probe) > 1 else "")
        yield Section(name, probe_tables(probe, []), {f"{stem}-probe": _probe(probe)})
    for stem, pattern in found.pattern:
        yield Section(title(pattern), pattern_tables(pattern), _pattern(stem, pattern))


def _result(result: Data, name: str) -> Section:
    parts = [headline.rate_bars(result)]
    if result.get("explanation"):
        parts.append(tag("p", text(str(result["explanation"]))))
    if result.get("stopped"):
        parts.append(tag("p", text("The run was stopped before its end."), class_="note"))
    if result.get("short"):
        parts.append(tag("p", text("A short run: start and drain count."), class_="note"))
    if result.get("differences"):
        parts.append(tag("h3", text("Where the time of an instance went")))
        parts.append(headline.difference_bars(result["differences"]))
    if "simulated" in result:
        parts.append(tag("h3", text("What the time of each element went to")))
        parts.append(draw_spent(result))
    return Section(f"{name}Predicted and achieved", result_tables(result), body="".join(parts))


def _columns(found: Found, before: Callable[[str], str]) -> Iterator[Section]:
    """Each application that ran on a simulated Cell and on this computer."""
    for name in dict.fromkeys(str(result["application"]) for _, result in found.result):
        runs = [result for _, result in found.result if result["application"] == name]
        cell = next((run for run in runs if "simulated" in run), None)
        host = next((run for run in runs if "simulated" not in run), None)
        if cell and host:
            plans = found.plan_of(cell), found.plan_of(host)
            drawn = draw_columns(plans[0], cell, host, plans[1], found.of("graph", "name", name))
            yield Section(f"{before(name)}Predicted, on a simulated Cell, on this computer", [], body=drawn)


def _floorplan(stem: str, result: Data, before: str) -> Section:
    from cellweave.report.chip import draw_chips

    outcome = result["simulated"]
    pictures: dict[str, Callable[[], Figure]] = {f"{stem}-floorplan": partial(draw_chips, outcome)}
    return Section(f"{before}What rings, memory and links carried", [], pictures, body=draw_floorplan(outcome))


def _plan(stem: str, plan: Data, name: str) -> Section:
    from cellweave.report.contributions import draw_contributions

    said = "What takes the time of a period; blue is the bottleneck. The upright line is the bound: no mapping has a "
    body = headline.contribution_bars(plan) + tag("p", text(f"{said}shorter period."), class_="note")
    pictures = {f"{stem}-contributions": _drawing(draw_contributions, plan)}
    return Section(f"{name}What the plan counts", plan_tables(plan), pictures, body=body)


def _mapping(graph: Data, found: Found) -> dict[str, str]:
    _, plan = found.first_of(graph["name"])
    return dict(plan["mapping"]) if plan else {}


def _costs(graph: Data, found: Found) -> tuple[dict[str, float], Mapping[str, Any]]:
    """The cost of each task where it is mapped, and what a run sampled."""
    kinds = {str(e["name"]): str(e["kind"]) for e in found.elements()}
    result, _ = found.first_of(graph["name"])
    return kernels.task_costs(graph, _mapping(graph, found), kinds), (result or {}).get("sampled") or {}


def _graph(stem: str, graph: Data, found: Found, before: str) -> Section:
    from cellweave.report.mapping import draw_mapping

    mapping = _mapping(graph, found)
    elements = [str(e["name"]) for e in found.elements()]
    body = draw_graph(graph, mapping, elements, task_figures(graph, *_costs(graph, found)))
    name = before + ("The graph, and where its tasks run" if mapping else "The graph")
    return Section(name, [], {f"{stem}-mapping": _drawing(draw_mapping, graph, mapping or None)}, body=body)


def _trace(stem: str, trace: Data, found: Found) -> Section:
    from cellweave.report.timeline import draw_timeline as picture

    names = {str(t["name"]): kernels.kernel_name(t) for _, graph in found.graph for t in graph["task"]}
    body = draw_timeline(trace, names, [str(e["name"]) for e in found.elements()])
    return Section("What ran when", [], {f"{stem}-timeline": _drawing(picture, trace)}, body=body)


def _machine(found: Found) -> Iterator[Section]:
    """The machine with its loads, and what moves between its elements."""
    result = found.result[0][1] if found.result else None
    if found.machine:
        result = found.of("result", "machine", found.machine[0][1]["name"]) or result
    plan = (found.plan_of(result) if result else None) or (found.plan[0][1] if found.plan else None)
    elements = found.elements()
    if not elements:
        return
    predicted, achieved = loads_of(plan), busy_of(result)
    counts = {e: len(tasks) for e, tasks in (plan or {"order": {}})["order"].items() if tasks}
    parts = [draw_loads(elements, predicted, achieved, counts)]
    graph = found.of("graph", "name", plan["application"]) if plan else None
    if plan and graph:
        moved = _moved(graph, plan["mapping"])
        if moved:
            rate = result["throughput_per_s"] if result else plan["throughput_per_s"]
            parts += [tag("h3", text("What moves between elements")), draw_links(moved, rate)]
    loaded = " and its loads" if predicted or achieved else ""
    if not found.machine:
        yield Section(f"The elements{loaded}", [], body="".join(parts))
    for i, (stem, machine) in enumerate(found.machine):
        drawn = parts if i == 0 else [draw_loads(machine["elements"], {}, {}, {})]
        about = tag("p", text(str(machine["description"])), class_="note") if machine.get("description") else ""
        body = about + "".join(drawn) + _distances(machine)
        pictures = {f"{stem}-machine": _machine_picture(machine)}
        name = f"The machine {machine['name']}{loaded if i == 0 else ''}"
        yield Section(name, machine_tables(machine), pictures, body=body)


def _distances(machine: Data) -> str:
    return draw_distances(machine.get("distances"), [str(e["name"]) for e in machine["elements"]])


def _moved(graph: Data, mapping: Mapping[str, str]) -> dict[tuple[str, str], float]:
    """Source and target element -> bytes per instance; an output that several tasks of an element read moves once."""
    seen: dict[tuple[str, str, str], float] = {}
    for edge in graph.get("edge", []):
        source, target = (mapping.get(str(edge[end]).partition(".")[0]) for end in ("from", "to"))
        if source and target and source != target:
            seen[str(edge["from"]), source, target] = float(edge["bytes"])
    moved: dict[tuple[str, str], float] = {}
    for (_, source, target), n_bytes in seen.items():
        moved[source, target] = moved.get((source, target), 0.0) + n_bytes
    return moved


def _tasks(graph: Data, found: Found, before: str) -> Section:
    costs, sampled = _costs(graph, found)
    lines = kernels.kernel_lines(kernels.TaskTimes(graph, _mapping(graph, found), costs, sampled))
    note = "Times are per instance, all tasks of a kernel together. The upright line is the cost. A line opens."
    return Section(f"{before}The tasks, kernel by kernel", [], body=lines + tag("p", text(note), class_="note"))


def _drawing(draw: Callable[..., Axes], *arguments: Any) -> Callable[[], Figure]:
    from cellweave.report.pictures import figure_of

    return lambda: figure_of(draw(*arguments))


def _machine_picture(machine: Data) -> Callable[[], Figure]:
    from cellweave.report.machine import draw_machine

    return partial(draw_machine, machine)


def _probe(probe: Data) -> Callable[[], Figure]:
    from cellweave.report.curves import draw_probe

    return partial(draw_probe, probe)


def _pattern(stem: str, pattern: Data) -> dict[str, Callable[[], Figure]]:
    from cellweave.report.traffic import draw_calls, draw_traffic

    return {f"{stem}-traffic": partial(draw_traffic, pattern), f"{stem}-calls": partial(draw_calls, pattern)}
