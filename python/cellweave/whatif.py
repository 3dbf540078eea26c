"""What if the machine were another one: a row of machines from one word, and the speed-up over them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cellweave import _core
from cellweave.graph import Graph
from cellweave.machine import Machine
from cellweave.plan import plan

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from matplotlib.figure import Figure

    from cellweave.report.table import Table

_RANGE = re.compile(r"=(\d+)\.\.(\d+)(?=,|$)")
# More machines than anybody plans for: a wrong number, not a wish.
_MOST_MACHINES = 1000


def spread_machine(word: str) -> list[str]:
    """A machine with a range in its options, as one word per machine.

    Raises
    ------
    cellweave.RequestError
        Where the range runs backwards or is absurdly long, or there are two.

    Examples
    --------
    >>> spread_machine("qs22:spe=0..2"), spread_machine("host")
    (['qs22:spe=0', 'qs22:spe=1', 'qs22:spe=2'], ['host'])
    """
    ranges = _RANGE.findall(word)
    if not ranges:
        return [word]
    first, last = (int(end) for end in ranges[0])
    if len(ranges) > 1 or last < first:
        why = "one range is allowed" if len(ranges) > 1 else f"{first}..{last} runs backwards"
        raise _core.RequestError(f"machine `{word}`: {why}")
    if last - first >= _MOST_MACHINES:
        raise _core.RequestError(f"machine `{word}`: {first}..{last} is too long, {_MOST_MACHINES} machines at most")
    return [_RANGE.sub(f"={i}", word) for i in range(first, last + 1)]


@dataclass
class WhatIf:
    """An application planned on machine after machine.

    Attributes
    ----------
    application : str
        Its name.
    word : str
        The machines, as they were asked for.
    rows : list of dict
        Per machine: ``machine``, ``period_ns``, ``bound_ns``, ``feasible``, ``bottleneck``; ``speedup`` over the first
        machine, and ``bound``, the speed-up that no mapping can beat.
    """

    application: str
    word: str
    rows: list[dict[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        """For programs."""
        return {"application": self.application, "on": self.word, "rows": self.rows}

    def tables(self) -> list[Table]:
        """What ``cellweave plan APP --on MACHINE:spe=0..16`` prints."""
        from cellweave.report.table import Table
        from cellweave.report.units import number, time_ns

        table = Table(
            f"{self.application}: speed-up over {self.rows[0]['machine']}",
            ["machine", ">period", ">speed-up", ">at most", "bottleneck"],
        )
        for row in self.rows:
            bottleneck = row["bottleneck"] if row["feasible"] else f"{row['bottleneck']} (not feasible)"
            figures = [time_ns(row["period_ns"]), number(row["speedup"]), number(row["bound"])]
            table.rows.append([row["machine"], *figures, bottleneck])
        return [table]

    def plot(self) -> Figure:
        """Draw the speed-up with its bound.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from cellweave.report.lines import draw_lines
        from cellweave.report.pictures import figure_of

        steps = [int(match[1]) for row in self.rows if (match := self._step(row["machine"]))]
        x = steps if len(steps) == len(self.rows) else list(range(len(self.rows)))
        lines = {"planned": [r["speedup"] for r in self.rows], "at most": [r["bound"] for r in self.rows]}
        data = {"x": x, "lines": lines, "x_label": self.word, "y_label": "speed-up", "title": self.application}
        return figure_of(draw_lines({**data, "linear": True}))

    def _step(self, machine: str) -> re.Match[str] | None:
        """The number in a machine's word that stands where the range was."""
        before, after = _RANGE.split(self.word)[0], _RANGE.split(self.word)[-1]
        return re.fullmatch(re.escape(before) + r"=(\d+)" + re.escape(after), machine)


def what_if(
    graph: Graph | str | os.PathLike[str],
    on: str,
    method: str = "auto",
    *,
    progress: Callable[[dict[str, Any]], None] | None = None,
    **options: Any,
) -> WhatIf:
    """Plan an application on a row of machines.

    Parameters
    ----------
    graph : Graph or path
        The application.
    on : str
        A preset with a range: ``qs22:spe=0..16``.
    method, options
        As :func:`cellweave.plan` takes them.
    progress : callable, optional
        Called with ``{"share": .., "what": ..}`` before each machine.

    Returns
    -------
    WhatIf

    Examples
    --------
    >>> import cellweave as cw
    >>> from cellweave.whatif import what_if
    >>> curve = what_if(cw.Graph.daggen(tasks=20, seed=3), "qs22:spe=0..4", moves=5000)
    >>> curve.rows[0]["speedup"], len(curve.rows), curve.rows[4]["speedup"] > 1.5
    (1.0, 5, True)
    """
    graph = Graph.load(graph)
    # All are read before the first is planned: a wrong one is told at once.
    machines = {word: Machine.load(word) for word in spread_machine(on)}
    rows: list[dict[str, Any]] = []
    for i, (word, machine) in enumerate(machines.items()):
        if progress is not None:
            progress({"share": i / len(machines), "what": word})
        made = plan(graph, machine, method, **options)
        if made.graph is not None:
            graph = made.graph
        first = rows[0]["period_ns"] if rows else made.period_ns
        rows.append(
            {
                "machine": word,
                "period_ns": made.period_ns,
                "bound_ns": made.bound_ns,
                "feasible": made.feasible,
                "bottleneck": made.bottleneck,
                "speedup": first / made.period_ns,
                "bound": first / made.bound_ns if made.bound_ns > 0 else float("inf"),
            }
        )
    return WhatIf(graph.name, on, rows)
