"""The exact method: the mixed integer program of `plan::exact`, solved by HiGHS.

The program is built in Rust as sparse arrays; here they are handed to ``highspy``, an optional extra
(``pip install cellweave[exact]``). A plan that ``auto`` finds in a moment warm-starts it, and is what is left when the time is
up before HiGHS finds a better one. Ctrl-C ends the search and keeps the best mapping so far; a second one stops at once.
"""

from __future__ import annotations

import json
import math
import threading
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from cellweave import _core
from cellweave.choice import choice

if TYPE_CHECKING:
    from collections.abc import Callable

    from cellweave.graph import Graph
    from cellweave.machine import Machine
    from cellweave.plan import Plan

FORMULATIONS = ["compact", "paper"]
DEFAULT_TIME_S = 60.0
DEFAULT_GAP = 0.01

_DTYPES = {"start": np.uint32, "index": np.uint32, "integral": np.uint8}


def plan(
    graph: Graph,
    machine: Machine,
    *,
    time_s: float | None = None,
    gap: float | None = None,
    seed: int = 1,
    buffering: str | None = None,
    batch: int | None = None,
    formulation: str = "compact",
    progress: Callable[[dict[str, Any]], None] | None = None,
) -> Plan:
    """Plan by the mixed integer program.

    Parameters
    ----------
    graph : Graph
        The application, with its costs.
    machine : Machine
        What to plan it on.
    time_s : float, optional
        Seconds that HiGHS may take, 60 by default.
    gap : float, optional
        Stop when this gap is proved, 0.01 by default.
    seed : int
        Of HiGHS, and of the search for the first mapping.
    buffering : {"shared", "duplicated"}, optional
        The rule that sizes the plan's buffers. The program's memory rows follow ``duplicated``, the default on machines
        with hard memory; with ``shared`` there, the bound of HiGHS does not count.
    batch : int, optional
        Instances per firing; by default that of the first mapping.
    formulation : {"compact", "paper"}
        Cut variables, or equations (10) to (19) of the paper.
    progress : callable, optional
        Called a few times a second with a dict (``method``, ``seconds``, ``share``, ``period_ns``, ``bound_ns``, ``gap``).

    Returns
    -------
    Plan

    Raises
    ------
    cellweave.RequestError
        Without ``highspy``, and when the program is too large or the request wrong.
    """
    from cellweave.plan import Plan
    from cellweave.plan import plan as plan_by_search

    _highspy()
    choice("formulation", formulation, FORMULATIONS)
    time_s = DEFAULT_TIME_S if time_s is None else time_s
    gap = DEFAULT_GAP if gap is None else gap
    started = time.perf_counter()
    first = plan_by_search(
        graph,
        machine,
        "auto",
        time_s=min(1.0, time_s / 2),
        gap=gap,
        seed=seed,
        buffering=buffering or "duplicated",
        batch=batch,
    )
    options = {"buffering": buffering, "batch": first.to_dict()["batch"], "seed": seed}
    program = _core.Program.build(graph.native(), machine.native(), json.dumps(options), formulation)
    warm = np.frombuffer(program.warm_start(json.dumps(first.mapping)))
    left_s = max(time_s - (time.perf_counter() - started), 0.1)
    solution, bound = solve(program, warm, time_s=left_s, gap=gap, seed=seed, progress=progress)
    if solution is None:
        solution = warm
    seconds = time.perf_counter() - started
    text = program.finish(solution.tobytes(), bound * program.scale_ns, seconds)
    return Plan(json.loads(text), graph, machine)


