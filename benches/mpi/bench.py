"""The common part of the MPI benches: libraries, programs, the wire, options."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import peers
import rounds
from peers import Library
from rounds import Figures, Part, Run

OURS = "cellweave"
BEFORE = "cellweave before"
MESSAGES = Path(__file__).resolve().parent / "reference.c"
"""Messages of two processes by hand."""


class Bench:
    """One run of one bench: contenders, cpus, number of rounds.

    Parameters
    ----------
    about : str
        The bench's own docstring: the first line is its description.
    source : Path
        The measured program.
    placement : str
        ``--place`` of our launcher; ``none`` where the program pins its ranks itself.
    reference : Path
        The hand-written program whose figures are the limits.
    """

    def __init__(self, about: str, source: Path, placement: str = "none", reference: Path = MESSAGES) -> None:
        options = argparse.ArgumentParser(description=about.splitlines()[0])
        options.add_argument("--rounds", type=int, default=7, help="how often all is run (default 7)")
        options.add_argument("--quick", action="store_true", help="one round: proves that it works, measures nothing")
        options.add_argument(
            "--real-time", action="store_true", help="at real-time priority (as root): others disturb less"
        )
        options.add_argument("--only", action="append", metavar="NAME", help="only this library (again for more)")
        options.add_argument(
            "--before", type=Path, metavar="FOLDER", help="measure another build of ours, too: its bin and lib"
        )
        options.add_argument("--add", action="store_true", help="keep the runs of results.json and add to them")
        self.options = options.parse_args()
        self.rounds = 1 if self.options.quick else self.options.rounds
        self.cpus = rounds.cpus()
        self.libraries = peers.libraries(placement)
        if self.options.before:
            self.libraries.insert(1, peers.another(BEFORE, self.options.before.resolve(), placement))
        if self.options.only:
            known = [library.name for library in self.libraries]
            if unknown := [name for name in self.options.only if name not in known]:
                options.error(f"--only: {unknown[0]} is none of {', '.join(known)}")
            self.libraries = [library for library in self.libraries if library.name in self.options.only]
        # Ranks that share a cpu would starve each other there.
        self.first = ["chrt", "-f", "10"] if self.options.real_time else []
        self.peers = [library.name for library in self.libraries if library.name not in (OURS, BEFORE)]
        self.program = source.stem
        self.folder = source.parent
        self.earlier = rounds.earlier(self.folder / "results.json") if self.options.add else []
        peers.build(source, self.libraries)
        self.reference = peers.build_reference(reference)

    def environ(self) -> dict[str, str]:
        """The environment of the hand-written programs."""
        return self.libraries[0].environ(self.cpus)

    def run(self, library: Library, ranks: int, *arguments: str, limit_s: float = 120) -> list[dict[str, Any]]:
        """One run of the measured program."""
        command = library.command(ranks, self.program, *arguments)
        return self._lines(command, library.environ(self.cpus), limit_s, crowded=ranks > len(self.cpus))

    def by_hand(self, *arguments: str) -> list[dict[str, Any]]:
        """One run of the hand-written limit."""
        return self._lines([str(self.reference), *arguments], self.environ(), 60)

    def _lines(
        self, command: list[str], environment: dict[str, str], limit_s: float, crowded: bool = False
    ) -> list[dict[str, Any]]:
        with tempfile.NamedTemporaryFile(dir="/dev/shm", prefix="bench-look-") as look:
            first = [] if crowded else self.first
            return rounds.lines([*first, *command], {**environment, "BENCH_LOOK": look.name}, limit_s)

    def contenders(self, *parts: Callable[[Library], Figures | list[Run]]) -> dict[str, list[Part]]:
        """One contender per library; its parts are separate runs."""
        return {library.name: [partial(part, library) for part in parts] for library in self.libraries}

    def measure(self, contenders: dict[str, list[Part]]) -> rounds.Found:
        """Measure interleaved rounds."""
        found = rounds.measure(contenders, self.rounds)
        found.real_time = bool(self.first)
        found.runs = self.earlier + found.runs
        return found
