"""Interleaved runs on a machine that others share: which runs count, and their figures.

A round runs every contender once, in an order that changes from round to round. The wire (the time of one cache line
to the other core and back) is measured before and after each run, and so is a stream by hand. A run counts when the
wire was steady both times (p90 at most 1.1 times p50) and the same (within 15 %), and the stream about the same. The
two cpus of a virtual machine may share a cache now and none a second later: then the wire is slow. Or single lines are
as fast as before, and a stream of them takes three times as long. Runs in these three *states* are kept apart, and only
runs in one state are compared. Figures are medians over runs; a ratio is one of medians, with a 95 % bootstrap
interval. Runs that are too long for a steady wire (memory, start-up) are measured without it.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import random
import signal
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

STEADY = 1.1
"""The largest p90 / p50 of a wire for a run to count."""
SAME = 1.15
"""The largest ratio of the p50s of the wire before and after a run, whichever is larger."""
SAME_STREAM = 1.6
"""The same of the stream: it is noisier than the wire, and its two kinds are further apart."""
APART = 2.0
"""Wires, and streams, whose ratio is larger than this are of two kinds."""
STATES = ("slow wire", "slow stream", "fast")
"""The states of the two cpus."""
FORMAT = 3
"""Of results.json."""
RESAMPLES = 2000
"""For the bootstrap."""

Figures = dict[str, float]
"""The figures of one run of one contender, by case."""


class Failed(Exception):
    """A process failed; the text says how."""


def cpus(most: int = 2) -> list[int]:
    """The first cpus that this process may use; all contenders run there."""
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:
        raise SystemExit(f"two cores are needed, this process may use {len(allowed)}")
    return allowed[:most]


def lines(command: list[str], environment: dict[str, str], limit_s: float) -> list[dict[str, Any]]:
    """Run one process to its end or for at most `limit_s`; give its lines of JSON, also if it was stopped."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=limit_s)
        failed = process.returncode != 0
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        failed = False
    except BaseException:  # also Ctrl-C: leave nothing running
        os.killpg(process.pid, signal.SIGKILL)
        raise
    if failed:
        raise Failed((err.strip().splitlines() or [f"exit code {process.returncode}"])[-1])
    return [json.loads(line) for line in out.splitlines() if line.startswith("{")]


@dataclass
class Run:
    """One run of one contender that counts."""

    who: str
    wire_ns: float
    cell_us: float
    """The time of a cell of 16 kB in a stream by hand."""
    figures: Figures


@dataclass
class Found:
    """Everything that was measured."""

    runs: list[Run] = field(default_factory=list)
    dropped: int = 0
    failures: dict[str, str] = field(default_factory=dict)
    real_time: bool = False

    def states(self) -> list[str]:
        """The states in which these runs were, the one of the most runs first."""
        return [state for state, _ in Counter(self._states()).most_common()]

    def in_state(self, state: str) -> Found:
        """The runs in one state. Those that were measured without a wire are with the most."""
        runs = [run for run, its in zip(self.runs, self._states(), strict=True) if its == state]
        return Found(runs, self.dropped, self.failures, self.real_time)

    def _states(self) -> list[str]:
        """The state of each run."""
        wires = [run.wire_ns for run in self.runs if run.wire_ns]
        slow_ns = _border(wires)
        slow_us = _border([run.cell_us for run in self.runs if 0 < run.wire_ns < slow_ns])

        def state(run: Run) -> str:
            if run.wire_ns >= slow_ns:
                return STATES[0]
            return STATES[1] if run.cell_us >= slow_us else STATES[2]

        known = Counter(state(run) for run in self.runs if run.wire_ns)
        most = max(known, key=lambda name: known[name], default=STATES[2])
        return [state(run) if run.wire_ns else most for run in self.runs]

    def wire_ns(self) -> float | None:
        """The median wire of these runs."""
        wires = [run.wire_ns for run in self.runs if run.wire_ns]
        return statistics.median(wires) if wires else None

    def cell_us(self) -> float:
        """The median time of a cell in a stream beside these runs."""
        return statistics.median([run.cell_us for run in self.runs if run.wire_ns] or [0.0])

    def values(self, who: str, case: str) -> list[float]:
        """The figures of all runs."""
        return [run.figures[case] for run in self.runs if run.who == who and case in run.figures]

    def fewest(self, names: list[str]) -> int:
        """The smallest number of runs of a contender; failed ones are left out."""
        counts = [sum(run.who == name for run in self.runs) for name in names if name not in self.failures]
        return min(counts, default=0)

    def median(self, who: str, case: str) -> float | None:
        """The median over this contender's runs that have this case."""
        values = self.values(who, case)
        return statistics.median(values) if values else None

    def best_peer(self, case: str, peers: list[str]) -> tuple[str, float] | None:
        """The peer with the smallest median."""
        known = [(value, peer) for peer in peers if (value := self.median(peer, case)) is not None]
        return (min(known)[1], min(known)[0]) if known else None

    def ratio(self, case: str, ours: str, other: str) -> tuple[float, float, float] | None:
        """The ratio of our median to another's, and its 95 % bootstrap interval."""
        mine, theirs = self.values(ours, case), self.values(other, case)
        if not mine or not theirs:
            return None
        chance = random.Random(1)

        def again(values: list[float]) -> float:
            return statistics.median(chance.choices(values, k=len(values)))

        ratios = sorted(again(mine) / again(theirs) for _ in range(RESAMPLES))
        middle = statistics.median(mine) / statistics.median(theirs)
        return middle, ratios[int(0.025 * RESAMPLES)], ratios[int(0.975 * RESAMPLES)]


