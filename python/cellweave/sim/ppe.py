"""The handle of a program on a PPE."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cellweave import _core

if TYPE_CHECKING:
    from cellweave._core import Operation


class Ppe:
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

    def __init__(self, unit: _core.Unit) -> None:
        self._unit = unit

    @property
    def number(self) -> int:
        return self._unit.number

    @property
    def now_ps(self) -> int:
        return self._unit.now_ps

    def compute(self, ns: int) -> Operation:
        """Compute for `ns`, rounded up to cycles of 312.5 ps."""
        return self._unit.compute(ns)

    def load(self, ea: int, bytes: int) -> Operation:
        """Load `bytes` of main memory (through the cache) or of a local store (slowly); answers ``bytes``."""
        return self._unit.load(ea, bytes)

    def store(self, ea: int, data: bytes | bytearray) -> Operation:
        """Store `data` to main memory or to a local store."""
        return self._unit.store(ea, data)

    def load_u32(self, ea: int) -> Operation:
        """Load a little-endian word; answers an ``int``."""
        return self._unit.load_u32(ea)

    def store_u32(self, ea: int, word: int) -> Operation:
        """Store a little-endian word."""
        return self._unit.store_u32(ea, word)

    def local_store_of(self, spe: int) -> int:
        """Where the local store of `spe` starts, as an effective address (not yielded)."""
        return _core.sim_local_store(spe)

    def proxy_get(self, spe: int, ls: int, ea: int, bytes: int, tag: int = 0) -> Operation:
        """Have `spe` copy `bytes` from `ea` to its local store at `ls`; stalls while its proxy queue of 8 is full."""
        return self._unit.proxy("get", spe, ls, ea, bytes, tag)

    def proxy_put(self, spe: int, ls: int, ea: int, bytes: int, tag: int = 0) -> Operation:
        """Have `spe` copy `bytes` from its local store at `ls` to `ea`; stalls while its proxy queue of 8 is full."""
        return self._unit.proxy("put", spe, ls, ea, bytes, tag)

    def proxy(self, spe: int, command: str, ls: int, ea: int, bytes: int, tag: int = 0) -> Operation:
        """Hand any command (``get``, ``getf``, ``getb``, ``put``, ``putf``, ``putb``) to the proxy queue of `spe`."""
        return self._unit.proxy(command, spe, ls, ea, bytes, tag)

    def proxy_wait(self, spe: int, mask: int) -> Operation:
        """Wait until all tag groups of `mask` of the proxy queue of `spe` are done."""
        return self._unit.proxy_tags(spe, mask, "all")

    def proxy_any(self, spe: int, mask: int) -> Operation:
        """Wait until a tag group of `mask` of the proxy queue of `spe` is done; answers those that are."""
        return self._unit.proxy_tags(spe, mask, "any")

    def proxy_now(self, spe: int, mask: int) -> Operation:
        """Which tag groups of `mask` of the proxy queue of `spe` are done now."""
        return self._unit.proxy_tags(spe, mask, "now")

    def read_mailbox(self, spe: int) -> Operation:
        """Take a word that `spe` has left; waits for one."""
        return self._unit.read_mailbox_of(spe, False)

    def read_interrupt_mailbox(self, spe: int) -> Operation:
        """Take a word that `spe` has left in the mailbox that interrupts; waits for one."""
        return self._unit.read_mailbox_of(spe, True)

    def mailbox_count(self, spe: int) -> Operation:
        """How many words `spe` has left: 0 or 1."""
        return self._unit.mailbox_count_of(spe, False)

    def interrupt_mailbox_count(self, spe: int) -> Operation:
        """How many words `spe` has left in the mailbox that interrupts: 0 or 1."""
        return self._unit.mailbox_count_of(spe, True)

    def mailbox_space(self, spe: int) -> Operation:
        """How many words the mailbox of `spe` still takes, 0 to 4."""
        return self._unit.mailbox_space_of(spe)

    def write_mailbox(self, spe: int, value: int) -> Operation:
        """Send a word to `spe`; waits while its mailbox holds four."""
        return self._unit.write_mailbox_of(spe, value)

    def write_signal(self, spe: int, register: int, value: int) -> Operation:
        """Signal `spe` on register 1 or 2."""
        return self._unit.write_signal_of(spe, register, value)

    def timebase(self) -> Operation:
        """The time base, in ticks."""
        return self._unit.timebase()
