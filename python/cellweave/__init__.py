"""cellweave: works out where the communicating parts of a program should run, and runs them there.

Four words: a :class:`Graph` of tasks is planned on a :class:`Machine`, which gives a :class:`Plan`; running it gives a
:class:`Result`, predicted beside achieved.

>>> import cellweave as cw
>>> graph = cw.Graph.daggen(tasks=30, seed=7)
>>> plan = cw.plan(graph, on="qs22", method="greedy")
>>> 0 <= plan.gap < 1
True
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from cellweave._core import RequestError, RunError, __version__

if TYPE_CHECKING:
    from cellweave import sim
    from cellweave.graph import Graph
    from cellweave.kernel import Kernel, kernel
    from cellweave.machine import Machine
    from cellweave.place import Placing, place
    from cellweave.plan import Plan, plan
    from cellweave.probe import Probe, probe
    from cellweave.profile import Profile, profile
    from cellweave.reproduce.run import Reproduction, reproduce
    from cellweave.ring import Ring, ring
    from cellweave.run import Result, run
    from cellweave.tour import Tour, tour

__all__ = [
    "Graph",
    "Kernel",
    "Machine",
    "Placing",
    "Plan",
    "Probe",
    "Profile",
    "Reproduction",
    "RequestError",
    "Result",
    "Ring",
    "RunError",
    "Tour",
    "__version__",
    "include_dir",
    "kernel",
    "place",
    "plan",
    "probe",
    "profile",
    "reproduce",
    "ring",
    "run",
    "sim",
    "tour",
]


# Name -> the module that has it, which is imported when the name is first asked for: the command line starts twice as
# fast when a verb imports what it needs and no more.
_WHERE = {
    **dict.fromkeys(("Kernel", "kernel"), "kernel"),
    **dict.fromkeys(("Placing", "place"), "place"),
    **dict.fromkeys(("Plan", "plan"), "plan"),
    **dict.fromkeys(("Probe", "probe"), "probe"),
    **dict.fromkeys(("Profile", "profile"), "profile"),
    **dict.fromkeys(("Reproduction", "reproduce"), "reproduce.run"),
    **dict.fromkeys(("Result", "run"), "run"),
    **dict.fromkeys(("Ring", "ring"), "ring"),
    **dict.fromkeys(("Tour", "tour"), "tour"),
    "Graph": "graph",
    "Machine": "machine",
}


class _Package(ModuleType):
    """The package, where a verb's function has the name of its module."""

    def __setattr__(self, name: str, value: Any) -> None:
        # The import system puts a module here that was imported; whoever asks for the name means the function.
        if isinstance(value, ModuleType) and name in _WHERE:
            if _WHERE[name] != name:
                return
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name == "sim":
        return importlib.import_module("cellweave.sim")
    if name not in _WHERE:
        raise AttributeError(f"module 'cellweave' has no attribute '{name}'")
    value = getattr(importlib.import_module(f"cellweave.{_WHERE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *globals()})


def include_dir() -> Path:
    """The folder that holds ``cellweave.h``, the C header of the kernel ABI.

    Returns
    -------
    pathlib.Path
        An absolute path, for ``gcc -I``. ``cellweave --include`` prints it.

    Examples
    --------
    >>> import cellweave as cw
    >>> (cw.include_dir() / "cellweave.h").is_file()
    True
    """
    return Path(__file__).resolve().parent / "include"
