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

from pathlib import Path

from cellweave import sim
from cellweave._core import RequestError, RunError, __version__
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
]


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
