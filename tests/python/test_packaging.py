"""`pip install` of a wheel, in its own environment, gives the module, the command, the types, the C header and MPI.

The sdist holds everything that a build needs: a wheel that is built from it alone has the same files.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest
from conftest import CHAIN

ROOT = Path(__file__).resolve().parents[2]


def run(*line: object, **kwargs: Any) -> subprocess.CompletedProcess[str]:
    # What has been compiled since the last change of a source is used again: as every file of the sdist is as new as
    # that change, older products are not.
    env = {**os.environ, "CARGO_TARGET_DIR": str(ROOT / "target"), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    sources = [ROOT / "Cargo.toml", ROOT / "Cargo.lock", *(ROOT / "crates").rglob("*")]
    env["SOURCE_DATE_EPOCH"] = str(int(max(source.stat().st_mtime for source in sources if source.is_file())) + 1)
    env["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), env["PATH"]])
    done = subprocess.run([str(a) for a in line], env=env, capture_output=True, text=True, timeout=900, **kwargs)
    assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    hook = "import sys; sys.path.insert(0, 'pep517'); import cellweave_build as b; print(b.build_sdist(sys.argv[1]))"
    run(sys.executable, "-c", hook, folder, cwd=ROOT)
    return next(folder.glob("*.tar.gz"))


def build_wheel(source: Path, folder: Path, *settings: str) -> Path:
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    run(*pip, *settings, source, "-w", folder)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As an installer builds it, from what the editable install has compiled."""
    return build_wheel(ROOT, tmp_path_factory.mktemp("wheel"))


