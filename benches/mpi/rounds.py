"""Interleaved runs on a machine that others share: which blocks count, and their figures.

A round runs every contender once, in an order that changes from round to round. A measured program looks at the two
cpus before and after each block of a case (`look.h`): at the *wire*, the time of one cache line to the other core, and
at a stream by hand. The two cpus of a virtual machine may share a cache now and none a second later: then the wire is
slow. Or single lines are as fast as before, and a stream of them takes three times as long. A block counts when both
were about the same before and after it; blocks of different *states* are kept apart, and only figures of one state are
compared: a state is an octave of the wire and one of the stream, around their medians. One process alone looks at a
copy in its own caches: a cpu may be slower for minutes. A figure is the median of a run's blocks in one state, and what
is shown the median over runs; a ratio is one of medians, with a 95 % bootstrap interval. Programs that do not look
(memory, start-up) are measured in any state.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import math
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

SAME = 1.5
"""The largest ratio of wires, and of streams, before and after a block for it to count."""
FEWEST = 4
"""Blocks of a run in one state that give a figure."""
RARE = 0.05
"""States with a smaller part of all figures are not shown."""
FORMAT = 7
"""Of results.json."""
RESAMPLES = 2000
"""For the bootstrap."""

Figures = dict[str, float]
"""The figures of one run of one contender, by case."""


State = tuple[bool, int, int]
"""Whether two cpus were looked at, and how slow wire and stream are, in powers of two around the most usual ones."""


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
        _kill(process)
        out, err = process.communicate()
        failed = False
    except BaseException:  # also Ctrl-C: leave nothing running
        _kill(process)
        raise
    if failed:
        raise Failed((err.strip().splitlines() or [f"exit code {process.returncode}"])[-1])
    whole = out.rpartition("\n")[0]  # who was stopped may have written part of a line
    return [json.loads(line) for line in whole.splitlines() if line.startswith("{")]


def _kill(process: subprocess.Popen[str]) -> None:
    """Kill a process and what it started; it may have ended by itself."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


@dataclass
class Run:
    """What one run of one contender gave in one state."""

    figures: Figures
    wire_ns: float = 0.0
    """0: one process alone, or it did not look."""
    cell_us: float = 0.0
    """The time of a cell of 16 kB by hand, in a stream or in the caches of one cpu; 0: it did not look."""
    who: str = ""


def split(line: dict[str, Any], case: str) -> list[Run]:
    """A case's blocks, split by the states in which they were; without those in which the state changed."""
    looks = list(zip(line["wire_ns"], line["cell_us"], strict=True))
    if not any(looks[0]):
        return [Run({case: line["us"]})]
    known = [
        (us, statistics.mean(wires), statistics.mean(cells))
        for us, before, after in zip(line["block_us"], looks, looks[1:], strict=False)
        for wires, cells in [zip(before, after, strict=True)]
        if _same(wires) and _same(cells)
    ]
    kinds: dict[State, list[tuple[float, float, float]]] = {}
    for block, kind in zip(known, _states([block[1:] for block in known]), strict=True):
        kinds.setdefault(kind, []).append(block)
    return [
        Run({case: us}, wire_ns, cell_us)
        for blocks in kinds.values()
        if len(blocks) >= FEWEST
        for us, wire_ns, cell_us in [map(statistics.median, zip(*blocks, strict=True))]
    ]


@dataclass
class Found:
    """Everything that was measured on one computer."""

    runs: list[Run] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)
    real_time: bool = False
    stopped: bool = False
    """By the user, before all rounds were run."""
    machine: dict[str, Any] = field(default_factory=lambda: identity())

    def states(self) -> list[State]:
        """The states in which these runs were, the one of the most first; rare ones are left out."""
        counts = Counter(self._states())
        return [state for state, count in counts.most_common() if count >= RARE * len(self.runs)]

    def in_state(self, state: State) -> Found:
        """The runs in one state. Those that did not look are with the most."""
        runs = [run for run, its in zip(self.runs, self._states(), strict=True) if its == state]
        return Found(runs, self.failures, self.real_time, self.stopped, self.machine)

    def _states(self) -> list[State]:
        """The state of each run."""
        states = iter(_states([(run.wire_ns, run.cell_us) for run in self.runs if run.cell_us]))
        return [next(states) if run.cell_us else (True, 0, 0) for run in self.runs]

    def wire_ns(self) -> float | None:
        """The median wire of these runs."""
        wires = [run.wire_ns for run in self.runs if run.wire_ns]
        return statistics.median(wires) if wires else None

    def cell_us(self) -> float:
        """The median time of a cell in a stream beside these runs."""
        return statistics.median([run.cell_us for run in self.runs if run.cell_us] or [0.0])

    def cases(self) -> set[str]:
        """Those that these runs have figures of."""
        return {case for run in self.runs for case in run.figures}

    def values(self, who: str, case: str) -> list[float]:
        """The figures of all runs."""
        return [run.figures[case] for run in self.runs if run.who == who and case in run.figures]

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


def _same(values: tuple[float, ...]) -> bool:
    return max(values) <= SAME * min(values)


