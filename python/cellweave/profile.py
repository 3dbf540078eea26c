"""Profiling: what each task costs on this computer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from cellweave import _core
from cellweave.graph import Graph
from cellweave.machine import Machine
from cellweave.options import chosen

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from cellweave.report.table import Table


class Profile:
    """Measured costs.

    Attributes
    ----------
    graph : Graph
        The application with its costs: median ns per firing by kind of element.
    """

    def __init__(self, graph: Graph, data: dict[str, Any]) -> None:
        self.graph = graph
        self._data = data

    def to_dict(self) -> dict[str, Any]:
        """Quantiles of every measured cost, how old and steady all are, and what a hand-over between cores costs."""
        return self._data

    def save(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write the application with its costs; an existing file only with `force`."""
        self.graph.save(path, force)

    def tables(self) -> list[Table]:
        """What ``cellweave profile`` prints."""
        from datetime import datetime, timezone

        from cellweave.report.tables import profile_tables

        return profile_tables(self._data, datetime.now(timezone.utc))

    def __str__(self) -> str:
        from cellweave.report.table import text

        return text(self.tables())

    def _repr_html_(self) -> str:
        from cellweave.report.table import html

        return html(self.tables())


def profile(
    graph: Graph | str | os.PathLike[str],
    on: Machine | str | os.PathLike[str] = "host",
    *,
    instances: int | None = None,
    again: bool = False,
    progress: Callable[[dict[str, Any]], None] | None = None,
) -> Profile:
    """Measure what each task costs on this computer, with real data flowing.

    Parameters
    ----------
    graph : Graph or path
        The application; every task needs a kernel.
    on : Machine or str or path
        Elements with an OS cpu: ``host``, or a machine file of this computer.
    instances : int, optional
        Instances to send through; by default until costs are known well.
    again : bool
        Also measure tasks whose cost is given.
    progress : callable, optional
        Called a few times a second with a dict (``share``, ``what``).

    Returns
    -------
    Profile
        File sinks write nowhere meanwhile, and zeros stand in for standard input.

    Raises
    ------
    cellweave.RequestError
        Where a task has no kernel, or a file or name is wrong.
    cellweave.RunError
        Where a kernel failed.

    Examples
    --------
    >>> import cellweave as cw
    >>> graph = cw.Graph("three")
    >>> graph.task("count", kernel="cellweave:count")
    >>> graph.task("work", kernel="cellweave:spin", params={"ns": 1000})
    >>> graph.task("drop", kernel="cellweave:discard")
    >>> graph.edge("count", "work", bytes=64)
    >>> graph.edge("work", "drop", bytes=64)
    >>> measured = cw.profile(graph, instances=20_000)
    >>> cost = {task["name"]: min(task["cost_ns"].values()) for task in measured.graph.to_dict()["task"]}
    >>> cost["work"] > cost["drop"]  # which may be 0: less than reading the clock takes
    True
    """
    options = chosen("profile", locals())
    graph, machine = Graph.load(graph), Machine.load(on)
    costed, text = _core.profile(graph.native(), machine.native(), options, progress)
    return Profile(Graph.of(costed), json.loads(text))
