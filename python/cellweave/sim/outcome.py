"""The result of a simulation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellweave import _core
from cellweave.files import write_whole

if TYPE_CHECKING:
    import os

    from matplotlib.figure import Figure

    from cellweave.report.table import Table


class Outcome:
    """The result of a simulation: time, counters, and the trace if there is one.

    Attributes
    ----------
    elapsed_ns : float
        Until the last program was done.
    cycles : int
        The same in bus cycles of 625 ps.
    hash : int
        A digest of all events and their times: equal programs on equal machines have equal digests.
    counters : dict
        ``packets``; per chip ``ring_packets``, ``segment_packets`` (clockwise, counter-clockwise), ``sent`` and
        ``received`` by ramp, ``bank_reads``, ``bank_writes``; per SPE ``compute_cycles``, ``wait_cycles``,
        ``got_bytes``, ``put_bytes``; ``link_lines`` to chip 0 and to chip 1.
    trace : dict or None
        Chrome's event format, if the run was traced.
    """

    def __init__(self, native: _core.Outcome) -> None:
        self._native = native
        self._data: dict[str, Any] = json.loads(native.to_json())

    @property
    def elapsed_ns(self) -> float:
        return float(self._data["elapsed_ns"])

    @property
    def cycles(self) -> int:
        return int(self._data["cycles"])

    @property
    def hash(self) -> int:
        return int(self._data["hash"])

    @property
    def counters(self) -> dict[str, Any]:
        return dict(self._data["counters"])

    @property
    def trace(self) -> dict[str, Any] | None:
        text = self._native.chrome_trace()
        return None if text is None else dict(json.loads(text))

    def to_dict(self) -> dict[str, Any]:
        """Machine, time, digest, counters, and loads (the busiest part first), as plain lists and dictionaries."""
        return dict(self._data)

    def save_trace(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write the trace for ui.perfetto.dev: a track per program, and the packets on each ring.

        Parameters
        ----------
        path : path
            The file; an existing one is replaced only with `force`.

        Raises
        ------
        cellweave.RequestError
            Where the run was not traced, or the file exists.
        """
        write_whole(Path(path), self._traced(), force)

    def _traced(self) -> str:
        text = self._native.chrome_trace()
        if text is None:
            raise _core.RequestError("this run was not traced: call run(trace=True)")
        return text

    def plot(self) -> Figure:
        """Draw the chips: what each segment of the rings, memory and the link carried.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from cellweave.report.chip import draw_chips

        return draw_chips(self.to_dict())

    def plot_timeline(self, window_ns: tuple[float, float] | None = None) -> Figure:
        """Draw a timeline of programs and of the packets on the rings; the run must have been traced.

        Parameters
        ----------
        window_ns : (float, float), optional
            From and to; by default the whole run.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from cellweave.report.activity import draw_activity

        return draw_activity(json.loads(self._traced()), window_ns)

    def tables(self) -> list[Table]:
        """Time, programs and rings."""
        from cellweave.report.chip import outcome_tables

        return outcome_tables(self.to_dict())

    def __repr__(self) -> str:
        name, packets = self._data["machine"]["name"], self._data["counters"]["packets"]
        return f"Outcome({name!r}, {self.elapsed_ns:.1f} ns, {packets} packets)"

    def __str__(self) -> str:
        from cellweave.report.table import text

        return text(self.tables())

    def _repr_html_(self) -> str:
        from cellweave.report.table import html

        return html(self.tables())
