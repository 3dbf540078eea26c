"""The type of an experiment, and the list of all experiments."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import cleandoc
from typing import TYPE_CHECKING, Any

from cellweave import _core
from cellweave.reproduce.facts import PAPERS, groups
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


_KNOWN: dict[str, Experiment] = {}


def experiment(
    name: str, machine: str, serves: Sequence[str] = ()
) -> Callable[[Callable[[Bench, Found], None]], Callable[[Bench, Found], None]]:
    """Add a function to the list of experiments; its docstring says what exactly is tested."""

    def enter(run: Callable[[Bench, Found], None]) -> Callable[[Bench, Found], None]:
        paper = name.partition("/")[0]
        served = tuple(f"{paper}/{group}" for group in serves)
        _KNOWN[name] = Experiment(name, machine, served, cleandoc(run.__doc__ or ""), run)
        return run

    return enter


def experiments() -> dict[str, Experiment]:
    """Every experiment by its id, paper by paper."""
    from cellweave.reproduce import experiments as _  # noqa: F401 (importing adds them)

    return dict(sorted(_KNOWN.items(), key=lambda item: PAPERS.index(item[1].paper)))


def resolve(words: Sequence[str]) -> list[tuple[Experiment, frozenset[str] | None]]:
    """The experiments that ids ask for, each with the groups asked for (None: all it has).

    Parameters
    ----------
    words : sequence of str
        Ids of groups, figures, tables or papers, or ``all``.

    Raises
    ------
    cellweave.RequestError
        Where a word is none of these; it names the nearest.
    """
    known = experiments()
    asked: dict[str, set[str] | None] = {}
    for word in words:
        for name in _meant(word, known):
            exact = word in groups() and word not in known
            if exact and asked.get(name, set()) is not None:
                wanted = asked.setdefault(name, set())
                if wanted is not None:
                    wanted.add(word)
            elif not exact:
                asked[name] = None
    return [(e, _frozen(asked[name])) for name, e in known.items() if name in asked]


def _frozen(names: set[str] | None) -> frozenset[str] | None:
    return None if names is None else frozenset(names)


def _meant(word: str, known: dict[str, Experiment]) -> list[str]:
    if word == "all":
        return list(known)
    if word in PAPERS:
        return [name for name, e in known.items() if e.paper == word]
    if word in known:
        return [word]
    serving = [name for name, e in known.items() if word in e.groups]
    if serving:
        return serving
    allowed = ["all", *PAPERS, *known, *groups()]
    near = _core.did_you_mean(word, allowed)
    raise _core.RequestError(f"no experiment `{word}`; `cellweave reproduce --list` shows all of them{near}")
