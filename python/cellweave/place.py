"""Placing: which element each part of a communication pattern gets."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellweave import _core
from cellweave.files import write_whole
from cellweave.machine import Machine
from cellweave.options import chosen

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from cellweave.report.table import Table


class Placing:
    """A mapping of a pattern's parts to elements, and what stands beside it.

    Attributes
    ----------
    mapping : list of str
        Of part 0, 1, ...: its element.
    permutation : list of int
        The same as numbers: the SPE, or the element's place in the machine's list.
    cost, worst, median, identity : float
        In `unit`: of this mapping, of the worst, of half of the mappings, and of part i on element i.
    unit : str
        ``ns``, ``points`` or ``bytes x distance``.
    bound : float
        No mapping costs less.
    proved : bool
        Whether the bound is the cost.
    all_equal : bool
        Whether every mapping costs the same.
    pin : bool or None
        Where mappings were run here: whether to pin, or to leave it to the kernel.
    """

    def __init__(self, data: dict[str, Any], machine: Machine | None = None) -> None:
        self._data = data
        self._machine = machine
        self.mapping: list[str] = list(data["mapping"])
        self.permutation: list[int] = list(data["permutation"])
        nan = float("nan")
        self.cost, self.worst, self.median, self.identity = (
            nan if data[key] is None else float(data[key]) for key in ("cost", "worst", "median", "identity")
        )
        self.unit = str(data["unit"])
        self.bound = float(data["bound"])
        self.proved = bool(data["proved"])
        self.all_equal = bool(data["all_equal"])
        self.pin: bool | None = data.get("pin")

    def to_dict(self) -> dict[str, Any]:
        """As ``cellweave place --json`` prints it."""
        return dict(self._data)

    def to_json(self) -> str:
        """The text of a file that ``cellrun --place`` reads, too."""
        return json.dumps(self._data, indent=1) + "\n"

    def save(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write the result; an existing file only with `force`."""
        write_whole(Path(path), self.to_json(), force)

    def export(self, format: str, on: Machine | str | os.PathLike[str] | None = None) -> str:
        """The mapping as another tool reads it.

        Parameters
        ----------
        format : str
            ``taskset``, ``omp-places``, ``openmpi5``, ..: ``cellweave place --export list`` shows them.
        on : Machine or str or path, optional
            The machine of the elements; by default the one that parts were placed on.

        Returns
        -------
        str
            The text of the file.

        Raises
        ------
        cellweave.RequestError
            Where there is no such format, or it cannot hold this mapping; says why.

        Examples
        --------
        >>> import cellweave as cw
        >>> placed = cw.place("ring", on="cell")
        >>> placed.export("taskset")
        Traceback (most recent call last):
        cellweave.RequestError: taskset: cell has no cpus of a computer; name one with --on: host, or a machine file ...
        """
        from cellweave.export import Pinning, export

        machine = Machine.load(on) if on is not None else self._machine
        if machine is None:
            raise _core.RequestError("name the machine of this placement: export(format, on=...)")
        title = f"{self._data['pattern']} on {machine.name}"
        parts = [(str(part), element) for part, element in enumerate(self.mapping)]
        return export(format, Pinning(title, "part", parts, machine))

    def tables(self) -> list[Table]:
        """What ``cellweave place`` prints."""
        from cellweave.report.placing import placing_tables

        return placing_tables(self._data)

    def plot(self) -> Figure:
        """Draw how many mappings cost how much, with this mapping and the named affinities marked.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from cellweave.report.pictures import figure_of
        from cellweave.report.placing import draw_placing

        return figure_of(draw_placing(self._data))

    def __repr__(self) -> str:
        d = self._data
        return f"Placing({d['pattern']!r} on {d['machine']!r} by {d['objective']}, {self.cost:.4g} {self.unit})"

    def __str__(self) -> str:
        from cellweave.report.table import text

        return text(self.tables())

    def _repr_html_(self) -> str:
        from cellweave.report.table import html

        return html(self.tables(), self.plot)


def pattern_names() -> list[tuple[str, str]]:
    """The patterns that have names, each with a line about it.

    Examples
    --------
    >>> from cellweave.place import pattern_names
    >>> dict(pattern_names())["ring"]
    'each sends to the next'
    """
    return _core.traffic_names()


def place(
    pattern: str | os.PathLike[str] | ArrayLike,
    on: Machine | str | os.PathLike[str] = "host",
    objective: str = "model",
    method: str = "auto",
    *,
    parts: int | None = None,
    bytes: int = 16384,
    phase: int | None = None,
    symmetry: str = "tested",
    moves: int | None = None,
    seed: int = 1,
    sides: bool = False,
    memory: bool = False,
    sizes: bool = False,
    phases: bool = False,
    runs: int | None = None,
    progress: Callable[[dict[str, Any]], None] | None = None,
) -> Placing:
    """Work out which element each part of a communication pattern gets.

    Parameters
    ----------
    pattern : str or path or matrix
        A pattern's name (``ring``, ``torus-2d:4x2``), a file (``.csv``, ``.mtx``, ``.json`` of ``cellrun --profile``,
        ``.prof`` and ``.mat`` of Open MPI's monitoring), or a square matrix: row sends to column, in bytes.
    on : Machine or str or path
        A preset, ``host``, or a machine file.
    objective : {"rings", "model", "distance", "simulated", "measured", "robust"}
        What makes one mapping better than another.
    method : {"auto", "exhaustive", "branch", "levels", "anneal"}
        How a mapping is searched for.
    parts : int, optional
        Parts of a pattern that has a name; by default one to every SPE, or to every core of this computer.
    bytes : int
        Bytes of a message of a pattern that has a name.
    phase : int, optional
        Place only this phase, counted from 0.
    symmetry : {"tested", "rotation", "none"}
        Which mappings count as equal; ``rotation`` is the assumption of ``affinity-model``, 7! of 8!.
    moves : int, optional
        Swaps that annealing tries, or mappings that branch and bound looks at; by default by the number of parts.
    seed : int
        Seed of the search and of the affinity Default.
    sides : bool
        ``rings``: count messages that go across the short sides of the ring.
    memory : bool
        ``rings``: count traffic to main memory.
    sizes : bool
        ``rings``: weigh messages by their bytes.
    phases : bool
        ``rings``: judge each phase by itself.
    runs : int, optional
        ``simulated``: mappings that are simulated; ``measured`` and ``robust``: the most rounds of the race.
    progress : callable, optional
        Called now and then with a dict (``share``).

    Returns
    -------
    Placing

    Raises
    ------
    cellweave.RequestError
        Where a name, number or file is wrong, or the pattern has more parts than the machine elements.

    Examples
    --------
    >>> import cellweave as cw
    >>> placed = cw.place("ring", on="qs22")
    >>> placed.proved, placed.cost < placed.median
    (True, True)
    >>> cw.place([[0, 8], [0, 0]], on="cell").all_equal
    True
    """
    options = chosen("place", locals())
    name, matrix = "matrix", None
    if isinstance(pattern, (str, os.PathLike)):
        name = str(os.fspath(pattern))
    else:
        matrix = _rows(pattern)
    machine = Machine.load(on)
    made = _core.place(name, matrix, machine.native(), options, progress)
    return Placing(json.loads(made), machine)


def _rows(matrix: ArrayLike) -> Sequence[Sequence[float]]:
    import numpy as np

    try:
        rows = np.asarray(matrix, dtype=float)
    except (TypeError, ValueError) as e:
        raise _core.RequestError(f"matrix: rows of numbers expected, all of the same length: {e}") from e
    if rows.ndim != 2:
        raise _core.RequestError(f"matrix: {rows.ndim} dimensions; allowed: 2, row sends to column")
    return rows.tolist()  # type: ignore[no-any-return]
