"""A word out of a few: the error names what is allowed and the nearest."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from cellweave import _core

if TYPE_CHECKING:
    from collections.abc import Sequence


def choice(what: str, word: str, allowed: Sequence[str]) -> str:
    """`word`, if it is allowed.

    Parameters
    ----------
    what : str
        What the word stands for, as the user gave it: ``--method``.
    word : str
        As the user wrote it.
    allowed : sequence of str
        In the order in which to list them.

    Raises
    ------
    cellweave.RequestError
        Otherwise.

    Examples
    --------
    >>> choice("--method", "anneal", ["greedy", "anneal"])
    'anneal'
    >>> choice("--method", "anneel", ["greedy", "anneal"])
    Traceback (most recent call last):
    cellweave.RequestError: --method: no `anneel`; did you mean `anneal`? Allowed: greedy, anneal
    """
    if word in allowed:
        return word
    near = get_close_matches(word, allowed, n=1, cutoff=0.5)
    guess = f"; did you mean `{near[0]}`?" if near else "."
    raise _core.RequestError(f"{what}: no `{word}`{guess} Allowed: {', '.join(allowed)}")


def at_least(what: str, value: float, least: float, most: float = float("inf")) -> None:
    """Refuse a number out of range.

    Raises
    ------
    cellweave.RequestError
        Names the range.

    Examples
    --------
    >>> at_least("--instances", 0, 1)
    Traceback (most recent call last):
    cellweave.RequestError: --instances: 0 is not allowed; at least 1
    """
    if not least <= value <= most:  # also refuses nan
        upper = f" and at most {most:g}" if most != float("inf") else ""
        raise _core.RequestError(f"{what}: {value:g} is not allowed; at least {least:g}{upper}")
