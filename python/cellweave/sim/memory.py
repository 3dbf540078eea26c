"""A range of a simulated machine's main memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from cellweave import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Memory:
    """A range of main memory, used like a ``bytearray`` of fixed size. Reading copies.

    Made by :meth:`cellweave.sim.Cell.memory`.

    Examples
    --------
    >>> from cellweave import sim
    >>> cell = sim.Cell("cell")
    >>> memory = cell.memory(cell.allocate(0, 8), 8)
    >>> memory[0:4] = b"abcd"
    >>> memory[4] = 33
    >>> bytes(memory)
    b'abcd!\\x00\\x00\\x00'
    """

    def __init__(self, native: Callable[[], _core.Simulation], at: int, n: int) -> None:
        self._native = native
        self._at = at
        self._n = n

    def __len__(self) -> int:
        return self._n

    def __bytes__(self) -> bytes:
        return self._native().read_memory(self._at, self._n)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        import numpy as np

        if copy is False:
            raise ValueError("reading simulated memory copies")
        return np.frombuffer(bytes(self), np.uint8).astype(dtype or np.uint8)

    def __iter__(self) -> Iterator[int]:
        return iter(bytes(self))

    @overload
    def __getitem__(self, key: int) -> int: ...
    @overload
    def __getitem__(self, key: slice) -> bytes: ...
    def __getitem__(self, key: int | slice) -> int | bytes:
        if isinstance(key, slice):
            first, n = self._range(key)
            return self._native().read_memory(self._at + first, n)
        return self._native().read_memory(self._at + self._index(key), 1)[0]

    def __setitem__(self, key: int | slice, value: Any) -> None:
        if isinstance(key, slice):
            first, n = self._range(key)
            data = _bytes(value)
            if len(data) != n:
                raise _core.RequestError(f"{len(data)} bytes do not fill the {n} that they are assigned to")
            self._native().write_memory(self._at + first, data)
        else:
            self._native().write_memory(self._at + self._index(key), bytes([value]))

    def _index(self, key: int) -> int:
        if not -self._n <= key < self._n:
            raise IndexError(f"byte {key} of {self._n}")
        return key % self._n

    def _range(self, key: slice) -> tuple[int, int]:
        first, last, step = key.indices(self._n)
        if step != 1:
            raise _core.RequestError(f"memory is read and written byte after byte, not in steps of {step}")
        return first, max(0, last - first)

    def __repr__(self) -> str:
        return f"Memory({self._at:#x}, {self._n} bytes)"


def _bytes(value: Any) -> bytes:
    """The bytes of `value`: bytes, an array, or anything with the buffer protocol."""
    try:
        return memoryview(value).tobytes()
    except TypeError as e:
        raise _core.RequestError(f"{type(value).__name__} is neither bytes nor an array") from e
