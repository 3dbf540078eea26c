"""Interleaved rounds on a machine that others share: what counts, and what is made of it.

A round runs every contender once, in an order that turns, between two looks at the wire (one cache line to and fro). It is
valid when the wire was steady at both looks: p90 at most 1.1 times p50. Figures are medians over valid rounds; a ratio is the
median of the rounds' own ratios, with a 95 % bootstrap interval over rounds.
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
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

STEADY = 1.1
"""A wire's p90 by its p50, at most, for a round to count."""
RESAMPLES = 2000
"""Of the bootstrap."""

Figures = dict[str, float]
"""What one run of one contender measured, by case."""


class Failed(Exception):
    """A process did not deliver; the text says how."""


def cpus(most: int = 2) -> list[int]:
    """The first that this process may use: everybody runs there."""
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:
        raise SystemExit(f"two cores are needed, this process may use {len(allowed)}")
    return allowed[:most]


def lines(command: list[str], environment: dict[str, str], limit_s: float) -> list[dict[str, Any]]:
    """Run one process to its end, or for at most `limit_s`; its lines of JSON, also those before it was stopped."""
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
    except BaseException:  # Ctrl-C too: nothing is left running
        os.killpg(process.pid, signal.SIGKILL)
        raise
    if failed:
        raise Failed((err.strip().splitlines() or [f"exit code {process.returncode}"])[-1])
    return [json.loads(line) for line in out.splitlines() if line.startswith("{")]


@dataclass
class Rounds:
    """What was measured: per valid round, per contender, per case."""

    valid: list[dict[str, Figures]] = field(default_factory=list)
    dropped: int = 0
    wires_ns: list[float] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)

    def median(self, who: str, case: str) -> float | None:
        """The median over the valid rounds in which this contender gave this case."""
        found = [one[who][case] for one in self.valid if case in one.get(who, {})]
        return statistics.median(found) if found else None

    def best_peer(self, case: str, peers: list[str]) -> tuple[str, float] | None:
        """The peer with the smallest median."""
        found = [(self.median(peer, case), peer) for peer in peers]
        known = [(value, peer) for value, peer in found if value is not None]
        return (min(known)[1], min(known)[0]) if known else None

    def ratio(self, case: str, ours: str, other: str) -> tuple[float, float, float] | None:
        """Ours by another's: the median of the rounds' ratios and its 95 % bootstrap interval."""
        ratios = [
            one[ours][case] / one[other][case] for one in self.valid if case in one.get(ours, {}) and case in one.get(other, {})
        ]
        if not ratios:
            return None
        chance = random.Random(1)
        medians = sorted(statistics.median(chance.choices(ratios, k=len(ratios))) for _ in range(RESAMPLES))
        return statistics.median(ratios), medians[int(0.025 * RESAMPLES)], medians[int(0.975 * RESAMPLES)]


def measure(
    contenders: dict[str, Callable[[], Figures]], wire: Callable[[], dict[str, Any]], rounds: int = 7, most: int = 21
) -> Rounds:
    """Run interleaved rounds until `rounds` of them are valid, at most `most`; what was found says how many are."""
    found = Rounds()
    names = list(contenders)
    for number in range(most):
        before = wire()
        one: dict[str, Figures] = {}
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            try:
                one[name] = contenders[name]()
            except Failed as failure:
                found.failures.setdefault(name, str(failure))
        after = wire()
        steady = all(look["p90_ns"] <= STEADY * look["p50_ns"] for look in (before, after))
        if steady:
            found.valid.append(one)
            found.wires_ns += [before["p50_ns"], after["p50_ns"]]
        else:
            found.dropped += 1
        print(f"\rround {number + 1}: {len(found.valid)} valid of {rounds}", end="", file=sys.stderr, flush=True)
        if len(found.valid) == rounds:
            break
    print(file=sys.stderr)
    if not found.valid:
        raise SystemExit("no round was valid: the machine is too busy to measure anything on it")
    return found


def identity() -> dict[str, Any]:
    """Which machine, when."""
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


def head(found: Rounds, rounds: int) -> str:
    """The line that every table begins with."""
    machine = identity()
    wire = f"{statistics.median(found.wires_ns):.0f} ns" if found.wires_ns else "unknown"
    left_out = f"{found.dropped} left out because the wire's p90 was above {STEADY} of its p50"
    return (
        f"{machine['cpu']}, {machine['cores']} cores, Linux {machine['kernel']}, {machine['date']}. Medians over "
        f"{len(found.valid)} valid rounds (asked {rounds}; {left_out}); the wire: {wire} a hop."
    )
