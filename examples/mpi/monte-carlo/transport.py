"""Particles fly through a slab, scatter, multiply, are absorbed or leave it. All are born on rank 0; after every
flight each rank hands a third of what it has more than a neighbour to that neighbour (diffusion), so that soon
all have alike to do. Every particle carries its own random numbers: the counts do not depend on the ranks."""

import numpy as np
from mpi4py import MPI

BORN = 20000
THICKNESS, ABSORBED, MULTIPLIED = 6.0, 0.25, 0.15  # mean free paths; chances at a collision
PARTICLE = np.dtype([("x", "f8"), ("direction", "f8"), ("random", "u8")])


def mixed(z: np.ndarray) -> np.ndarray:  # splitmix64
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def uniform(state: np.ndarray) -> np.ndarray:  # in (0, 1); the state goes on
    state += np.uint64(0x9E3779B97F4A7C15)
    return ((mixed(state) >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52


def fly(particles: np.ndarray, tally: np.ndarray) -> np.ndarray:
    """One flight and one collision of each; children come behind the survivors."""
    random = particles["random"].copy()
    x = particles["x"] - np.log(uniform(random)) * particles["direction"]
    what = uniform(random)
    direction = 2 * uniform(random) - 1
    reflected, transmitted = x < 0, x > THICKNESS
    inside = ~(reflected | transmitted)
    absorbed = inside & (what < ABSORBED)
    multiplied = inside & ~absorbed & (what < ABSORBED + MULTIPLIED)
    tally += [reflected.sum(), transmitted.sum(), absorbed.sum(), multiplied.sum()]
    kept = np.empty(len(particles), PARTICLE)
    kept["x"], kept["direction"], kept["random"] = x, direction, random
    children = kept[multiplied].copy()
    children["direction"] *= -1
    children["random"] = mixed(~children["random"])
    return np.concatenate([kept[inside & ~absorbed], children])


def balance(line: MPI.Cartcomm, particle: MPI.Datatype, particles: np.ndarray) -> np.ndarray:
    """Hands over what this rank has too much, and takes what its neighbours have."""
    sides = line.Shift(0, 1)
    count = np.array([len(particles)])
    load = np.repeat(count, 2)  # an end of the line has nobody beside it: nothing flows
    line.Sendrecv(count, dest=sides[1], sendtag=0, recvbuf=load[:1], source=sides[0], recvtag=0)
    line.Sendrecv(count, dest=sides[0], sendtag=1, recvbuf=load[1:], source=sides[1], recvtag=1)
    requests = []
    give = np.maximum(count - load, 0) // 3
    for side, n in zip(sides, give, strict=True):
        sent, particles = particles[len(particles) - n :], particles[: len(particles) - n]
        requests.append(line.Isend([sent, n, particle], dest=side, tag=2))
    status = MPI.Status()
    parts = [particles]
    for side in sides:
        line.Probe(source=side, tag=2, status=status)
        arrived = np.empty(status.Get_count(particle), PARTICLE)
        line.Recv([arrived, len(arrived), particle], source=side, tag=2)
        parts.append(arrived)
    MPI.Request.Waitall(requests)
    return np.concatenate(parts)


def main() -> None:
    line = MPI.COMM_WORLD.Create_cart([MPI.COMM_WORLD.size], reorder=True)
    places = [PARTICLE.fields[name][1] for name in ("x", "random")]
    particle = MPI.Datatype.Create_struct([2, 1], places, [MPI.DOUBLE, MPI.UINT64_T]).Commit()
    particles = np.zeros(BORN if line.rank == 0 else 0, PARTICLE)
    particles["direction"] = 1
    particles["random"] = mixed(np.arange(1, len(particles) + 1, dtype=np.uint64))
    tally = np.zeros(4, dtype=np.int64)
    step, alive = 0, BORN
    start = MPI.Wtime()
    while alive > 0:
        step += 1
        particles = balance(line, particle, fly(particles, tally))
        alive = line.allreduce(len(particles))
        if step & (step - 1) == 0:  # 1, 2, 4, 8 ...
            loads = line.gather(len(particles))
            if line.rank == 0:
                print(f"step {step:2}: {alive:5} particles:", *loads)
    seconds = MPI.Wtime() - start
    sums = np.empty_like(tally)
    line.Reduce(tally, sums)
    if line.rank == 0:
        reflected, transmitted, absorbed, multiplied = map(int, sums)
        whole = BORN + multiplied == reflected + transmitted + absorbed
        print(f"born {BORN}, multiplied {multiplied}; reflected {reflected}, transmitted {transmitted}, ", end="")
        print(f"absorbed {absorbed}: {'all accounted for' if whole else 'SOME ARE LOST'}")
        print(f"{seconds:.3f} s")


main()
