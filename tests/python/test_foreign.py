"""Machines from the files of other tools, and into them: 30 shapes, what lstopo says, what is refused."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
from pathlib import Path

import cellweave as cw
import pytest
from conftest import Command

SHAPES = Path(__file__).parents[2] / "crates" / "machine" / "tests" / "shapes"
FILES = sorted(path for path in SHAPES.iterdir() if path.suffix in {".csv", ".txt", ".xml", ".toml"})
LSTOPO = shutil.which("lstopo-no-graphics") or shutil.which("lstopo")


def load(path: Path) -> cw.Machine:
    return cw.Machine.load(path) if path.suffix == ".toml" else cw.Machine.import_file(path)[0]


def chain(tasks: int) -> cw.Graph:
    graph = cw.Graph("chain", code_bytes=16 << 10)
    for i in range(tasks):
        graph.task(f"t{i}", cost_ns=500.0 + 100 * (i % 3))
    for i in range(1, tasks):
        graph.edge(f"t{i - 1}", f"t{i}", bytes=256)
    return graph


def test_there_are_thirty_shapes_and_their_generator_writes_them_so() -> None:
    assert len(FILES) == 30
    spec = importlib.util.spec_from_file_location("make", SHAPES / "make.py")
    assert spec
    assert spec.loader
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    made = make.files()
    assert {p.name for p in FILES} - set(made) == {p.name for p in FILES if p.suffix == ".xml"}
    assert made == {name: (SHAPES / name).read_text() for name in made}


@pytest.mark.parametrize("path", FILES, ids=[path.name for path in FILES])
def test_every_shape_is_read_shown_planned_on_and_placed_on(path: Path, tmp_path: Path) -> None:
    machine = load(path)
    assert not machine.measured or path.suffix == ".toml"
    names = machine.element_names()
    assert machine.name in str(machine) and names[-1] in str(machine)
    machine.save(tmp_path / "m.toml")
    assert cw.Machine.load(tmp_path / "m.toml") == machine
    plan = cw.plan(chain(6), on=machine, moves=500)
    assert plan.feasible and set(plan.mapping.values()) <= set(names)
    if len(names) > 1:
        placed = cw.place("ring", machine, parts=min(4, len(names)), objective="distance")
        assert len(set(placed.mapping)) == min(4, len(names)) and set(placed.mapping) <= set(names)


@pytest.mark.parametrize("path", FILES, ids=[path.name for path in FILES])
def test_every_shape_goes_through_hwloc_and_comes_back(path: Path, tmp_path: Path) -> None:
    machine = load(path)
    (tmp_path / "m.xml").write_text(machine.to_hwloc())
    again = cw.Machine.import_file(tmp_path / "m.xml")[0]
    by_cpu = [sorted(m.elements, key=lambda e: int(e["os_cpu"])) for m in (machine, again)]
    assert [e["name"] for e in by_cpu[0]] == [e["name"] for e in by_cpu[1]]
    for level in ("chip", "l3", "l2", "core"):
        assert groups(by_cpu[0], level) == groups(by_cpu[1], level), level
    assert machine.to_dict()["distances"] == again.to_dict()["distances"]


def groups(elements: list[dict], level: str) -> list[list[str]]:  # type: ignore[type-arg]
    found: dict[int, list[str]] = {}
    for e in elements:
        if e["place"][level] is not None:
            found.setdefault(e["place"][level], []).append(e["name"])
    return sorted(found.values())


@pytest.mark.skipif(LSTOPO is None, reason="lstopo reads what is written; apt-get install hwloc-nox")
@pytest.mark.parametrize("path", FILES, ids=[path.name for path in FILES])
def test_lstopo_reads_every_shape_and_counts_the_same(path: Path, tmp_path: Path) -> None:
    machine = load(path)
    (tmp_path / "m.xml").write_text(machine.to_hwloc())
    for sort, key in [("pu", "os_cpu"), ("core", "core"), ("package", "chip"), ("l3", "l3"), ("l2", "l2")]:
        line = [str(LSTOPO), "-i", str(tmp_path / "m.xml"), "--only", sort]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        assert done.returncode == 0 and not done.stderr.strip(), done.stderr
        own = {e["place"].get(key, e.get(key)) for e in machine.elements} - {None}
        if own or sort == "pu":
            assert len(done.stdout.splitlines()) == len(own), (sort, done.stdout)
    if machine.to_dict()["distances"]:
        line = [str(LSTOPO), "-i", str(tmp_path / "m.xml"), "--distances"]
        done = subprocess.run(line, capture_output=True, text=True, check=True)
        assert "CellweaveLatencyPs" in done.stdout


def test_places_of_each_format_are_what_the_file_says() -> None:
    def place(name: str, cpu: int) -> dict[str, object]:
        element = next(e for e in load(SHAPES / name).elements if e["os_cpu"] == cpu)
        return {"kind": element["kind"], **element["place"]}

    snc = place("xeon-snc2.txt", 37)
    assert (snc["chip"], snc["numa"], snc["core"]) == (1, 3, 17)
    assert place("epyc-2x8ccx.xml", 63)["l3"] == 15 and place("epyc-2x8ccx.xml", 63)["numa"] == 1
    assert place("smt8.xml", 15)["core"] == 1
    disabled = load(SHAPES / "half-disabled.txt")
    assert disabled.element_names() == [f"CPU{i}" for i in range(0, 16, 2)]
    zen = load(SHAPES / "zen1-2ccx.csv").to_dict()["distances"]["latency_ns"]
    assert zen[0][1] == zen[1][0] < zen[0][7] < zen[0][8]
    slower = load(SHAPES / "one-way-slower.csv").to_dict()["distances"]["latency_ns"]
    assert slower[7][0] > slower[0][7] + 50
    memory = next(e["memory"] for e in load(SHAPES / "hybrid-2p-8e.txt").elements)
    assert memory["bytes"] == 1310720 // 2 and memory["l1_bytes"] == 48 << 10


def test_import_and_export_on_the_command_line(command: Command, tmp_path: Path) -> None:
    done = command("machine", "import", SHAPES / "zen1-2ccx.csv", "-o", "zen.toml")
    assert done.returncode == 0, done.stderr
    assert "limits and bandwidths are unmeasured" in done.stderr and "CPU15" in done.stdout
    assert "limits unmeasured" in done.stdout
    assert command("machine", "show", "zen.toml", "--picture", "zen.png").returncode == 0
    assert command("machine", "export", "zen.toml", "-o", "zen.xml").returncode == 0
    done = command("machine", "import", "zen.xml", "--json")
    assert len(json.loads(done.stdout)["elements"]) == 16
    assert command("machine", "export", "host", "-o", "host.xml", "-q").returncode == 0
    for line, word in [
        ("machine import zen.xml -o zen.toml", "--force"),
        ("machine export zen.toml -o zen.txt", "xml"),
        ("machine export qs22 -o cell.xml", "PPE0 is no cpu"),
        ("machine import nowhere.csv", "nowhere.csv"),
    ]:
        done = command(*line.split())
        assert done.returncode == 2 and word in done.stderr, done.stderr
    assert not (tmp_path / "cell.xml").exists()


V2 = '<?xml version="1.0"?>\n<topology version="2.0">\n'
PU = '<object type="Machine" cpuset="0x3"><object type="PU" os_index="0"/><object type="PU" os_index="1"/></object>\n'
HEAD = "HWThread        Thread        Core        Die        Socket        Available\n"
BAD: dict[str, tuple[str, str]] = {
    "empty": ("", "empty; a matrix of latencies"),
    "blank": ("\n \n", "empty"),
    "prose": ("once upon a time\n", ":1: no matrix"),
    "one number": ("5\n", ":1: no matrix"),
    "ragged": (",,\n1,\n1,1,\n", ":2: 2 columns; the rows before have 3"),
    "not square": (",,\n1,,\n", ":2: not square: 2 rows and 3 columns"),
    "nan": (",\nnan,\n", ':2: column 1: "nan" is no latency'),
    "infinite": (",\ninf,\n", ':2: column 1: "inf" is no latency'),
    "negative": (",\n-4.5,\n", ':2: column 1: "-4.5" is negative'),
    "words": (",\nfast,\n", ':2: column 1: "fast" is no number'),
    "hole": (",,\n1,,\n1,,\n", ":3: neither cpu 1 with 2 nor 2 with 1 has a latency"),
    "names differ": ("cpu,CPU0,CPU1\nCPU0,,5\nCPU7,5,\n", ":3: the row is called"),
    "name twice": ("cpu,CPU0,CPU0\nCPU0,,5\nCPU0,5,\n", ":1: cpu 0 has two columns"),
    "wide": ("," * 5000 + "\n", ":1: more than 4096 cpus"),
    "hwloc 1": ('<?xml version="1.0"?>\n<topology>\n</topology>\n', ":2: XML of hwloc 1"),
    "other xml": ("<svg/>\n", ":1: XML, but not hwloc's: it starts with <svg>"),
    "cut": (V2 + '<object type="Machine">\n<object type="PU" os_', "not XML"),
    "cut between": (V2 + '<object type="Machine">\n', "ends within <object>: the file is not whole"),
    "bomb": ('<!DOCTYPE a [\n<!ENTITY b "ha">\n<!ENTITY c "&b;&b;">\n]>\n<topology version="2.0">&c;', "entities"),
    "deep": (V2 + '<object type="Group">' * 100, "more than 64 deep"),
    "no cpus": (V2 + '<object type="Machine"/></topology>', "no PU"),
    "no index": (V2 + '<object type="PU"/></topology>', ":3: a PU without an os_index"),
    "no type": (V2 + "<object/></topology>", ':3: <object> without the attribute "type"'),
    "bad set": (V2 + '<object type="Machine" allowed_cpuset="0xzz"/></topology>', ':3: "0xzz" is not a set'),
    "same cpu": (V2 + PU.replace('"1"', '"0"') + "</topology>", "CPU0"),
    "other names": (
        V2 + PU + '<distances2 type="PU" nbobjs="2" kind="6" name="CellweaveLatencyPs" indexing="os">\n'
        '<indexes length="4">0 9 </indexes><u64values length="8">0 5 5 0 </u64values></distances2></topology>',
        ":4: distances \"CellweaveLatencyPs\" have no CPU1: names do not match",
    ),
    "few values": (
        V2 + PU + '<distances2 type="PU" nbobjs="2" kind="6" name="CellweaveLatencyPs" indexing="os">\n'
        '<indexes length="4">0 1 </indexes><u64values length="4">0 5 </u64values></distances2></topology>',
        ":4: distances",
    ),
    "many values": (
        V2 + PU + '<distances2 type="PU" nbobjs="1" kind="6" name="x" indexing="os">\n'
        "<u64values>" + "1 " * 9 + "</u64values></distances2></topology>",
        ":5: <u64values>: more numbers",
    ),
    "likwid cut": (HEAD + "0  0  0  0  0  *\n", ":2: likwid-topology's text ends before its caches"),
    "likwid head": ("Hardware Thread Topology\nSockets: 1\n", ":2: likwid-topology's text ends before its table"),
    "likwid row": (HEAD + "0  0\n", ":2: the row"),
    "likwid word": (HEAD + "0  0  x  0  0  *\n", ":2: Core: \"x\" is no number"),
    "likwid twice": (HEAD + "0 0 0 0 0 *\n0 0 0 0 0 *\n---\nDomain: 0\nProcessors: ( 0 )\n", "in the table twice"),
    "likwid group": (HEAD + "0 0 0 0 0 *\n---\nLevel: 1\nCache groups: ( 0\n", ":5: \"( 0\" ends within a group"),
    "likwid other": (HEAD + "0 0 0 0 0 *\n---\nLevel: 1\nCache groups: ( 0 7 )\n", "hardware thread 7"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_makes_no_sense_is_refused_with_its_line(name: str, tmp_path: Path) -> None:
    content, message = BAD[name]
    path = tmp_path / "bad"
    path.write_text(content)
    with pytest.raises(cw.RequestError) as refused:
        cw.Machine.import_file(path)
    assert str(refused.value).startswith(str(path)) and message in str(refused.value), str(refused.value)


def test_a_refusal_is_one_line_and_exits_with_2(command: Command, tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text(",\nnan,\n")
    done = command("machine", "import", "bad.csv", "-o", "bad.toml")
    assert done.returncode == 2 and "bad.csv:2: column 1" in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "bad.toml").exists()


def test_a_hundred_million_entries_are_refused_before_they_fill_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "huge.csv"
    with path.open("wb") as file:
        file.truncate(200 << 20)  # as long as 10^8 entries, and takes no room
    with pytest.raises(cw.RequestError, match="more than 128 MiB"):
        cw.Machine.import_file(path)
    path.write_text("," * 9999 + "\n")
    with pytest.raises(cw.RequestError, match=":1: more than 4096 cpus"):
        cw.Machine.import_file(path)


def test_bytes_that_are_no_text_are_refused_with_their_line(tmp_path: Path) -> None:
    (tmp_path / "bad").write_bytes(b",\n\xff\xfe,\n")
    with pytest.raises(cw.RequestError, match=":2: not text"):
        cw.Machine.import_file(tmp_path / "bad")
