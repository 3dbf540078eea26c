"""The library has every name of the MPI-5 ABI, as its table says, and no other."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from cellweave.mpi import prefix

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = prefix() / "lib" / "libmpi_abi.so.1"


def table() -> set[str]:
    """The functions of the ABI."""
    text = (ROOT / "crates/mpi/abi/functions.txt").read_text()
    return set(re.findall(r"^\w+ (MPI_\w+)\(", text, re.MULTILINE))


def exported() -> dict[str, str]:
    """Each exported symbol with its class: W is weak, T is not."""
    out = subprocess.run(
        ["nm", "-D", "--defined-only", str(LIBRARY)], check=True, capture_output=True, text=True
    ).stdout
    return {name: kind for _, kind, name in (line.split() for line in out.splitlines())}


def ran(source: str, folder: Path, language: str = "c") -> list[str]:
    """What a program prints, compiled by our compiler and run alone."""
    program = folder / "program"
    compiler = prefix() / "bin" / ("cellcc" if language == "c" else "cellcxx")
    (folder / f"program.{language}").write_text(source)
    flags = ["-Wall", "-Wextra", "-Werror", "-pedantic"]
    subprocess.run([compiler, *flags, str(folder / f"program.{language}"), "-o", str(program)], check=True)
    return subprocess.run([program], check=True, capture_output=True, text=True, timeout=60).stdout.split()


def test_the_header_declares_both_names_of_every_function_as_the_table_does(tmp_path: Path) -> None:
    text = (ROOT / "crates/mpi/abi/functions.txt").read_text()
    rows = re.findall(r"^(\w+) (MPI_\w+)\((.*)\)", text, re.MULTILINE)
    lines = [
        f"extern {returns} (*const of_{prefix}{name})({parameters});\n"
        f"{returns} (*const of_{prefix}{name})({parameters}) = {prefix}{name};"
        for returns, name, parameters in rows
        for prefix in ("", "P")
    ]
    assert len(lines) > 1200
    source = tmp_path / "declared.c"
    source.write_text("\n".join(["#include <mpi.h>", *lines]))
    cellcc = prefix() / "bin" / "cellcc"
    done = subprocess.run(
        [cellcc, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", source], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_every_function_is_compared_with_the_type_that_the_table_gives_it() -> None:
    for path in sorted((ROOT / "crates/mpi/src").rglob("*.rs")):
        text = path.read_text()
        for name in re.findall(r"no_mangle(?:[^;{]*?)extern \"C\" fn (\$\w+|PMPI_\w+)\(", text):
            assert f"prototypes::{name} = {name};" in text, f"{path}: {name}"


def test_the_library_exports_both_names_of_every_function_and_nothing_else() -> None:
    names = table()
    assert len(names) > 600
    # Beside MPI's names only the one that cell.h asks for.
    assert set(exported()) == names | {f"P{name}" for name in names} | {"cellweave_compute"}


def test_every_name_without_p_is_weak_so_that_a_tool_can_replace_it() -> None:
    assert {name for name, kind in exported().items() if name.startswith("MPI_") and kind != "W"} == set()


def test_the_library_is_known_by_the_name_of_the_abi_and_needs_nothing_unusual() -> None:
    out = subprocess.run(["readelf", "-d", str(LIBRARY)], check=True, capture_output=True, text=True).stdout
    assert re.findall(r"\(SONAME\).*\[(.*)\]", out) == ["libmpi_abi.so.1"]
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", out))
    assert {re.sub(r"\.so.*|-linux.*", "", name) for name in needed} <= {"libc", "libgcc_s", "libm", "ld"}
    assert "RPATH" not in out and "RUNPATH" not in out


@pytest.mark.parametrize("standard", ["c90", "c99", "c17", "c++11", "c++20"])
def test_the_header_compiles_without_a_warning(standard: str, tmp_path: Path) -> None:
    cplusplus = standard.startswith("c++")
    source = tmp_path / f"a.{'cpp' if cplusplus else 'c'}"
    source.write_text("#include <mpi.h>\n#include <mpi.h>\nint f(MPI_Comm comm) { return MPI_Barrier(comm); }\n")
    compiler = prefix() / "bin" / ("cellcxx" if cplusplus else "cellcc")
    flags = [f"-std={standard}", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only"]
    done = subprocess.run([compiler, *flags, str(source)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("language", ["c", "cpp"])
def test_types_have_the_sizes_of_the_abi(language: str, tmp_path: Path) -> None:
    source = """#include <mpi.h>