def files_of(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_the_sdist_alone_builds_the_same_wheel(sdist: Path, wheel: Path) -> None:
    # The files are what counts: with the profile that users get, the same code is compiled for six minutes more.
    from_sdist = build_wheel(sdist, sdist.parent, "--config-settings", "build-args=--profile dev")
    assert from_sdist.name == wheel.name
    assert files_of(from_sdist) == files_of(wheel)


def test_the_sdist_holds_every_crate_and_no_product(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
    for crate in (ROOT / "crates").iterdir():
        if (crate / "Cargo.toml").exists():
            assert f"crates/{crate.name}/Cargo.toml" in names
    assert {"Cargo.lock", "pyproject.toml", "LICENSE", "pep517/cellweave_build.py"} <= set(names)
    assert not [name for name in names if name.endswith((".so", ".o", ".pyc"))]


def test_the_wheel_serves_every_python_from_3_10_on_and_holds_what_it_should(wheel: Path) -> None:
    assert "-cp310-abi3-" in wheel.name
    names = files_of(wheel)
    parts = ["_core.abi3.so", "_core.pyi", "py.typed", "include/cellweave.h", "cli/run.py", "report/page.py"]
    for part in [*parts, "mpi/include/mpi.h", "mpi/lib/libmpi_abi.so.1", "mpi/bin/cellrun", "mpi/bin/mpiexec"]:
        assert f"cellweave/{part}" in names
    sources = {
        f"cellweave/{p.relative_to(ROOT / 'python' / 'cellweave')}"
        for p in (ROOT / "python" / "cellweave").rglob("*.py")
    }
    assert sources <= names


@pytest.fixture(scope="module")
def fresh(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of commands of an environment with the wheel in it."""
    folder = tmp_path_factory.mktemp("fresh")
    venv.create(folder, with_pip=True)
    run(folder / "bin" / "python", "-m", "pip", "install", "--quiet", wheel)
    return folder / "bin"


def test_a_fresh_environment_gets_module_command_types_header_and_mpi(fresh: Path, tmp_path: Path) -> None:
    python, command = fresh / "python", fresh / "cellweave"
    assert run(command, "--version").stdout.startswith("cellweave ")
    run(command, "generate", "daggen", "--tasks", 20, "-o", tmp_path / "g.toml")
    run(command, "plan", tmp_path / "g.toml", "--on", "qs22", "--picture", tmp_path / "g.png")
    (tmp_path / "k.c").write_text('#include "cellweave.h"\nint version = CW_ABI_VERSION;\n')
    include = run(command, "--include").stdout.strip()
    run("gcc", "-Wall", "-Werror", "-fPIC", "-shared", f"-I{include}", tmp_path / "k.c", "-o", tmp_path / "libk.so")
    (tmp_path / "m.c").write_text("#include <mpi.h>\nint main(void) { return MPI_Init(0, 0) || MPI_Finalize(); }\n")
    run(fresh / "cellcc", tmp_path / "m.c", "-o", tmp_path / "m")
    run(fresh / "cellrun", "-n", 2, tmp_path / "m")
    assert not (fresh / "mpiexec").exists()
    code = "import cellweave, pathlib; print((pathlib.Path(cellweave.__file__).parent / 'py.typed').exists())"
    assert run(python, "-c", code).stdout.strip() == "True"


def test_without_rust_and_gcc_everything_works_but_compiling(fresh: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bin"
    bare.mkdir()
    for tool in ("basename", "dirname", "sh"):
        found = shutil.which(tool)
        assert found is not None
        (bare / tool).symlink_to(found)
    env = {"PATH": f"{fresh}{os.pathsep}{bare}", "HOME": str(tmp_path), "MPLBACKEND": "Agg"}
    assert not any(shutil.which(tool, path=env["PATH"]) for tool in ("cargo", "rustc", "gcc", "cc", "clang"))

    def bare_run(line: str) -> subprocess.CompletedProcess[str]:
        words = line.split()
        return subprocess.run(
            [fresh / words[0], *words[1:]], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120
        )

    (tmp_path / "app.toml").write_text(CHAIN)
    (tmp_path / "gain.py").write_text(
        "import cellweave as cw\n\n\n"
        '@cw.kernel(inputs={"in": "uint8"}, outputs={"out": "uint8"})\ndef gain(x, y):\n    y[:] = x\n'
    )
    (tmp_path / "python.toml").write_text(CHAIN.replace("cellweave:copy", "python:gain:gain"))
    for line in (
        "cellweave",
        "cellweave machine show host --picture machine.png",
        "cellweave generate daggen --tasks 20 -o g.toml",
        "cellweave plan g.toml --on qs22 --moves 1000",
        "cellweave place ring --on cell",
        "cellweave probe --on cell --pattern far --size 16k",
        "cellweave profile app.toml -o measured.toml",
        "cellweave plan measured.toml -o plan.json",
        "cellweave run measured.toml --plan plan.json --instances 1000 -o result.json",
        "cellweave run python.toml --instances 200",
        "cellweave report result.json -o report.html",
        "cellrun -n 2 python -c pass",
    ):
        done = bare_run(line)
        assert done.returncode == 0, f"{line}\n{done.stderr}"
    (tmp_path / "m.c").write_text("int main(void) { return 0; }\n")
    done = bare_run("cellcc m.c -o m")
    assert done.returncode != 0 and "the compiler 'cc' is not on PATH; install it" in done.stderr


def test_the_book_says_how_large_the_wheel_is_and_whose_code_is_in_it(wheel: Path) -> None:
    page = (ROOT / "docs" / "installing.md").read_text()
    said = re.search(r"less than (\d+) MB, and less than (\d+) MB when it is installed", page)
    assert said is not None
    assert wheel.stat().st_size < int(said[1]) * 10**6
    with zipfile.ZipFile(wheel) as archive:
        assert sum(info.file_size for info in archive.infolist()) < int(said[2]) * 10**6
        assert any(name.endswith("LICENSE") for name in archive.namelist())
    sys.path.insert(0, str(ROOT / "ci"))
    import licences

    assert licences.written(page) == page, "python ci/licences.py writes the table again"


def test_without_cargo_the_build_says_what_to_install() -> None:
    code = "import sys; sys.path.insert(0, 'pep517'); import cellweave_build as b; b.get_requires_for_build_wheel()"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env={**os.environ, "PATH": "/nowhere"}, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "cargo" in done.stderr and "rustup.rs" in done.stderr and "Traceback" not in done.stderr
