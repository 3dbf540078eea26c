"""`pip install` of an sdist, in its own environment, gives the module, the command, the types, the C header and MPI.

The sdist holds everything that a build needs; the wheel is built from it, as an installer would.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import time
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(*line: object, **kwargs: Any) -> subprocess.CompletedProcess[str]:
    # Other people's crates have been built already. Of ours, an earlier run may have left older ones: files that are as
    # new as this run are compiled again.
    env = {**os.environ, "CARGO_TARGET_DIR": str(ROOT / "target"), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    env["SOURCE_DATE_EPOCH"] = str(int(time.time()))
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


@pytest.fixture(scope="module")
def wheel(sdist: Path) -> Path:
    """Built from the sdist alone."""
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    run(*pip, sdist, "-w", sdist.parent)
    return next(sdist.parent.glob("*.whl"))


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
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    parts = ["_core.abi3.so", "_core.pyi", "py.typed", "include/cellweave.h", "cli/run.py", "report/page.py"]
    for part in [*parts, "mpi/include/mpi.h", "mpi/lib/libmpi_abi.so.1", "mpi/bin/cellrun", "mpi/bin/mpiexec"]:
        assert f"cellweave/{part}" in names
    sources = {
        f"cellweave/{p.relative_to(ROOT / 'python' / 'cellweave')}"
        for p in (ROOT / "python" / "cellweave").rglob("*.py")
    }
    assert sources <= set(names)


def test_a_fresh_environment_gets_module_command_types_header_and_mpi(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "fresh", with_pip=True)
    python = tmp_path / "fresh" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", wheel)
    command = tmp_path / "fresh" / "bin" / "cellweave"
    assert run(command, "--version").stdout.startswith("cellweave ")
    run(command, "generate", "daggen", "--tasks", 20, "-o", tmp_path / "g.toml")
    run(command, "plan", tmp_path / "g.toml", "--on", "qs22", "--picture", tmp_path / "g.png")
    (tmp_path / "k.c").write_text('#include "cellweave.h"\nint version = CW_ABI_VERSION;\n')
    include = run(command, "--include").stdout.strip()
    run("gcc", "-Wall", "-Werror", "-fPIC", "-shared", f"-I{include}", tmp_path / "k.c", "-o", tmp_path / "libk.so")
    (tmp_path / "m.c").write_text("#include <mpi.h>\nint main(void) { return MPI_Init(0, 0) || MPI_Finalize(); }\n")
    run(tmp_path / "fresh" / "bin" / "cellcc", tmp_path / "m.c", "-o", tmp_path / "m")
    run(tmp_path / "fresh" / "bin" / "cellrun", "-n", 2, tmp_path / "m")
    assert not (tmp_path / "fresh" / "bin" / "mpiexec").exists()
    code = "import cellweave, pathlib; print((pathlib.Path(cellweave.__file__).parent / 'py.typed').exists())"
    assert run(python, "-c", code).stdout.strip() == "True"


def test_without_cargo_the_build_says_what_to_install() -> None:
    code = "import sys; sys.path.insert(0, 'pep517'); import cellweave_build as b; b.get_requires_for_build_wheel()"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env={**os.environ, "PATH": "/nowhere"}, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "cargo" in done.stderr and "rustup.rs" in done.stderr and "Traceback" not in done.stderr
