"""One binary, several MPIs: a program built by `cellcc` runs on MPICH's library; one built otherwise is told so."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from cellweave.mpi import prefix

BIN = prefix() / "bin"
PROGRAM = """#include <mpi.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
    int rank, size, length, sum = 0, right = 0, got[4] = {0, 0, 0, 0};
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Status status;
    MPI_Comm copy;
    MPI_Datatype pair;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_rank(copy, &rank);
    MPI_Comm_size(copy, &size);
    MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    if (rank > 0) {
        got[0] = rank;
        got[2] = 10 * rank;
        MPI_Send(got, 1, pair, 0, rank, copy);
    } else {
        for (int i = 1; i < size; i++) {
            MPI_Recv(got, 1, pair, MPI_ANY_SOURCE, MPI_ANY_TAG, copy, &status);
            right += status.MPI_TAG == status.MPI_SOURCE && got[2] == 10 * status.MPI_SOURCE;
        }
    }
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, copy);
    MPI_Get_library_version(version, &length);
    const char *whose = strstr(version, "cellweave") ? "ours" : "theirs";
    if (rank == 0) printf("%d ranks, sum %d, %d right, %s\\n", size, sum, right, whose);
    MPI_Type_free(&pair);
    MPI_Comm_free(&copy);
    MPI_Finalize();
    return 0;
}
"""


def run(*command: object, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(c) for c in command], env={**os.environ, **env}, capture_output=True, text=True, timeout=120
    )


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built by `cellcc`."""
    folder = tmp_path_factory.mktemp("elsewhere")
    (folder / "prog.c").write_text(PROGRAM)
    done = run(BIN / "cellcc", folder / "prog.c", "-o", folder / "prog")
    assert done.returncode == 0, done.stderr
    return folder / "prog"


def test_a_binary_runs_here_and_on_mpich_by_the_librarys_path_alone(program: Path, mpich: Path) -> None:
    ours = run(BIN / "cellrun", "-n", 3, program)
    theirs = run(mpich / "bin" / "mpiexec", "-n", 3, program, LD_LIBRARY_PATH=str(mpich / "lib"))
    assert ours.stdout == "3 ranks, sum 3, 2 right, ours\n", ours.stderr
    assert theirs.stdout == "3 ranks, sum 3, 2 right, theirs\n", theirs.stderr


def said_elsewhere(mpich: Path, ranks: int, program: Path, said: Path) -> str:
    """What ranks say that MPICH's launcher starts, in a file, and whether they failed. The launcher loses what ranks
    print that fail at once: of `echo said; exit 16`, it did in 7 of 1,000 runs while both cpus were busy."""
    script = '"$0" >>"$1" 2>&1 || echo failed >>"$1"'
    run(mpich / "bin" / "mpiexec", "-n", ranks, "sh", "-c", script, program, said)
    return said.read_text()


def test_another_mpis_launcher_with_several_ranks_is_refused_with_a_message(
    program: Path, mpich: Path, tmp_path: Path
) -> None:
    said = said_elsewhere(mpich, 2, program, tmp_path / "said")
    assert "cellrun -n 2" in said and "failed" in said and "ranks, sum" not in said


def test_another_mpis_launcher_with_one_rank_starts_a_program_alone(program: Path, mpich: Path, tmp_path: Path) -> None:
    assert said_elsewhere(mpich, 1, program, tmp_path / "said") == "1 ranks, sum 0, 0 right, ours\n"


@pytest.mark.parametrize(
    ("library", "name"), [("libmpi.so.40", "Open MPI"), ("libmpi.so.12", "MPICH"), ("libmpich.so.12", "MPICH")]
)
def test_a_program_built_for_another_mpi_is_told_which_and_what_to_do(library: str, name: str, tmp_path: Path) -> None:
    (tmp_path / "lib.c").write_text("int MPI_Init(void *a, void *b) { return a == b; }\n")
    (tmp_path / "prog.c").write_text("int MPI_Init(void *, void *);\nint main(void) { return MPI_Init(0, 0); }\n")
    shared = ["-shared", "-fPIC", f"-Wl,-soname,{library}"]
    assert run("gcc", *shared, tmp_path / "lib.c", "-o", tmp_path / library).returncode == 0
    assert run("gcc", tmp_path / "prog.c", tmp_path / library, "-o", tmp_path / "prog").returncode == 0
    done = run(BIN / "cellrun", "-n", 2, tmp_path / "prog")
    assert done.returncode != 0
    assert name in done.stderr and library in done.stderr and "cellcc" in done.stderr
