"""Scripts that start a process where its part belongs: taskset, numactl, hwloc-bind; and likwid-pin for threads."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from cellweave.export.registry import Format, title

if TYPE_CHECKING:
    from collections.abc import Callable

    from cellweave.export.pinning import Pinned, Pinning

# The rank of a process, as the launchers of MPI programs say it.
_RANK = "${CELLWEAVE_MPI_RANK:-${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-$SLURM_PROCID}}}"


def _script(command: Callable[[Pinned], str]) -> Callable[[list[Pinned], Pinning], list[str]]:
    """A script with a case per part."""

    def lines(pinned: list[Pinned], pinning: Pinning) -> list[str]:
        noun = pinning.noun.upper()
        return [
            "#!/bin/sh",
            f"# {title(pinning)}: starts a command where a {pinning.noun} belongs.",
            f"# sh FILE {noun} COMMAND [ARGUMENT]...; with - for {noun}, the rank that an MPI launcher gives it.",
            f'[ $# -ge 2 ] || {{ echo "use: sh $0 {noun} COMMAND [ARGUMENT]..." >&2; exit 2; }}',
            "part=$1",
            "shift",
            *([f'[ "$part" = - ] && part={_RANK}'] if pinning.noun == "part" else _tasks_of_ranks(pinned)),
            'case "$part" in',
            *(f'{shlex.quote(one.name)}) exec {command(one)} "$@" ;;' for one in pinned),
            f'*) echo "$0: no {pinning.noun} $part" >&2; exit 2 ;;',
            "esac",
        ]

    return lines


def _tasks_of_ranks(pinned: list[Pinned]) -> list[str]:
    cases = " ".join(f"{i}) part={shlex.quote(one.name)} ;;" for i, one in enumerate(pinned))
    return [f'[ "$part" = - ] && case {_RANK} in {cases} esac']


def _numactl(one: Pinned) -> str:
    memory = "" if one.node is None else f" --membind={one.node}"
    return f"numactl --physcpubind={one.cpu}{memory}"


def _hwloc_bind(one: Pinned) -> str:
    memory = "" if one.node is None else f" --membind node:{one.node}"
    return f"hwloc-bind --strict --physical --cpubind pu:{one.cpu}{memory} --"


def _likwid_pin(pinned: list[Pinned], pinning: Pinning) -> list[str]:
    cpus = ",".join(str(one.cpu) for one in pinned)
    return [
        "#!/bin/sh",
        f"# {title(pinning)}: starts a program whose threads are pinned in the order in which they are made.",
        "# sh FILE COMMAND [ARGUMENT]...",
        *(f"# thread {i}: {one.name}" for i, one in enumerate(pinned) if pinning.noun == "task"),
        f'exec likwid-pin -c {cpus} "$@"',
    ]


FORMATS = [
    Format(
        "taskset",
        "the cpu of a process",
        "sh FILE PART COMMAND",
        "memory",
        _script(lambda one: f"taskset --cpu-list {one.cpu}"),
    ),
    Format(
        "numactl",
        "the cpu of a process; its memory from that cpu's NUMA node alone, where the machine says the node",
        "sh FILE PART COMMAND",
        "nothing",
        _script(_numactl),
    ),
    Format(
        "hwloc-bind",
        "as numactl; refuses to start where binding fails",
        "sh FILE PART COMMAND",
        "nothing",
        _script(_hwloc_bind),
    ),
    Format(
        "likwid-pin",
        "the cpu of each thread of a program, in the order in which threads are made",
        "sh FILE COMMAND",
        "names of threads; memory",
        _likwid_pin,
        # MAX_NUM_THREADS of likwid's config.mk.
        parts_max=500,
    ),
]
