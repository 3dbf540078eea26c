"""A streaming application as a graph of tasks."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellweave import _core
from cellweave.files import write_whole
from cellweave.options import chosen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure

    from cellweave.kernel import Kernel
    from cellweave.plan import Plan
    from cellweave.report.table import Table

Param = bool | float | str | list[float]


class Graph:
    """Tasks that fire once per instance, and the edges whose bytes move between them.

    Parameters
    ----------
    name : str
        The application's name.
    code_bytes : int, optional
        Code on each element whose memory is a hard budget; 65536 by default.

    Examples
    --------
    >>> import cellweave as cw
    >>> graph = cw.Graph("pair")
    >>> graph.task("make", cost_ns={"ppe": 900.0, "spe": 300.0})
    >>> graph.task("use", cost_ns={"ppe": 500.0, "spe": 400.0})
    >>> graph.edge("make", "use", bytes=256)
    >>> print(graph)
    pair: 2 tasks, 1 edge, 256 B per instance
    """

    def __init__(self, name: str, code_bytes: int | None = None) -> None:
        # The words of the application file while the graph is being built; the checked form once it is asked for.
        self._built: dict[str, Any] | None = {"name": name, "task": [], "edge": []}
        if code_bytes is not None:
            self._built["code_bytes"] = code_bytes
        self._native: _core.Graph | None = None
        self._folder: Path | None = None

    @classmethod
    def load(cls, path: str | os.PathLike[str] | Graph) -> Graph:
        """Read an application: TOML, JSON, GraphML, DOT with attributes, or DagGen's text.

        Raises
        ------
        cellweave.RequestError
            Says file, line and key.
        """
        if isinstance(path, Graph):
            return path
        return cls.of(_core.Graph.load(str(path)))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Graph:
        """Make a graph of the same words as the application file.

        Parameters
        ----------
        data : mapping
            ``{"name", "task": [{"name", "kernel", "params", "cost_ns"}], "edge": [{"from", "to", "bytes", "peek",
            "delay"}]}``; times in ns, sizes in bytes.

        Examples
        --------
        >>> import cellweave as cw
        >>> graph = cw.Graph.from_dict({"name": "one", "task": [{"name": "only", "cost_ns": {"*": 10.0}}]})
        >>> graph.to_dict()["task"][0]["name"]
        'only'
        """
        return cls.of(_core.Graph.parse(json.dumps(data), "json"))

    @classmethod
    def from_toml(cls, text: str) -> Graph:
        """Read the text of an application file."""
        return cls.of(_core.Graph.parse(text, "toml"))

    @classmethod
    def daggen(
        cls,
        tasks: int = 100,
        fat: float = 0.5,
        regular: float = 0.5,
        density: float = 0.2,
        jump: int = 1,
        ccr: float = 0.01,
        peek: int = 2,
        seed: int = 1,
    ) -> Graph:
        """Draw a random graph after DagGen; the same for the same arguments, for ever.

        Parameters
        ----------
        tasks : int
            How many tasks.
        fat : float
            Width: 0 is a chain, 1 has as many tasks side by side as two layers allow.
        regular : float
            How equal the layers are: 1 is all of one width, 0 of any width up to twice the mean.
        density : float
            Edges between neighbouring layers: 0 is one parent per task, 1 up to all tasks of the layer before.
        jump : int
            Layers that an edge may span.
        ccr : float
            4-byte elements that move per operation.
        peek : int
            The largest peek.
        seed : int
            The same seed gives the same graph, for ever.

        Examples
        --------
        >>> import cellweave as cw
        >>> len(cw.Graph.daggen(tasks=20, seed=7).to_dict()["task"])
        20
        """
        return cls.of(_core.daggen(chosen("daggen", locals())))

    @classmethod
    def of(cls, native: _core.Graph) -> Graph:
        """Wrap what the core made."""
        graph = cls("")
        graph._built, graph._native = None, native
        graph._folder = native.folder
        return graph

    @property
    def folder(self) -> Path | None:
        """Where the application's kernels and files are looked for; None: where Python runs."""
        return self._folder

    @property
    def name(self) -> str:
        """The application's name."""
        return str(self._words()["name"])

    def _words(self) -> dict[str, Any]:
        """The graph in the words of the application file, checked or not."""
        if self._built is None:
            self._built = json.loads(self.native().to_json())
        return self._built

    def task(
        self,
        name: str,
        kernel: str | Kernel | None = None,
        cost_ns: Mapping[str, float] | float | None = None,
        params: Mapping[str, Param] | None = None,
        stateless: bool = False,
        lock: str | None = None,
    ) -> None:
        """Add a task.

        Parameters
        ----------
        name : str
            Unique; no dot, no white space.
        kernel : str or Kernel, optional
            ``libNAME.so:SYMBOL``, ``cellweave:NAME`` or ``python:pkg.module:function``, or a function marked
            with :func:`cellweave.kernel`; without it the graph can be planned and not run.
        cost_ns : mapping of str to float, or float, optional
            ns per firing by kind of element; one number stands for any kind. Without it the task is profiled.
        params : mapping of str to number, str, bool or list of numbers, optional
            What the kernel gets when it starts.
        stateless : bool
            The kernel keeps no state.
        lock : str, optional
            The lock that a firing holds while it runs: tasks with the same lock never run at once, and planners know
            it. A Python kernel that is not compiled holds the lock ``python``.
        """
        entry: dict[str, Any] = {"name": name}
        if kernel is not None and not isinstance(kernel, str):
            if kernel.jit is not None:
                params = {"jit": kernel.jit, **(params or {})}
            kernel = kernel.spec
        if kernel is not None:
            entry["kernel"] = kernel
        if params:
            entry["params"] = dict(params)
        if cost_ns is not None:
            entry["cost_ns"] = dict(cost_ns) if not isinstance(cost_ns, (int, float)) else {"*": float(cost_ns)}
        if stateless:
            entry["stateless"] = True
        if lock is not None:
            entry["lock"] = lock
        self._words().setdefault("task", []).append(entry)
        self._native = None

    def edge(self, source: str, target: str, bytes: int, peek: int = 0, delay: int = 0) -> None:
        """Add an edge.

        Parameters
        ----------
        source, target : str
            ``task`` or ``task.port``. Two edges from one output port are a broadcast.
        bytes : int
            Per instance, at least 1.
        peek : int
            Further instances that the consumer needs.
        delay : int
            Instances of zeros that are there at the start.
        """
        entry: dict[str, Any] = {"from": source, "to": target, "bytes": bytes}
        if peek:
            entry["peek"] = peek
        if delay:
            entry["delay"] = delay
        self._words().setdefault("edge", []).append(entry)
        self._native = None

    def native(self) -> _core.Graph:
        """The checked form that the core works on.

        Raises
        ------
        cellweave.RequestError
            Where the graph is wrong: names the task, edge or cycle.
        """
        if self._native is None:
            folder = str(self._folder) if self._folder is not None else None
            self._native = _core.Graph.parse(json.dumps(self._built), "json", folder)
        return self._native

    def to_toml(self) -> str:
        """The text of an application file."""
        return self.native().to_toml()

    def to_dict(self) -> dict[str, Any]:
        """As :meth:`from_dict` takes it."""
        data: dict[str, Any] = json.loads(self.native().to_json())
        return data

    def save(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write the application file, TOML or (by its name) JSON; an existing one only with `force`.

        In another folder than the application's own, libraries and files that it reads are still found where they are;
        what it writes goes beside the new file.
        """
        path = Path(path)
        native = self.native()
        folder = path.absolute().parent
        if self._folder is not None and folder.resolve() != self._folder and folder.is_dir():
            native = native.moved(str(folder.resolve()))
        content = native.to_json() if path.suffix == ".json" else native.to_toml()
        write_whole(path, content, force)

    def plot(self, plan: Plan | Mapping[str, str] | None = None) -> Figure:
        """Draw it from left to right, in the colours of a plan or mapping (task -> element) if one is given.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from cellweave.report.mapping import draw_mapping
        from cellweave.report.pictures import figure_of

        mapping = plan.mapping if plan is not None and hasattr(plan, "mapping") else plan
        return figure_of(draw_mapping(self._words(), mapping))

    def tables(self) -> list[Table]:
        """A line about it, and its tasks."""
        from cellweave.report.tables import graph_tables

        return graph_tables(self._words())

    def __repr__(self) -> str:
        return f"Graph({self.name!r}, {len(self._words()['task'])} tasks)"

    def __str__(self) -> str:
        from cellweave.report.tables import graph_line

        return graph_line(self._words())

    def _repr_html_(self) -> str:
        from cellweave.report.table import html

        return html(self.tables())
