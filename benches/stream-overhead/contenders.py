"""The contenders: how each is installed, built and started."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = HERE / "build"
ROOT = HERE.parent.parent
PYTHON = ROOT / ".venv" / "bin" / "python"
FLAGS = ["-O3", "-march=native", "-Wall", "-pthread"]
RINGS_KB = [64 << k for k in range(9)]
"""Sizes of rings that are tried: 64 kB to 16 MB."""
CHAINS = ("null", "us1", "copy16k")
LENGTHS = (2, 4, 8)
DIAMOND_STAGES = 6


@dataclass(frozen=True)
class Case:
    """One case of the question: a kernel and a number of stages."""

    name: str
    stages: int

    def __str__(self) -> str:
        return f"{self.name}/{self.stages}"


CASES = [Case(name, stages) for name in CHAINS for stages in LENGTHS] + [Case("diamond", DIAMOND_STAGES)]


@dataclass(frozen=True)
class Contender:
    """A program, and the argument that selects one of its ways to run."""

    name: str
    """Its name in the results."""
    label: str
    """Its name in the table and the picture."""
    kind: str
    """``reference``, ``peer`` or ``ours``."""
    command: tuple[str, ...]
    diamond: bool = True
    note: str = ""
    ring: bool = False
    """Whether a size in kB, after a slash, may follow its name: the ring between the two cores."""

    def runs(self, case: Case) -> bool:
        return self.diamond or case.name != "diamond"


@dataclass
class Program:
    """A program, and what it needs before its contenders can run."""

    contenders: list[Contender]
    build: list[list[str]]
    packages: list[str] = field(default_factory=list)
    """Debian packages that it needs."""
    files: list[str] = field(default_factory=list)
    """Files of those packages; when all exist, the packages are installed."""
    tools: list[str] = field(default_factory=list)
    works: list[str] = field(default_factory=list)
    """A command that must succeed."""
    env: dict[str, str] = field(default_factory=dict)


def programs() -> list[Program]:
    """All contenders, in the order of the table."""
    tbb, radio = str(BUILD / "tbb"), str(BUILD / "gnuradio")
    reference = str(BUILD / "reference")
    rust = str(BUILD / "futuresdr" / "release" / "overhead-futuresdr")
    include = str(ROOT / "python" / "cellweave" / "include")
    cxx = ["g++", "-std=c++17", *FLAGS]

    return [
        Program(
            [
                Contender("reference:one_core", "by hand, one core", "reference", (reference,)),
                Contender("reference:two_cores", "by hand, two cores", "reference", (reference,), ring=True),
                Contender(
                    "reference:two_cores_fire",
                    "by hand, two cores, a call per firing",
                    "reference",
                    (reference,),
                    ring=True,
                ),
                Contender(
                    "reference:two_cores_item",
                    "by hand, two cores, a hand-over per item",
                    "reference",
                    (reference,),
                    ring=True,
                ),
            ],
            build=[["gcc", *FLAGS, "reference.c", "stage.c", "-o", reference]],
            tools=["gcc"],
        ),
        Program(
            [
                Contender("tbb:parallel_pipeline", "oneTBB parallel_pipeline", "peer", (tbb,), diamond=False),
                Contender("tbb:flow_graph", "oneTBB flow_graph", "peer", (tbb,)),
            ],
            build=[[*cxx, "tbb.cpp", str(BUILD / "stage.o"), "-ltbb", "-o", tbb]],
            packages=["libtbb-dev"],
            files=["/usr/include/tbb/parallel_pipeline.h"],
            tools=["g++"],
        ),
        Program(
            [
                Contender("gnuradio:pinned", "GNU Radio, pinned", "peer", (radio,)),
                Contender("gnuradio:pinned_1MiB", "GNU Radio, pinned, 1 MiB buffers", "peer", (radio,)),
                Contender("gnuradio:one_item", "GNU Radio, pinned, one item per call", "peer", (radio,)),
            ],
            build=[
                [
                    *(*cxx, "gnuradio.cpp", str(BUILD / "stage.o"), "-o", radio),
                    *("-lgnuradio-runtime", "-lgnuradio-pmt", "-lspdlog", "-lfmt"),
                ]
            ],
            packages=["gnuradio-dev"],
            files=["/usr/include/gnuradio/sync_block.h"],
            tools=["g++"],
        ),
        Program(
            [
                Contender("futuresdr:default", "FutureSDR, its scheduler", "peer", (rust,)),
                Contender("futuresdr:pinned", "FutureSDR, pinned", "peer", (rust,)),
                Contender("futuresdr:pinned_1MiB", "FutureSDR, pinned, 1 MiB buffers", "peer", (rust,)),
            ],
            build=[
                [
                    "cargo",
                    "build",
                    "--quiet",
                    "--release",
                    "--locked",
                    "--manifest-path",
                    "futuresdr/Cargo.toml",
                ]
            ],
            tools=["cargo", "gcc"],
            env={"CARGO_TARGET_DIR": str(BUILD / "futuresdr")},
        ),
        Program(
            [
                Contender("ours:auto", "cellweave, its own mapping", "ours", (str(PYTHON), str(HERE / "ours.py"))),
                Contender(
                    "ours:two_cores",
                    "cellweave, forced on two cores",
                    "ours",
                    (str(PYTHON), str(HERE / "ours.py")),
                ),
            ],
            build=[
                [
                    *("gcc", *FLAGS, "-fPIC", "-shared", "-I", include),
                    *("kernels.c", "stage.c", "-o", str(BUILD / "libstages.so")),
                ]
            ],
            files=[str(PYTHON)],
            tools=["gcc"],
            works=[str(PYTHON), "-c", "import cellweave as cw; cw.profile, cw.plan, cw.run"],
        ),
    ]


def install(program: Program, allowed: bool) -> str | None:
    """Install what a program needs. Gives None, or a sentence that says what is missing."""
    tools = [tool for tool in program.tools if shutil.which(tool) is None]
    absent = [name for name in program.files if not Path(name).exists()]
    if absent and program.packages and allowed and os.geteuid() == 0 and shutil.which("apt-get"):
        print(f"installing {' '.join(program.packages)}")
        command = ["apt-get", "install", "--yes", "--quiet", "--no-install-recommends", *program.packages]
        subprocess.run(
            command,
            check=False,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
        )
        absent = [name for name in program.files if not Path(name).exists()]
    if tools:
        return f"{', '.join(tools)} not found"
    if absent and program.packages:
        return f"not installed: apt-get install {' '.join(program.packages)}"
    if absent:
        return "cellweave is not set up here: run make"
    if program.works:
        done = subprocess.run(program.works, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return (done.stderr.strip().splitlines() or ["it does not start"])[-1].replace(f"{ROOT}/", "")
    return None


def build(program: Program) -> str | None:
    """Build it. Gives None, or the first lines of the compiler's message."""
    for command in program.build:
        done = subprocess.run(
            command, cwd=HERE, env={**os.environ, **program.env}, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            lines = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()
            return f"{command[0]} failed: {lines[0] if lines else 'no message'}"
    return None


def version(package: str) -> str | None:
    """The version of a Debian package, if it is installed."""
    if shutil.which("dpkg-query") is None:
        return None
    done = subprocess.run(["dpkg-query", "-W", "-f=${Version}", package], capture_output=True, text=True, check=False)
    return done.stdout.strip() or None
