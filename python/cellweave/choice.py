"""A word out of a few: the error names what is allowed and the nearest."""

from __future__ import annotations

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
    cellweave.RequestError: --method: no `anneel`; allowed: greedy, anneal; did you mean `anneal`?
    """
    if word in allowed:
        return word
    near = _core.did_you_mean(word, allowed)
    raise _core.RequestError(f"{what}: no `{word}`; allowed: {', '.join(allowed)}{near}")


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
