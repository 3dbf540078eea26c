"""All experiments, and which of them words ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cellweave import _core
from cellweave.reproduce import experiments as _experiments  # noqa: F401 (importing fills the list)
from cellweave.reproduce.experiment import KNOWN, Experiment
from cellweave.reproduce.facts import PAPERS, groups

if TYPE_CHECKING:
    from collections.abc import Sequence


def experiments() -> dict[str, Experiment]:
    """Every experiment by its id, paper by paper."""
    return dict(sorted(KNOWN.items(), key=lambda item: PAPERS.index(item[1].paper)))


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
