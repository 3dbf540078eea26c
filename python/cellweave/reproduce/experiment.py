"""The type of an experiment, and the list of all experiments."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import cleandoc
from typing import TYPE_CHECKING, Any

from cellweave.reproduce.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cellweave.reproduce.bench import Bench


class Found:
    """The result of an experiment: rows, and the data of pictures.

    Attributes
    ----------
    rows : Rows
        Published beside obtained.
    pictures : dict
        Name -> what :func:`cellweave.reproduce.pictures.draw` draws; plain data, so that it can be kept.
    notes : list of str
        How it was measured this time: how many mappings, how many rounds.
    """

    def __init__(self) -> None:
        self.rows = Rows()
        self.pictures: dict[str, dict[str, Any]] = {}
        self.notes: list[str] = []


@dataclass(frozen=True)
class Experiment:
    """A measurement on the simulated machine that serves one or several groups.

    Attributes
    ----------
    id : str
        ``paper/name``.
    machine : str
        The preset that it runs on.
    groups : tuple of str
        The groups whose rows it computes; empty where nothing was published.
    about : str
        What exactly is measured and tested; its first line is the title.
    run : callable
        Runs it.
    """

    id: str
    machine: str
    groups: tuple[str, ...]
    about: str
    run: Callable[[Bench, Found], None]

    @property
    def paper(self) -> str:
        """The part of the id before the slash."""
        return self.id.partition("/")[0]

    @property
    def title(self) -> str:
        """The first line of what it is about."""
        return self.about.splitlines()[0].rstrip(".")


# By their ids; importing `cellweave.reproduce.experiments` fills it.
KNOWN: dict[str, Experiment] = {}


def experiment(
    name: str, machine: str, serves: Sequence[str] = ()
) -> Callable[[Callable[[Bench, Found], None]], Callable[[Bench, Found], None]]:
    """Add a function to the list of experiments; its docstring says what exactly is tested."""

    def enter(run: Callable[[Bench, Found], None]) -> Callable[[Bench, Found], None]:
        paper = name.partition("/")[0]
        served = tuple(f"{paper}/{group}" for group in serves)
        KNOWN[name] = Experiment(name, machine, served, cleandoc(run.__doc__ or ""), run)
        return run

    return enter
