"""A Python function as machine code, through numba: what `jit="numba"` does."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Instance = tuple[Any, tuple[int, ...]]  # dtype and shape

_compiled: dict[Any, Any] = {}


def compile_kernel(
    function: Callable[..., Any],
    inputs: Sequence[Instance],
    outputs: Sequence[Instance],
    params: Mapping[str, Any],
    state: Any,
) -> tuple[int, Any]:
    """Compile a kernel for one task: sizes and parameters are constants in it.

    The machine code is ``int64 (void **bases, uint64 *strides, uint64 *counts, void *state)``: inputs first, then
    outputs; `counts` are instances per port, firings last. It returns how many firings it did, or a negative number.

    Returns
    -------
    address, keep
        The address of the machine code, and the objects that must stay alive while it is called.

    Raises
    ------
    RuntimeError
        Where numba is not installed or cannot compile the function: says why.
    """
    try:
        import numba
        import numpy as np
        from numba import types
        from numba.core.errors import NumbaError
    except ImportError as e:
        raise RuntimeError('jit="numba" needs numba: pip install "cellweave[jit]"') from e

    if state is not None and not (isinstance(state, np.ndarray) and state.flags.c_contiguous):
        raise RuntimeError("with numba the state must be a contiguous NumPy array")
    names = list(inspect.signature(function).parameters)[len(inputs) + len(outputs) :]
    wrong = [name for name in params if name not in names]
    if wrong:
        raise RuntimeError(
            f"no parameter `{wrong[0]}`; allowed: {', '.join(n for n in names if n != 'state') or 'none'}"
        )

    # A profile starts a stream several times: the same task is compiled once.
    held = (state.shape, state.dtype.str) if state is not None else None
    key = (function, repr((inputs, outputs)), repr(sorted(params.items())), held)
    if key in _compiled:
        return _compiled[key].address, (_compiled[key], state)

    inner = numba.njit(function, error_model="numpy")
    scope: dict[str, Any] = {
        "carray": numba.carray,  # type: ignore[attr-defined]
        "inner": inner,
        "count": _count(),
    }
    lines = ["def fire(bases, strides, counts, state):"]
    for i, (dtype, shape) in enumerate([*inputs, *outputs]):
        n_bytes = int(np.prod(shape)) * dtype.itemsize
        scope[f"dtype{i}"] = numba.from_dtype(dtype)
        whole = ", ".join([f"counts[{i}]", *map(str, shape)])
        lines.append(f"    if strides[{i}] != {n_bytes}: return -2")
        lines.append(f"    a{i} = carray(bases[{i}], ({whole},), dtype{i})")
    arguments = [f"a{i}" for i in range(len(inputs) + len(outputs))]
    for name in names:
        if name == "state" and state is not None:
            scope["state_dtype"] = numba.from_dtype(state.dtype)
            lines.append(f"    s = carray(state, {state.shape!r}, state_dtype)")
            arguments.append("s")
        elif name in params:
            value = params[name]
            scope[f"param_{name}"] = np.asarray(value) if isinstance(value, list) else value
            arguments.append(f"param_{name}")
        else:
            break  # the others have defaults, or numba says what is missing
    total = len(inputs) + len(outputs)
    lines.append(f"    return count(inner({', '.join(arguments)}), counts[{total}])")
    exec("\n".join(lines), scope)
    u64 = types.CPointer(types.uint64)  # type: ignore[no-untyped-call]
    signature = types.int64(types.CPointer(types.voidptr), u64, u64, types.voidptr)  # type: ignore[no-untyped-call]
    try:
        compiled = numba.cfunc(signature)(scope["fire"])
    except NumbaError as e:
        reason = " ".join(str(e).split())
        raise RuntimeError(f"numba cannot compile `{function.__name__}`: {reason[:600]}") from e
    _compiled[key] = compiled
    address: int = compiled.address  # type: ignore[assignment]
    return address, (compiled, state)


def _count() -> Any:
    """`count(returned, firings)`: a kernel that returns nothing did all firings."""
    from numba import types
    from numba.extending import overload

    def count(returned: Any, firings: Any) -> Any:
        return firings if returned is None else returned

    @overload(count)
    def _typed(returned, firings):  # type: ignore[no-untyped-def]  # numba compares the names, annotations included
        if isinstance(returned, types.NoneType):
            return lambda returned, firings: firings
        return lambda returned, firings: returned

    return count
