"""A token goes round the ranks as a Python object; each adds its rank and passes it on."""

from mpi4py import MPI

ROUNDS = 1000
world = MPI.COMM_WORLD
rank, size = world.rank, world.size
following, previous = (rank + 1) % size, (rank - 1) % size

token = 0
start = MPI.Wtime()
for step in range(ROUNDS if size > 1 else 0):
    if rank == 0:
        world.send(token, dest=following, tag=step)
        token = world.recv(source=previous, tag=step)
    else:
        token = world.recv(source=previous, tag=step) + rank
        world.send(token, dest=following, tag=step)
seconds = MPI.Wtime() - start
if rank == 0:
    print(f"{size} ranks, {ROUNDS} rounds: the token is {token}")
    print(f"{seconds / ROUNDS / size * 1e6:.2f} us per hop")
