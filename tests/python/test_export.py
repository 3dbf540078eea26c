"""What `--export` writes: its text, what it refuses, and what real programs make of it.

The programs run where they are installed; each test that needs one says the Debian package. Two parts are placed in
turn (part 0 on the second cpu), so that a program that ignores its file is seen.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import cellweave as cw
import pytest
from cellweave.cli.exporting import Exporting
from cellweave.cli.printer import Printer
from cellweave.export import FORMATS, Pinning, export
from conftest import COSTED, Command

ROOT = Path(__file__).resolve().parents[2]
CPUS = sorted(os.sched_getaffinity(0))[1::-1]
"""Two cpus that this process may use, the second one first."""

# Prints the part's number as launchers say it, and the cpus that it may use.
WHERE = """#!/bin/sh
rank=${CELLWEAVE_MPI_RANK:-${OMPI_COMM_WORLD_RANK:-$PMI_RANK}}
printf '%s on %s\\n' "$rank" "$(grep Cpus_allowed_list /proc/self/status | tr -dc '0-9,-')"
"""

TEAM = """
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>
int main(void) {
    #pragma omp parallel
    #pragma omp critical
    {
        cpu_set_t set;
        sched_getaffinity(0, sizeof set, &set);
        for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
            if (CPU_ISSET(cpu, &set)) printf("%d on %d\\n", omp_get_thread_num(), cpu);
    }
    return 0;
}
"""

PING = """
#include <mpi.h>
int main(int argc, char **argv) {
    int rank, data = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) MPI_Send(&data, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(&data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return MPI_Finalize();
}
"""

# Two chips, two cores each, two cpus a core, numbered as kernels number them.
TWO_CHIPS = 'name = "two-chips"\n' + "".join(
    f'[[element]]\nname = "CPU{cpu}"\nkind = "core"\nos_cpu = {cpu}\n'
    f"chip = {cpu % 2}\nnuma = {cpu % 2}\nl3 = {cpu % 2}\ncore = {cpu % 4}\n"
    for cpu in range(8)
)

LINES: dict[str, list[str]] = {
    "taskset": ['1) exec taskset --cpu-list 1 "$@" ;;'],
    "numactl": ['0) exec numactl --physcpubind=6 --membind=0 "$@" ;;'],
    "hwloc-bind": ['1) exec hwloc-bind --strict --physical --cpubind pu:1 --membind node:1 -- "$@" ;;'],
    "likwid-pin": ['exec likwid-pin -c 6,1,6 "$@"'],
    "omp-places": ["export OMP_NUM_THREADS=3", "export OMP_PLACES='{6},{1},{6}'", "export OMP_PROC_BIND=close"],
    "gomp": ["unset OMP_PLACES OMP_PROC_BIND", "export GOMP_CPU_AFFINITY='6 1 6'"],
    "cellrun": ["6  # 0", "1  # 1", "6  # 2"],
    "slurm": ["--cpu-bind=map_cpu:6,1,6 --mem-bind=map_mem:0,1,0"],
    "openmpi4": ["rank 0=localhost slot=6", "rank 1=localhost slot=1", "rank 2=localhost slot=6"],
    "openmpi5": ["rank 0=localhost slot=3", "rank 1=localhost slot=4", "rank 2=localhost slot=3"],
    "mpich": ["-bind-to user:6,1,6"],
    "intelmpi": ["export I_MPI_PIN=1", "export I_MPI_PIN_PROCESSOR_LIST=6,1,6"],
    "ros2": ['- tag: "0"', "  core_affinity: [6]", "  core_affinity: [1]"],
    "dpdk": ["--lcores=0@6,1@1,2@6"],
}
OF_TASKS: dict[str, list[str]] = {
    "gnuradio": ["    top.sink.set_processor_affinity([6])", "    top.filter.set_processor_affinity([1])"],
    "futuresdr": ["    (futuresdr::runtime::BlockId::from(&sink).0, 6), // cpu 6"],
    "taskset": ['sink) exec taskset --cpu-list 6 "$@" ;;'],
    "omp-places": ["# thread 0: sink", "# thread 1: filter"],
    "openmpi4": ["# rank 1: filter", "rank 1=localhost slot=1"],
    "plan": ['{"made": "by hand"}'],
}


def pinning(elements: Sequence[str], names: Sequence[str] | None = None, on: str | cw.Machine = "") -> Pinning:
    """Parts, or tasks that have names, on elements of a machine."""
    machine = cw.Machine.load(on) if on else cw.Machine.from_toml(TWO_CHIPS)
    noun = "part" if names is None else "task"
    mapping = list(zip(names or map(str, range(len(elements))), elements, strict=True))
    return Pinning("ring on two-chips", noun, mapping, machine, None if names is None else '{"made": "by hand"}')


def test_every_format_is_tested_and_in_the_book() -> None:
    assert set(FORMATS) == {*LINES, *OF_TASKS}
    assert set(re.findall(r"^\| `([a-z0-9-]+)` \|", (ROOT / "docs/exports.md").read_text(), re.MULTILINE)) == set(
        FORMATS
    )


@pytest.mark.parametrize("name", LINES)
def test_parts_are_written_as_the_format_has_them(name: str) -> None:
    lines = export(name, pinning(["CPU6", "CPU1", "CPU6"])).splitlines()
    assert [line for line in LINES[name] if line not in lines] == []


@pytest.mark.parametrize("name", OF_TASKS)
def test_tasks_are_written_by_name(name: str) -> None:
    lines = export(name, pinning(["CPU6", "CPU1"], ["sink", "filter"])).splitlines()
    assert [line for line in OF_TASKS[name] if line not in lines] == []


def test_cpus_are_counted_as_hwloc_counts_them() -> None:
    # `lstopo -i "pack:2 l3:1 core:2 pu:2(indexes=0,4,2,6,1,5,3,7)"` has these cpus in this order.
    assert list(pinning([]).ranks_of_cpus()) == [0, 4, 2, 6, 1, 5, 3, 7]


@pytest.mark.parametrize("verb", ["place", "plan"])
def test_the_formats_are_listed_without_anything_else_being_asked_for(verb: str, command: Command) -> None:
    found = command(verb, "--export", "list")
    assert found.returncode == 0 and all(name in found.stdout for name in FORMATS)


def test_the_export_is_printed_instead_of_the_table_or_written_beside_it(command: Command, tmp_path: Path) -> None:
    (tmp_path / "chips.toml").write_text(TWO_CHIPS)
    asked = ["place", "ring", "--parts", "2", "--on", "chips.toml", "--objective", "distance"]
    printed = command(*asked, "--export", "mpich")
    assert re.fullmatch(r"-bind-to user:\d,\d\n", printed.stdout) and printed.stderr == ""
    both = command(*asked, "--json", "--export", "mpich", "--export-to", "list.txt", "-o", "placed.json")
    assert json.loads(both.stdout) == json.loads((tmp_path / "placed.json").read_text())
    assert (tmp_path / "list.txt").read_text() == printed.stdout
    again = command(*asked, "--export", "mpich", "--export-to", "list.txt")
    assert again.returncode == 2 and "list.txt exists" in again.stderr


def test_who_exports_pins_that_gain_nothing_is_told_so(capsys: pytest.CaptureFixture[str]) -> None:
    data = cw.place("pipeline", on=cw.Machine.from_toml(TWO_CHIPS), objective="distance", parts=2).to_dict()
    for pin, told in [(False, True), (True, False)]:
        placed = cw.Placing({**data, "pin": pin}, cw.Machine.from_toml(TWO_CHIPS))
        with Exporting(Printer(), "mpich", None, "host", False).shows(placed):
            pass
        shown = capsys.readouterr()
        assert shown.out.startswith("-bind-to user:") and ("do not pin" in shown.err) is told


def test_python_exports_what_the_command_exports(command: Command, tmp_path: Path) -> None:
    (tmp_path / "chips.toml").write_text(TWO_CHIPS)
    placed = cw.place("ring", on=tmp_path / "chips.toml", objective="distance", parts=2)
    asked = ["place", "ring", "--parts", "2", "--on", "chips.toml", "--objective", "distance"]
    assert command(*asked, "--export", "taskset").stdout == placed.export("taskset")
    made = cw.plan(tmp_path / "costed.toml", on=tmp_path / "chips.toml", moves=100)
    read = cw.Plan.load(_written(tmp_path / "plan.json", made.export("plan")))
    assert read.mapping == made.mapping
    assert read.export("cellrun", on=tmp_path / "chips.toml") == made.export("cellrun")
    with pytest.raises(cw.RequestError, match="name its machine"):
        read.export("cellrun")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["place", "ring", "--on", "cell", "--export", "taskset"], "taskset: cell has no cpus of a computer"),
        (["plan", "costed.toml", "--on", "qs22", "--export", "taskset"], "taskset: qs22 has no cpus of a computer"),
        (["place", "ring", "--on", "cell", "--export", "plan"], "plan: a placement has no tasks"),
        (["place", "ring", "--on", "cell", "--export", "tasket"], "did you mean `taskset`"),
        (["place", "ring", "--on", "cell", "--export-to", "x"], "name its format with --export"),
        (["plan", "costed.toml", "--on", "qs22", "--export", "plan", "--json"], "--export and --json both print"),
        (["plan", "costed.toml", "--on", "qs22", "--export", "plan", "--export-to", "no/x"], "there is no folder no"),
        (
            ["plan", "odd.toml", "--export", "gnuradio"],
            "gnuradio: task 'my-block' cannot be written; allowed are names",
        ),
        (["plan", "odd.toml", "--export", "futuresdr"], "futuresdr: task 'my-block' cannot be written"),
    ],
)
def test_what_cannot_be_exported_is_said_and_exits_with_2(
    arguments: list[str], message: str, command: Command, tmp_path: Path
) -> None:
    (tmp_path / "odd.toml").write_text(COSTED.replace('"a"', '"my-block"'))
    found = command(*arguments)
    assert found.returncode == 2 and message in found.stderr and found.stdout == ""
    assert "Traceback" not in found.stderr


@pytest.mark.parametrize("name", [name for name, form in FORMATS.items() if form.cpus])
def test_no_format_holds_a_line_break_in_a_name_or_a_cpu_that_is_not_there(name: str) -> None:
    with pytest.raises(cw.RequestError, match=rf"^{name}: task 'a\\nb' cannot be written; allowed are names"):
        export(name, pinning(["CPU1"], ["a\nb"]))
    with pytest.raises(cw.RequestError, match=rf"^{name}: part 0 on CPU9: two-chips has no such element; it has CPU0"):
        export(name, pinning(["CPU9"]))
    with pytest.raises(cw.RequestError, match=rf"^{name}: part 1 on SPE0: SPE0 of mixed is no cpu of a computer"):
        spe = '[[element]]\nname = "SPE0"\nkind = "spe"\n'
        mixed = cw.Machine.from_toml(TWO_CHIPS.replace("two-chips", "mixed") + spe)
        export(name, pinning(["CPU1", "SPE0"], on=mixed))


@pytest.mark.parametrize(
    ("name", "most"), [(name, form.parts_max) for name, form in FORMATS.items() if form.parts_max is not None]
)
def test_more_parts_than_a_format_holds_are_refused(name: str, most: int) -> None:
    assert export(name, pinning(["CPU1"] * most))
    with pytest.raises(cw.RequestError, match=rf"^{name}: {most + 1} parts; at most {most} are allowed"):
        export(name, pinning(["CPU1"] * (most + 1)))


@pytest.mark.parametrize(
    ("name", "most"), [(name, form.cpu_max) for name, form in FORMATS.items() if form.cpu_max is not None]
)
def test_larger_cpus_than_a_format_holds_are_refused(name: str, most: int) -> None:
    def on(cpu: int) -> Pinning:
        far = f'name = "far"\n[[element]]\nname = "far"\nkind = "core"\nos_cpu = {cpu}\n'
        return pinning(["far"], on=cw.Machine.from_toml(far))

    assert export(name, on(most))
    with pytest.raises(cw.RequestError, match=rf"^{name}: part 0 on far: cpu {most + 1}; allowed are 0 to {most}"):
        export(name, on(most + 1))


@pytest.mark.parametrize(("name", "word"), [("gnuradio", "class"), ("futuresdr", "loop"), ("futuresdr", "Src")])
def test_words_of_a_language_are_no_names_in_it(name: str, word: str) -> None:
    with pytest.raises(cw.RequestError, match=f"task '{word}' cannot be written"):
        export(name, pinning(["CPU1"], [word]))


# What follows runs real programs.


@pytest.fixture
def where(tmp_path: Path) -> Path:
    """A program that prints its rank and the cpus that it may use."""
    path = _written(tmp_path / "where.sh", WHERE)
    path.chmod(0o755)
    return path


@pytest.fixture
def openmp(tmp_path: Path) -> Path:
    """An OpenMP program whose threads print the cpus that they may use."""
    _needs("gcc", "gcc")
    source = _written(tmp_path / "team.c", TEAM)
    subprocess.run(["gcc", "-fopenmp", str(source), "-o", str(tmp_path / "team")], check=True)
    return tmp_path / "team"


def _written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def _needs(program: str, package: str) -> str:
    found = shutil.which(program)
    if found is None:
        pytest.skip(f"{program} is not here: apt-get install {package}")
    return found


def _exported(name: str, folder: Path, names: Sequence[str] | None = None) -> Path:
    """The export of two parts on two cpus of this computer, the second one first."""
    if len(CPUS) < 2:
        pytest.skip("this process may use one cpu, and two are told apart")
    elements = [f"CPU{cpu}" for cpu in CPUS]
    return _written(folder / f"{name}.txt", export(name, pinning(elements, names, on=f"host:cpus={CPUS[1]},{CPUS[0]}")))


def _ran(line: Sequence[object], **more: Any) -> str:
    found = subprocess.run([str(word) for word in line], capture_output=True, text=True, timeout=60, **more)
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


def _shell(text: str, folder: Path, **more: Any) -> str:
    return _ran(["sh", "-c", text], cwd=folder, **more)


def _places(output: str) -> list[str]:
    return sorted(re.findall(r"\d+ on [\d,-]+", output))


def _swapped() -> list[str]:
    return [f"{i} on {cpu}" for i, cpu in enumerate(CPUS)]


@pytest.mark.parametrize(
    ("name", "package"), [("taskset", "util-linux"), ("numactl", "numactl"), ("hwloc-bind", "hwloc")]
)
def test_a_script_starts_each_part_on_its_cpu(name: str, package: str, tmp_path: Path, where: Path) -> None:
    _needs(name, package)
    script = _exported(name, tmp_path)
    if name != "taskset":
        policy = {"numactl": ["numactl", "--membind=0", "true"], "hwloc-bind": ["hwloc-bind", "--strict", "--membind"]}
        tried = [*policy[name], *(["node:0", "--", "true"] if name == "hwloc-bind" else [])]
        if subprocess.run(tried, capture_output=True).returncode != 0:
            pytest.skip("memory cannot be bound here: the container forbids set_mempolicy")
    for part, cpu in enumerate(CPUS):
        env = {**os.environ, "PMI_RANK": str(part)}
        assert _ran(["sh", script, part, where], env=env) == f"{part} on {cpu}\n"
        assert _ran(["sh", script, "-", where], env=env) == f"{part} on {cpu}\n"
    for arguments, message in [(["7", where], "no part 7"), (["0"], "use: sh")]:
        refused = subprocess.run(["sh", script, *arguments], capture_output=True, text=True)
        assert refused.returncode == 2 and message in refused.stderr


def test_a_script_knows_tasks_by_any_name(tmp_path: Path, where: Path) -> None:
    _needs("taskset", "util-linux")
    odd = ['it\'s; $(exit) "é"', "*"]
    script = _exported("taskset", tmp_path, odd)
    for rank, (name, cpu) in enumerate(zip(odd, CPUS, strict=True)):
        env = {**os.environ, "PMI_RANK": str(rank)}
        assert _ran(["sh", script, name, where], env=env) == f"{rank} on {cpu}\n"
        assert _ran(["sh", script, "-", where], env=env) == f"{rank} on {cpu}\n"


def test_numactl_and_hwloc_see_the_node_of_each_part(tmp_path: Path) -> None:
    _needs("numactl", "numactl")
    script = _exported("numactl", tmp_path)
    if subprocess.run(["numactl", "--membind=0", "true"], capture_output=True).returncode != 0:
        pytest.skip("memory cannot be bound here: the container forbids set_mempolicy")
    shown = _ran(["sh", script, "0", "numactl", "--show"])
    node = next(e["place"]["numa"] for e in cw.Machine.host().elements if e["os_cpu"] == CPUS[0])
    assert f"physcpubind: {CPUS[0]} \n" in shown and f"membind: {node} \n" in shown


def test_cpus_of_this_computer_are_counted_as_hwloc_counts_them() -> None:
    _needs("hwloc-calc", "hwloc")
    for cpu, number in pinning([], on="host").ranks_of_cpus().items():
        assert _ran(["hwloc-calc", "--physical-input", "--logical-output", "-I", "pu", f"pu:{cpu}"]) == f"{number}\n"


@pytest.mark.parametrize("name", ["omp-places", "gomp"])
def test_the_threads_of_an_openmp_program_are_on_their_cpus(name: str, tmp_path: Path, openmp: Path) -> None:
    variables = _exported(name, tmp_path)
    assert _places(_shell(f". ./{variables.name}; {openmp}", tmp_path)) == _swapped()
    shown = "export OMP_DISPLAY_AFFINITY=true OMP_AFFINITY_FORMAT='%n on %A'"
    assert _places(_shell(f"{shown}; . ./{variables.name}; {openmp} 2>&1 >/dev/null", tmp_path)) == _swapped()


def test_likwid_pins_threads_in_the_order_of_the_export(tmp_path: Path, openmp: Path) -> None:
    _needs("likwid-pin", "likwid")
    script = _exported("likwid-pin", tmp_path)
    assert _places(_ran(["sh", script, openmp])) == _swapped()


def test_cellrun_reads_its_file(tmp_path: Path, where: Path) -> None:
    from cellweave.mpi import prefix

    file = _exported("cellrun", tmp_path)
    assert _places(_ran([prefix() / "bin" / "cellrun", "--place", file, "-n", 2, where])) == _swapped()


def test_cellrun_reads_what_place_wrote_whatever_elements_are_called(tmp_path: Path, where: Path) -> None:
    from cellweave.mpi import prefix

    if len(CPUS) < 2:
        pytest.skip("this process may use one cpu, and two are told apart")
    element = '[[element]]\nname = "{}"\nkind = "core"\nos_cpu = {}\n'
    elements = [element.format(*one) for one in zip(["left", "right"], CPUS, strict=True)]
    machine = _written(tmp_path / "named.toml", 'name = "named"\n' + "".join(elements))
    placed = cw.place("pipeline", on=machine, objective="distance", parts=2)
    placed.save(tmp_path / "placed.json")
    swapped = sorted(f"{part} on {CPUS[seat]}" for part, seat in enumerate(placed.permutation))
    cellrun = prefix() / "bin" / "cellrun"
    assert _places(_ran([cellrun, "--place", tmp_path / "placed.json", "-n", 2, where])) == swapped


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("4000 4000", "rank 0 is to run on cpu 4000; allowed are "),
        ('{"mapping": ["SPE0", "SPE1"], "cpus": [null, null]}', 'rank 0 is on "SPE0", which is no cpu of a computer'),
        ('{"mapping": {"a": "CPU0"}}', "it is a plan; `cellweave plan --export cellrun`"),
        ("0", "it has places for 1 ranks, and there are 2"),
    ],
)
def test_cellrun_refuses_places_that_are_not_here(text: str, message: str, tmp_path: Path) -> None:
    from cellweave.mpi import prefix

    file = _written(tmp_path / "places", text)
    line = [prefix() / "bin" / "cellrun", "--place", file, "-n", "2", "true"]
    found = subprocess.run(line, capture_output=True, text=True)
    assert found.returncode == 2 and message in found.stderr


def test_a_profile_places_the_ranks_of_the_next_run(tmp_path: Path) -> None:
    from cellweave.mpi import prefix

    source = _written(tmp_path / "ping.c", PING)
    tools = prefix() / "bin"
    _ran([tools / "cellcc", source, "-o", tmp_path / "ping"])
    profile = tmp_path / "profile.json"
    _ran([tools / "cellrun", "--profile", profile, "-n", 2, tmp_path / "ping"])
    _ran([tools / "cellrun", "--place", "auto", "--traffic", profile, "-n", 2, tmp_path / "ping"])
    line = [tools / "cellrun", "--traffic", profile, "-n", "3", tmp_path / "ping"]
    refused = subprocess.run(line, capture_output=True, text=True)
    assert refused.returncode == 2 and "it is of 2 ranks, and there are 3" in refused.stderr


@pytest.mark.parametrize("version", [4, 5])
def test_open_mpi_reads_its_rankfile(version: int, tmp_path: Path, where: Path, openmpi: Callable[[int], Path]) -> None:
    mpirun = openmpi(version)
    if version == 4 and len({e["place"]["core"] for e in cw.Machine.host().elements if e["os_cpu"] in CPUS}) < 2:
        pytest.skip("the two cpus are of one core, and Open MPI 4 binds ranks to cores")
    # Its sockets are below TMPDIR.
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    alone = [str(mpirun), "--allow-run-as-root", "-n", "1", "true"]
    started = subprocess.run(alone, capture_output=True, text=True, timeout=60, env=env)
    if started.returncode != 0:
        pytest.skip(f"Open MPI {version} starts no process here: {started.stderr.strip()[-200:]}")
    file = _exported(f"openmpi{version}", tmp_path)
    how = {
        4: ["--mca", "rmaps_rank_file_physical", 1, "--rankfile", file],
        5: ["--map-by", f"rankfile:file={file}:hwtcpus"],
    }
    assert _places(_ran([mpirun, "--allow-run-as-root", *how[version], "-n", 2, where], env=env)) == _swapped()


def test_mpich_reads_its_list(tmp_path: Path, where: Path, mpich: Path) -> None:
    _exported("mpich", tmp_path)
    launcher = mpich / "bin" / "mpiexec.hydra"
    assert _places(_shell(f"{launcher} $(cat mpich.txt) -n 2 {where}", tmp_path)) == _swapped()


def test_intel_mpi_reads_its_list(tmp_path: Path, where: Path) -> None:
    launcher = Path(os.environ.get("I_MPI_ROOT", "/none")) / "bin" / "mpiexec.hydra"
    if not launcher.exists():
        pytest.skip("Intel MPI is not here: pip install impi-rt, and name its folder as I_MPI_ROOT")
    _exported("intelmpi", tmp_path)
    assert _places(_shell(f". ./intelmpi.txt; {launcher} -n 2 {where}", tmp_path)) == _swapped()


def test_gnu_radio_takes_the_affinity_of_each_block(tmp_path: Path) -> None:
    python = "/usr/bin/python3"
    if subprocess.run([python, "-c", "import gnuradio.gr"], capture_output=True).returncode != 0:
        pytest.skip("GNU Radio is not here: apt-get install gnuradio")
    file = _exported("gnuradio", tmp_path, ["source", "sink"])
    file.rename(tmp_path / "pins.py")
    program = """
from gnuradio import blocks, gr
from pins import pin
class Top(gr.top_block):
    def __init__(self):
        super().__init__()
        self.source, self.sink = blocks.null_source(4), blocks.null_sink(4)
        self.connect(self.source, self.sink)
top = Top()
pin(top)
print(top.source.processor_affinity(), top.sink.processor_affinity())
"""
    shown = _ran([python, "-c", program], cwd=tmp_path)
    assert shown == f"({CPUS[0]},) ({CPUS[1]},)\n".replace("(", "[").replace(",)", "]")


def test_dpdk_starts_its_lcores_on_their_cpus(tmp_path: Path) -> None:
    program = _needs("dpdk-testpmd", "dpdk-dev")
    _exported("dpdk", tmp_path)
    alone = "--no-huge -m 64 --no-pci --no-telemetry --file-prefix=cellweave-test --log-level=lib.eal:debug"
    more = "--vdev=net_null0 -- --no-mlockall --total-num-mbufs=2048"
    env = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path), "RUNTIME_DIRECTORY": str(tmp_path)}
    line = f"{program} $(cat dpdk.txt) {alone} {more} </dev/null 2>&1"
    ready = re.findall(r"lcore (\d+) is ready \(tid=\w+;cpuset=\[(\d+)\]\)", _shell(line, tmp_path, env=env))
    assert sorted(f"{lcore} on {cpu}" for lcore, cpu in ready) == _swapped()
