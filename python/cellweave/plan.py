"""Planning: which task runs on which element, and what that gives."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellweave import _core
from cellweave.choice import choice
from cellweave.files import write_whole
from cellweave.graph import Graph
from cellweave.machine import Machine
from cellweave.options import chosen

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.figure import Figure

    from cellweave.report.table import Table


@dataclass(frozen=True)
class Advice:
    """What holds a plan back, and what would help.

    Attributes
    ----------
    binds : str
        Which contribution is the period, and what it consists of.
    period_ns : float
        The plan's period, or a better one that the search found while nothing was changed; ns per instance.
    changes : list of dict
        What would help, most first: ``of`` (``machine`` or ``graph``), ``what``, ``period_ns``, ``gain`` (times as many
        instances per second).
    tried : int
        How many changes were tried.
    """

    binds: str
    period_ns: float
    changes: list[dict[str, Any]]
    tried: int

    def to_dict(self) -> dict[str, Any]:
        """For programs."""
        return dict(vars(self))

    def tables(self) -> list[Table]:
        """What ``cellweave plan --explain`` prints."""
        from cellweave.report.table import Table
        from cellweave.report.units import number, time_ns

        table = Table("what would help", ["change", "of", ">period", ">times as fast"])
        for change in self.changes:
            figures = [time_ns(change["period_ns"]), number(change["gain"])]
            table.rows.append([change["what"], change["of"], *figures])
        if not self.changes:
            table.notes = [f"none of {self.tried} changes of one thing helps"]
        return [Table("what binds", [], [], [self.binds]), table]


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
    costs : dict
        What the costs rest on: how many were ``measured``, ``given`` by hand or ``undated``, when the ``oldest`` and
        the ``newest`` was measured, ``p10`` and ``p90`` over the median of all, and the ``unsteady`` ones.
    contributions : list of dict
        What takes time, largest first: ``kind`` (``compute``, ``limit``, ``overflow``, ``quota`` or ``lock``),
        ``subject`` (the name of the element, limit or lock), ``ns`` per instance, and ``name`` for people.
    """

    def __init__(
        self,
        native: _core.Plan,
        graph: Graph | None = None,
        machine: Machine | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self._native = native
        self._options = dict(options or {})
        self._data: dict[str, Any] | None = None
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
        return path if isinstance(path, cls) else cls(_core.Plan.load(str(path)))

    def native(self) -> _core.Plan:
        """The form that the core works on."""
        return self._native

    def to_dict(self) -> dict[str, Any]:
        """As in ``plan.json``."""
        if self._data is None:
            self._data = json.loads(self._native.to_json())
        return self._data

    def to_json(self) -> str:
        """The text of ``plan.json``."""
        return json.dumps(self.to_dict(), indent=1) + "\n"

    def save(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write ``plan.json``; an existing file only with `force`."""
        write_whole(Path(path), self.to_json(), force)

    def export(self, format: str, on: Machine | str | os.PathLike[str] | None = None) -> str:
        """The mapping as another tool reads it, task by task.

        Parameters
        ----------
        format : str
            ``taskset``, ``gnuradio``, ``openmpi5``, ..: ``cellweave plan --export list`` shows them.
        on : Machine or str or path, optional
            The machine of the elements; by default the one that the plan was made for.

        Returns
        -------
        str
            The text of the file.

        Raises
        ------
        cellweave.RequestError
            Where there is no such format, or it cannot hold this plan; says why.
        """
        from cellweave.export import Pinning, export

        machine = Machine.load(on) if on is not None else self.machine
        if machine is None:
            raise _core.RequestError("this plan was read from a file: name its machine: export(format, on=...)")
        title = f"{self.to_dict()['application']} on {machine.name}"
        return export(format, Pinning(title, "task", list(self.mapping.items()), machine, self.to_json()))

    @property
    def mapping(self) -> dict[str, str]:
        return dict(self.to_dict()["mapping"])

    @property
    def period_ns(self) -> float:
        return float(self.to_dict()["period_ns"])

    @property
    def bound_ns(self) -> float:
        return float(self.to_dict()["bound_ns"])

    @property
    def gap(self) -> float:
        return float(self.to_dict()["gap"])

    @property
    def throughput_per_s(self) -> float:
        return float(self.to_dict()["throughput_per_s"])

    @property
    def bottleneck(self) -> str:
        return str(self.to_dict()["bottleneck"])

    @property
    def feasible(self) -> bool:
        return bool(self.to_dict()["feasible"])

    @property
    def violations(self) -> list[dict[str, Any]]:
        return list(self.to_dict()["violations"])

    @property
    def contributions(self) -> list[dict[str, Any]]:
        return list(self.to_dict()["contributions"])

    @property
    def costs(self) -> dict[str, Any]:
        return dict(self.to_dict()["costs"])

    def explain(self, moves: int = 50_000, progress: Callable[[dict[str, Any]], None] | None = None) -> Advice:
        """Say what binds, and which change of the machine or of the graph would help most.

        Every change is of one thing; the application is planned anew with it.

        Parameters
        ----------
        moves : int
            Of the search after each change.
        progress : callable, optional
            Called with ``{"share": .., "what": ..}`` now and then.

        Raises
        ------
        cellweave.RequestError
            Where the plan was read from a file, without its application and machine.
        """
        if self.graph is None or self.machine is None:
            raise _core.RequestError("this plan was read from a file: plan its application here to have it explained")
        native, machine = self.graph.native(), self.machine.native()
        found = _core.advise(native, machine, self._native, self._options, moves, progress)
        return Advice(**json.loads(found))

    def tables(self) -> list[Table]:
        """What ``cellweave plan`` prints."""
        from datetime import datetime, timezone

        from cellweave.report.tables import plan_tables

        return plan_tables(self.to_dict(), datetime.now(timezone.utc))

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
            return figure_of(draw_contributions(self.to_dict()))
        names = self.machine.element_names() if self.machine is not None else None
        return figure_of(draw_mapping(self.graph.to_dict(), self.mapping, names))

    def __repr__(self) -> str:
        d = self.to_dict()
        return f"Plan({d['application']!r} on {d['machine']!r}, {d['period_ns']:.4g} ns, gap {d['gap']:.2%})"

    def __str__(self) -> str:
        from cellweave.report.table import text

        return text(self.tables())

    def _repr_html_(self) -> str:
        from cellweave.report.table import html

        return html(self.tables(), self.plot)


def plan(
    graph: Graph | str | os.PathLike[str],
    on: Machine | str | os.PathLike[str] = "host",
    method: str = "auto",
    *,
    time_s: float | None = None,
    moves: int | None = None,
    gap: float = 0.01,
    seed: int = 1,
    buffering: str | None = None,
    batch: int | None = None,
    max_batch: int = 1024,
    formulation: str = "compact",
    dmax: int = 2,
    read_back_gbs: float | None = None,
    mapping: Mapping[str, str] | None = None,
    forbid: Sequence[str] = (),
    progress: Callable[[dict[str, Any]], None] | None = None,
) -> Plan:
    """Work out which task runs where.

    Parameters
    ----------
    graph : Graph or path
        The application. Tasks with a kernel and without a cost on an element of this computer are profiled first.
    on : Machine or str or path
        A preset, ``host``, or a machine file.
    method : {"auto", "greedy", "cluster", "delegate", "anneal", "exact"}
        How tasks are mapped to elements.
    time_s : float, optional
        Seconds that a search may take; by default 60 for ``exact`` and 1 for the others.
    moves : int, optional
        Moves that a search makes: the same number and seed repeat a plan exactly. The clock is not looked at then.
    gap : float
        Stop when this gap is proved (0.05 = 5 %).
    seed : int
        Seed of the search.
    buffering : {"shared", "duplicated"}, optional
        The rule that sizes buffers; by default the method's own.
    batch : int, optional
        Instances per firing; by default chosen.
    max_batch : int
        The most instances per firing that may be chosen: a bound on latency.
    formulation : {"compact", "paper"}
        Which program ``exact`` solves: the compact one, or equations (10) to (19) of the paper.
    dmax : int
        The largest radius of a neighbourhood of ``delegate``.
    read_back_gbs : float, optional
        What ``delegate`` takes as the bandwidth from the SPEs of a chip to its PPE; by default ``min(25, 2 * SPEs)``.
    mapping : mapping of str to str, optional
        The element of a task: the others are planned around it. With every task, this mapping is evaluated.
    forbid : sequence of str
        TASK=ELEMENT: where a task must not run; a kind of element stands for all of that kind.
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
    options = chosen("plan", locals())
    graph, machine = Graph.load(graph), Machine.load(on)
    costed, made = _core.plan(graph.native(), machine.native(), options, progress)
    return Plan(made, Graph.of(costed), machine, options)