#include <stdio.h>
int main(void) {
    printf("%d %d ", (int)sizeof(MPI_Status), (int)sizeof(MPI_Comm));
    printf("%d %d %d\\n", (int)sizeof(MPI_Aint), (int)sizeof(MPI_Count), (int)sizeof(MPI_Offset));
    return 0;
}
"""
    assert ran(source, tmp_path, language) == ["32", "8", "8", "8", "8"]


def test_an_unsupported_function_says_so_and_gives_null_handles(tmp_path: Path) -> None:
    source = """#include <mpi.h>
#include <stdio.h>
int main(void) {
    MPI_Win win = (MPI_Win)1;
    MPI_File file = (MPI_File)1;
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int code = MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    printf("%d %d\\n", code == MPI_ERR_UNSUPPORTED_OPERATION, win == MPI_WIN_NULL);
    code = MPI_File_open(MPI_COMM_WORLD, "name", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    printf("%d %d\\n", code == MPI_ERR_UNSUPPORTED_OPERATION, file == MPI_FILE_NULL);
    MPI_Finalize();
    return 0;
}
"""
    assert ran(source, tmp_path) == ["1", "1", "1", "1"]


@pytest.mark.parametrize(
    "libraries", [["-lmpi"], ["-lmpich", "-lmpi"], ["-lmpi_cxx", "-lmpi"], ["-lmpichcxx"], ["-l", "mpi"]]
)
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("language", ["c", "cpp"])
def test_no_other_mpi_is_linked_by_a_library_name_of_old(
    libraries: list[str], first: bool, language: str, tmp_path: Path
) -> None:
    other = tmp_path / "other.c"
    other.write_text("int MPI_Init(void *count, void *words) { return count == words ? 77 : 78; }\n")
    for name in ("mpi", "mpich", "mpi_cxx", "mpichcxx", "mpi_abi"):
        file = tmp_path / f"lib{name}.so"
        subprocess.run(["cc", "-shared", "-fPIC", other, f"-Wl,-soname,{file.name}.40", "-o", file], check=True)
        file.with_suffix(".so.40").symlink_to(file)
    program = tmp_path / f"prog.{language}"
    program.write_text("#include <mpi.h>\nint main(void) { return MPI_Init(0, 0) || MPI_Finalize(); }\n")
    compiler = prefix() / "bin" / ("cellcc" if language == "c" else "cellcxx")
    words = [*libraries, program] if first else [program, *libraries]
    subprocess.run([compiler, "-L", tmp_path, f"-Wl,-rpath,{tmp_path}", *words, "-o", tmp_path / "prog"], check=True)
    assert subprocess.run([tmp_path / "prog"], timeout=60).returncode == 0
    needed = subprocess.run(["readelf", "-d", tmp_path / "prog"], check=True, capture_output=True, text=True).stdout
    assert re.findall(r"\(NEEDED\).*\[(libmpi.*)\]", needed) == ["libmpi_abi.so.1"]


def test_a_library_option_without_a_name_is_refused(tmp_path: Path) -> None:
    program = tmp_path / "prog.c"
    program.write_text("int main(void) { return 0; }\n")
    compiler = prefix() / "bin" / "cellcc"
    done = subprocess.run([compiler, program, "-l"], capture_output=True, text=True)
    said = "cellcc: -l is the last argument; the library's name is to follow it\n"
    assert (done.returncode, done.stderr) == (2, said)


@pytest.mark.parametrize("language", ["c", "cpp"])
def test_handles_become_integers_and_handles_again(language: str, tmp_path: Path) -> None:
    source = """#include <mpi.h>
#include <stdio.h>
int main(void) {
    MPI_Fint integer = MPI_Comm_c2f(MPI_COMM_WORLD), integers[MPI_F_STATUS_SIZE];
    MPI_Status status = {3, 4, 5, {0, 0, 0, 0, 0}}, again;
    printf("%d %d\\n", MPI_Comm_f2c(integer) == MPI_COMM_WORLD, MPI_Type_fromint(MPI_Type_toint(MPI_INT)) == MPI_INT);
    printf("%d\\n", PMPI_Message_f2c(PMPI_Message_c2f(MPI_MESSAGE_NULL)) == MPI_MESSAGE_NULL);
    PMPI_Status_c2f(&status, integers);
    MPI_Status_f2c(integers, &again);
    printf("%d %d\\n", (int)integers[MPI_F_TAG], again.MPI_SOURCE);
    return 0;
}
"""
    assert ran(source, tmp_path, language) == ["1", "1", "1", "4", "3"]


def test_the_python_module_exports_no_name_of_mpi() -> None:
    # It would take the library's place in every program that imports it.
    module = prefix().parent / "_core.abi3.so"
    out = subprocess.run(["nm", "-D", "--defined-only", str(module)], check=True, capture_output=True, text=True).stdout
    assert "PyInit__core" in out
    assert re.findall(r"\bP?MPI_\w+", out) == []


def test_a_tool_takes_the_place_of_a_function_and_calls_it_by_its_other_name(tmp_path: Path) -> None:
    source = """#include <mpi.h>
#include <stdio.h>
static int calls;
MPI_Aint MPI_Aint_add(MPI_Aint base, MPI_Aint displacement) {
    calls++;
    return PMPI_Aint_add(base, displacement);
}
int main(void) {
    MPI_Aint sum = MPI_Aint_add(40, 2);
    printf("%d %d\\n", (int)sum, calls);
    return 0;
}
"""
    assert ran(source, tmp_path) == ["42", "1"]


def test_a_preloaded_tool_sees_the_programs_calls_and_none_of_the_librarys_own(tmp_path: Path) -> None:
    (tmp_path / "tool.c").write_text("""#include <mpi.h>
#include <stdio.h>
static int sends, receives, waits;
int MPI_Send(const void *b, int n, MPI_Datatype t, int d, int g, MPI_Comm c) {
    sends++;
    return PMPI_Send(b, n, t, d, g, c);
}
int MPI_Isend(const void *b, int n, MPI_Datatype t, int d, int g, MPI_Comm c, MPI_Request *r) {
    sends++;
    return PMPI_Isend(b, n, t, d, g, c, r);
}
int MPI_Recv(void *b, int n, MPI_Datatype t, int s, int g, MPI_Comm c, MPI_Status *u) {
    receives++;
    return PMPI_Recv(b, n, t, s, g, c, u);
}
int MPI_Wait(MPI_Request *r, MPI_Status *u) { waits++; return PMPI_Wait(r, u); }
int MPI_Finalize(void) {
    printf("%d %d %d\\n", sends, receives, waits);
    return PMPI_Finalize();
}
""")
    (tmp_path / "prog.c").write_text("""#include <mpi.h>
int main(void) {
    int rank, size, sum, one = 1;
    MPI_Comm copy;
    MPI_Init(0, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank > 0) MPI_Send(&one, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    for (int i = 1; rank == 0 && i < size; i++)
        MPI_Recv(&one, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, copy);
    MPI_Barrier(copy);
    MPI_Comm_free(&copy);
    MPI_Finalize();
    return sum != size;
}
""")
    cellcc = prefix() / "bin" / "cellcc"
    tool = ["-shared", "-fPIC", str(tmp_path / "tool.c"), "-o", str(tmp_path / "libtool.so")]
    subprocess.run([cellcc, *tool], check=True)
    subprocess.run([cellcc, str(tmp_path / "prog.c"), "-o", str(tmp_path / "prog")], check=True)
    launch = [
        str(prefix() / "bin" / "cellrun"),
        "-n",
        "3",
        "env",
        f"LD_PRELOAD={tmp_path}/libtool.so",
        str(tmp_path / "prog"),
    ]
    done = subprocess.run(launch, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == ["0 2 0", "1 0 0", "1 0 0"]
