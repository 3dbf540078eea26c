"""The handle of a program on an SPE."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cellweave import _core

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cellweave._core import Operation


class Spe:
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

    def __init__(self, unit: _core.Unit) -> None:
        self._unit = unit

    @property
    def number(self) -> int:
        return self._unit.number

    @property
    def now_ps(self) -> int:
        return self._unit.now_ps

    def compute(self, ns: int) -> Operation:
        """Compute for `ns`, rounded up to SPU cycles of 312.5 ps."""
        return self._unit.compute(ns)

    def compute_cycles(self, cycles: int) -> Operation:
        """Compute for a number of SPU cycles of 312.5 ps."""
        return self._unit.compute_cycles(cycles)

    # Local store

    def alloc(self, bytes: int, align: int = 128) -> Operation:
        """Take `bytes` of the local store; answers their offset. `align` is a power of two.

        From now on only bytes that were taken can be used. A program that never takes any may use the whole store.
        """
        return self._unit.alloc(bytes, align)

    def read(self, at: int, bytes: int) -> Operation:
        """Look at the local store; answers ``bytes``. Takes no time."""
        return self._unit.read(at, bytes)

    def write(self, at: int, data: bytes | bytearray) -> Operation:
        """Write the local store. Takes no time: use :meth:`compute` for the time that computing `data` takes."""
        return self._unit.write(at, data)

    def read_u32(self, at: int) -> Operation:
        """Look at a little-endian word of the local store; answers an ``int``."""
        return self._unit.read_u32(at)

    def write_u32(self, at: int, word: int) -> Operation:
        """Write a little-endian word of the local store."""
        return self._unit.write_u32(at, word)

    def local_store_of(self, spe: int) -> int:
        """Where the local store of `spe` starts, as an effective address (not yielded)."""
        return _core.sim_local_store(spe)

    # DMA

    def get(self, ls: int, ea: int, bytes: int, tag: int = 0) -> Operation:
        """Copy `bytes` from `ea` to `ls`. Done when tag group `tag` is; stalls while the queue of 16 is full."""
        return self._unit.dma("get", ls, ea, bytes, tag)

    def getf(self, ls: int, ea: int, bytes: int, tag: int = 0) -> Operation:
        """:meth:`get` after everything that its tag group was given before (fence)."""
        return self._unit.dma("getf", ls, ea, bytes, tag)

    def getb(self, ls: int, ea: int, bytes: int, tag: int = 0) -> Operation:
        """:meth:`getf`, and everything that its tag group is given later waits for it (barrier)."""
        return self._unit.dma("getb", ls, ea, bytes, tag)

    def put(self, ls: int, ea: int, bytes: int, tag: int = 0) -> Operation:
        """Copy `bytes` from `ls` to `ea`. Done when the data has left for memory, or is in the other local store."""
        return self._unit.dma("put", ls, ea, bytes, tag)

    def putf(self, ls: int, ea: int, bytes: int, tag: int = 0) -> Operation:
        """:meth:`put` after everything that its tag group was given before (fence)."""
        return self._unit.dma("putf", ls, ea, bytes, tag)

    def putb(self, ls: int, ea: int, bytes: int, tag: int = 0) -> Operation:
        """:meth:`putf`, and everything that its tag group is given later waits for it (barrier)."""
        return self._unit.dma("putb", ls, ea, bytes, tag)

    def get_list(self, ls: int, elements: Iterable[tuple[int, int]], tag: int = 0) -> Operation:
        """Get up to 2048 pieces (``ea``, ``bytes``), one after another into the local store from `ls` on."""
        return self._unit.dma_list("get", ls, list(elements), tag)

    def get_listf(self, ls: int, elements: Iterable[tuple[int, int]], tag: int = 0) -> Operation:
        """:meth:`get_list` after everything that its tag group was given before (fence)."""
        return self._unit.dma_list("getf", ls, list(elements), tag)

    def get_listb(self, ls: int, elements: Iterable[tuple[int, int]], tag: int = 0) -> Operation:
        """:meth:`get_listf`, and everything that its tag group is given later waits for it (barrier)."""
        return self._unit.dma_list("getb", ls, list(elements), tag)

    def put_list(self, ls: int, elements: Iterable[tuple[int, int]], tag: int = 0) -> Operation:
        """Put up to 2048 pieces (``ea``, ``bytes``), one after another from the local store from `ls` on."""
        return self._unit.dma_list("put", ls, list(elements), tag)

    def put_listf(self, ls: int, elements: Iterable[tuple[int, int]], tag: int = 0) -> Operation:
        """:meth:`put_list` after everything that its tag group was given before (fence)."""
        return self._unit.dma_list("putf", ls, list(elements), tag)

    def put_listb(self, ls: int, elements: Iterable[tuple[int, int]], tag: int = 0) -> Operation:
        """:meth:`put_listf`, and everything that its tag group is given later waits for it (barrier)."""
        return self._unit.dma_list("putb", ls, list(elements), tag)

    def tags_all(self, mask: int) -> Operation:
        """Wait until all tag groups of `mask` are done; answers `mask`."""
        return self._unit.tags(mask, "all")

    def tags_any(self, mask: int) -> Operation:
        """Wait until a tag group of `mask` is done; answers those that are."""
        return self._unit.tags(mask, "any")

    def tags_now(self, mask: int) -> Operation:
        """Which tag groups of `mask` are done now."""
        return self._unit.tags(mask, "now")

    def queue_space(self) -> Operation:
        """How many commands the queue takes before it stalls."""
        return self._unit.queue_space()

    def getllar(self, ls: int, ea: int) -> Operation:
        """Get the line of 128 bytes at `ea` to `ls`, and reserve it."""
        return self._unit.getllar(ls, ea)

    def putllc(self, ls: int, ea: int) -> Operation:
        """Put the line if nobody has written it since :meth:`getllar`; answers whether it did."""
        return self._unit.putllc(ls, ea)

    def putlluc(self, ls: int, ea: int) -> Operation:
        """Put the line in any case."""
        return self._unit.putlluc(ls, ea)

    # Mailboxes and signals

    def read_mailbox(self) -> Operation:
        """Take a word that the PPE has sent; waits for one."""
        return self._unit.read_mailbox()

    def mailbox_count(self) -> Operation:
        """How many words wait to be read, 0 to 4."""
        return self._unit.mailbox_count()

    def write_mailbox(self, value: int) -> Operation:
        """Leave a word for the PPE; waits until the last one is taken."""
        return self._unit.write_mailbox(value, False)

    def write_interrupt_mailbox(self, value: int) -> Operation:
        """Leave a word in the mailbox that interrupts the PPE; waits until the last one is taken."""
        return self._unit.write_mailbox(value, True)

    def mailbox_space(self) -> Operation:
        """Whether :meth:`write_mailbox` would go through at once: 0 or 1."""
        return self._unit.mailbox_space(False)

    def interrupt_mailbox_space(self) -> Operation:
        """Whether :meth:`write_interrupt_mailbox` would go through at once: 0 or 1."""
        return self._unit.mailbox_space(True)

    def read_signal(self, register: int) -> Operation:
        """Take what was signalled on register 1 or 2; waits for something."""
        return self._unit.read_signal(register)

    def signal_count(self, register: int) -> Operation:
        """Whether something was signalled on register 1 or 2: 0 or 1."""
        return self._unit.signal_count(register)

    def signal_or(self, register: int, add_up: bool = True) -> Operation:
        """Whether signals to register 1 or 2 add up (OR) until they are read, or overwrite, as they do at the start."""
        return self._unit.signal_or(register, add_up)

    def send_signal(self, ls: int, spe: int, register: int, tag: int = 0) -> Operation:
        """Send the word at `ls` (an offset of 12 in its quadword) to signal register 1 or 2 of `spe`, by DMA."""
        return self._unit.send_signal("put", ls, spe, register, tag)

    def send_signalf(self, ls: int, spe: int, register: int, tag: int = 0) -> Operation:
        """:meth:`send_signal` after everything that its tag group was given before (fence)."""
        return self._unit.send_signal("putf", ls, spe, register, tag)

    def send_signalb(self, ls: int, spe: int, register: int, tag: int = 0) -> Operation:
        """:meth:`send_signalf`, and everything that its tag group is given later waits for it (barrier)."""
        return self._unit.send_signal("putb", ls, spe, register, tag)

    # Time

    def decrementer(self) -> Operation:
        """The decrementer, which counts down at the machine's time base."""
        return self._unit.decrementer()

    def set_decrementer(self, value: int) -> Operation:
        """Set the decrementer."""
        return self._unit.set_decrementer(value)
