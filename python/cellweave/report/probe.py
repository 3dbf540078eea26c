"""The tables of a probe."""

from __future__ import annotations

from typing import Any

from cellweave.report.places import size_text
from cellweave.report.table import Table
from cellweave.report.units import number, percent, time_ns

Data = dict[str, Any]

_ROWS = 8  # up to so many sets of a pattern are shown one by one; of more, the spread
_LETTERS = 26
QUALITIES = ["exact", "good", "unsteady", "disturbed", "unpinned"]  # the best first
_STOLEN = 0.05  # share of a cpu; the table mentions more than this


def probe_tables(probe: Data, notes: list[str]) -> list[Table]:
    """A row per measurement; where a pattern has many sets, a row for all of them with their spread."""
    tables = [_single(probe), _spread(probe), _together(probe), _exchanges(probe)]
    shown = [table for table in tables if table.rows] or [tables[0]]
    if probe["exact"]:
        shown[-1].notes.append("simulated: exact, n = 1; another run gives the same")
    else:
        shown[-1].notes.append(verdict(probe))
    if probe["stopped"]:
        shown[-1].notes.append("stopped by Ctrl-C, or by a signal, before everything was measured")
    shown[-1].notes += _warnings(probe)
    shown[-1].notes += [f"fitted {note}" for note in notes]
    return shown


def groups(measurements: list[Data]) -> dict[tuple[str, int, int, int, int], list[Data]]:
    """Measurements that differ only in who talks to whom: by pattern, partners, size, buffers and computing."""
    found: dict[tuple[str, int, int, int, int], list[Data]] = {}
    for m in measurements:
        key = (m["pattern"], m["partners"], m["size_bytes"], m["buffers"], m["compute_ns"])
        found.setdefault(key, []).append(m)
    return found


def _title(probe: Data) -> str:
    return f"measured on {probe['target']}"


def _point(m: Data) -> list[str]:
    return [size_text(m["size_bytes"]), str(m["buffers"])]


def _single(probe: Data) -> Table:
    exact = probe["exact"]
    spread = [] if exact else [">p10", ">p90", ">n", ">out", "quality"]
    ticks = [">ticks"] if exact else []  # this computer's timer counts ns
    columns = ["pattern", "who", ">size", ">buffers", ">GB/s", *spread[:2], ">latency", ">us", *ticks, *spread[2:]]
    table = Table(_title(probe), columns)
    for members in groups(probe["measurements"]).values():
        if len(members) > _ROWS:
            continue
        for m in members:
            gbs = m["bandwidth_gbs"]
            row = [m["pattern"], _shortened(m["transfers"]), *_point(m), number(gbs["p50"])]
            row += [] if exact else [number(gbs["p10"]), number(gbs["p90"])]
            row += [time_ns(m["latency_ns"]["p50"]), number(m["span_us"]["p50"])]
            row += [number(m["ticks"]["p50"])] if exact else []
            row += [] if exact else [str(m["n"]), str(m["excluded"]), m["quality"]]
            table.rows.append(row)
    return table


