"""What other tools read: a placement or a plan as the cpus of processes, threads, ranks or blocks.

A format is a row of :data:`FORMATS`, in the module of its family: scripts, OpenMP, launchers, frameworks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cellweave import _core
from cellweave.choice import choice
from cellweave.export import frameworks, launchers, openmp, scripts
from cellweave.export.pinning import Pinned, Pinning
from cellweave.export.registry import Format

if TYPE_CHECKING:
    from cellweave.machine import Machine

__all__ = ["FORMATS", "Format", "Pinned", "Pinning", "check", "export"]


def _plan(_: list[Pinned], pinning: Pinning) -> list[str]:
    if pinning.plan is None:
        raise _core.RequestError("plan: a placement has no tasks; `cellweave plan APP --map TASK=ELEMENT` makes a plan")
    return pinning.plan.splitlines()


_PLAN = Format(
    "plan",
    "a plan, whole: what `-o` writes; also for a simulated machine",
    "cellweave run APP --plan FILE",
    "nothing",
    _plan,
    cpus=False,
)

FORMATS: dict[str, Format] = {
    form.name: form for form in [*scripts.FORMATS, *openmp.FORMATS, *launchers.FORMATS, _PLAN, *frameworks.FORMATS]
}
"""By name, in the order in which they are listed."""


def check(name: str, machine: Machine) -> None:
    """Refuse, before any work is done, a format that is unknown or that cannot hold anything of a machine.

    Raises
    ------
    cellweave.RequestError
        Says what is allowed.
    """
    choice("export", name, list(FORMATS))
    if FORMATS[name].cpus and all(e["os_cpu"] is None for e in machine.elements):
        raise _core.RequestError(
            f"{name}: {machine.name} has no cpus of a computer; name one with --on: host, or a machine file whose "
            "elements have an os_cpu"
        )


def export(name: str, pinning: Pinning) -> str:
    """The text of a file.

    Parameters
    ----------
    name : str
        The format.
    pinning : Pinning
        What it holds.

    Raises
    ------
    cellweave.RequestError
        Where there is no such format, or it cannot hold this; says why, and what is allowed.
    """
    check(name, pinning.machine)
    return FORMATS[name].text(pinning)
