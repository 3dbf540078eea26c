"""MPI programs on the simulated Cell, for experiments: compiled by `cellcc`, started by `cellrun --on`."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from cellweave import _core
from cellweave.mpi import prefix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cellweave.reproduce.bench import Bench

# A job that takes longer hangs; the longest takes some seconds.
_SECONDS = 300
_SIMULATED = re.compile(r"cellrun: (?P<us>[\d.]+) us simulated on")


@dataclass(frozen=True)
class Ran:
    """A job that has ended.

    Attributes
    ----------
    lines : list of str
        What it printed.
    us : float
        Its simulated time, from the start to the last rank's end.
    """

    lines: list[str]
    us: float


class Ranks:
    """Runs one of the programs beside this file on a simulated machine, under the rule set of a bench.

    Parameters
    ----------
    bench : Bench
        A program is compiled once for all its experiments.
    machine : str
        A machine of ``cellrun --on``.
    program : str
        The name of a C file in ``programs``.

    Raises
    ------
    cellweave.RunError
        Where the program cannot be compiled.
    """

    def __init__(self, bench: Bench, machine: str, program: str) -> None:
        # It is removed with the last who knows it.
        self._folder = folder = bench.once("folder of programs", lambda: TemporaryDirectory(prefix="cellweave-"))
        self._binary = bench.once(("program", program), lambda: _compiled(program, Path(folder.name)))
        self._start = ["--on", machine, *([] if bench.rules is None else ["--rules", bench.rules])]

    def run(
        self,
        words: Sequence[object] = (),
        ranks: int = 2,
        buffered: int | None = None,
        memory: str | None = None,
        place: Sequence[int] | str | None = None,
        profile: Path | None = None,
    ) -> Ran:
        """Run it.

        Parameters
        ----------
        words : sequence
            Its arguments.
        ranks : int
            How many ranks run it.
        buffered, memory, place, profile
            As the options of ``cellrun``; a mapping is the SPE of each rank.

        Raises
        ------
        cellweave.RunError
            Where it does not end well.
        """
        placed = ",".join(map(str, place)) if place is not None and not isinstance(place, str) else place
        options = {"--buffered": buffered, "--memory": memory, "--place": placed, "--profile": profile}
        said = [str(word) for name, value in options.items() if value is not None for word in (name, value)]
        # Those papers have their collectives on messages.
        said += ["-genv", "CELLWEAVE_MPI_COLLECTIVES", "messages"]
        start = [prefix() / "bin" / "cellrun", *self._start, *said, "-n", str(ranks)]
        done = _done([*map(str, start), str(self._binary), *map(str, words)])
        simulated = _SIMULATED.search(done.stderr)
        if simulated is None:
            raise _core.RunError(f"{self._binary.name}: cellrun did not say how long it was simulated: {done.stderr}")
        return Ran(done.stdout.splitlines(), float(simulated["us"]))


def _compiled(program: str, folder: Path) -> Path:
    binary = folder / program
    with as_file(files("cellweave.reproduce") / "programs" / f"{program}.c") as source:
        _done([str(prefix() / "bin" / "cellcc"), "-O2", str(source), "-o", str(binary), "-lm"])
    return binary


def _done(words: list[str]) -> subprocess.CompletedProcess[str]:
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=_SECONDS)
    except subprocess.TimeoutExpired as e:
        raise _core.RunError(f"{' '.join(words)}: not done after {_SECONDS} s") from e
    if done.returncode != 0:
        raise _core.RunError(f"{' '.join(words)}: exit code {done.returncode}\n{done.stderr.strip()}")
    return done
