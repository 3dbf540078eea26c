"""numpy arrays: contiguous and strided, point to point and collectives, derived datatypes, operations."""

from __future__ import annotations

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
right, left = (rank + 1) % size, (rank - 1) % size

for kind in "bhilqBHILQfdFDg":
    sent = (np.arange(1000) % 100 + rank).astype(kind)
    got = np.zeros_like(sent)
    comm.Sendrecv(sent, right, recvbuf=got, source=left)
    assert (got == (np.arange(1000) % 100 + left).astype(kind)).all(), kind

for count in (0, 1, 7, 1000, 100_000, 1_000_000):
    sent = np.arange(count, dtype="d") + rank
    got = np.full(count, -1.0)
    requests = [comm.Irecv(got, left), comm.Isend(sent, right)]
    MPI.Request.Waitall(requests)
    assert (got == np.arange(count) + left).all()

# A column of a matrix goes out as a vector type and comes in as a row.
matrix = np.arange(36, dtype="d").reshape(6, 6) + 100 * rank
column = MPI.DOUBLE.Create_vector(6, 1, 6).Commit()
row = np.empty(6)
request = comm.Isend([matrix, 1, column], right)
comm.Recv(row, left)
request.Wait()
assert (row == np.arange(36).reshape(6, 6)[:, 0] + 100 * left).all()
column.Free()

# A block of a matrix, placed in another.
block = MPI.INT.Create_subarray([8, 8], [3, 4], [2, 1]).Commit()
target = np.zeros((8, 8), dtype="i")
comm.Sendrecv([np.full((8, 8), rank + 1, dtype="i"), 1, block], right, recvbuf=[target, 1, block], source=left)
assert target.sum() == 12 * (left + 1) and (target[2:5, 1:5] == left + 1).all()
block.Free()

# A structure.
kind = np.dtype([("a", "i4"), ("b", "f8")], align=True)
records = np.array([(rank, rank / 2), (rank + 1, 0.25)], dtype=kind)
structure = MPI.Datatype.Create_struct([1, 1], [0, 8], [MPI.INT, MPI.DOUBLE]).Create_resized(0, 16).Commit()
others = np.zeros_like(records)
comm.Sendrecv([records, 2, structure], right, recvbuf=[others, 2, structure], source=left)
assert others["a"].tolist() == [left, left + 1] and others["b"].tolist() == [left / 2, 0.25]
structure.Free()

# Collectives.
numbers = np.arange(5000, dtype="d") * (rank + 1)
total = np.empty_like(numbers)
comm.Allreduce(numbers, total)
assert np.allclose(total, np.arange(5000) * (size * (size + 1) / 2))
comm.Allreduce(MPI.IN_PLACE, numbers, op=MPI.MAX)
assert (numbers == np.arange(5000) * size).all()

everything = np.empty((size, 3), dtype="i")
comm.Allgather(np.full(3, rank, dtype="i"), everything)
assert (everything == np.arange(size)[:, None]).all()

counts = np.arange(1, size + 1)
joined = np.empty(counts.sum(), dtype="i")
comm.Allgatherv(np.full(rank + 1, rank, dtype="i"), [joined, counts])
assert joined.tolist() == [r for r in range(size) for _ in range(r + 1)]

swapped = np.empty(size, dtype="i")
comm.Alltoall(np.arange(size, dtype="i") + 10 * rank, swapped)
assert swapped.tolist() == [10 * r + rank for r in range(size)]

part = np.empty(2)
comm.Reduce_scatter_block(np.arange(2 * size, dtype="d"), part)
assert part.tolist() == [size * (2 * rank), size * (2 * rank + 1)]

best = comm.allreduce((abs(rank - 1), rank), op=MPI.MINLOC)
assert best[0] == (0 if size > 1 else 1)


# An operation of our own, called back in Python.
def larger_magnitude(left: memoryview, right: memoryview, datatype: MPI.Datatype) -> None:
    a, b = np.frombuffer(left, "d"), np.frombuffer(right, "d")
    b[:] = np.where(abs(a) > abs(b), a, b)


operation = MPI.Op.Create(larger_magnitude, commute=True)
mine = np.array([float((-1) ** rank * rank)])
comm.Allreduce(MPI.IN_PLACE, mine, operation)
assert abs(mine[0]) == size - 1
operation.Free()

# Persistent requests, started three times.
buffer, there = np.zeros(4), np.zeros(4)
pair = [comm.Send_init(buffer, right, 3), comm.Recv_init(there, left, 3)]
for turn in range(3):
    buffer[:] = 10 * turn + rank
    MPI.Prequest.Startall(pair)
    MPI.Request.Waitall(pair)
    assert (there == 10 * turn + left).all()
for request in pair:
    request.Free()

# A Cartesian grid.
grid = comm.Create_cart(MPI.Compute_dims(size, 2), periods=[True, False], reorder=True)
down, up = grid.Shift(0, 1)
halo = np.empty(1, dtype="i")
grid.Sendrecv(np.array([grid.Get_rank()], dtype="i"), up, recvbuf=halo, source=down)
assert halo[0] == down
grid.Free()

comm.Barrier()
if rank == 0:
    print(f"arrays on {size}")