def _border(values: list[float]) -> float:
    """The border between two kinds of values; infinite when they are of one kind."""
    least, most = min(values, default=0.0), max(values, default=0.0)
    return (least * most) ** 0.5 if most > APART * least > 0.0 else float("inf")


Part = Callable[[], Figures]
Wire = Callable[[], dict[str, Any]]


def measure(
    contenders: dict[str, list[Part]], wire: Wire | None, rounds: int = 7, most: int = 21, steady: float = STEADY
) -> Found:
    """Run interleaved rounds until every contender has `rounds` runs that count in one state; at most `most`.

    A contender's parts are separate runs; the wire is measured before and after each. `steady`: instead of `STEADY`.
    """
    found = Found()
    names = list(contenders)
    parts = max(len(parts) for parts in contenders.values())
    for number in range(most):
        turn = number % len(names)
        for part in range(parts):
            for name in names[turn:] + names[:turn]:
                if part < len(contenders[name]) and name not in found.failures:
                    _run(found, name, contenders[name][part], wire, steady)
        having = [[name for name in names if len(contenders[name]) > part] for part in range(parts)]
        enough = max(
            min(found.in_state(state).fewest(having[part]) // (part + 1) for part in range(parts)) for state in STATES
        )
        print(
            f"\rround {number + 1}: {len(found.runs)} runs count, {found.dropped} do not",
            end="",
            file=sys.stderr,
            flush=True,
        )
        if enough >= rounds:
            break
    print(file=sys.stderr)
    if not found.runs:
        raise SystemExit("no run counts: the machine is too busy to measure anything on it")
    return found


def _run(found: Found, name: str, part: Part, wire: Wire | None, limit: float) -> None:
    before = wire() if wire else {}
    try:
        figures = part()
    except Failed as failure:
        found.failures[name] = str(failure)
        return
    if not wire:
        found.runs.append(Run(name, 0.0, 0.0, figures))
        return
    after = wire()
    steady = all(look["p90_ns"] <= limit * look["p50_ns"] for look in (before, after))
    wires = sorted((before["p50_ns"], after["p50_ns"]))
    cells = sorted((before["cell_us"], after["cell_us"]))
    if steady and wires[1] <= max(SAME, limit) * wires[0] and cells[1] <= SAME_STREAM * cells[0]:
        found.runs.append(Run(name, statistics.mean(wires), statistics.mean(cells), figures))
    else:
        found.dropped += 1


def earlier(results: Path) -> list[Run]:
    """The runs that an earlier measurement on this machine wrote."""
    if not results.exists():
        return []
    whole = json.loads(results.read_text())
    if {**whole["machine"], "date": ""} != {**identity(), "date": ""}:
        raise SystemExit(f"{results} was measured on another machine: {whole['machine']}")
    if whole["format"] != FORMAT:
        raise SystemExit(f"{results} is of format {whole['format']}; runs of format {FORMAT} can be added to")
    return [Run(run["who"], run["wire_ns"], run["cell_us"], run["figures"]) for run in whole["runs"]]


def identity() -> dict[str, Any]:
    """The machine and the time."""
    model = next(
        (
            line.split(":", 1)[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        "unknown",
    )
    return {
        "cpu": model,
        "cores": len(os.sched_getaffinity(0)),
        "kernel": platform.release(),
        "date": datetime.date.today().isoformat(),
    }


def head(found: Found) -> str:
    """The first line of every table."""
    machine = identity()
    counts = Counter((run.who, case) for run in found.runs for case in run.figures).values()
    wire = found.wire_ns()
    told = (
        f" {found.dropped} of all runs did not count (the state changed); the wire: {wire:.0f} ns a hop, "
        f"a stream by hand: {found.cell_us():.2f} us for 16 kB."
        if wire
        else ""
    )
    priority = " at real-time priority" if found.real_time else ""
    return (
        f"{machine['cpu']}, {machine['cores']} cpus, Linux {machine['kernel']}, {machine['date']}. Medians over "
        f"{min(counts, default=0)} to {max(counts, default=0)} runs each{priority}.{told}"
    )
