"""mpi4py's source distribution, built for the MPI-5 ABI with our compiler, runs under `cellrun`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from cellweave.mpi import prefix

PROGRAMS = Path(__file__).with_name("mpi4py_programs")


def python(
    mpi4py: Path, *arguments: object, ranks: int | None = None, on: str | None = None, seconds: float = 120
) -> str:
    """What a Python program prints, alone or on some ranks, perhaps of a simulated machine; `seconds`: at most."""
    machine = [] if on is None else ["--on", on]
    launcher = [] if ranks is None else [str(prefix() / "bin" / "cellrun"), *machine, "-n", str(ranks)]
    done = subprocess.run(
        [*launcher, sys.executable, *(str(a) for a in arguments)],
        env={**os.environ, "PYTHONPATH": str(mpi4py)},
        capture_output=True,
        text=True,
        timeout=seconds,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def test_it_is_our_library_that_mpi4py_loads(mpi4py: Path) -> None:
    code = "from mpi4py import MPI; print(MPI.Get_library_version(), MPI.COMM_WORLD.size)"
    told = python(mpi4py, "-c", code)
    assert told.startswith("cellweave ") and told.split()[-1] == "1"


def test_a_wheel_finds_our_library_without_a_variable(mpi4py: Path, tmp_path: Path) -> None:
    # A wheel has a module per ABI, and its loader asks the library which one it is.
    package = tmp_path / "mpi4py"
    shutil.copytree(mpi4py / "mpi4py", package)
    module = next(package.glob("MPI.*.so"))
    module.rename(package / module.name.replace("MPI.", "MPI.mpiabi.", 1))
    with open(package / "__init__.py", "a") as out:
        out.write("from . import _mpiabi\n_mpiabi._install_finder()\n_mpiabi._register('mpi4py.MPI', 'mpiabi')\n")
    code = "import os; from mpi4py import MPI, _mpiabi; print(_mpiabi._get_mpiabi(), os.environ['MPI4PY_LIBMPI'])"
    library = prefix() / "lib" / "libmpi_abi.so.1"
    assert python(tmp_path, "-c", code, ranks=2) == f"mpiabi {library}\n" * 2


@pytest.mark.parametrize("ranks", [None, 1, 2, 4])
def test_pickled_objects_arrive_whole(mpi4py: Path, ranks: int | None) -> None:
    assert python(mpi4py, PROGRAMS / "objects.py", ranks=ranks) == f"objects on {ranks or 1}\n"


@pytest.mark.parametrize("ranks", [None, 3, 4])
def test_arrays_and_derived_datatypes_arrive_whole(mpi4py: Path, ranks: int | None) -> None:
    assert python(mpi4py, PROGRAMS / "arrays.py", ranks=ranks) == f"arrays on {ranks or 1}\n"


def test_a_scheduler_and_its_workers_exchange_tasks_and_results(mpi4py: Path) -> None:
    assert python(mpi4py, PROGRAMS / "scheduler.py", ranks=4) == "150 tasks on 4\n"


@pytest.mark.parametrize("ranks", [1, 2])
def test_mpi4py_passes_its_own_tests(mpi4py: Path, tmp_path: Path, ranks: int) -> None:
    with tarfile.open(next((mpi4py / "source").glob("*.tar.gz"))) as source:
        source.extractall(tmp_path, filter="data")
    folder = next(tmp_path.glob("mpi4py-*/test"))
    # Two modules compare datatypes with NumPy's, a hundred thousand times: a minute of Python.
    quick = ["-e", "test_(datatype|util_dtlib)[.]py", "--no-builddir"]
    python(mpi4py, PROGRAMS / "suite.py", folder, *quick, ranks=ranks, seconds=900)


@pytest.mark.parametrize(("program", "told"), [("objects", "objects on 3"), ("arrays", "arrays on 3")])
def test_python_programs_are_ranks_of_a_simulated_cell(mpi4py: Path, program: str, told: str) -> None:
    assert python(mpi4py, PROGRAMS / f"{program}.py", ranks=3, on="cell") == f"{told}\n"


def test_simulated_time_is_the_same_in_every_run_of_a_python_program(mpi4py: Path) -> None:
    code = (
        "from mpi4py import MPI\n"
        "comm = MPI.COMM_WORLD\n"
        "rank, size = comm.rank, comm.size\n"
        "got = comm.sendrecv({'from': rank}, dest=(rank + 1) % size, source=(rank - 1) % size)\n"
        "assert got == {'from': (rank - 1) % size} and comm.allreduce(rank) == 3\n"
        "if rank == 0: print(MPI.Wtime())\n"
    )
    first, second = (python(mpi4py, "-c", code, ranks=3, on="cell") for _ in range(2))
    assert first == second and 1e-7 < float(first) < 1e-3


def test_the_module_runner_of_mpi4py_works(mpi4py: Path) -> None:
    lines = python(mpi4py, "-m", "mpi4py.bench", "helloworld", ranks=2).splitlines()
    assert len(lines) == 2 and all("of 2" in line for line in lines)


def test_an_exception_in_one_rank_ends_all_of_them_when_run_by_mpi4py(mpi4py: Path) -> None:
    code = (
        "from mpi4py import MPI\n"
        "if MPI.COMM_WORLD.rank == 1: raise RuntimeError('on purpose')\n"
        "MPI.COMM_WORLD.recv(source=1)\n"
    )
    program = mpi4py / "fails.py"
    program.write_text(code)
    launcher = [str(prefix() / "bin" / "cellrun"), "-n", "2", sys.executable, "-m", "mpi4py", str(program)]
    done = subprocess.run(
        launcher, env={**os.environ, "PYTHONPATH": str(mpi4py)}, capture_output=True, text=True, timeout=60
    )
    assert done.returncode != 0 and "on purpose" in done.stderr
