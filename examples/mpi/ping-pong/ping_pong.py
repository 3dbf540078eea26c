"""Ranks 0 and 1 send an array to and fro; each sends back the array that it has just received."""

import sys

import numpy as np
from mpi4py import MPI

MOST = 1 << 20
world = MPI.COMM_WORLD
if world.size < 2:
    sys.exit("ping_pong needs two ranks: cellrun -n 2 python ping_pong.py")
if world.rank == 0:
    print(f"ranks 0 and 1 of {world.size}")

if world.rank < 2:
    length = 8
    while length <= MOST:
        buffer = np.zeros(length, dtype=np.uint8)
        rounds = 1000 if length < 65536 else 100
        start = MPI.Wtime()
        for i in range(rounds):
            if world.rank == 0:
                buffer[-1] = i % 256
                world.Send(buffer, dest=1)
                world.Recv(buffer, source=1)
                assert buffer[-1] == (i + 1) % 256
            else:
                world.Recv(buffer, source=0)
                buffer[-1] = (int(buffer[-1]) + 1) % 256
                world.Send(buffer, dest=0)
        seconds = MPI.Wtime() - start
        if world.rank == 0:
            print(f"{length:7} bytes, {rounds:4} rounds: {seconds / rounds / 2 * 1e6:.2f} us one way")
        length *= 32
