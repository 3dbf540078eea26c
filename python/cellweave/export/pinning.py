"""What an export is made of: parts or tasks, and the cpu of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cellweave import _core
from cellweave.machine import Machine

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Pinned:
    """A part or a task on a cpu.

    Attributes
    ----------
    name : str
        The number of a part, or the name of a task.
    element : str
        The machine's name for where it runs.
    cpu : int
        The operating system's number of it.
    node : int or None
        The NUMA node of the cpu, where the machine says it.
    """

    name: str
    element: str
    cpu: int
    node: int | None


@dataclass(frozen=True)
class Pinning:
    """Where the parts of a placement or the tasks of a plan run.

    Attributes
    ----------
    title : str
        What was placed where, for a comment.
    noun : {"part", "task"}
        What has a place.
    mapping : sequence of (str, str)
        Name and element, in order: the i-th becomes rank or thread i.
    machine : Machine
        What the elements belong to.
    plan : str or None
        The text of ``plan.json``, where it is a plan.
    """

    title: str
    noun: str
    mapping: Sequence[tuple[str, str]]
    machine: Machine
    plan: str | None = None

    def pinned(self) -> list[Pinned]:
        """Each part or task with its cpu.

        Raises
        ------
        cellweave.RequestError
            Where an element is none of the machine, or no cpu of a computer.
        """
        elements = {str(e["name"]): e for e in self.machine.elements}
        return [self._one(name, element, elements) for name, element in self.mapping]

    def _one(self, name: str, element: str, elements: dict[str, dict[str, Any]]) -> Pinned:
        where = f"{self.noun} {name} on {element}"
        known = elements.get(element)
        if known is None:
            names = list(elements)
            shown = ", ".join(names[:8]) + (", .." if len(names) > 8 else "")
            raise _core.RequestError(f"{where}: {self.machine.name} has no such element; it has {shown}")
        cpu = known["os_cpu"]
        if cpu is None:
            raise _core.RequestError(
                f"{where}: {element} of {self.machine.name} is no cpu of a computer; name one with --on: "
                "host, or a machine file whose elements have an os_cpu"
            )
        return Pinned(name, element, int(cpu), known["place"]["numa"])

    def ranks_of_cpus(self) -> dict[int, int]:
        """Each cpu's number when those of the computer are counted as hwloc counts them, from 0.

        hwloc orders what is inside one part of a computer by its lowest cpu: packages, then nodes, caches and cores in
        each, then the cpus of a core.
        """
        elements = [e for e in _whole(self.machine).elements if e["os_cpu"] is not None]
        lowest: dict[tuple[Any, ...], int] = {}
        for e in elements:
            for key in _inside(e):
                lowest[key] = min(lowest.get(key, e["os_cpu"]), e["os_cpu"])
        ordered = sorted(elements, key=lambda e: [*(lowest[key] for key in _inside(e)), e["os_cpu"]])
        return {e["os_cpu"]: i for i, e in enumerate(ordered)}


def _inside(element: dict[str, Any]) -> list[tuple[Any, ...]]:
    """The parts of the computer that an element is in, the largest first."""
    place = element["place"]
    levels = ("chip", "numa", "l3", "l2", "core")
    return [tuple(place[level] for level in levels[: depth + 1]) for depth in range(len(levels))]


def _whole(machine: Machine) -> Machine:
    """All cpus of this computer where the machine is some of them (`host:cpus=2-3`); else the machine."""
    return Machine.load("host") if machine.name == "host" else machine
