"""A picture of a single get."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cellweave import _core
from cellweave.choice import choice
from cellweave.sim.cell import Cell

if TYPE_CHECKING:
    from collections.abc import Generator

    from matplotlib.figure import Figure

    from cellweave.sim.spe import Spe

_MOST = 2048


def plot_get(machine: str = "qs22", bytes: int = 512, source: str = "SPE3", **numbers: Any) -> Figure:
    """Draw what a get of SPE 1 waits for: the call, the command bus, the ring, the local store.

    Parameters
    ----------
    machine : str
        As :class:`Cell` takes it; `numbers` too.
    bytes : int
        A multiple of 16 up to 2048.
    source : str
        ``memory``, or an SPE of the same chip: ``SPE3``.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from cellweave import sim
    >>> sim.plot_get(bytes=128).axes[0].get_title().startswith("from the call to the tag status: ")
    True
    """
    from cellweave.report.stages import draw_stages, stages_of_get

    if not 0 < bytes <= _MOST or bytes % 16:
        raise _core.RequestError(f"bytes: {bytes} is not allowed; a multiple of 16 up to {_MOST}")
    cell = Cell(machine, **numbers)
    own = [f"SPE{i}" for i, spe in enumerate(cell.to_dict()["spes"]) if spe["chip"] == 0]
    choice("source", source, ["memory", *(spe for spe in own if spe != "SPE1")])
    ea = cell.allocate(0, bytes) if source == "memory" else cell.local_store(int(source[3:]))

    def one_get(spe: Spe) -> Generator[Any, Any, None]:
        yield spe.get(0, ea, bytes)
        yield spe.tags_all(1)

    cell.spe(1, one_get)
    outcome = cell.run(trace=True)
    trace = outcome.trace
    assert trace is not None
    stages = stages_of_get(cell.to_dict()["numbers"], trace, bytes, source == "memory")
    return draw_stages(stages, int(cell.to_dict()["cycle_ps"]))
