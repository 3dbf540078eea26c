"""y = A x in double precision: every rank has a block of rows, and Allgather makes y whole on all of them."""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # a rank is a core; NumPy reads them once

import numpy as np
from mpi4py import MPI

REPEAT = 40
world = MPI.COMM_WORLD


def element(i: np.ndarray, j: np.ndarray) -> np.ndarray:
    return (i * 7 + j * 3) % 11 - 5.0


for n in (512, 1024):
    block = -(-n // world.size)  # the last rank's block may be short of rows
    first = world.rank * block
    numbers = np.arange(first, min(first + block, n))
    rows = element(numbers[:, None], np.arange(n)[None, :])
    x = np.arange(n) % 5 - 1.0
    mine = np.zeros(block)
    y = np.empty(block * world.size)
    world.Barrier()
    start = MPI.Wtime()
    for _ in range(REPEAT):
        mine[: len(numbers)] = rows @ x
        world.Allgather(mine, y)
    parallel = MPI.Wtime() - start
    if world.rank == 0:  # alone, while the others wait
        whole = element(np.arange(n)[:, None], np.arange(n)[None, :])
        start = MPI.Wtime()
        for _ in range(REPEAT):
            alone = whole @ x
        serial = MPI.Wtime() - start
        verdict = "the same" if np.array_equal(alone, y[:n]) else "DIFFERENT"
        flops = 2 * n * n * REPEAT * 1e-9
        print(f"n = {n:4} on {world.size} ranks: {verdict} result, y[{n - 1}] = {y[n - 1]:g}")
        print(f"  serial {flops / serial:.2f} GFlop/s, parallel {flops / parallel:.2f} GFlop/s")
    world.Barrier()
