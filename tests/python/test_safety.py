"""Kernels that crash, leave or never return: the run names them, and what sinks accepted is in their files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import cellweave as cw
import pytest

KERNELS = """
#include "cellweave.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
static cw_result copy(const cw_batch *b) {
    memcpy(b->out[0].base, b->in[0].base, b->firings * b->out[0].stride);
    return cw_done(b->firings);
}
static int deep(volatile int n) {
    volatile char room[4096];
    room[n % 4096] = 1;
    return deep(n + 1) + room[n % 4096];
}
static const cw_port in = {.name = "in"}, out = {.name = "out"};
#define KERNEL(NAME, WRONG) \\
    static cw_result fire_##NAME(void *state, const cw_batch *b) { \\
        (void)state; \\
        if (b->first + b->firings > 1000) { WRONG; } \\
        return copy(b); \\
    } \\
    const cw_kernel NAME = {.abi_version = CW_ABI_VERSION, .struct_bytes = sizeof(cw_kernel), .name = #NAME, \\
        .inputs = 1, .input_ports = &in, .outputs = 1, .output_ports = &out, .fire = fire_##NAME};
KERNEL(leaves, exit(0))
KERNEL(writes_nowhere, *(volatile int *)8 = 1)
KERNEL(aborts, abort())
KERNEL(traps, __builtin_trap())
KERNEL(divides, raise(SIGFPE))
KERNEL(overruns, memset(b->out[0].base, 1, 1u << 30))
KERNEL(recurses, deep(0))
KERNEL(returns_never, for (volatile int i = 0;; i++) {})
static int start(const cw_task *task, void **state) { (void)task; (void)state; abort(); }
const cw_kernel aborts_at_once = {.abi_version = CW_ABI_VERSION, .struct_bytes = sizeof(cw_kernel), .name = "a",
    .inputs = 1, .input_ports = &in, .outputs = 1, .output_ports = &out, .init = start, .fire = fire_aborts};
"""

PYTHON = """
import cellweave as cw


@cw.kernel(inputs={"in": "uint8"}, outputs={"out": "uint8"})
def spins(x, y):
    print("inside", flush=True)
    while True:
        pass
"""

APP = """name = "unsafe"
[[task]]
name = "source"
kernel = "cellweave:count"
cost_ns = {{ "*" = 100.0 }}
[[task]]
name = "victim"
kernel = "{kernel}"
cost_ns = {{ "*" = 100.0 }}
[[task]]
name = "file"
kernel = "cellweave:write"
params = {{ path = "out" }}
cost_ns = {{ "*" = 100.0 }}
[[edge]]
from = "source"
to = "victim"
bytes = 64
[[edge]]
from = "victim"
to = "file"
bytes = 64
"""

LINE = [sys.executable, "-m", "cellweave"]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The kernels above, compiled."""
    folder = tmp_path_factory.mktemp("kernels")
    (folder / "k.c").write_text(KERNELS)
    flags = ["-O1", "-shared", "-fPIC", "-I", cw.include_dir()]
    subprocess.run(["gcc", *flags, folder / "k.c", "-o", folder / "libk.so"], check=True)
    return folder / "libk.so"


def run(folder: Path, kernel: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Plans and runs the application above with `kernel` in its middle."""
    (folder / "app.toml").write_text(APP.format(kernel=kernel))
    line = [*LINE, "run", "app.toml", "--instances", "5000", *options]
    return subprocess.run(line, cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    ("kernel", "code", "words"),
    [
        ("leaves", 1, "called exit while it fired instance"),
        ("writes_nowhere", -signal.SIGSEGV, "crashed (segmentation fault at address 0x8) while it fired instance"),
        ("aborts", -signal.SIGABRT, "crashed (abort) while it fired instance"),
        ("traps", -signal.SIGILL, "crashed (illegal instruction) while it fired instance"),
        ("overruns", -signal.SIGSEGV, "crashed (segmentation fault at address 0x"),
        ("recurses", -signal.SIGSEGV, "crashed (segmentation fault at address 0x"),
        ("aborts_at_once", -signal.SIGABRT, "crashed (abort) while it started"),
    ],
)
def test_a_kernel_that_ends_the_process_is_named_and_sinks_keep_what_they_accepted(
    kernel: str, code: int, words: str, library: Path, tmp_path: Path
) -> None:
    done = run(tmp_path, f"{library}:{kernel}")
    assert done.returncode == code, done.stderr
    assert "cellweave: the kernel of task 'victim' on CPU" in done.stderr and words in done.stderr
    if kernel == "aborts_at_once":
        return
    accepted = int(done.stderr.split("the files hold the ")[1].split()[0])
    # A sink that takes long to stop on a busy computer may have written more meanwhile.
    size = (tmp_path / "out").stat().st_size
    assert size >= 64 * accepted and size % 64 == 0


@pytest.mark.parametrize(
    ("kernel", "code", "words"),
    [
        ("leaves", 1, "called exit while it fired instance"),
        ("writes_nowhere", -signal.SIGSEGV, "crashed (segmentation fault at address 0x8) while it fired instance"),
        ("aborts", -signal.SIGABRT, "crashed (abort) while it fired instance"),
        ("divides", -signal.SIGFPE, "crashed (arithmetic error) while it fired instance"),
        ("recurses", -signal.SIGSEGV, "crashed (segmentation fault at address 0x"),
        ("aborts_at_once", -signal.SIGABRT, "crashed (abort) while it started"),
    ],
)
def test_a_kernel_that_ends_the_process_on_a_simulated_cell_is_named_with_its_element(
    kernel: str, code: int, words: str, library: Path, tmp_path: Path
) -> None:
    (tmp_path / "app.toml").write_text(APP.format(kernel=f"{library}:{kernel}"))
    places = [word for task, on in (("source", 1), ("victim", 5), ("file", 2)) for word in ("--map", f"{task}=SPE{on}")]
    planned = [*LINE, "plan", "app.toml", "--on", "cell", *places, "-o", "plan.json", "-q"]
    assert subprocess.run(planned, cwd=tmp_path, timeout=60).returncode == 0
    done = run(tmp_path, f"{library}:{kernel}", "--on", "cell", "--plan", "plan.json")
    assert done.returncode == code, done.stderr
    assert "cellweave: the kernel of task 'victim' on SPE5 " in done.stderr and words in done.stderr
    if kernel == "aborts_at_once":
        return
    accepted = int(done.stderr.split("the files hold the ")[1].split()[0])
    assert accepted > 0 and (tmp_path / "out").stat().st_size == 64 * accepted


def test_one_of_many_tasks_on_one_element_is_named(library: Path, tmp_path: Path) -> None:
    (tmp_path / "app.toml").write_text(APP.format(kernel=f"{library}:aborts"))
    place = [word for task in ("source", "victim", "file") for word in ("--map", f"{task}=CPU0")]
    planned = [*LINE, "plan", "app.toml", *place, "-o", "plan.json", "-q"]
    assert subprocess.run(planned, cwd=tmp_path, timeout=60).returncode == 0
    done = run(tmp_path, f"{library}:aborts", "--plan", "plan.json")
    assert "the kernel of task 'victim' on CPU0 crashed (abort)" in done.stderr
    assert (tmp_path / "out").stat().st_size % 64 == 0


@pytest.mark.parametrize(("kernel", "signals"), [("spins", 1), ("spins", 2)])
def test_a_python_kernel_that_never_returns_ends_with_a_polite_kill(kernel: str, signals: int, tmp_path: Path) -> None:
    (tmp_path / "endless.py").write_text(PYTHON)
    (tmp_path / "app.toml").write_text(APP.format(kernel=f"python:endless:{kernel}"))
    line = [*LINE, "run", "app.toml", "--instances", "5000"]
    env = {**os.environ, "NO_COLOR": "1"}
    process = subprocess.Popen(line, cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "inside\n"
    for _ in range(signals):
        process.send_signal(signal.SIGTERM)
        if signals > 1:
            # The first must have arrived: two at once are one.
            subprocess.run(["sleep", "1"], check=True)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1, err
    assert "Fatal" not in err and "Traceback" not in err
    assert ("stopped" if signals > 1 else "task 'victim'") in err


@pytest.mark.parametrize("where", [[], ["--on", "cell"]])
def test_a_native_kernel_that_never_returns_ends_with_a_polite_kill(
    where: list[str], library: Path, tmp_path: Path
) -> None:
    (tmp_path / "app.toml").write_text(APP.format(kernel=f"{library}:returns_never"))
    line = [*LINE, "run", "app.toml", "--instances", "5000", *where]
    process = subprocess.Popen(line, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "out").exists():
        assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1 and "task 'victim'" in err, err


def test_a_kernel_that_is_not_there_is_told_before_anything_is_measured(library: Path, tmp_path: Path) -> None:
    text = APP.format(kernel=f"{library}:aborst").replace('cost_ns = { "*" = 100.0 }\n', "")
    (tmp_path / "app.toml").write_text(text)
    told: list[object] = []
    with pytest.raises(cw.RequestError, match="did you mean `aborts`"):
        cw.run(tmp_path / "app.toml", instances=100, progress=told.append)
    assert not told
