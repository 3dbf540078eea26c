"""How long a round trip takes for jobs that share their cores: with other jobs, with hogs, with a build.

.venv/bin/python benches/mpi-shared/run.py
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "mpi"))

import report
from bench import BEFORE, OURS, Bench
from peers import Library
from rounds import Failed, Figures, Found

HERE = Path(__file__).resolve().parent
JOBS = [1, 2, 3, 4]
HOGS = [0, 1, 2]
START_S = 0.8
"""Time for all jobs of a case to start."""
MEASURED_S = 0.5
LIMIT_S = 20.0
SOURCES = 8
"""C files of the build, compiled four at a time, again and again."""


@contextmanager
def beside(commands: list[list[str]]) -> Iterator[None]:
    """Run commands beside what is measured, each in a session of its own: the kernel shares time out by session."""
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    running = [subprocess.Popen(command, start_new_session=True, **quiet) for command in commands]
    try:
        yield
    finally:
        for process in running:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def hogs(cpus: list[int]) -> list[list[str]]:
    """A process per cpu that only computes there."""
    return [["taskset", "-c", str(cpu), sys.executable, "-c", "while True: pass"] for cpu in cpus]


def build(folder: str) -> list[list[str]]:
    """A parallel build that never ends."""
    for number in range(SOURCES):
        functions = (f"double f{i}(double *x, int n) {{ double s = {i}; for (int k = 0; k < n; k++) "
                     f"s += x[k] * x[n - k - 1] / (s + {i}); return s; }}\n" for i in range(150))  # fmt: skip
        Path(folder, f"part{number}.c").write_text("".join(functions))
    objects = " ".join(f"part{number}.o" for number in range(SOURCES))
    Path(folder, "Makefile").write_text(f"all: {objects}\n%.o: %.c\n\tgcc -O2 -c -o $@ $<\nclean:\n\trm -f *.o\n")
    again = f"cd {folder} && while :; do make -s clean; make -s -j4; done"
    return [["sh", "-c", again]]


def jobs(bench: Bench, library: Library, count: int, others: list[list[str]]) -> list[float]:
    """Run jobs of two ranks at the same time; us of a round trip in each."""
    with beside(others):
        start_ns = time.monotonic_ns() + int(START_S * 1e9)
        moments = (str(start_ns), str(start_ns + int(MEASURED_S * 1e9)))
        running = [
            subprocess.Popen(
                library.command(2, bench.program, *moments),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env=library.environ(bench.cpus),
            )
            for _ in range(count)
        ]
        found = []
        try:
            for job in running:
                left_s = LIMIT_S - (time.monotonic_ns() - start_ns) / 1e9
                out, err = job.communicate(timeout=max(left_s, 1))
                if job.returncode:
                    raise Failed((err.strip().splitlines() or [f"exit code {job.returncode}"])[-1])
                found += [json.loads(line)["us"] for line in out.splitlines() if line.startswith("{")]
        except subprocess.TimeoutExpired:
            raise Failed(f"a job did not end within {LIMIT_S:.0f} s") from None
        finally:
            for job in running:
                if job.poll() is None:
                    job.send_signal(signal.SIGTERM)
                    job.wait()
    return found


def main() -> None:
    bench = Bench(__doc__ or "", HERE / "shared.c", placement="auto")
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        cases: dict[str, tuple[str, int, list[list[str]]]] = {}
        for count in JOBS:
            for hogged in HOGS:
                title = [f"{count} job{'s' * (count > 1)}", f"{hogged} hog{'s' * (hogged > 1)}"]
                cases[f"{count} {hogged}"] = (", ".join(title[: 1 + (hogged > 0)]), count, hogs(bench.cpus[:hogged]))
        cases["build"] = ("1 job, a build", 1, build(folder))

        def part(case: str, library: Library) -> Figures:
            _, count, others = cases[case]
            took = jobs(bench, library, count, others)
            return {f"{case} slowest": max(took), f"{case} sum": sum(took)}

        found = bench.measure(bench.contenders(*(partial(part, case) for case in cases)))
    who = [OURS, *([BEFORE] if bench.options.before else []), *bench.peers]

    def tables(some: Found) -> list[str]:
        count = len(some.values(OURS, "1 0 sum"))
        text = [f"A run is one case of one library; each figure is the median of {count} round(s).", ""]
        for figure, title in (("slowest", "The slowest job"), ("sum", "The sum of all jobs")):
            rows = {f"{case} {figure}": name for case, (name, _, _) in cases.items()}
            goals = {row: "1.0" for row in rows}
            text += [f"### {title}, us a round trip", "", *report.table(some, rows, who, bench.peers, goals), ""]
        return text[:-1]

    shown = report.write(HERE, found, tables)
    bars = {f"{case} slowest": name for case, (name, _, _) in cases.items()}
    report.bars(shown, bars, "The slowest of jobs that share two cores", "us a round trip", HERE / "picture.png")


if __name__ == "__main__":
    main()
