"""Running: an application on the cores of this computer or on a simulated Cell, predicted beside achieved."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellweave import _core
from cellweave.choice import choice
from cellweave.files import check_free, write_whole
from cellweave.graph import Graph
from cellweave.machine import Machine
from cellweave.options import chosen
from cellweave.plan import Plan

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    import numpy as np
    from matplotlib.figure import Figure

    from cellweave.report.table import Table


class Result:
    """What a run achieved, beside what was predicted.

    Attributes
    ----------
    instances : int
        That every task fired.
    elapsed_s : float
        Wall time of the streaming, without set-up.
    throughput_per_s, predicted_per_s, planned_per_s : float
        Instances/s; the achieved ones are ``instances / elapsed_s``, start, stalls and drain included. The predicted
        ones count with the speeds just before the run, the planned ones with those of the profile.
    predicted_with : str
        What the prediction was made with beside the plan; empty: nothing.
    steady_per_s : float or None
        Instances/s between start, stalls and drain: the median over windows of equal numbers of instances; None in a
        run that is too short for windows.
    ratio : float
        Achieved / predicted.
    differences : list of dict
        What the period consists of beside what was predicted: ``kind``, ``subject``, ``predicted_ns``,
        ``measured_ns``, ``share``, ``why``, largest effect first.
    explanation : str
        The differences in one sentence; empty while `ratio` is from 0.9 to 1.1.
    elements : list of dict
        Per used element: ``name``, ``busy_ns``, ``idle_ns``, ``firings``; on a simulated Cell also ``spent_ns``, and of
        a PPE ``managing_ns``: how long its second thread took in and copied what the first one reads.
    bottlenecks : dict or None
        On a simulated Cell, what took most of the time: ``planned``, ``simulated``, ``element`` and ``link``, each with
        ``name`` and ``share``.
    simulated : dict or None
        On a simulated Cell, what the machine counted: see :meth:`cellweave.sim.Outcome.to_dict`.
    until_steady : dict or None
        Of a run with `until_steady`: ``criterion``, ``decided``, ``highest_per_s``, and ``instances``, after how many
        99 % of that was reached.
    latency_ns : dict of str to float
        Quantiles of the time from source to sink.
    outputs : dict of str to numpy.ndarray
        What each task named in ``outputs`` took in: a row per instance.
    """

    def __init__(
        self, data: dict[str, Any], outputs: dict[str, np.ndarray[Any, Any]] | None = None, trace: Any = None
    ) -> None:
        self._data = data
        self._trace = trace
        self.outputs = outputs or {}

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Result:
        """Read a ``result.json``."""
        try:
            data = json.loads(Path(path).read_text())
        except OSError as e:
            raise _core.RequestError(f"{path}: {e.strerror}") from e
        except ValueError as e:
            raise _core.RequestError(f"{path}: not JSON: {e}") from e
        if not isinstance(data, dict) or not {"instances", "elapsed_s", "elements"} <= set(data):
            raise _core.RequestError(f"{path}: not the result of a run")
        return cls(data)

    def to_dict(self) -> dict[str, Any]:
        """As in ``result.json``."""
        return self._data

    def save(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write ``result.json``; an existing file only with `force`."""
        write_whole(Path(path), json.dumps(self._data, indent=1) + "\n", force)

    @property
    def instances(self) -> int:
        return int(self._data["instances"])

    @property
    def elapsed_s(self) -> float:
        return float(self._data["elapsed_s"])

    @property
    def throughput_per_s(self) -> float:
        return float(self._data["throughput_per_s"])

    @property
    def predicted_per_s(self) -> float:
        return float(self._data["predicted_per_s"])

    @property
    def planned_per_s(self) -> float:
        return float(self._data.get("planned_per_s", self.predicted_per_s))

    @property
    def predicted_with(self) -> str:
        return str(self._data.get("predicted_with", ""))

    @property
    def steady_per_s(self) -> float | None:
        steady = self._data.get("steady_per_s")
        return None if steady is None else float(steady)

    @property
    def ratio(self) -> float:
        return float(self._data["ratio"])

    @property
    def differences(self) -> list[dict[str, Any]]:
        return list(self._data.get("differences", []))

    @property
    def explanation(self) -> str:
        return str(self._data.get("explanation", ""))

    @property
    def elements(self) -> list[dict[str, Any]]:
        return list(self._data["elements"])

    @property
    def bottlenecks(self) -> dict[str, Any] | None:
        found = self._data.get("bottlenecks")
        return None if found is None else dict(found)

    @property
    def simulated(self) -> dict[str, Any] | None:
        found = self._data.get("simulated")
        return None if found is None else dict(found)

    @property
    def until_steady(self) -> dict[str, Any] | None:
        found = self._data.get("until_steady")
        return None if found is None else dict(found)

    @property
    def latency_ns(self) -> dict[str, float]:
        return dict(self._data.get("latency_ns") or {})

    def tables(self, explain: bool = False) -> list[Table]:
        """What ``cellweave run`` prints; with `explain` also all that tells why predicted and achieved differ."""
        from cellweave.report.tables import result_tables

        return result_tables(self._data, explain)

    def plot(self, window_ns: tuple[float, float] | None = None, what: str = "auto") -> Figure:
        """Draw it.

        Parameters
        ----------
        window_ns : (float, float), optional
            Of the timeline, from and to, in ns after the first event.
        what : {"auto", "timeline", "beside", "floorplan"}
            What each element did when, for which the run must have been traced; predicted beside achieved; or, of a
            run on a simulated Cell, what its rings, memory and links carried. By default the timeline, where there is
            a trace.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from cellweave.report.beside import draw_beside
        from cellweave.report.pictures import figure_of
        from cellweave.report.timeline import draw_timeline

        choice("what", what, ["auto", "timeline", "beside", "floorplan"])
        if what == "floorplan":
            from cellweave.report.chip import draw_chips

            if self.simulated is None:
                raise _core.RequestError("what: this run was not on a simulated machine, so there is no floorplan")
            return draw_chips(self.simulated)
        if what == "beside" or (what == "auto" and self._trace is None):
            return draw_beside(self._data)
        if self._trace is None:
            raise _core.RequestError("this run was not traced: run it with trace=FILE")
        with open(self._trace) as file:
            return figure_of(draw_timeline(json.load(file), window_ns))

    def __repr__(self) -> str:
        d = self._data
        return f"Result({d['application']!r}, {d['instances']} instances, {d['throughput_per_s']:.4g}/s)"

    def __str__(self) -> str:
        from cellweave.report.table import text

        return text(self.tables())

    def _repr_html_(self) -> str:
        from cellweave.report.table import html

        return html(self.tables(), lambda: self.plot(what="beside"))


def run(
    graph: Graph | str | os.PathLike[str],
    on: Machine | str | os.PathLike[str] = "host",
    plan: Plan | str | os.PathLike[str] | None = None,
    *,
    instances: int | None = None,
    until_steady: bool = False,
    batch: int | None = None,
    mapping: Mapping[str, str] | None = None,
    inputs: Mapping[str, Any] | None = None,
    outputs: Sequence[str] | Mapping[str, Any] = (),
    trace: str | os.PathLike[str] | None = None,
    force: bool = False,
    progress: Callable[[dict[str, Any]], None] | None = None,
) -> Result:
    """Run an application on this computer, or on a simulated Cell.

    Parameters
    ----------
    graph : Graph or path
        The application; every task needs a kernel, or stands in `inputs` or `outputs`.
    on : Machine or str or path
        Elements with an OS cpu (``host``, or a machine file of this computer), or a simulated Cell (``qs22``).
    plan : Plan or path, optional
        By default the application is profiled, where costs are missing, and planned.
    instances : int, optional
        Stop after so many instances; by default when the sources end.
    until_steady : bool
        Run until the throughput is steady, 40,000 instances or as many as asked for at most; on a simulated Cell.
    batch : int, optional
        Instances per firing at most: a bound on latency. By default as many as the plan says.
    mapping : mapping of str to str, optional
        The element of a task, where no plan is given: the others are planned around it.
    trace : path, optional
        Write what ran when to this file (Chrome's format, for ui.perfetto.dev).
    inputs : mapping of str to array_like, optional
        Task -> what it sends: a row per instance, shape ``(instances, ...)``; the rows' bytes are the edge's. Costs
        that are not known are measured with zeros in their place.
    outputs : sequence of str, or mapping of str to NumPy type
        Tasks whose input is kept and returned in ``Result.outputs``: bytes, or entries of the type.
    force : bool
        Overwrite an existing trace.
    progress : callable, optional
        Called a few times a second with a dict (``per_s``, ``predicted_per_s``, ``busy``).

    Returns
    -------
    Result
        Ctrl-C drains the stream and returns what was achieved until then; a second Ctrl-C raises KeyboardInterrupt.

    Raises
    ------
    cellweave.RequestError
        Where a file, name or number is wrong.
    cellweave.RunError
        Where a kernel failed: names task and instance.

    Examples
    --------
    >>> import numpy as np
    >>> import cellweave as cw
    >>> graph = cw.Graph("copy")
    >>> graph.task("src", cost_ns=100)
    >>> graph.task("sink", cost_ns=100)
    >>> graph.edge("src", "sink", bytes=8)
    >>> x = np.arange(1000.0).reshape(1000, 1)
    >>> result = cw.run(graph, inputs={"src": x}, outputs={"sink": "float64"})
    >>> bool((result.outputs["sink"] == x).all())
    True
    """
    options = chosen("run", locals())
    if trace is not None:
        check_free(Path(trace), force)
    graph, machine = Graph.load(graph), Machine.load(on)
    native, planned = graph.native(), None if plan is None else Plan.load(plan).native()
    wanted = dict(outputs) if isinstance(outputs, Mapping) else dict.fromkeys(outputs, "uint8")
    for task, kind in wanted.items():
        _check_kind(task, native.taken_bytes(task), kind)
    sent = {task: _rows(task, array) for task, array in (inputs or {}).items()}
    text, kept = _core.run(native, machine.native(), planned, options, sent, list(wanted), progress)
    arrays = {task: _array(kept[task], native.taken_bytes(task), kind) for task, kind in wanted.items()}
    data = json.loads(text)
    return Result(data, arrays, data.get("trace"))


# numpy is imported only where arrays come in: the threads of its BLAS spin for their first 25 ms, on the cores of the
# stream.
def _rows(task: str, given: Any) -> tuple[bytes, int]:
    """The bytes of an array, and of one of its rows."""
    import numpy as np

    array = np.asarray(given)
    if array.ndim == 0 or len(array) == 0:
        raise _core.RequestError(f"inputs: `{task}` needs an array with a row per instance, at least one")
    if array.dtype.hasobject:
        raise _core.RequestError(f"inputs: `{task}` is an array of objects; it needs numbers")
    return array.tobytes(), array.nbytes // len(array)


def _array(data: bytearray, size: int, kind: Any) -> np.ndarray[Any, Any]:
    import numpy as np

    return np.frombuffer(data, kind).reshape(-1, size // np.dtype(kind).itemsize)


def _check_kind(task: str, size: int, kind: Any) -> None:
    """Refuse a type of which an instance of so many bytes holds no whole number."""
    import numpy as np

    try:
        dtype = np.dtype(kind)
    except TypeError as e:
        raise _core.RequestError(f"outputs: `{task}`: {kind!r} is no NumPy type") from e
    if dtype.hasobject or size % dtype.itemsize:
        raise _core.RequestError(f"outputs: `{task}` takes {size} bytes per instance, no whole number of {dtype.name}")
