"""The kernel in Python of the application `numba`: compiled, as its decorator says."""

from __future__ import annotations

from typing import Any

import cellweave as cw


@cw.kernel(inputs={"x": "float32"}, outputs={"y": "float32"}, jit="numba")
def smooth(x: Any, y: Any) -> None:
    """Each entry becomes the mean of itself and the three before it."""
    for j in range(y.shape[0]):
        for i in range(y.shape[1]):
            total = x[j, i]
            for k in range(1, 4):
                if i >= k:
                    total += x[j, i - k]
            y[j, i] = total * 0.25
