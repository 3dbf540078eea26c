"""The common part of the MPI benches: libraries, programs, the wire, options."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import peers
import rounds
from peers import Library
from rounds import Figures, Part

OURS = "cellweave"
BEFORE = "cellweave before"


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
    """

    def __init__(self, about: str, source: Path, placement: str = "none") -> None:
        options = argparse.ArgumentParser(description=about.splitlines()[0])
        options.add_argument("--rounds", type=int, default=7, help="runs of each that are needed (default 7)")
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
        self.most = 3 if self.options.quick else 4 * self.rounds
        self.cpus = rounds.cpus()
        self.libraries = peers.libraries(placement)
        if self.options.before:
            self.libraries.insert(1, peers.another(BEFORE, self.options.before.resolve(), placement))
        if self.options.only:
            self.libraries = [library for library in self.libraries if library.name in self.options.only]
        # Ranks that share a cpu would starve each other there.
        self.first = ["chrt", "-f", "10"] if self.options.real_time else []
        self.peers = [library.name for library in self.libraries if library.name not in (OURS, BEFORE)]
        peers.build(source, self.libraries)
        self.program = source.stem
        self.reference = peers.build_reference()
        self.folder = source.parent

    def environ(self) -> dict[str, str]:
        """The environment of the hand-written programs."""
        return self.libraries[0].environ(self.cpus)

    def wire(self) -> dict[str, Any]:
        """Measure the wire once."""
        return rounds.lines([*self.first, str(self.reference), "wire"], self.environ(), 60)[0]

    def run(self, library: Library, ranks: int, *arguments: str, limit_s: float = 120) -> list[dict[str, Any]]:
        """One run of the measured program."""
        command = library.command(ranks, self.program, *arguments)
        first = self.first if ranks <= len(self.cpus) else []
        return rounds.lines([*first, *command], library.environ(self.cpus), limit_s)

    def contenders(self, *parts: Callable[[Library], Figures]) -> dict[str, list[Part]]:
        """One contender per library; its parts are separate runs."""
        return {library.name: [partial(part, library) for part in parts] for library in self.libraries}

    def measure(
        self, contenders: dict[str, list[Part]], steady: bool = True, limit: float = rounds.STEADY
    ) -> rounds.Found:
        """Measure interleaved rounds; `steady`: a run counts only when the wire is steady before and after it.

        `limit` says how steady. Runs of some seconds need one that only tells the two kinds of wire apart.
        """
        found = rounds.measure(contenders, self.wire if steady else None, self.rounds, self.most, limit)
        found.real_time = bool(self.first)
        if self.options.add:
            found.runs = rounds.earlier(self.folder / "results.json") + found.runs
        return found