def _states(looks: list[tuple[float, float]]) -> list[State]:
    """The state of each look at wire and stream: how many times two apart each is from the median of its sort."""

    def kind(value: float, all_values: list[float]) -> int:
        return round(math.log2(value / statistics.median(all_values))) if value > 0.0 else 0

    wires = [wire for wire, _ in looks if wire]
    cells = {is_two: [cell for wire, cell in looks if (wire > 0) == is_two] for is_two in (False, True)}
    return [(wire > 0, kind(wire, wires), kind(cell, cells[wire > 0])) for wire, cell in looks]


Part = Callable[[], "Figures | list[Run]"]


def measure(contenders: dict[str, list[Part]], rounds: int) -> Found:
    """Run interleaved rounds. A contender's parts are separate runs.

    Ctrl-C or SIGTERM ends them early: what was measured until then is kept.
    """
    found = Found()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    names = list(contenders)
    parts = max(len(parts) for parts in contenders.values())
    try:
        for number in range(rounds):
            turn = number % len(names)
            for part in range(parts):
                print(
                    f"\rround {number + 1} of {rounds}, part {part + 1} of {parts} ",
                    end="",
                    file=sys.stderr,
                    flush=True,
                )
                for name in names[turn:] + names[:turn]:
                    if part < len(contenders[name]) and name not in found.failures:
                        _run(found, name, contenders[name][part])
    except KeyboardInterrupt:
        found.stopped = True
        print("\nstopped: what was measured until now is written", end="", file=sys.stderr)
    print(file=sys.stderr)
    if not found.runs:
        raise SystemExit("no run counts: the machine is too busy to measure anything on it")
    return found


def _run(found: Found, name: str, part: Part) -> None:
    try:
        gave = part()
    except Failed as failure:
        found.failures[name] = str(failure)
        return
    for run in [Run(gave)] if isinstance(gave, dict) else gave:
        run.who = name
        found.runs.append(run)


def _whole(results: Path) -> dict[str, Any]:
    """The file's content; nothing where there is none."""
    content: dict[str, Any] = json.loads(results.read_text()) if results.exists() else {}
    return content


def known(results: Path) -> list[Found]:
    """What was measured before, by computer; nothing of another format."""
    whole = _whole(results)
    if whole.get("format") != FORMAT:
        return []
    return [
        Found(_runs(one["runs"]), one["failures"], one["real_time"], machine=one["machine"])
        for one in whole["computers"]
    ]


def _runs(alike: list[tuple[str, list[str], list[list[float]]]]) -> list[Run]:
    return [
        Run(dict(zip(cases, values, strict=True)), wire_ns, cell_us, who)
        for who, cases, rows in alike
        for wire_ns, cell_us, *values in rows
    ]


def listed(runs: list[Run]) -> list[str]:
    """The runs as `known` reads them, a line for all of one contender that have the same cases.

    A line names these, and has the wire, the time of a cell and the figures of each run.
    """
    alike: dict[tuple[str, ...], list[list[float]]] = {}
    for run in runs:
        row = [round(run.wire_ns, 1), round(run.cell_us, 3), *run.figures.values()]
        alike.setdefault((run.who, *run.figures), []).append(row)
    return [json.dumps([who, cases, rows], separators=(",", ":")) for (who, *cases), rows in alike.items()]


def is_same_computer(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two results are of one sort of computer: the last one takes the place of the other."""
    return all(one[key] == other[key] for key in ("cpu", "cores"))


def earlier(results: Path) -> list[Run]:
    """The runs that an earlier measurement on this computer wrote."""
    if (its := _whole(results).get("format", FORMAT)) != FORMAT:
        raise SystemExit(f"{results} is of format {its}; runs of format {FORMAT} can be added to")
    here = identity()
    for found in known(results):
        if is_same_computer(found.machine, here):
            if found.machine["kernel"] != here["kernel"]:
                raise SystemExit(f"{results} was measured with another kernel: {found.machine['kernel']}")
            return found.runs
    return []


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
    cache = Path("/sys/devices/system/cpu/cpu0/cache/index2/size")
    # Computers of one name differ in it, and in what is fast on them.
    has = f" with {cache.read_text().strip()}B of second cache" if cache.exists() else ""
    return {
        "cpu": model + has,
        "cores": len(os.sched_getaffinity(0)),
        "kernel": platform.release(),
        "date": datetime.date.today().isoformat(),
    }


def head(found: Found) -> str:
    """The first line of every table."""
    machine = found.machine
    counts = Counter((run.who, case) for run in found.runs for case in run.figures).values()
    wire = found.wire_ns()
    told = f" The wire: {wire:.0f} ns a hop, a stream by hand: {found.cell_us():.2f} us for 16 kB." if wire else ""
    if not wire and found.cell_us():
        told = f" A copy of 16 kB in the cpu's caches: {found.cell_us():.2f} us."
    priority = " at real-time priority" if found.real_time else ""
    return (
        f"{machine['cpu']}, {machine['cores']} cpus, Linux {machine['kernel']}, {machine['date']}. Medians over "
        f"{min(counts, default=0)} to {max(counts, default=0)} runs each{priority}.{told}"
    )
