"""`cellcc` and `cellcxx`, CMake and pkg-config find our header and library, and no other MPI's."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cellweave.mpi import prefix

CELLCC = prefix() / "bin" / "cellcc"
CELLCXX = prefix() / "bin" / "cellcxx"
CELLRUN = prefix() / "bin" / "cellrun"
# Needs the library to link and to run, and nothing of a running job.
PROGRAM = """#include <mpi.h>
#include <stdio.h>
int main(void) {
    printf("%d %d\\n", MPI_VERSION, (int)MPI_Aint_diff(44, 2));
    return 0;
}
"""


def run(*command: object, **kwargs: Any) -> str:
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=120, **kwargs)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return str(done.stdout)


def dynamic(program: Path, tag: str) -> list[str]:
    """The values of a tag of a program's dynamic section."""
    return re.findall(rf"\({tag}\).*\[(.*)\]", run("readelf", "-d", program))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "prog.c"
    path.write_text(PROGRAM)
    return path


@pytest.mark.parametrize("compiler", [CELLCC, CELLCXX])
def test_a_program_finds_the_library_by_runpath_and_never_by_rpath(compiler: Path, source: Path) -> None:
    program = source.with_name("prog")
    if compiler == CELLCXX:
        source = source.rename(source.with_suffix(".cpp"))
    run(compiler, source, "-o", program)
    assert run(program) == "5 42\n"
    assert dynamic(program, "RUNPATH") == [str(prefix() / "lib")]
    assert dynamic(program, "RPATH") == []
    assert "libmpi_abi.so.1" in dynamic(program, "NEEDED")


def test_compiling_and_linking_apart_works_and_compiling_alone_names_no_library(source: Path) -> None:
    run(CELLCC, "-c", source, "-o", source.with_suffix(".o"))
    run(CELLCC, source.with_suffix(".o"), "-o", source.with_name("prog"))
    assert run(source.with_name("prog")) == "5 42\n"
    assert "libmpi" not in run(CELLCC, "-show", "-c", source)


def test_the_environments_own_command_goes_to_the_package(source: Path) -> None:
    command = Path(sys.executable).parent / "cellcc"
    assert command.exists()
    assert run(command, "-showme:prefix").strip() == str(prefix())


def test_another_mpis_library_and_header_do_not_come_in_by_accident(source: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "include").mkdir(parents=True)
    (other / "lib").mkdir()
    (other / "include" / "mpi.h").write_text('#error "the other header"\n')
    (other / "lib" / "libmpi.c").write_text("int MPI_Aint_diff(long a, long b) { return (int)(a + b); }\n")
    for name in ("libmpi.so", "libmpi_abi.so"):
        run("gcc", "-shared", "-fPIC", other / "lib" / "libmpi.c", "-o", other / "lib" / name)
    run(CELLCC, f"-I{other}/include", f"-L{other}/lib", source, "-o", source.with_name("prog"))
    assert run(source.with_name("prog")) == "5 42\n"


