"""Heat on a square plate: its upper edge is kept at 100 degrees, the others at 0. Jacobi's method on blocks that a
Cartesian grid of ranks shares; each step exchanges the blocks' edges with the four neighbours."""

import numpy as np
from mpi4py import MPI

N, CHECKED = 150, 50  # inner points a side; steps between looks at the change
ENOUGH = 0.002  # degrees a step

shape = MPI.Compute_dims(MPI.COMM_WORLD.size, 2)
grid = MPI.COMM_WORLD.Create_cart(shape, reorder=True)
here = grid.Get_coords(grid.rank)
(top, rows), (left, columns) = (
    (N * c // parts, N * (c + 1) // parts - N * c // parts) for c, parts in zip(here, shape, strict=True)
)
now = np.zeros((rows + 2, columns + 2))  # a margin of one point around the block
if here[0] == 0:
    now[0, :] = 100
then = now.copy()

above, below = grid.Shift(0, 1)
before, behind = grid.Shift(1, 1)
row = MPI.DOUBLE.Create_contiguous(columns).Commit()
column = MPI.DOUBLE.Create_vector(rows, 1, columns + 2).Commit()
stride = columns + 2


def exchange(block: np.ndarray) -> None:
    flat = block.reshape(-1)
    for kind, out, to, into, source in (
        (row, stride + 1, above, (rows + 1) * stride + 1, below),
        (row, rows * stride + 1, below, 1, above),
        (column, stride + 1, before, stride + columns + 1, behind),
        (column, stride + columns, behind, stride, before),
    ):
        grid.Sendrecv([flat[out:], 1, kind], dest=to, recvbuf=[flat[into:], 1, kind], source=source)


start = MPI.Wtime()
steps, change = 0, 2 * ENOUGH
while change > ENOUGH:
    exchange(now)
    then[1:-1, 1:-1] = (now[:-2, 1:-1] + now[2:, 1:-1] + now[1:-1, :-2] + now[1:-1, 2:]) / 4
    steps += 1
    if steps % CHECKED == 0:
        change = grid.allreduce(float(np.abs(then - now)[1:-1, 1:-1].max()), MPI.MAX)
    now, then = then, now
seconds = MPI.Wtime() - start

# Every rank tells the temperature down the middle column where it has it.
probe, heard = np.zeros(3), np.zeros(3)
for k in range(3):
    i, j = N * (k + 1) // 4 - top, N // 2 - left
    if 0 <= i < rows and 0 <= j < columns:
        probe[k] = now[i + 1, j + 1]
grid.Reduce(probe, heard)
if grid.rank == 0:
    print(f"{N} x {N} points on {shape[0]} x {shape[1]} ranks: {steps} steps")
    print(f"a quarter down {heard[0]:.6f}, in the middle {heard[1]:.6f}, three quarters down {heard[2]:.6f}")
    print(f"{seconds:.3f} s")
