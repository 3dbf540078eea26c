"""The handle of a program on a PPE."""

from __future__ import annotations

from cellweave import _core


class Ppe(_core.Ppe):
    """Main memory through the cache, and every SPE's registers. Each call makes an operation: **yield it**.

    Attributes
    ----------
    number : int
        The chip that it sits on.
    now_ps : int
        The simulated time in ps. Asking takes no time, and is not yielded.

    Examples
    --------
    >>> from cellweave import sim
    >>> def main(ppe):
    ...     yield ppe.write_mailbox(0, 20)
    ...     answer = yield ppe.read_mailbox(0)
    ...     print(answer)
    >>> def double(spe):
    ...     word = yield spe.read_mailbox()
    ...     yield spe.write_mailbox(2 * word)
    >>> cell = sim.Cell("ps3")
    >>> cell.ppe(0, main)
    >>> cell.spe(0, double)
    >>> outcome = cell.run()
    40
    """