def test_the_compiler_can_be_named(source: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_text('#!/bin/sh\necho "mine $*"\n')
    mine.chmod(0o755)
    for told in (
        run(CELLCC, source, env={**os.environ, "CELLWEAVE_CC": str(mine)}),
        run(CELLCXX, source, env={**os.environ, "CELLWEAVE_CXX": str(mine)}),
        run(CELLCC, f"-cc={mine}", source),
    ):
        assert told.startswith("mine ") and f"-I{prefix()}/include" in told
    assert "Free Software" in run(CELLCC, "-cc=gcc", "--version")


def test_a_compiler_that_is_not_there_is_named(source: Path) -> None:
    done = subprocess.run([str(CELLCC), "-cc=nocc -O2", str(source)], capture_output=True, text=True)
    assert done.returncode == 127
    assert "'nocc'" in done.stderr and "$CELLWEAVE_CC" in done.stderr


def test_cellrun_finds_the_library_for_a_program_that_was_linked_without_its_folder(source: Path) -> None:
    flags = [word for word in run(CELLCC, "-show").split() if word[:2] in ("-I", "-L", "-l")]
    program = source.with_name("prog")
    run("gcc", source, "-o", program, *flags)
    assert subprocess.run([str(program)], capture_output=True).returncode != 0
    for cellrun in (CELLRUN, Path(sys.executable).parent / "cellrun"):
        assert run(cellrun, "-n", "1", program) == "5 42\n"
        told = run(cellrun, "-n", "1", "-genv", "LD_LIBRARY_PATH", "/mine", "printenv", "LD_LIBRARY_PATH")
        assert told == f"/mine:{prefix()}/lib\n"
        assert run(cellrun, "-n", "1", "printenv", "MPI4PY_LIBMPI") == f"{prefix()}/lib/libmpi_abi.so.1\n"


def test_showme_gives_what_a_build_system_needs(source: Path) -> None:
    flags = (run(CELLCC, "-showme:compile") + run(CELLCC, "-showme:link")).split()
    run("gcc", source, "-o", source.with_name("prog"), *flags)
    assert run(source.with_name("prog")) == "5 42\n"
    assert "MPI 5.0" in run(CELLCC, "-showme:version")
    assert run(CELLCC, "-compile_info").split()[1:] == [f"-I{prefix()}/include", "-c"]
    assert "-lmpi_abi" in run(CELLCC, "-link_info").split()
    alone = run(CELLCC, "-show").split()
    assert alone[0] == "cc" and f"-I{prefix()}/include" in alone and f"-L{prefix()}/lib" in alone
    assert alone[-1] == "-lmpi_abi"
    assert run(CELLCC, "-show", source).split()[:2] == ["cc", f"-I{prefix()}/include"]
    bad = subprocess.run([str(CELLCC), "-showme:colour"], capture_output=True, text=True)
    assert bad.returncode == 2 and "-showme:colour" in bad.stderr and "-showme:link" in bad.stderr


def test_a_folder_with_a_space_and_a_link_to_the_compiler_work(source: Path, tmp_path: Path) -> None:
    moved = tmp_path / "a folder"
    shutil.copytree(prefix(), moved, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "mycc").symlink_to(moved / "bin" / "cellcc")
    run(tmp_path / "mycc", source, "-o", tmp_path / "prog in it")
    assert run(tmp_path / "prog in it") == "5 42\n"
    assert dynamic(tmp_path / "prog in it", "RUNPATH") == [str(moved / "lib")]


@pytest.mark.skipif(shutil.which("pkg-config") is None, reason="pkg-config is not installed")
def test_pkg_config_gives_flags_that_work(source: Path) -> None:
    env = {**os.environ, "PKG_CONFIG_PATH": str(prefix() / "lib" / "pkgconfig")}
    flags = run("pkg-config", "--cflags", "--libs", "cellweave-mpi", env=env).split()
    run("gcc", source, "-o", source.with_name("prog"), *flags)
    assert run(source.with_name("prog")) == "5 42\n"


@pytest.mark.skipif(shutil.which("cmake") is None, reason="CMake is not installed")
@pytest.mark.parametrize(
    "hint", ["-DMPI_HOME={prefix}", "-DMPI_C_COMPILER={prefix}/bin/cellcc -DMPI_CXX_COMPILER={prefix}/bin/cellcxx"]
)
def test_cmake_finds_it_for_c_and_cplusplus(hint: str, source: Path, tmp_path: Path) -> None:
    (tmp_path / "prog.cpp").write_text(PROGRAM)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.18)\nproject(small C CXX)\nfind_package(MPI REQUIRED COMPONENTS C CXX)\n"
        "add_executable(c prog.c)\ntarget_link_libraries(c MPI::MPI_C)\n"
        "add_executable(cpp prog.cpp)\ntarget_link_libraries(cpp MPI::MPI_CXX)\n"
    )
    build = tmp_path / "build"
    run("cmake", "-S", tmp_path, "-B", build, *hint.format(prefix=prefix()).split(" "))
    run("cmake", "--build", build)
    for name in ("c", "cpp"):
        assert run(build / name) == "5 42\n"
        assert dynamic(build / name, "RUNPATH") == [str(prefix() / "lib")]
    if "MPI_HOME" in hint:
        assert f"MPIEXEC_EXECUTABLE:FILEPATH={prefix()}/bin/mpiexec" in (build / "CMakeCache.txt").read_text()
