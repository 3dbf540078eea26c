"""Traffic as a task scheduler makes it: rank 0 hands tasks to whoever asks; workers pass results among themselves.

The scheduler waits for anybody, looks before it receives, and answers without waiting. Workers send results of any size
to other workers that will need them, in an order that nobody knows.
"""

from __future__ import annotations

import random

from mpi4py import MPI

ASK, TASK, NEED, RESULT, STOP = range(1, 6)
TASKS = 150

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()


def value_of(task: int) -> bytes:
    """What a task gives: 1 byte to 200 kB."""
    return bytes([task % 251]) * random.Random(task).choice([1, 60, 1000, 5000, 200_000])


def scheduler() -> None:
    """Give every worker a task; from then on, whoever asks gets one that needs the result of another worker."""
    owner: dict[int, int] = {}
    given: dict[int, int] = {}
    waiting: list[int] = []
    open_requests: list[MPI.Request] = []
    next_task, stopped = 0, 0
    while stopped < size - 1:
        status = MPI.Status()
        message = comm.mprobe(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG, status=status)
        finished = message.recv()
        assert status.Get_tag() == ASK
        waiting.append(status.Get_source())
        if finished is not None:
            owner[finished] = status.Get_source()
            assert given.pop(finished) == status.Get_source()
        # The second round begins when all have done their first task.
        if finished is not None and len(set(owner.values())) < size - 1:
            continue
        ready = waiting if finished is not None else [waiting.pop()]
        for worker in ready:
            if next_task == TASKS:
                open_requests.append(comm.isend(None, worker, tag=STOP))
                stopped += 1
                continue
            elsewhere = [task for task, holder in owner.items() if holder != worker]
            needed = random.choice(elsewhere) if elsewhere else None
            open_requests.append(comm.isend((next_task, needed, owner.get(needed)), worker, tag=TASK))
            given[next_task] = worker
            next_task += 1
        if ready is waiting:
            waiting.clear()
        open_requests = [request for request in open_requests if not request.test()[0]]
    MPI.Request.waitall(open_requests)
    assert not given and sorted(owner) == list(range(TASKS))


def serve(results: dict[int, bytes], open_requests: list[MPI.Request]) -> None:
    """Answer every worker that asks for a result now."""
    status = MPI.Status()
    while comm.iprobe(source=MPI.ANY_SOURCE, tag=NEED, status=status):
        task = comm.recv(source=status.Get_source(), tag=NEED)
        open_requests.append(comm.isend((task, results[task]), status.Get_source(), tag=RESULT))


def worker() -> int:
    """Ask, fetch what the task needs, compute, tell; serve others meanwhile."""
    results: dict[int, bytes] = {}
    open_requests: list[MPI.Request] = []
    fetched = 0
    comm.send(None, dest=0, tag=ASK)
    while True:
        status = MPI.Status()
        while not comm.iprobe(source=0, tag=MPI.ANY_TAG, status=status):
            serve(results, open_requests)
        order = comm.recv(source=0, tag=status.Get_tag())
        if status.Get_tag() == STOP:
            break
        task, needed, holder = order
        if needed is not None and needed not in results:
            open_requests.append(comm.isend(needed, holder, tag=NEED))
            while True:
                serve(results, open_requests)
                message = comm.improbe(source=holder, tag=RESULT)
                if message is not None:
                    break
            got, data = message.recv()
            assert got == needed and data == value_of(needed)
            fetched += 1
        results[task] = value_of(task)
        comm.send(task, dest=0, tag=ASK)
    # Others may still need what is here.
    done = workers.Ibarrier()
    while not done.Test():
        serve(results, open_requests)
    MPI.Request.waitall(open_requests)
    return fetched


workers = comm.Split(rank > 0)
if rank == 0:
    scheduler()
    fetched = 0
else:
    fetched = worker()
total = comm.reduce(fetched, root=0)
if rank == 0:
    print(f"{TASKS} tasks on {size}" if total else "nobody fetched a result")
