"""The variables that pin the threads of an OpenMP program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cellweave.export.registry import Format, order, title

if TYPE_CHECKING:
    from cellweave.export.pinning import Pinned, Pinning


def _head(pinned: list[Pinned], pinning: Pinning) -> list[str]:
    return [
        f"# {title(pinning)}: thread i of an OpenMP program on the i-th cpu",
        *order(pinned, "thread", pinning.noun),
        f"export OMP_NUM_THREADS={len(pinned)}",
    ]


def _omp_places(pinned: list[Pinned], pinning: Pinning) -> list[str]:
    places = ",".join(f"{{{one.cpu}}}" for one in pinned)
    # `close` puts thread i on place i where there are as many threads as places (OpenMP 5.2, section 10.1.3).
    return [*_head(pinned, pinning), f"export OMP_PLACES='{places}'", "export OMP_PROC_BIND=close"]


def _gomp(pinned: list[Pinned], pinning: Pinning) -> list[str]:
    cpus = " ".join(str(one.cpu) for one in pinned)
    # libgomp reads OMP_PLACES and OMP_PROC_BIND first.
    return [*_head(pinned, pinning), "unset OMP_PLACES OMP_PROC_BIND", f"export GOMP_CPU_AFFINITY='{cpus}'"]


FORMATS = [
    Format(
        "omp-places",
        "the cpu of each thread of an OpenMP program",
        ". ./FILE, then start the program",
        "names of threads; memory",
        _omp_places,
    ),
    Format(
        "gomp",
        "the same for GCC's OpenMP alone, by GOMP_CPU_AFFINITY",
        ". ./FILE, then start the program",
        "names of threads; memory",
        _gomp,
        # libgomp refuses cpus from 65536 on.
        cpu_max=65535,
    ),
]