def solve(
    program: _core.Program,
    warm: np.ndarray,
    *,
    time_s: float,
    gap: float,
    seed: int = 0,
    progress: Callable[[dict[str, Any]], None] | None = None,
) -> tuple[np.ndarray | None, float]:
    """Hand a program to HiGHS.

    Parameters
    ----------
    program : cellweave._core.Program
        The arrays.
    warm : numpy.ndarray
        A value per column that HiGHS starts from, if it is feasible.
    time_s, gap : float
        When to stop.
    seed : int
        Of HiGHS.
    progress : callable, optional
        As in :func:`plan`.

    Returns
    -------
    solution : numpy.ndarray or None
        A value per column of the best solution; None when there is none.
    bound : float
        That no solution is below, in units of ``program.scale_ns``; 0 when nothing was proved.
    """
    highspy = _highspy()
    highs = highspy.Highs()
    highs.silent()
    highs.setOptionValue("time_limit", float(time_s))
    highs.setOptionValue("mip_rel_gap", float(gap))
    highs.setOptionValue("random_seed", int(seed % 2**31))
    highs.passModel(_model(highspy, program))
    start = highspy.HighsSolution()
    start.col_value = list(warm)
    highs.setSolution(start)

    watch = _Watch(time_s, program.scale_ns)
    highs.cbMipImprovingSolution += watch.improved
    highs.cbMipLogging += watch.logged
    highs.cbMipInterrupt += watch.interrupt
    highs.cbSimplexInterrupt += watch.interrupt
    thread = threading.Thread(target=highs.run, name="highs", daemon=True)
    thread.start()
    _wait(thread, watch, progress)

    info = highs.getInfo()
    bound = max(info.mip_dual_bound, watch.bound)
    if highs.getModelStatus() == highspy.HighsModelStatus.kInfeasible or not math.isfinite(bound):
        bound = 0.0
    solved = highs.getSolution()
    if solved.value_valid and math.isfinite(info.objective_function_value) and info.primal_solution_status == 2:
        return np.asarray(solved.col_value), bound
    return watch.solution, bound


class _Watch:
    """What the callbacks of HiGHS have seen; they run in its thread."""

    def __init__(self, time_s: float, scale_ns: float) -> None:
        self.stop = False
        self.solution: np.ndarray | None = None
        self.period = math.inf
        self.bound = 0.0
        self._time_s = time_s
        self._scale_ns = scale_ns
        self._started = time.perf_counter()

    def improved(self, event: Any) -> None:
        self.solution = np.array(event.data_out.mip_solution)
        self.logged(event)

    def logged(self, event: Any) -> None:
        seen = event.data_out
        if math.isfinite(seen.mip_primal_bound):
            self.period = min(self.period, seen.mip_primal_bound)
        if math.isfinite(seen.mip_dual_bound):
            self.bound = max(self.bound, seen.mip_dual_bound)

    def interrupt(self, event: Any) -> None:
        if self.stop:
            event.interrupt()

    def state(self) -> dict[str, Any]:
        seconds = time.perf_counter() - self._started
        state: dict[str, Any] = {
            "method": "exact",
            "seconds": seconds,
            "share": min(seconds / self._time_s, 1.0),
            "bound_ns": self.bound * self._scale_ns,
        }
        if math.isfinite(self.period) and self.period > 0:
            state["period_ns"] = self.period * self._scale_ns
            state["gap"] = max(1.0 - self.bound / self.period, 0.0)
        return state


def _wait(thread: threading.Thread, watch: _Watch, progress: Callable[[dict[str, Any]], None] | None) -> None:
    """Wait for HiGHS; the first Ctrl-C and a failing `progress` ask it to stop."""
    failed: BaseException | None = None
    told = time.perf_counter()
    while thread.is_alive():
        try:
            thread.join(0.02)
            if progress is not None and not watch.stop and time.perf_counter() - told > 0.2:
                told = time.perf_counter()
                progress(watch.state())
        except KeyboardInterrupt:
            if watch.stop:
                raise
            watch.stop = True
        except Exception as e:
            failed = e
            watch.stop = True
    if failed is not None:
        raise failed


def _model(highspy: Any, program: _core.Program) -> Any:
    """The program as HiGHS takes it."""

    def array(name: str) -> np.ndarray:
        return np.frombuffer(program.array(name), dtype=_DTYPES.get(name, np.float64))

    lp = highspy.HighsLp()
    cost, row_lower = array("cost"), array("row_lower")
    lp.num_col_, lp.num_row_ = len(cost), len(row_lower)
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = cost, array("lower"), array("upper")
    lp.row_lower_, lp.row_upper_ = row_lower, array("row_upper")
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = array("start").astype(np.int32)
    lp.a_matrix_.index_ = array("index").astype(np.int32)
    lp.a_matrix_.value_ = array("value")
    kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
    lp.integrality_ = [kinds[whole] for whole in array("integral")]
    return lp


def _highspy() -> Any:
    try:
        import highspy
    except ImportError:
        raise _core.RequestError(
            "the exact method needs the solver HiGHS: pip install cellweave[exact]; method auto needs nothing"
        ) from None
    return highspy
