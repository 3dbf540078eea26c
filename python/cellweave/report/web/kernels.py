"""Tasks of one kernel, folded into one line that opens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cellweave.report.costs import spreads
from cellweave.report.table import Table
from cellweave.report.units import number, time_ns
from cellweave.report.web.bars import Bar, bar
from cellweave.report.web.marks import fold, tag, text
from cellweave.report.web.table import framed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def kernel_name(task: Mapping[str, Any]) -> str:
    """What a kernel is called in its library.

    >>> kernel_name({"kernel": "../libvocoder.so:dft"}), kernel_name({"kernel": "cellweave:copy"}), kernel_name({})
    ('dft', 'copy', '')
    """
    return str(task.get("kernel") or "").rpartition(":")[2]


def task_costs(graph: Mapping[str, Any], mapping: Mapping[str, str], kinds: Mapping[str, str]) -> dict[str, float]:
    """Task -> ns per firing on the element that has it; `kinds` says the kind of each element, where it is known."""
    costs = {}
    for task in graph["task"]:
        known = {kind: float(ns) for kind, ns in (task.get("cost_ns") or {}).items()}
        element = mapping.get(task["name"], "")
        kind = kinds.get(element) or element.rstrip("0123456789").lower()
        if kind in known or "*" in known:
            costs[str(task["name"])] = known.get(kind, known.get("*", 0.0))
        elif len(known) == 1:
            costs[str(task["name"])] = next(iter(known.values()))
    return costs


@dataclass
class TaskTimes:
    """What is known of the tasks of a graph.

    Parameters
    ----------
    graph : mapping
        As an application's JSON holds it.
    mapping : mapping of str to str
        Task -> element; empty without a plan.
    costs : mapping of str to float
        As :func:`task_costs` gives them.
    sampled : mapping
        As a result has them; empty without a run.
    """

    graph: Mapping[str, Any]
    mapping: Mapping[str, str]
    costs: Mapping[str, float]
    sampled: Mapping[str, Mapping[str, float]]

    def cost(self, tasks: Sequence[str]) -> float:
        """ns per instance, all together."""
        return sum(self.costs.get(t, 0.0) for t in tasks)

    def took(self, tasks: Sequence[str]) -> float | None:
        """ns per instance in the run; a task that was not sampled counts with its cost."""
        if not self.sampled:
            return None
        return sum(float(self.sampled[t]["mean_ns"]) if t in self.sampled else self.costs.get(t, 0.0) for t in tasks)

    def longest(self, tasks: Sequence[str]) -> float:
        """The longer of the two."""
        return max(self.cost(tasks), self.took(tasks) or 0.0)

    def table(self, tasks: Sequence[str]) -> Table:
        """A row per task."""
        dated = bool((self.graph.get("profile") or {}).get("cost"))
        table = Table("", ["task", "element", ">cost"])
        table.columns = [*table.columns, *([">p10 to p90", "measured"] if dated else [])]
        table.columns = [*table.columns, *([">in the run", ">times"] if self.sampled else [])]
        for task in tasks:
            cost = self.costs.get(task)
            row = [task, self.mapping.get(task, "-"), "not measured" if cost is None else time_ns(cost)]
            row += spreads(dict(self.graph), task) if dated else []
            if self.sampled:
                ran = float(self.sampled[task]["mean_ns"]) if task in self.sampled else None
                row += ["-" if ran is None else time_ns(ran), number(ran / cost) if ran and cost else "-"]
            table.rows.append(row)
        return table


def kernel_lines(times: TaskTimes) -> str:
    """A line per kernel, the one that takes most first: how many tasks, their cost, and what they took in the run."""
    groups: dict[str, list[str]] = {}
    for task in times.graph["task"]:
        groups.setdefault(kernel_name(task) or "no kernel", []).append(str(task["name"]))
    ordered = sorted(groups.items(), key=lambda item: -times.longest(item[1]))
    longest = times.longest(ordered[0][1]) if ordered else 0.0
    heads = ["kernel", "tasks", "cost", "in the run" if times.sampled else "", ""]
    lines = [tag("div", *(tag("span", text(head)) for head in heads), class_="line head")]
    lines += [_line(kernel, tasks, times, longest or 1.0) for kernel, tasks in ordered]
    return tag("div", *lines, class_="kernels")


def _line(kernel: str, tasks: Sequence[str], times: TaskTimes, longest: float) -> str:
    cost, ran = times.cost(tasks), times.took(tasks)
    counted = "1 task" if len(tasks) == 1 else f"{len(tasks)} tasks"
    says = f"{kernel}, {counted}: cost {time_ns(cost)} per instance"
    if ran is not None:
        says += f", took {time_ns(ran)}" + (f", {number(ran / cost)} times that" if cost else "")
    kind = "predicted" if ran is None else "achieved"
    drawn = bar(Bar(kernel, "", cost if ran is None else ran, says, kind), longest, cost)
    cells = [kernel, str(len(tasks)), time_ns(cost), "" if ran is None else time_ns(ran)]
    summary = "".join(tag("span", text(cell)) for cell in cells) + tag("span", drawn)
    return fold(summary, framed([times.table(tasks)], f"tasks of {kernel}"), class_="fold line")
