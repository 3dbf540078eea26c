"""How old and how steady the costs of an application are, in words."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from cellweave.report.units import number, time_ns

Data = dict[str, Any]

_MOST = 4  # tasks that a warning names
_AGES = ((86400 * 2, 86400, "days"), (3600 * 2, 3600, "hours"), (60 * 2, 60, "minutes"))


def age(measured: str, now: datetime) -> str:
    """How long ago a date of a file is.

    >>> age("2026-11-22T14:03:07Z", datetime(2026, 11, 22, 17, 30, tzinfo=timezone.utc))
    '3 hours ago'
    """
    try:
        seconds = (now - _moment(measured)).total_seconds()
    except ValueError:
        return "at an unknown time"
    found = (f"{int(seconds // unit)} {word} ago" for least, unit, word in _AGES if seconds >= least)
    return next(found, "just now")


def date(measured: str) -> str:
    """A date of a file for people, to the minute.

    >>> date("2026-11-22T14:03:07Z")
    '2026-11-22 14:03 UTC'
    """
    try:
        return _moment(measured).strftime("%Y-%m-%d %H:%M UTC")
    except ValueError:
        return measured


def _moment(measured: str) -> datetime:
    return datetime.strptime(measured, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)


def basis(costs: Data, now: datetime | None = None) -> str:
    """Where costs come from, how old and how steady they are; nothing where the file does not say.

    Parameters
    ----------
    costs : dict
        ``costs`` of a plan or a profile.
    now : datetime, optional
        Ages are told from here; by default none are, as on a page that is read later.
    """
    kinds = [(costs.get(key) or 0, key) for key in ("measured", "given", "undated")]
    several = sum(n > 0 for n, _ in kinds) > 1
    said = {"measured": _measured(costs, now), "given": "given by hand", "undated": _undated(costs)}
    found = [f"{n} {said[key]}" if several else said[key] for n, key in kinds if n]
    if costs.get("stands_in"):
        found.append(str(costs["stands_in"]))
    return "; ".join(found)


def _measured(costs: Data, now: datetime | None) -> str:
    oldest, newest = costs.get("oldest") or "", costs.get("newest") or ""
    when = date(oldest) if date(oldest) == date(newest) else f"{date(oldest)} to {date(newest)}"
    ago = f", {age(oldest, now)}" if now else ""
    spread = ""
    if costs.get("p10") is not None:
        spread = f"; p10 to p90: {number(costs['p10'])} to {number(costs['p90'])} times the median"
    return f"measured {when}{ago}, on {costs.get('computer')}{spread}"


def _undated(costs: Data) -> str:
    return f"measured on {costs.get('computer')} by a version that wrote neither date nor spread"


def unsteady(costs: Data) -> list[str]:
    """A line about costs that spread widely; none where there are no such costs."""
    wide = costs.get("unsteady") or []
    if not wide:
        return []
    named = [f"{c['task']} ({time_ns(c['p10_ns'])} to {time_ns(c['p90_ns'])})" for c in wide[:_MOST]]
    more = f" and {len(wide) - _MOST} more" if len(wide) > _MOST else ""
    return [f"costs spread widely from call to call (p10 to p90), and the medians count: {', '.join(named)}{more}"]


def spreads(graph: Data, task: str) -> tuple[str, str]:
    """Of a task in an application's file: from p10 to p90 on each kind of element, and when that was measured."""
    kinds = (graph.get("profile") or {}).get("cost") or {}
    found = {kind: costs[task] for kind, costs in kinds.items() if task in costs}
    texts = [f"{time_ns(c['p10'])} to {time_ns(c['p90'])}" for c in found.values()]
    if len(found) > 1:
        texts = [f"{kind} {text}" for kind, text in zip(found, texts, strict=True)]
    dates = dict.fromkeys(date(c["measured"]) for c in found.values())
    return ", ".join(texts), ", ".join(dates)
