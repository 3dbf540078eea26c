"""A job notices that its cgroup's quota of cpu time has changed."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from cellweave.mpi import prefix

# Rank 0 waits for messages that come every 2 ms. With a cpu for every rank it spins through such a wait; with too few
# it sleeps, which the kernel counts.
PROGRAM = """#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
enum { MESSAGES = 50 };

static long sleeps(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
}

int main(void)
{
    int rank, more = 1;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        puts("started"), fflush(stdout);
        getchar();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    while (more) {
        long before = sleeps();
        for (int i = 0; i < MESSAGES; i++) {
            if (rank == 0) {
                MPI_Recv(&i, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            } else {
                nanosleep(&(struct timespec){0, 2000000}, NULL);
                MPI_Send(&i, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
            }
        }
        more = sleeps() - before < MESSAGES / 2;
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (rank == 0) puts("sleeps");
    MPI_Finalize();
    return 0;
}
"""
QUOTAS = [
    ("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "100000"),
    ("/sys/fs/cgroup/cpu,cpuacct", "cpu.cfs_quota_us", "100000"),
    ("/sys/fs/cgroup", "cpu.max", "100000 100000"),
]
"""Where the groups of cgroups 1 and 2 are, the file of the quota, and one cpu."""


@pytest.fixture
def group() -> Iterator[tuple[Path, Path, str]]:
    """A new cgroup: its folder, the file of its quota, and the text for one cpu."""
    for mount, file, one_cpu in QUOTAS:
        folder = Path(mount) / f"cellweave-test-{os.getpid()}"
        try:
            folder.mkdir()
        except OSError:
            continue
        try:
            if (folder / file).exists():
                yield folder, folder / file, one_cpu
                return
        finally:
            with contextlib.suppress(OSError):
                folder.rmdir()
    pytest.skip("no cgroup with a quota can be made here: that needs root and /sys/fs/cgroup mounted for writing")


def test_a_job_that_has_too_few_cpus_from_now_on_sleeps_while_it_waits(
    group: tuple[Path, Path, str], tmp_path: Path
) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one cpu is too few from the start: two are needed")
    folder, quota, one_cpu = group
    (tmp_path / "wait.c").write_text(PROGRAM)
    subprocess.run([prefix() / "bin" / "cellcc", tmp_path / "wait.c", "-o", tmp_path / "wait"], check=True)
    line = f"echo $$ > {folder}/cgroup.procs; exec {prefix()}/bin/cellrun --timeout 100 -n 2 {tmp_path}/wait"
    with subprocess.Popen(["sh", "-c", line], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as job:
        assert job.stdout and job.stdin
        assert job.stdout.readline() == "started\n"
        quota.write_text(one_cpu)
        out, _ = job.communicate("\n")
    assert (job.returncode, out) == (0, "sleeps\n")
