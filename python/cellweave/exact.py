"""The exact method's solver: the mixed integer program of the core's ``plan::exact``, given to HiGHS.

``highspy`` is an optional extra (``pip install cellweave[exact]``). The core composes the method: it makes the program,
the mapping to start from, and the plan of the answer.
"""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from cellweave import _core

if TYPE_CHECKING:
    from collections.abc import Mapping

_DTYPES = {"start": np.uint32, "index": np.uint32, "integral": np.uint8}


class Highs:
    """One program at work in a thread of its own.

    Raises
    ------
    cellweave.RequestError
        Where ``highspy`` is not installed.
    """

    def __init__(self) -> None:
        try:
            import highspy
        except ImportError:
            raise _core.RequestError(
                "the exact method needs the solver HiGHS: pip install cellweave[exact]; method auto needs nothing"
            ) from None
        self._highspy: Any = highspy
        self._highs = self._highspy.Highs()
        self._thread = threading.Thread(target=self._highs.run, name="highs", daemon=True)
        self._stopped = False
        # What the callbacks of HiGHS have seen; they run in its thread.
        self._solution: np.ndarray[Any, Any] | None = None
        self._period = math.inf
        self._bound = 0.0

    def start(self, arrays: Mapping[str, bytes], first: bytes, time_s: float, gap: float, seed: int) -> None:
        """Start to solve.

        Parameters
        ----------
        arrays : mapping of str to bytes
            The program: ``start`` and ``index`` are uint32, ``integral`` is uint8, all others are float64.
        first : bytes
            A float64 per column: where HiGHS starts from, if that is feasible.
        time_s, gap : float
            When to stop.
        seed : int
            Of HiGHS.
        """
        highs = self._highs
        highs.silent()
        highs.setOptionValue("time_limit", float(time_s))
        highs.setOptionValue("mip_rel_gap", float(gap))
        highs.setOptionValue("random_seed", int(seed % 2**31))
        highs.passModel(self._model(arrays))
        solution = self._highspy.HighsSolution()
        solution.col_value = list(np.frombuffer(first))
        highs.setSolution(solution)
        highs.cbMipImprovingSolution += self._improved
        highs.cbMipLogging += self._logged
        highs.cbMipInterrupt += self._interrupt
        highs.cbSimplexInterrupt += self._interrupt
        self._thread.start()

    def wait(self, seconds: float) -> tuple[float, float] | None:
        """Period (infinite: none yet) and bound after so many seconds; None when HiGHS is done."""
        self._thread.join(seconds)
        return (self._period, self._bound) if self._thread.is_alive() else None

    def stop(self) -> None:
        """Ask HiGHS to end soon."""
        self._stopped = True

    def answer(self) -> tuple[bytes | None, float]:
        """The best solution, a float64 per column, if there is one; and the bound, 0 where nothing was proved."""
        highs, info = self._highs, self._highs.getInfo()
        bound = max(info.mip_dual_bound, self._bound)
        if highs.getModelStatus() == self._highspy.HighsModelStatus.kInfeasible or not math.isfinite(bound):
            bound = 0.0
        solved = highs.getSolution()
        if solved.value_valid and math.isfinite(info.objective_function_value) and info.primal_solution_status == 2:
            return np.asarray(solved.col_value, np.float64).tobytes(), bound
        return (self._solution.tobytes() if self._solution is not None else None), bound

    def _improved(self, event: Any) -> None:
        self._solution = np.array(event.data_out.mip_solution, np.float64)
        self._logged(event)

    def _logged(self, event: Any) -> None:
        seen = event.data_out
        if math.isfinite(seen.mip_primal_bound):
            self._period = min(self._period, seen.mip_primal_bound)
        if math.isfinite(seen.mip_dual_bound):
            self._bound = max(self._bound, seen.mip_dual_bound)

    def _interrupt(self, event: Any) -> None:
        if self._stopped:
            event.interrupt()

    def _model(self, arrays: Mapping[str, bytes]) -> Any:
        """The program as HiGHS takes it."""

        def array(name: str) -> np.ndarray[Any, Any]:
            return np.frombuffer(arrays[name], dtype=_DTYPES.get(name, np.float64))

        lp = self._highspy.HighsLp()
        cost, row_lower = array("cost"), array("row_lower")
        lp.num_col_, lp.num_row_ = len(cost), len(row_lower)
        lp.col_cost_, lp.col_lower_, lp.col_upper_ = cost, array("lower"), array("upper")
        lp.row_lower_, lp.row_upper_ = row_lower, array("row_upper")
        lp.a_matrix_.format_ = self._highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_ = array("start").astype(np.int32)
        lp.a_matrix_.index_ = array("index").astype(np.int32)
        lp.a_matrix_.value_ = array("value")
        kinds = (self._highspy.HighsVarType.kContinuous, self._highspy.HighsVarType.kInteger)
        lp.integrality_ = [kinds[whole] for whole in array("integral")]
        return lp
