"""One application in three columns: as predicted for a Cell, on the simulated Cell, and on this computer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cellweave.report.tables import natural
from cellweave.report.units import percent, rate_per_s, time_ns
from cellweave.report.web.bars import Bar, bars
from cellweave.report.web.machine import busy_of, loads_of
from cellweave.report.web.marks import figure, frame, tag, text

if TYPE_CHECKING:
    from collections.abc import Mapping

Data = dict[str, Any]


def draw_columns(plan: Data | None, cell: Data, host: Data, host_plan: Data | None, graph: Data | None) -> str:
    """Draw an application's rates and loads side by side.

    Parameters
    ----------
    plan, cell : dict
        ``plan.json`` for the Cell, if it was given, and ``result.json`` of its simulation.
    host, host_plan : dict
        ``result.json`` of this computer, and its ``plan.json``, if it was given.
    graph : dict, optional
        The application: its costs say whose they are.
    """
    columns = [_predicted(plan, cell), _simulated(cell), _here(host, host_plan)]
    rates = [
        _rate(f"predicted for {cell['machine']}", cell["predicted_per_s"], "predicted"),
        _rate(f"{cell['machine']}, simulated", cell["throughput_per_s"], "achieved"),
        _rate("predicted for this computer", host["predicted_per_s"], "predicted"),
        _rate("this computer", host["throughput_per_s"], "achieved"),
    ]
    return (
        bars("instances per second", rates)
        + figure(_facts(columns), _whose(cell, graph))
        + tag("h3", text("How busy each element is"))
        + tag("div", *(_loads(name, loads) for name, _, loads in columns), class_="columns")
    )


Column = tuple[str, dict[str, str], dict[str, float]]  # its name, what is said in words, element -> load


def _rate(name: str, per_s: float, kind: str) -> Bar:
    return Bar(name, rate_per_s(per_s), per_s, f"{name}: {rate_per_s(per_s)}", kind)


def _predicted(plan: Data | None, cell: Data) -> Column:
    facts = _speed(cell["predicted_per_s"])
    found = (cell.get("bottlenecks") or {}).get("planned")
    if plan:
        facts["ratio"] = "1"
        facts["bottleneck"] = plan["bottleneck"]
    elif found:
        facts["bottleneck"] = f"{found['name']}, {percent(found['share'])} of the period"
    return "Predicted", facts, loads_of(plan)


def _simulated(cell: Data) -> Column:
    facts = _speed(cell["throughput_per_s"])
    facts["ratio"] = f"{cell['ratio']:.3f} of the prediction"
    found = cell["bottlenecks"]["simulated"]
    facts["bottleneck"] = f"{found['name']}, {percent(found['share'])} of the time"
    facts["instances"] = str(cell["instances"])
    return f"Simulated {cell['machine']}", facts, busy_of(cell)


def _here(host: Data, plan: Data | None) -> Column:
    facts = _speed(host["throughput_per_s"])
    facts["ratio"] = f"{host['ratio']:.3f} of its own prediction, {rate_per_s(host['predicted_per_s'])}"
    busy = busy_of(host)
    if busy:
        busiest = max(busy, key=lambda name: busy[name])
        facts["bottleneck"] = f"{busiest}, {percent(busy[busiest])} of the time"
        if plan:
            facts["bottleneck"] += f"; planned: {plan['bottleneck']}"
    facts["instances"] = str(host["instances"])
    return "This computer", facts, busy


def _speed(per_s: float) -> dict[str, str]:
    return {"throughput": rate_per_s(per_s), "period": time_ns(1e9 / per_s) if per_s else "-"}


def _facts(columns: list[Column]) -> str:
    """A row per quantity, a column per place."""
    head = tag("tr", tag("th", "", scope="col"), *(tag("th", text(name), scope="col") for name, _, _ in columns))
    names = ("throughput", "period", "ratio", "bottleneck", "instances")
    rows = (
        tag("tr", tag("th", text(name), scope="row"), *(_fact(facts.get(name, "")) for _, facts, _ in columns))
        for name in names
    )
    return frame("one application in three columns", tag("table", tag("thead", head), tag("tbody", *rows)))


def _fact(words: str) -> str:
    return tag("td", text(words), class_="wrap")


def _loads(name: str, loads: Mapping[str, float]) -> str:
    """The load of each element, as a part of the time."""
    rows = [
        Bar(element, f"{100 * loads[element]:.0f} %", loads[element], f"{element}: busy {percent(loads[element])}")
        for element in sorted(loads, key=natural)
    ]
    drawn = bars(f"loads: {name}", rows, line=1.0) if rows else tag("p", text("Give the plan, too."), class_="note")
    return tag("div", tag("h3", text(name)), drawn)


def _whose(cell: Data, graph: Data | None) -> str:
    """Whose costs the columns count with, and what that means for comparing them."""
    if cell.get("stands_in"):
        return (
            f"{cell['stands_in']}. So the first two columns tell what a Cell would do whose cores compute as fast as "
            "one core of this computer: compare how the work is spread and what moves, not how fast a real Cell was."
        )
    given = sorted({kind for task in (graph or {}).get("task", []) for kind in task.get("cost_ns") or {}} - {"core"})
    kinds = f" ({', '.join(given)})" if given else ""
    return (
        f"The first two columns count with the costs that the application gives{kinds}; on this computer the kernels "
        "take the time that they take. Where these differ, the columns differ for that reason, too."
    )
