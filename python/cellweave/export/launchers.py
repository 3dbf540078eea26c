"""What launchers of parallel programs read: Slurm, Open MPI, MPICH, Intel MPI, cellrun."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cellweave.export.registry import Format, order, title

if TYPE_CHECKING:
    from cellweave.export.pinning import Pinned, Pinning


def _cpus(pinned: list[Pinned]) -> str:
    return ",".join(str(one.cpu) for one in pinned)


def _slurm(pinned: list[Pinned], _: Pinning) -> list[str]:
    nodes = [one.node for one in pinned if one.node is not None]
    memory = f" --mem-bind=map_mem:{','.join(map(str, nodes))}" if len(nodes) == len(pinned) else ""
    return [f"--cpu-bind=map_cpu:{_cpus(pinned)}{memory}"]


def _openmpi4(pinned: list[Pinned], pinning: Pinning) -> list[str]:
    return [
        f"# {title(pinning)}; slots are the operating system's cpus: --mca rmaps_rank_file_physical 1",
        *order(pinned, "rank", pinning.noun),
        *(f"rank {i}=localhost slot={one.cpu}" for i, one in enumerate(pinned)),
    ]


def _openmpi5(pinned: list[Pinned], pinning: Pinning) -> list[str]:
    number = pinning.ranks_of_cpus()
    return [
        f"# {title(pinning)}; slots are cpus as hwloc counts them: --map-by rankfile:file=FILE:hwtcpus",
        *order(pinned, "rank", pinning.noun),
        *(f"rank {i}=localhost slot={number[one.cpu]}" for i, one in enumerate(pinned)),
    ]


def _mpich(pinned: list[Pinned], _: Pinning) -> list[str]:
    return [f"-bind-to user:{_cpus(pinned)}"]


def _intelmpi(pinned: list[Pinned], pinning: Pinning) -> list[str]:
    return [
        f"# {title(pinning)}",
        *order(pinned, "rank", pinning.noun),
        "export I_MPI_PIN=1",
        f"export I_MPI_PIN_PROCESSOR_LIST={_cpus(pinned)}",
    ]


def _cellrun(pinned: list[Pinned], pinning: Pinning) -> list[str]:
    width = max(len(str(one.cpu)) for one in pinned)
    return [
        f"# {title(pinning)}: the cpu of each rank",
        *(f"{one.cpu:<{width}}  # {one.name}" for one in pinned),
    ]


FORMATS = [
    Format(
        "cellrun",
        "the cpu of each rank",
        "cellrun --place FILE -n N PROGRAM",
        "memory",
        _cellrun,
        # transport::segment::MOST_RANKS.
        parts_max=256,
    ),
    Format(
        "slurm",
        "the cpu of each rank, and its NUMA node where the machine says it",
        "srun $(cat FILE) -n N PROGRAM, in an allocation of whole nodes",
        "names of ranks",
        _slurm,
    ),
    Format(
        "openmpi4",
        "the core of each rank: a rankfile of Open MPI 4",
        "mpirun --mca rmaps_rank_file_physical 1 --rankfile FILE -n N PROGRAM",
        "which cpu of a core: both SMT siblings are allowed; memory",
        _openmpi4,
    ),
    Format(
        "openmpi5",
        "the cpu of each rank: a rankfile of Open MPI 5",
        "mpirun --map-by rankfile:file=FILE:hwtcpus -n N PROGRAM",
        "memory; it is for the computer whose cpus the machine lists, all of them",
        _openmpi5,
    ),
    Format("mpich", "the cpu of each rank", "mpiexec $(cat FILE) -n N PROGRAM", "names of ranks; memory", _mpich),
    Format(
        "intelmpi",
        "the cpu of each rank, by I_MPI_PIN_PROCESSOR_LIST",
        ". ./FILE, then mpirun -n N PROGRAM",
        "memory",
        _intelmpi,
    ),
]
