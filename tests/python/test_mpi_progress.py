"""`CELLWEAVE_MPI_PROGRESS=thread`: messages move while the program computes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from cellweave.mpi import prefix

BIN = prefix() / "bin"

# Rank 0 starts to send and calls no MPI function until rank 1 has received everything and put a file there.
OVERLAP = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
enum { BYTES = 1 << 23 };
int main(int argc, char **argv) {
    int rank, waited = 0;
    char *data = calloc(BYTES, 1);
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        data[BYTES - 1] = 7;
        MPI_Isend(data, BYTES, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request);
        while (access(argv[1], F_OK) != 0 && waited++ < 6000) usleep(10000);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        printf("%s\\n", access(argv[1], F_OK) == 0 && waited < 6000 ? "meanwhile" : "late");
    } else if (rank == 1) {
        MPI_Recv(data, BYTES, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (data[BYTES - 1] == 7) fclose(fopen(argv[1], "w"));
    }
    MPI_Finalize();
    return 0;
}
"""

# Everything at once: with the thread, each call takes the lock.
ROUNDS = """#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    int rank, size, provided, sum = 0, right = 0;
    static int out[30000], in[30000];
    MPI_Request requests[2];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < 200; round++) {
        int n = round * 150 + 1, left = (rank + size - 1) % size;
        out[n - 1] = rank + round;
        MPI_Irecv(in, n, MPI_INT, left, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, n, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        right += in[n - 1] == left + round;
        MPI_Request all;
        MPI_Iallreduce(&right, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &all);
        MPI_Wait(&all, MPI_STATUS_IGNORE);
    }
    if (rank == 0) printf("%d of %d\\n", sum, 200 * size);
    MPI_Finalize();
    return 0;
}
"""


def started(folder: Path, text: str, ranks: int, *arguments: object) -> subprocess.CompletedProcess[str]:
    (folder / "prog.c").write_text(text)
    built = subprocess.run(
        [BIN / "cellcc", "prog.c", "-o", "prog"], cwd=folder, capture_output=True, text=True, timeout=120
    )
    assert built.returncode == 0, built.stderr
    command = [str(BIN / "cellrun"), "-n", str(ranks), "./prog", *map(str, arguments)]
    environment = {**os.environ, "CELLWEAVE_MPI_PROGRESS": "thread"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


def test_a_large_message_is_received_while_its_sender_is_outside_of_mpi(tmp_path: Path) -> None:
    done = started(tmp_path, OVERLAP, 2, tmp_path / "received")
    assert (done.returncode, done.stdout) == (0, "meanwhile\n"), done.stderr


@pytest.mark.parametrize("ranks", [1, 3])
def test_results_are_those_without_the_thread(tmp_path: Path, ranks: int) -> None:
    done = started(tmp_path, ROUNDS, ranks)
    assert (done.returncode, done.stdout) == (0, f"{200 * ranks} of {200 * ranks}\n"), done.stderr
