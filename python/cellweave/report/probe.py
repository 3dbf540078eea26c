"""The tables of a probe."""

from __future__ import annotations

from typing import Any

from cellweave.report.places import size_text
from cellweave.report.table import Table
from cellweave.report.units import number, percent, time_ns

Data = dict[str, Any]

_ROWS = 8  # up to so many sets of a pattern are shown one by one; of more, the spread
_LETTERS = 34
_STOLEN = 0.05  # share of a cpu; the table mentions more than this


def probe_tables(probe: Data, notes: list[str]) -> list[Table]:
    """A row per measurement; where a pattern has many sets, a row for all of them with their spread."""
    tables = [_single(probe), _spread(probe)]
    shown = [table for table in tables if table.rows] or [tables[0]]
    if probe["exact"]:
        shown[-1].notes.append("simulated: exact, n = 1; another run gives the same")
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
    spread = [] if exact else [">p10", ">p90", ">n", "quality"]
    columns = ["pattern", "who", ">size", ">buffers", ">GB/s", *spread[:2], ">latency", ">us", ">ticks", *spread[2:]]
    table = Table(_title(probe), columns)
    for members in groups(probe["measurements"]).values():
        if len(members) > _ROWS:
            continue
        for m in members:
            gbs = m["bandwidth_gbs"]
            row = [m["pattern"], _shortened(m["transfers"]), *_point(m), number(gbs["p50"])]
            row += [] if exact else [number(gbs["p10"]), number(gbs["p90"])]
            row += [time_ns(m["latency_ns"]["p50"]), number(m["span_us"]["p50"]), number(m["ticks"]["p50"])]
            row += [] if exact else [str(m["n"]), _quality(m)]
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
        worst = max(members, key=lambda m: ["exact", "good", "disturbed", "unpinned"].index(m["quality"]))
        row = [
            pattern,
            str(n),
            *_point(members[0]),
            *[number(x) for x in at],
            time_ns(latency[n // 2]),
            _quality(worst),
        ]
        table.rows.append(row)
    return table


def _shortened(transfers: str) -> str:
    """The first few lines of a pattern, and how many there are."""
    if len(transfers) <= _LETTERS:
        return transfers
    kept = transfers[: transfers.rindex(",", 0, _LETTERS - 8)]
    return f"{kept} .. ({transfers.count(',') + 1})"


def _quality(m: Data) -> str:
    return f"{m['quality']}" + (f", {m['excluded']} left out" if m["excluded"] else "")


def _warnings(probe: Data) -> list[str]:
    notes, measurements = [], probe["measurements"]
    if any(m["quality"] == "unpinned" for m in measurements):
        notes.append("unpinned: a thread could not be put on its cpu; it is not known which cpus were measured")
    disturbed = sum(m["quality"] == "disturbed" for m in measurements)
    if disturbed:
        notes.append(f"disturbed: in {disturbed} of {len(measurements)} most samples lost their cpu to something else")
    if (probe["stolen_share"] or 0.0) > _STOLEN:
        notes.append(f"a hypervisor gave {percent(probe['stolen_share'])} of a cpu to others meanwhile")
    return notes