def _spread(probe: Data) -> Table:
    columns = [
        "pattern",
        ">sets",
        ">size",
        ">buffers",
        ">GB/s min",
        ">p10",
        ">p50",
        ">p90",
        ">mean",
        ">latency p50",
        "quality",
    ]
    table = Table(_title(probe) + ": patterns with many sets", columns)
    for (pattern, _, _, _, _), members in groups(probe["measurements"]).items():
        if len(members) <= _ROWS:
            continue
        gbs = sorted(m["bandwidth_gbs"]["p50"] for m in members)
        latency = sorted(m["latency_ns"]["p50"] for m in members)
        n = len(gbs)
        at = [gbs[0], gbs[n // 10], gbs[n // 2], gbs[n * 9 // 10], sum(gbs) / n]
        worst = max(members, key=lambda m: QUALITIES.index(m["quality"]))
        row = [
            pattern,
            str(n),
            *_point(members[0]),
            *[number(x) for x in at],
            time_ns(latency[n // 2]),
            worst["quality"],
        ]
        table.rows.append(row)
    return table


def slowed(probe: Data) -> list[tuple[str, list[Data]]]:
    """Label -> sets, of patterns whose transfers go on at the same time; with the points where these differ."""
    found = {key: [m for m in sets if m.get("slowdown")] for key, sets in groups(probe["measurements"]).items()}
    found = {key: sets for key, sets in found.items() if sets}
    names = [key[0] if key[0] != "written" else sets[0]["transfers"] for key, sets in found.items()]
    labelled = []
    for name, sets in zip(names, found.values(), strict=True):
        size, buffers = _point(sets[0])
        label = _shortened(name) if "<" in name or ">" in name else name
        labelled.append((f"{label}, {size} x {buffers}" if names.count(name) > 1 else label, sets))
    return labelled


def spread_of(sets: list[Data], key: str) -> tuple[float, float, float]:
    """p10, p50 and p90: of one set over its samples, of many over their medians."""
    if len(sets) == 1:
        q = sets[0][key]
        return float(q["p10"]), float(q["p50"]), float(q["p90"])
    values = sorted(float(m[key]["p50"]) for m in sets)
    n = len(values)
    return values[n // 10], values[n // 2], values[n * 9 // 10]


def _together(probe: Data) -> Table:
    columns = ["at the same time", ">elements", ">sets", ">GB/s", ">slow-down", ">p10", ">p90", "slowed most"]
    table = Table("slow-down: how many times longer than alone", columns)
    for label, sets in slowed(probe):
        low, middle, high = spread_of(sets, "slowdown")
        gbs = spread_of(sets, "bandwidth_gbs")[1]
        each = [(e["slowdown"], e["transfer"]) for m in sets for e in m["each"] if e["slowdown"] is not None]
        most = max(each, default=(1.0, ""))
        row = [label, str(sets[0]["partners"]), str(len(sets)), number(gbs), number(middle), number(low), number(high)]
        table.rows.append([*row, f"{most[1]}: {number(most[0])}"])
    return table


_WORDS = {"wake": "wake-up", "yield": "turn by yielding", "false-sharing": "write, line shared"}


def exchange_label(x: Data) -> str:
    """What was done, and where the line lives."""
    if x["pattern"] == "line-home":
        return f"line at {x['home']}"
    return _WORDS.get(x["pattern"], str(x["pattern"]))


def exchange_groups(probe: Data) -> dict[tuple[str, str], list[Data]]:
    """Exchanges of one sort between elements that share as much."""
    found: dict[tuple[str, str], list[Data]] = {}
    for x in probe.get("exchanges", []):
        shares = "itself" if x["pair"][0] == x["pair"][1] else x["shares"]
        found.setdefault((exchange_label(x), shares), []).append(x)
    return found


def _exchanges(probe: Data) -> Table:
    columns = ["what", "who shares", "pairs", ">time", ">p10", ">p90", ">slow-down", ">n", ">out", "quality"]
    table = Table("lines, wake-ups, turns", columns)
    for (label, shares), members in exchange_groups(probe).items():
        low, middle, high = spread_of(members, "latency_ns")
        slowdowns = [m for m in members if m["slowdown"]]
        slowdown = number(spread_of(slowdowns, "slowdown")[1]) if slowdowns else ""
        pairs = "-".join(dict.fromkeys(members[0]["pair"])) if len(members) == 1 else str(len(members))
        worst = max(members, key=lambda m: QUALITIES.index(m["quality"]))
        times = [time_ns(middle), time_ns(low), time_ns(high)]
        counts = [str(min(m["n"] for m in members)), str(max(m["excluded"] for m in members))]
        table.rows.append([label, shares, pairs, *times, slowdown, *counts, worst["quality"]])
    return table


_SAID = {
    "lost_cpu": "lost a cpu to another thread",
    "stolen": "a hypervisor gave a cpu to others",
    "unsteady": "a cpu's speed changed",
}


def verdict(probe: Data) -> str:
    """How far the figures can be trusted, in words."""
    found = [*probe["measurements"], *probe.get("exchanges", [])]
    if probe["exact"]:
        return "simulated: exact"
    if not found:
        return "nothing was measured"
    count = {quality: sum(m["quality"] == quality for m in found) for quality in QUALITIES}
    if count["unpinned"]:
        word = "not to be trusted: threads ran on other cpus than they should"
    elif count["disturbed"] * 2 > len(found):
        word = "poor: the computer was busy; measure again when it is not"
    elif (count["unsteady"] + count["disturbed"]) * 2 > len(found):
        word = "fair: the cpus' speed changed meanwhile; ratios are safer than times"
    elif count["unsteady"] + count["disturbed"]:
        word = "good, but for the rows that say otherwise"
    else:
        word = "good"
    taken = sum(m["n"] + m["excluded"] for m in found)
    out = {reason: sum(m.get("left_out", {}).get(reason, 0) for m in found) for reason in _SAID}
    reasons = ", ".join(f"{n} while {_SAID[reason]}" for reason, n in out.items() if n)
    kept = sum(m["n"] for m in found)
    return f"verdict: {word}; {kept} of {taken} samples count" + (f" (left out: {reasons})" if reasons else "")


def _shortened(transfers: str) -> str:
    """The first few lines of a pattern, and how many there are."""
    if len(transfers) <= _LETTERS:
        return transfers
    kept = transfers[: transfers.rindex(",", 0, _LETTERS - 8)]
    return f"{kept} .. ({transfers.count(',') + 1})"


def _warnings(probe: Data) -> list[str]:
    notes, measurements = [], probe["measurements"]
    if any(m["quality"] == "unpinned" for m in measurements):
        notes.append("unpinned: a thread could not be put on its cpu; it is not known which cpus were measured")
    disturbed = sum(m["quality"] == "disturbed" for m in measurements)
    if disturbed:
        notes.append(
            f"disturbed: in {disturbed} of {len(measurements)} most samples were disturbed, and all of them count"
        )
    unsteady = sum(m["quality"] == "unsteady" for m in measurements)
    if unsteady:
        worst = max(m["pace_spread"] for m in measurements if m["quality"] == "unsteady")
        notes.append(
            f"unsteady: in {unsteady} of {len(measurements)} the cpus' speed varied, {number(worst)} times at most"
        )
    if probe.get("quota_cpus"):
        notes.append(
            f"a quota leaves {number(probe['quota_cpus'])} cpus to this process, fewer than take part: "
            "figures hold only while it is not used up"
        )
    for look in probe.get("at_once", []):
        point = f"{look['pattern']}, {size_text(look['size_bytes'])} x {look['buffers']}"
        slowed_by = f"a slow-down of {number(look['slowdown'])}"
        notes.append(f"{point}: {look['pairs']} pairs at a time, which a look showed to have {slowed_by}")
    if (probe["stolen_share"] or 0.0) > _STOLEN:
        notes.append(f"a hypervisor gave {percent(probe['stolen_share'])} of a cpu to others meanwhile")
    return notes
