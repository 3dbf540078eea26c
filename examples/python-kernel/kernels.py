"""Kernels in Python. Each call handles a batch of firings: every array has a row per firing."""

import cellweave as cw
import numpy as np


@cw.kernel(outputs={"out": "float32"}, state=lambda: np.random.default_rng(7))
def noise(y, state):
    """A source: no inputs. Its state is made once, before the first call."""
    y[:] = state.standard_normal(y.shape)


@cw.kernel(inputs={"in": "float32"}, outputs={"out": "float32"})
def clip(x, y, level=1.0):
    """Loops over firings and entries, as numba likes it; `level` is a parameter of the task."""
    for j in range(y.shape[0]):
        for i in range(y.shape[1]):
            y[j, i] = min(max(x[j, i], -level), level)


@cw.kernel(inputs={"plain": "float32", "compiled": "float32"}, outputs={"out": "uint8"})
def compare(plain, compiled, y):
    """Two inputs: how many entries differ."""
    y[:, 0] = np.sum(plain != compiled, axis=1)
