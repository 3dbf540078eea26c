"""The handle of a program on an SPE."""

from __future__ import annotations

from cellweave import _core


class Spe(_core.Spe):
    """The Cell's own calls. Each makes an operation: **yield it**, and the answer comes back.

    ``ls`` and ``at`` are offsets in the SPE's own local store of 256 kB; ``ea`` is an effective address: main memory
    (:meth:`Cell.allocate <cellweave.sim.Cell.allocate>`) or a local store (:meth:`local_store_of`). ``tag`` is a tag
    group, 0 to 31; a ``mask`` has a bit for each group. Sizes are 1, 2, 4, 8 or a multiple of 16 up to 16384 bytes, and
    both ends must be multiples of the size, or of 16. An operation that the hardware would trap ends the simulation
    with an error that says why.

    Attributes
    ----------
    number : int
        Its number, from 0 over the whole machine.
    now_ps : int
        The simulated time in ps. Asking takes no time, and is not yielded.

    Examples
    --------
    >>> from cellweave import sim
    >>> def program(spe):
    ...     yield spe.compute(ns=100)
    ...     print(spe.number, spe.now_ps / 1000, "ns")
    >>> cell = sim.Cell("ps3")
    >>> cell.spe(5, program)
    >>> outcome = cell.run()
    5 100.0 ns
    """
