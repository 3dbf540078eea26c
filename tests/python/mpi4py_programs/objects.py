"""Pickled objects of all sizes, by every way that mpi4py sends them."""

from __future__ import annotations

import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
right, left = (rank + 1) % size, (rank - 1) % size

# A ring of growing objects: from a few bytes to some megabytes, so that every way through the library is taken.
for power in range(0, 23, 2):
    sent = {"from": rank, "data": bytes([rank]) * (1 << power), "nested": [None, 1.5, ("a", {"b": 2**70})]}
    request = comm.isend(sent, dest=right, tag=power)
    got = comm.recv(source=left, tag=power)
    request.wait()
    assert got == {**sent, "from": left, "data": bytes([left]) * (1 << power)}, (rank, power)
    assert comm.sendrecv(got, dest=left, source=right)["from"] == rank

# A duplicate keeps its messages apart; the same tag in two communicators.
other = comm.Dup()
requests = [comm.isend("world", right, tag=7), other.isend("other", right, tag=7)]
assert other.recv(source=left, tag=7) == "other"
assert comm.recv(source=left, tag=7) == "world"
MPI.Request.waitall(requests)
other.Free()

# Collectives of objects.
everyone = list(range(size))
assert comm.bcast({"root": 0} if rank == 0 else None, root=0) == {"root": 0}
assert comm.gather(rank * 10, root=0) == ([r * 10 for r in everyone] if rank == 0 else None)
assert comm.scatter([f"to {r}" for r in everyone] if rank == 0 else None, root=0) == f"to {rank}"
assert comm.allgather((rank, "x" * rank)) == [(r, "x" * r) for r in everyone]
assert comm.alltoall([(rank, r) for r in everyone]) == [(r, rank) for r in everyone]
assert comm.allreduce([rank], op=MPI.SUM) == everyone
assert comm.allreduce(rank, op=MPI.MAX) == size - 1
assert comm.scan(1) == rank + 1
assert comm.exscan(1) == (rank or None)

# Half of the ranks by themselves.
half = comm.Split(rank % 2, key=-rank)
members = [r for r in reversed(everyone) if r % 2 == rank % 2]
assert half.allgather(rank) == members
half.Free()

# An error arrives as an exception that says what was wrong.
try:
    comm.send(None, dest=size)
except MPI.Exception as error:
    assert error.Get_error_class() == MPI.ERR_RANK, error
else:
    sys.exit("a rank that is not there was accepted")

comm.Barrier()
if rank == 0:
    print(f"objects on {size}")
