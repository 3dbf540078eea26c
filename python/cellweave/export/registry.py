"""A format of an export: what it holds, and what it cannot hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cellweave import _core

if TYPE_CHECKING:
    from collections.abc import Callable

    from cellweave.export.pinning import Pinned, Pinning


@dataclass(frozen=True)
class Names:
    """Names that a format can hold.

    Attributes
    ----------
    allowed : str
        Said where one is refused.
    holds : callable
        Whether it can hold a name.
    """

    allowed: str
    holds: Callable[[str], bool]


LINE = Names("names without control characters", lambda name: name.isprintable())


@dataclass(frozen=True)
class Format:
    """What a placement or a plan can be written as.

    Attributes
    ----------
    name : str
        As ``--export`` takes it.
    holds : str
        What it says of each part.
    use : str
        How the file is used.
    lost : str
        What it does not say.
    lines : callable
        Makes the lines of the file.
    names : Names
        The names that it can hold.
    parts_max, cpu_max : int or None
        The most parts, and the largest number of a cpu.
    cpus : bool
        Whether it needs cpus of a computer.
    """

    name: str
    holds: str
    use: str
    lost: str
    lines: Callable[[list[Pinned], Pinning], list[str]]
    names: Names = LINE
    parts_max: int | None = None
    cpu_max: int | None = None
    cpus: bool = True

    def text(self, pinning: Pinning) -> str:
        """The file.

        Raises
        ------
        cellweave.RequestError
            Where the format cannot hold the placement or the plan; says why, and what is allowed.
        """
        try:
            pinned = pinning.pinned() if self.cpus else []
            self._check(pinned, pinning.noun)
        except _core.RequestError as e:
            raise _core.RequestError(f"{self.name}: {e}") from None
        return "\n".join(self.lines(pinned, pinning)) + "\n"

    def _check(self, pinned: list[Pinned], noun: str) -> None:
        if self.parts_max is not None and len(pinned) > self.parts_max:
            raise _core.RequestError(f"{len(pinned)} {noun}s; at most {self.parts_max} are allowed")
        for one in pinned:
            if not self.names.holds(one.name):
                raise _core.RequestError(f"{noun} {one.name!r} cannot be written; allowed are {self.names.allowed}")
            if self.cpu_max is not None and one.cpu > self.cpu_max:
                raise _core.RequestError(
                    f"{noun} {one.name} on {one.element}: cpu {one.cpu}; allowed are 0 to {self.cpu_max}"
                )


def title(pinning: Pinning) -> str:
    """What was placed where, on one line of a comment."""
    return "".join(c if c.isprintable() else " " for c in pinning.title)


def order(pinned: list[Pinned], what: str, noun: str) -> list[str]:
    """Comments that say who is which rank or thread; none for parts, whose names are these numbers."""
    return [f"# {what} {i}: {one.name}" for i, one in enumerate(pinned)] if noun == "task" else []
