"""Planning: which task runs on which element, and what that gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellweave import _core
from cellweave.choice import at_least, choice
from cellweave.files import write_whole
from cellweave.graph import Graph
from cellweave.machine import Machine

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from matplotlib.figure import Figure

    from cellweave.report.table import Table

METHODS = ["auto", "greedy", "cluster", "delegate", "anneal", "exact"]
BUFFERINGS = ["shared", "duplicated"]
# What numbers may be, from and to; the command line checks its options by the same ones.
RANGES: dict[str, tuple[float, float]] = {
    "time": (0.001, 86400 * 7),
    "moves": (0, 10**15),
    "gap": (0, 1),
    "batch": (1, 2**20),
    "max_batch": (1, 2**20),
    "dmax": (0, 64),
    "read_back_gbs": (1e-6, 1e6),
    "seed": (0, 2**64 - 1),
}
FORMULATIONS = ["compact", "paper"]


class Plan:
    """Where each task runs, how large each buffer is, what period that gives and what no mapping can beat.

    Attributes
    ----------
    mapping : dict of str to str
        Task -> element.
    period_ns, bound_ns : float
        ns per instance: of this plan, and that no mapping on this machine can beat.
    gap : float
        ``1 - bound / period``.
    throughput_per_s : float
        Instances/s.
    bottleneck : str
        Name of the largest contribution.
    graph : Graph or None
        The application with its costs, where the plan was made here.
    feasible : bool
        Whether no hard limit is broken.
    violations : list of dict
        The hard limits that are broken: ``kind`` (``code``, ``buffers``, ``incoming`` or ``outgoing``), ``subject``
        (the element), ``used``, ``allowed``, ``equation``, and ``text`` for people.
    contributions : list of dict
        What takes time, largest first: ``kind`` (``compute``, ``limit``, ``overflow``, ``quota`` or ``lock``),
        ``subject`` (the name of the element, limit or lock), ``ns`` per instance, and ``name`` for people.
    """

    def __init__(self, data: dict[str, Any], graph: Graph | None = None, machine: Machine | None = None) -> None:
        self._data = data
        self.graph = graph
        self.machine = machine

    @classmethod
    def load(cls, path: str | os.PathLike[str] | Plan) -> Plan:
        """Read a ``plan.json``.

        Raises
        ------
        cellweave.RequestError
            Says what is wrong and where.
        """
        if isinstance(path, cls):
            return path
        return cls(json.loads(_core.read_plan(str(path))))

    def to_dict(self) -> dict[str, Any]:
        """As in ``plan.json``."""
        return self._data

    def to_json(self) -> str:
        """The text of ``plan.json``."""
        return json.dumps(self._data, indent=1) + "\n"

    def save(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write ``plan.json``; an existing file only with `force`."""
        write_whole(Path(path), self.to_json(), force)

    @property
    def mapping(self) -> dict[str, str]:
        return dict(self._data["mapping"])

    @property
    def period_ns(self) -> float:
        return float(self._data["period_ns"])

    @property
    def bound_ns(self) -> float:
        return float(self._data["bound_ns"])

    @property
    def gap(self) -> float:
        return float(self._data["gap"])

    @property
    def throughput_per_s(self) -> float:
        return float(self._data["throughput_per_s"])

    @property
    def bottleneck(self) -> str:
        return str(self._data["bottleneck"])

    @property
    def feasible(self) -> bool:
        return bool(self._data["feasible"])

    @property
    def violations(self) -> list[dict[str, Any]]:
        return list(self._data["violations"])

    @property
    def contributions(self) -> list[dict[str, Any]]:
        return list(self._data["contributions"])

    def tables(self) -> list[Table]:
        """What ``cellweave plan`` prints."""
        from cellweave.report.tables import plan_tables

        return plan_tables(self._data)

    def plot(self, what: str = "auto") -> Figure:
        """Draw it.

        Parameters
        ----------
        what : {"auto", "mapping", "contributions"}
            The graph in the colours of its elements, or a bar per contribution; by default the graph, where the plan
            knows it.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from cellweave.report.contributions import draw_contributions
        from cellweave.report.mapping import draw_mapping
        from cellweave.report.pictures import figure_of

        choice("what", what, ["auto", "mapping", "contributions"])
        if what == "mapping" and self.graph is None:
            raise _core.RequestError("this plan was read from a file: draw it with Graph.plot(plan)")
        if what == "contributions" or self.graph is None:
            return figure_of(draw_contributions(self._data))
        names = self.machine.element_names() if self.machine is not None else None
        return figure_of(draw_mapping(self.graph.to_dict(), self.mapping, names))

    def __repr__(self) -> str:
        d = self._data
        return f"Plan({d['application']!r} on {d['machine']!r}, {d['period_ns']:.4g} ns, gap {d['gap']:.2%})"

    def __str__(self) -> str:
        from cellweave.report.table import text

        return text(self.tables())

    def _repr_html_(self) -> str:
        from cellweave.report.table import html

        return html(self.tables())


def plan(
    graph: Graph | str | os.PathLike[str],
    on: Machine | str | os.PathLike[str] = "host",
    method: str = "auto",
    *,
    time_s: float | None = None,
    moves: int | None = None,
    gap: float | None = None,
    seed: int = 1,
    buffering: str | None = None,
    batch: int | None = None,
    max_batch: int | None = None,
    formulation: str = "compact",
    dmax: int | None = None,
    read_back_gbs: float | None = None,
    mapping: Mapping[str, str] | None = None,
    progress: Callable[[dict[str, Any]], None] | None = None,
) -> Plan:
    """Work out which task runs where.

    Parameters
    ----------
    graph : Graph or path
        The application. Tasks with a kernel and without a cost on an element of this computer are profiled first.
    on : Machine or str or path
        A preset, ``host``, or a machine file.
    method : str
        ``auto``, ``greedy``, ``cluster``, ``delegate``, ``anneal`` or ``exact``.
    time_s : float, optional
        Seconds that a search may take.
    moves : int, optional
        Moves that a search makes: the same number and seed repeat a plan exactly.
    gap : float, optional
        Stop when this gap is proved (0.05 = 5 %).
    seed : int
        Of the search.
    buffering : {"shared", "duplicated"}, optional
        The rule that sizes buffers; by default the method's own.
    batch : int, optional
        Instances per firing; by default chosen.
    max_batch : int, optional
        The most that may be chosen: a bound on latency.
    formulation : {"compact", "paper"}
        Of the program that ``exact`` solves.
    dmax : int, optional
        DELEGATE: the largest radius of a neighbourhood (2).
    read_back_gbs : float, optional
        DELEGATE: GB/s from the SPEs of a chip to its PPE; by default ``min(25, 2 * SPEs)``.
    mapping : mapping of str to str, optional
        Task -> element, for every task: evaluate this instead of searching.
    progress : callable, optional
        Called a few times a second with a dict (``method``, ``moves``, ``period_ns``, ``bound_ns``, ``gap``).

    Returns
    -------
    Plan

    Raises
    ------
    cellweave.RequestError
        Where a name, number or file is wrong, or a cost is missing.

    Examples
    --------
    >>> import cellweave as cw
    >>> graph = cw.Graph("pair")
    >>> graph.task("make", cost_ns={"ppe": 900.0, "spe": 300.0})
    >>> graph.task("use", cost_ns={"ppe": 900.0, "spe": 400.0})
    >>> graph.edge("make", "use", bytes=256)
    >>> plan = cw.plan(graph, on="qs22:spe=2")
    >>> plan.period_ns, plan.bottleneck.startswith("compute of SPE")
    (400.0, True)
    """
    graph, machine = Graph.load(graph), Machine.load(on)
    choice("method", method, METHODS)
    choice("formulation", formulation, FORMULATIONS)
    if buffering is not None:
        choice("buffering", buffering, BUFFERINGS)
    given = {
        "time": time_s,
        "moves": moves,
        "gap": gap,
        "batch": batch,
        "max_batch": max_batch,
        "dmax": dmax,
        "read_back_gbs": read_back_gbs,
        "seed": seed,
    }
    for name, value in given.items():
        if value is not None:
            at_least(name, value, *RANGES[name])
    if method == "exact" and mapping is None:
        from cellweave import exact

        return exact.plan(
            graph,
            machine,
            time_s=time_s,
            gap=gap,
            seed=seed,
            buffering=buffering,
            batch=batch,
            formulation=formulation,
            progress=progress,
        )
    options = {
        "folder": str(graph.folder) if graph.folder is not None else None,
        "max_batch": max_batch,
        "method": method,
        "time_s": time_s,
        "moves": moves,
        "gap": gap,
        "seed": seed,
        "buffering": buffering,
        "batch": batch,
        "dmax": dmax,
        "read_back_bytes_per_s": read_back_gbs * 1e9 if read_back_gbs is not None else None,
        "mapping": dict(mapping) if mapping is not None else None,
    }
    from cellweave.kernel import python_kernels

    # Only what is to be measured must be there.
    kernels = {} if all(task.get("cost_ns") for task in graph.to_dict()["task"]) else python_kernels(graph)
    native, text = _core.plan(graph.native(), machine.native(), json.dumps(options), kernels, progress)
    return Plan(json.loads(text), Graph.of(native, graph.folder), machine)
