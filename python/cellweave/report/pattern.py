"""The tables of an MPI job's profile: who sends to whom, by size, and where ranks spend their time."""

from __future__ import annotations

from typing import Any

from cellweave.report.table import Table
from cellweave.report.units import number, percent, size_bytes, time_ns

Data = dict[str, Any]

_ROWS = 20  # transfers and functions that are shown one by one


def pattern_tables(profile: Data) -> list[Table]:
    """Transfers, sizes by phase, functions."""
    return [_transfers(profile), _sizes(profile), _functions(profile)]


def title(profile: Data) -> str:
    """The title of a profile."""
    programs = ", ".join(program.rsplit("/", 1)[-1] for program in profile["programs"])
    return f"{programs} on {profile['n']} ranks"


def matrix(profile: Data, key: str) -> list[list[float]]:
    """``bytes`` or ``messages`` by ``[destination][source]``; nan where nothing was sent."""
    n = profile["n"]
    values = [[float("nan")] * n for _ in range(n)]
    for transfer in profile["pattern"]:
        values[transfer["destination"]][transfer["source"]] = float(transfer[key])
    return values


def time_by_function(profile: Data) -> dict[str, list[float]]:
    """Function -> ns in each rank, all phases together, those with most time first."""
    found: dict[str, list[float]] = {}
    for phase in profile["phases"]:
        for f in phase["functions"]:
            found.setdefault(f["name"], [0.0] * profile["n"])[f["rank"]] += f["ns"]
    return dict(sorted(found.items(), key=lambda item: -sum(item[1])))


def _transfers(profile: Data) -> Table:
    table = Table(title(profile), [">source", ">destination", ">messages", ">bytes", ">mean size", ">share of bytes"])
    transfers = sorted(profile["pattern"], key=lambda t: (-t["bytes"], -t["messages"]))
    total = sum(t["bytes"] for t in transfers)
    for t in transfers[:_ROWS]:
        share = percent(t["bytes"] / total) if total else "-"
        mean = size_bytes(t["bytes"] / t["messages"])
        table.rows.append(
            [str(t["source"]), str(t["destination"]), number(t["messages"]), size_bytes(t["bytes"]), mean, share]
        )
    if len(transfers) > _ROWS:
        rest = transfers[_ROWS:]
        what = size_bytes(sum(t["bytes"] for t in rest))
        table.notes.append(f"and {len(rest)} more pairs of ranks with {what} in total")
    if not transfers:
        table.notes.append("no messages were sent")
    return table


def _sizes(profile: Data) -> Table:
    table = Table("messages by phase and size", [">phase", ">size", ">messages", ">bytes", ">pairs of ranks"])
    for phase in profile["phases"]:
        classes: dict[int, list[Any]] = {}
        for transfer in phase["transfers"]:
            for s in transfer["sizes"]:
                found = classes.setdefault(s["least_bytes"], [s["most_bytes"], 0, 0, 0])
                found[1] += s["messages"]
                found[2] += s["bytes"]
                found[3] += 1
        for least, (most, messages, sent, pairs) in sorted(classes.items()):
            row = [str(phase["level"]), _class(least, most), number(messages), size_bytes(sent), str(pairs)]
            table.rows.append(row)
    table.notes.append("a phase is the number that MPI_Pcontrol was called with; 1 at first")
    return table


def _class(least: int, most: int | None) -> str:
    if most is None:
        return f"{least} B or more"
    return f"{least} B" if least == most else f"{least} to {most} B"


def _functions(profile: Data) -> Table:
    columns = ["function", ">calls", ">time in all ranks", ">share of their time", ">most in one rank", ">that rank"]
    table = Table("time in MPI by function", columns)
    calls: dict[str, int] = {}
    for phase in profile["phases"]:
        for f in phase["functions"]:
            calls[f["name"]] = calls.get(f["name"], 0) + f["calls"]
    available = profile["elapsed_s"] * 1e9 * profile["n"]
    times = time_by_function(profile)
    for name, ns in list(times.items())[:_ROWS]:
        most = max(range(len(ns)), key=lambda rank: ns[rank])
        share = percent(sum(ns) / available) if available else "-"
        table.rows.append([name, number(calls[name]), time_ns(sum(ns)), share, time_ns(ns[most]), str(most)])
    if len(times) > _ROWS:
        rest = sum(sum(ns) for ns in list(times.values())[_ROWS:])
        table.notes.append(f"and {len(times) - _ROWS} more functions with {time_ns(rest)} in total")
    table.notes.append("long waits are all timed; of many short calls of a function, one in several is timed")
    return table
