"""Kernels in Python: plain, or compiled by numba to the speed of C."""

from __future__ import annotations

import importlib
import inspect
import sys
from typing import TYPE_CHECKING, Any, overload

from cellweave import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import numpy as np

    Function = Callable[..., Any]
    # What the runtime connects to a port: its name, bytes per instance, and peek (inputs only).
    Connection = tuple[str, int, int]
    # Where a port's instances are in one call: memory, bytes from one to the next, bytes of one, how many.
    Place = tuple[memoryview, int, int, int]

PortType = "str | tuple[str, tuple[int, ...]]"

# The names of cellweave.h, as NumPy calls them.
_DTYPES = {
    "uint8": "u8", "int16": "i16", "int32": "i32", "int64": "i64", "uint32": "u32", "uint64": "u64",
    "float32": "f32", "float64": "f64", "complex64": "c64", "complex128": "c128",
}  # fmt: skip

_declared: dict[str, Kernel] = {}


class Port:
    """What a kernel says of an input or output.

    Parameters
    ----------
    name : str
        As the application names it after the dot.
    dtype : str
        NumPy's name of an entry's type.
    shape : tuple of int, optional
        Of one instance; by default one dimension, as long as the edge's bytes say.
    """

    def __init__(self, name: str, dtype: str, shape: tuple[int, ...] | None = None) -> None:
        import numpy as np

        try:
            full = np.dtype(dtype).name
        except TypeError as e:
            raise _core.RequestError(f"port `{name}`: {dtype!r} is no NumPy type") from e
        if full not in _DTYPES:
            raise _core.RequestError(f"port `{name}`: no `{full}`. Allowed: {', '.join(_DTYPES)}")
        self.name, self.dtype, self.shape = name, np.dtype(dtype), shape

    def abi(self) -> tuple[str, str, int]:
        """Name, dtype and bytes per instance (0 = any) as the core takes them."""
        import numpy as np

        n_bytes = int(np.prod(self.shape)) * self.dtype.itemsize if self.shape is not None else 0
        return self.name, _DTYPES[self.dtype.name], n_bytes

    def entries(self, n_bytes: int) -> tuple[int, ...]:
        """The shape of an instance of so many bytes."""
        if n_bytes % self.dtype.itemsize:
            raise ValueError(
                f"port `{self.name}`: an instance of {n_bytes} bytes is no whole number of {self.dtype.name}"
            )
        return self.shape if self.shape is not None else (n_bytes // self.dtype.itemsize,)


class Kernel:
    """A Python function as the code of a task. Made by :func:`kernel`; calling it calls the function."""

    def __init__(
        self,
        function: Function,
        inputs: Mapping[str, Any] | None,
        outputs: Mapping[str, Any] | None,
        jit: str | None,
        state: Callable[..., Any] | None,
        finish: Callable[[Any], None] | None,
    ) -> None:
        if jit not in (None, "numba"):
            raise _core.RequestError(f"jit: no {jit!r}. Allowed: 'numba', None")
        self.function = function
        self.inputs = _ports(inputs)
        self.outputs = _ports(outputs)
        self.jit = jit
        self.state = state
        self.finish = finish
        self.__doc__ = function.__doc__
        self.__name__ = getattr(function, "__name__", "kernel")
        self.__module__ = getattr(function, "__module__", "__main__")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    @property
    def spec(self) -> str:
        """What an application writes: ``python:module:function``."""
        return f"python:{self.__module__}:{self.__name__}"

    def ports(self) -> tuple[list[tuple[str, str, int]], list[tuple[str, str, int]]]:
        """Inputs and outputs as the core takes them."""
        return [p.abi() for p in self.inputs], [p.abi() for p in self.outputs]

    def make(
        self, params: Mapping[str, Any], inputs: Sequence[Connection], outputs: Sequence[Connection]
    ) -> tuple[Any, int, Any, Any]:
        """Make the code of one task; the runtime calls this once, before the first firing.

        Returns
        -------
        fire, address, state, finish
            ``fire`` is called per batch, or `address` is that of a compiled function with the address of its state.
        """
        given = {k: v for k, v in params.items() if k != "jit"}
        jit = params.get("jit", self.jit) not in (None, "", "none", False, 0.0)
        ins = [(p.dtype, p.entries(c[1])) for p, c in zip(self.inputs, inputs, strict=True)]
        outs = [(p.dtype, p.entries(c[1])) for p, c in zip(self.outputs, outputs, strict=True)]
        state = self.state(**_accepted(self.state, given)) if self.state is not None else None
        if jit:
            from cellweave.compiled import compile_kernel

            address, keep = compile_kernel(self.function, ins, outs, given, state)
            return keep, address, state, self._finish(state)
        return self._plain(given, state), 0, state, self._finish(state)

    def _finish(self, state: Any) -> Callable[[], None] | None:
        function = self.finish
        return None if function is None else lambda: function(state)

    def _plain(self, params: Mapping[str, Any], state: Any) -> Callable[..., int | None]:
        ports_in, ports_out = self.inputs, self.outputs
        function = self.function
        extra = {"state": state, **params} if self.state is not None else dict(params)

        def fire(firings: int, ins: Sequence[Place], outs: Sequence[Place]) -> int | None:
            arrays = [_view(p, place) for p, place in zip(ports_in, ins, strict=True)]
            arrays += [_view(p, place) for p, place in zip(ports_out, outs, strict=True)]
            try:
                # A source that has no inputs cannot see how many are asked for, except by its outputs' length.
                made = function(*arrays, **extra)
            except StopIteration:
                return 0
            return None if made is None else int(made)

        return fire


def _accepted(function: Callable[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """What of `given` the function has a parameter for."""
    names = inspect.signature(function).parameters.values()
    if any(p.kind is p.VAR_KEYWORD for p in names):
        return dict(given)
    return {p.name: given[p.name] for p in names if p.name in given}


def _ports(ports: Mapping[str, Any] | None) -> list[Port]:
    made = []
    for name, kind in (ports or {}).items():
        dtype, shape = kind if isinstance(kind, tuple) else (kind, None)
        made.append(Port(name, dtype, shape))
    return made


def _view(port: Port, place: Place) -> np.ndarray[Any, Any]:
    """Instances as an array of shape (count, \\*shape of one), without a copy."""
    import numpy as np

    memory, stride, n_bytes, count = place
    shape = port.entries(n_bytes)
    if stride == n_bytes:
        return np.frombuffer(memory, port.dtype).reshape(count, *shape)
    inner = np.empty(shape, port.dtype).strides
    whole: np.ndarray[Any, Any] = np.ndarray((count, *shape), port.dtype, memory, 0, (stride, *inner))
    return whole


@overload
def kernel(function: Function) -> Kernel: ...
@overload
def kernel(
    *,
    inputs: Mapping[str, Any] | None = ...,
    outputs: Mapping[str, Any] | None = ...,
    jit: str | None = ...,
    state: Callable[..., Any] | None = ...,
    finish: Callable[[Any], None] | None = ...,
) -> Callable[[Function], Kernel]: ...


def kernel(
    function: Function | None = None,
    *,
    inputs: Mapping[str, Any] | None = None,
    outputs: Mapping[str, Any] | None = None,
    jit: str | None = None,
    state: Callable[..., Any] | None = None,
    finish: Callable[[Any], None] | None = None,
) -> Kernel | Callable[[Function], Kernel]:
    """Make a function the code of a task.

    The function is called with a batch of firings at a time. It gets an array per input, of shape ``(firings + peek,
    *instance)``, then an array per output, of shape ``(firings, *instance)``, then ``state`` (if there is one) and the
    task's parameters by name. Firing j reads input rows ``j .. j + peek`` and writes output row j. Arrays are views of
    the runtime's memory: valid only during the call, and inputs must not be written to.

    A source (no inputs) may return how many rows it filled; fewer than the output has end the stream. Everything else
    returns nothing. An exception stops the run and names the task.

    Parameters
    ----------
    inputs, outputs : mapping of str to str or (str, tuple of int)
        Port -> NumPy type of an entry, with the shape of an instance where it is not simply a row.
    jit : {None, "numba"}
        ``"numba"`` compiles to machine code that holds no interpreter lock (extra ``jit``); then the function cannot
        raise, and a negative number that it returns stops the run.
    state : callable, optional
        Called once with those of the task's parameters that it names; what it returns (with numba: an array) is
        passed to each call.
    finish : callable, optional
        Called with the state after the last firing.

    Examples
    --------
    >>> import numpy as np
    >>> import cellweave as cw
    >>> @cw.kernel(inputs={"in": "float32"}, outputs={"out": "float32"})
    ... def gain(x, y, factor=2.0):
    ...     y[:] = factor * x
    >>> y = np.zeros((2, 3), "float32")
    >>> gain(np.ones((2, 3), "float32"), y)
    >>> y.sum()
    np.float32(12.0)
    """
    if function is not None:
        return _declare(Kernel(function, inputs, outputs, jit, state, finish))
    return lambda f: _declare(Kernel(f, inputs, outputs, jit, state, finish))


def _declare(made: Kernel) -> Kernel:
    # So that a kernel of a notebook or a local function is found by its name, too.
    _declared[made.spec] = made
    return made


def find(spec: str, folder: Path | None) -> Kernel:
    """The kernel that an application names ``python:pkg.module:function``.

    Parameters
    ----------
    spec : str
        As in the application.
    folder : path, optional
        The application's; modules are looked for there first.

    Raises
    ------
    cellweave.RequestError
        Where there is no such module or function, or it was not made by :func:`kernel`.
    """
    if spec in _declared:
        return _declared[spec]
    words = spec.split(":")
    if len(words) != 3 or not words[1] or not words[2]:
        raise _core.RequestError(f"kernel `{spec}` is not python:pkg.module:function")
    place = str(folder) if folder is not None else None
    if place is not None:
        sys.path.insert(0, place)
    try:
        module = importlib.import_module(words[1])
    except Exception as e:
        # Whatever the module does when it is imported: it is the user's, and the error says where.
        raise _core.RequestError(f"kernel `{spec}`: module `{words[1]}`: {type(e).__name__}: {e}") from e
    finally:
        if place is not None:
            sys.path.remove(place)
    found = module
    for name in words[2].split("."):
        if not hasattr(found, name):
            near = [k for k, v in vars(module).items() if isinstance(v, Kernel)]
            raise _core.RequestError(
                f"kernel `{spec}`: module `{words[1]}` has no `{words[2]}`. Its kernels: {', '.join(near) or 'none'}"
            )
        found = getattr(found, name)
    if not isinstance(found, Kernel):
        raise _core.RequestError(f"kernel `{spec}`: `{words[2]}` is not marked with @cellweave.kernel")
    return found
