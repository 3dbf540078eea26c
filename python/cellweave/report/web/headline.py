"""The first sentence of a page, and its figure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from cellweave.report.units import percent, rate_per_s, time_ns
from cellweave.report.web.bars import Bar, bars
from cellweave.report.web.machine import busy_of
from cellweave.report.web.marks import key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Data = dict[str, Any]

_DIFFERENCES_MOST = 6


def result_headline(result: Data) -> tuple[str, str]:
    """The rate, and what goes on from it: the ratio and the reason.

    Examples
    --------
    >>> said = "CPU1 computed 1.65 times slower than when profiled, all tasks alike: another user of the core."
    >>> result_headline({"throughput_per_s": 27700.0, "ratio": 0.74, "explanation": said, "elements": []})
    ('27.7 k/s', '0.74 of the prediction; CPU1 computed 1.65 times slower than when profiled.')
    """
    why = _reason(result)
    if not why:
        busy = busy_of(result)
        if busy:
            element = max(busy, key=lambda name: busy[name])
            why = f"{element} was busy {percent(busy[element])} of the time"
    ratio = f"{result['ratio']:.2f} of the prediction"
    return rate_per_s(result["throughput_per_s"]), f"{ratio}; {why}." if why else f"{ratio}."


def _reason(result: Data) -> str:
    """Why predicted and achieved differ, in one clause; nothing where they hardly do."""
    said = str(result.get("explanation") or "")
    largest = max(result.get("differences") or [], key=lambda d: float(d["share"]), default=None)
    if said and largest and re.match(r"\d+ tasks of ", largest["subject"]) and largest["predicted_ns"]:
        # What the explanation says of many tasks that differ a little is no sentence.
        ratio = f"{largest['measured_ns'] / largest['predicted_ns']:.2f}"
        return f"{largest['subject']} took {ratio} times their costs"
    return first_clause(said)


def first_clause(explanation: str) -> str:
    """What an explanation begins with, up to its first reason or remark.

    >>> first_clause("CPU1 waited for data: its source is slow. And more.")
    'CPU1 waited for data'
    """
    return re.split(r"[:;] |, all tasks alike|\.(?: |$)", explanation, maxsplit=1)[0]


def plan_headline(plan: Data) -> tuple[str, str]:
    """The planned rate, and how far a better mapping could go."""
    if not plan["feasible"]:
        return rate_per_s(plan["throughput_per_s"]), "planned, but the plan is not feasible: it breaks a hard limit."
    could = (
        "no mapping is faster" if plan["gap"] <= 0 else f"a better mapping could gain {percent(plan['gap'])} at most"
    )
    return rate_per_s(plan["throughput_per_s"]), f"predicted; {could}. The bottleneck is {plan['bottleneck']}."


def rate_bars(result: Mapping[str, Any]) -> str:
    """Predicted beside achieved."""
    per_s = {name: result.get(key) for name, key in _RATES.items()}
    if per_s["planned"] == per_s["predicted"]:
        per_s["planned"] = None
    rows = []
    for name, rate in per_s.items():
        if rate is not None:
            kind = "achieved" if name in ("achieved", "steady") else "predicted"
            rows.append(Bar(name, rate_per_s(rate), float(rate), f"{name}: {rate_per_s(rate)}, {_MEANS[name]}", kind))
    return bars("predicted and achieved instances per second", rows)


_RATES = {
    "planned": "planned_per_s",
    "predicted": "predicted_per_s",
    "achieved": "throughput_per_s",
    "steady": "steady_per_s",
}
_MEANS = {
    "planned": "with the speeds at which the costs were measured",
    "predicted": "with the speeds measured just before the run",
    "achieved": "instances by elapsed time",
    "steady": "the median window of the run, without start, stalls and drain",
}


def difference_bars(differences: Sequence[Mapping[str, Any]]) -> str:
    """For each part of the period: what was predicted, then what was measured."""
    rows = []
    for d in differences[:_DIFFERENCES_MOST]:
        subject = str(d["subject"]).replace(" -> ", " \u2192 ")
        name = subject if d["kind"] == "task" else f"{d['kind']}, {subject}"
        predicted, measured = time_ns(d["predicted_ns"]), time_ns(d["measured_ns"])
        says = f"{name}: predicted {predicted}, measured {measured} per instance. {d['why']}"
        figures = f"{predicted} \u2192 {measured}"
        rows.append(Bar(name, figures, float(d["measured_ns"]), says, "achieved", float(d["predicted_ns"])))
    legend = key([("var(--predicted)", "predicted"), ("var(--achieved)", "measured")])
    return legend + bars("parts of the period, predicted and measured", rows)


def contribution_bars(plan: Mapping[str, Any], most: int = 12) -> str:
    """What takes the time of a planned period, beside the bound."""
    from cellweave.report.contributions import largest

    bottleneck = plan["contributions"][0] if plan["contributions"] else None
    rows = []
    for c in largest(plan["contributions"], most):
        part = f", {percent(c['ns'] / plan['period_ns'])} of the period" if plan["period_ns"] else ""
        says = f"{c['name']}: {time_ns(c['ns'])} per instance{part}" + (", the bottleneck" if c is bottleneck else "")
        rows.append(
            Bar(str(c["name"]), time_ns(c["ns"]), float(c["ns"]), says, "achieved" if c is bottleneck else "predicted")
        )
    return bars("contributions to the period, and the bound", rows, line=float(plan["bound_ns"]))
