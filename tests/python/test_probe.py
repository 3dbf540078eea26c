"""`cellweave probe` and `cellweave.probe`: what is measured, drawn and written; what is refused; Ctrl-C."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import cellweave as cw
import pytest
from cellweave.probe import pattern_names
from conftest import Command

KEYS = {
    "pattern", "transfers", "size_bytes", "buffers", "partners", "n", "bandwidth_gbs", "latency_ns", "span_us", "ticks",
    "quality", "excluded", "each",
}  # fmt: skip
QUANTILES = {"min", "p10", "p50", "p90"}


def test_json_has_the_promised_keys_and_is_the_same_in_two_processes(command: Command, tmp_path: Path) -> None:
    line = ["probe", "--on", "qs22", "--pattern", "far", "--pattern", "random", "--draws", 3, "--size", "4k", "--json"]
    done = command(*line, "-o", "far.json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found == json.loads((tmp_path / "far.json").read_text()) == json.loads(command(*line).stdout)
    assert (found["machine"], found["exact"], found["stopped"]) == ("qs22", True, False)
    assert [m["pattern"] for m in found["measurements"]] == ["far", "random", "random", "random"]
    for m in found["measurements"]:
        assert set(m) >= KEYS
        assert (m["n"], m["quality"], m["partners"]) == (1, "exact", 8)
        for key in ("bandwidth_gbs", "latency_ns", "span_us", "ticks"):
            assert set(m[key]) == QUANTILES
        assert [each["transfer"] for each in m["each"]] == m["transfers"].split(",")


def test_another_seed_draws_other_patterns_and_the_same_seed_the_same(command: Command) -> None:
    def drawn(on: str, seed: int) -> list[str]:
        found = cw.probe(on, "random", sizes=[128], draws=3, seed=seed)
        return [m["transfers"] for m in found.measurements]

    assert drawn("qs22", 5) == drawn("cell", 5) != drawn("cell", 6)


def test_csv_has_a_line_per_measurement_and_the_columns_of_rows(command: Command, tmp_path: Path) -> None:
    done = command(
        "probe", "--on", "ps3", "--pattern", "0<-1,1<-mem", "--size", "16..64", "--buffers", "1..2", "-o", "a.csv"
    )
    assert done.returncode == 0, done.stderr
    lines = list(csv.DictReader(io.StringIO((tmp_path / "a.csv").read_text())))
    found = cw.probe("ps3", "0<-1,1<-mem", sizes=["16..64"], buffers=["1..2"])
    assert len(lines) == len(found.measurements) == 6
    assert found.to_csv() == (tmp_path / "a.csv").read_text()
    for line, row in zip(lines, found.rows(), strict=True):
        assert list(line) == list(row)
        assert line["transfers"] == "0<-1,1<-mem"
        assert float(line["bandwidth_gbs_p50"]) == row["bandwidth_gbs_p50"]


def test_a_table_says_what_was_measured_and_that_it_is_exact(command: Command) -> None:
    out = command("probe", "--on", "qs22", "--pattern", "far").stdout
    for word in ["far", "0<-7,7<-0", "16 KiB", "GB/s", "latency", "ticks", "qs22 simulated, rules", "exact"]:
        assert word in out
    out = command("probe", "--on", "cell", "--pattern", "random", "--draws", 20, "--size", 128).stdout
    for word in ["random", "20", "p10", "p90", "mean"]:
        assert word in out


def test_the_patterns_are_listed(command: Command) -> None:
    out = command("probe", "--list").stdout
    names = [name for name, _ in pattern_names()]
    assert {"pair", "near", "far", "ring", "memory-read"} <= set(names)
    assert all(name in out for name in names)
    assert [p["name"] for p in json.loads(command("probe", "--list", "--json").stdout)] == names


def test_this_computer_is_measured_without_any_option(command: Command, tmp_path: Path) -> None:
    done = command("probe", "--json", "--plot", "host.png")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "host.png").read_bytes().startswith(b"\x89PNG")
    found = json.loads(done.stdout)
    assert not found["exact"] and found["identity"]["cpu_model"]
    patterns = {m["pattern"] for m in found["measurements"]}
    assert patterns >= {"memory-read-each", "memory-write-each"}
    assert ("all-pairs" in patterns) == (len(cw.Machine.host().elements) > 1)
    for m in found["measurements"]:
        q = m["bandwidth_gbs"]
        assert 0 < q["min"] <= q["p10"] <= q["p50"] <= q["p90"]
        assert m["quality"] in {"good", "unsteady", "disturbed", "unpinned"}


def test_a_machine_file_holds_what_was_measured(command: Command, tmp_path: Path) -> None:
    done = command("probe", "--on", "ps3", "--draws", 2, "--repeats", 64, "-o", "ps3.toml")
    assert done.returncode == 0, done.stderr
    assert "fitted distances" in done.stdout and "fitted input and output" in done.stdout
    machine = cw.Machine.load(tmp_path / "ps3.toml")
    assert machine.measured and "measured by cellweave" in machine.description
    assert {"input of SPE0", "output of PPE0", "PPE0 reads SPE3"} <= {limit["name"] for limit in machine.limits}
    done = command("plan", "costed.toml", "--on", "ps3.toml", "-q")
    assert done.returncode == 0, done.stderr
    done = command("machine", "show", "ps3.toml", "--picture", "ps3.png")
    assert done.returncode == 0, done.stderr


def test_this_computer_has_a_machine_file_too(command: Command, tmp_path: Path) -> None:
    if len(cw.Machine.host().elements) < 2:
        pytest.skip("distances need two cpus")
    done = command("probe", "--samples", 3, "-o", "host.toml")
    assert done.returncode == 0, done.stderr
    machine = cw.Machine.load(tmp_path / "host.toml")
    assert machine.measured and machine.to_dict()["distances"]["latency_ns"][0][1] > 0
    # The file that it wrote can be measured and planned for.
    assert command("probe", "--on", "host.toml", "--pattern", "0<-mem", "--samples", 2, "-q").returncode == 0


@pytest.mark.parametrize(
    "line",
    [
        "--on qs22 --size 128",
        "--on ps3 --pattern memory-read --size 16..16k --buffers 1 --spes 1..6",
        "--on ps3 --pattern memory-write --size 1k --buffers 1..8",
        "--on cell --pattern random --draws 20 --size 1k",
        "--on cell --pattern 0<-7,7<-0 --pattern ring",
    ],
)
def test_every_kind_of_result_is_drawn(command: Command, tmp_path: Path, line: str) -> None:
    done = command("probe", *line.split(), "--plot", "a.svg", "-q")
    assert done.returncode == 0, done.stderr
    assert done.stdout == done.stderr == ""
    assert (tmp_path / "a.svg").read_text().lstrip().startswith("<?xml")


def test_a_result_goes_into_a_report(command: Command, tmp_path: Path) -> None:
    assert command("probe", "--on", "cell", "--pattern", "pair", "-q", "-o", "pair.json").returncode == 0
    assert command("report", "pair.json", "-o", "page.html").returncode == 0
    page = (tmp_path / "page.html").read_text()
    assert "cell simulated" in page and "<svg" in page
    (tmp_path / "half.json").write_text('{"measurements": [{}]}')
    done = command("report", "half.json")
    assert done.returncode == 2 and "half.json" in done.stderr and "Traceback" not in done.stderr


def test_more_elements_and_larger_transfers_move_more_from_memory() -> None:
    found = cw.probe("ps3", "memory-read", sizes=["128..16k"], buffers=[1], spes=[1, 6]).measurements
    by = {(m["partners"], m["size_bytes"]): m["bandwidth_gbs"]["p50"] for m in found}
    assert by[1, 128] < by[1, 1024] < by[1, 16384] < by[6, 16384] <= 25.61
    assert by[6, 128] > 4 * by[1, 128]


def test_choices_about_the_simulated_machine_reach_it() -> None:
    textbook = cw.probe("qs22", "far", sizes=[16384], rules="textbook")
    default = cw.probe("qs22", "far", sizes=[16384])
    assert "textbook" in textbook.target and textbook.target != default.target
    assert textbook.measurements[0]["bandwidth_gbs"] != default.measurements[0]["bandwidth_gbs"]
    found = cw.probe("ps3", "all-pairs", sizes=[128], hidden=[1, 6])
    assert "1 and 6" in found.target and len(found.measurements) == 30


def test_parameters_of_the_machine_each_show_in_a_measurement() -> None:
    def gbs(**options: Any) -> float:
        given: dict[str, Any] = {"sizes": [128], "buffers": [8], "spes": [4], "repeats": 512, **options}
        return float(cw.probe("cell", "memory-read", **given).measurements[0]["bandwidth_gbs"]["p50"])

    free = gbs()
    assert gbs(stride="2k") < 0.25 * free, "one bank of memory"
    assert gbs(stride="2k", parameters={"memory.bank": 128}) < 0.6 * gbs(stride="2k")
    assert gbs(spes=[1], buffers=[1], cached=True) > 1.2 * gbs(spes=[1], buffers=[1]), "in a PPE's cache"
    assert gbs(parameters={"mfc.memory_token": 400}) < 0.5 * free, "tokens"
    pages = {"stride": "64k", "spes": [1], "buffers": [1]}
    assert gbs(**pages, parameters={"mfc.tlb_entries": 4}) < 0.8 * gbs(**pages), "a new page every time"


def test_computing_hides_behind_transfers_in_other_buffers_and_is_serial_with_one() -> None:
    def span(buffers: int = 2, **options: int) -> float:
        found = cw.probe("cell", "0<-7", sizes=[16384], buffers=[buffers], repeats=64, **options)
        return float(found.measurements[0]["span_us"]["p50"])

    assert span(compute_ns=300) < 1.05 * span()
    assert span(compute_ns=5000) > 63 * 5
    assert span(1, compute_ns=300) > span(1) + 63 * 0.3


FILES = {
    "exists.json": "{}",
    "exists.png": "",
    "broken.toml": "name = ",
    "other.toml": 'name = "other"\n[[element]]\nname = "DSP"\n',
}

REQUESTS: list[tuple[str, list[str]]] = [
    ("--pattern faar", ["faar", "did you mean `far`?"]),
    ("--pattern nothing-like-it", ["nothing-like-it", "all-pairs", "0<-7"]),
    ("--on qs22 --pattern 0<-16", ["0<-16", "16", "0 to 15"]),
    ("--on qs22 --pattern 0<-0", ["SPE0", "itself"]),
    ("--on qs22 --pattern 0<-mem2", ["chip 2"]),
    ("--on qs22 --pattern 0<-spx3", ["spx3", "SPE3"]),
    ("--on qs22 --pattern 0<-7,", ["0<-7"]),
    ("--on qs22 --pattern ppe0<-mem", ["PPE0"]),
    ("--on cell --pattern cross-chip", ["cross-chip", "two chips", "cell"]),
    ("--on qs22 --pattern far --spes 17", ["17", "1 to 16"]),
    ("--on qs22 --pattern far --spes 0", ["0", "1 to 16"]),
    ("--on qs22 --pattern 0<-1 --spes 2", ["0<-1", "who takes part"]),
    ("--on qs22 --pattern far --spes many", ["spes", "many"]),
    ("--on qs22 --size 0", ["0 bytes", "multiple of 16"]),
    ("--on qs22 --size 17", ["17", "16 or 32"]),
    ("--on qs22 --size 33554433", ["33554433", "16777216"]),
    ("--on qs22 --size 1M", ["1048576", "local store"]),
    ("--on qs22 --size 16kB", ["16kB", "16k"]),
    ("--on qs22 --size 16k..16", ["16k..16"]),
    ("--on qs22 --size -16", ["-16"]),
    ("--on qs22 --buffers 0", ["buffers", "0", "1 to 8"]),
    ("--on qs22 --buffers 9", ["buffers", "9", "1 to 8"]),
    ("--on qs22 --buffers two", ["buffers", "two"]),
    ("--on qs22 --size 32k --buffers 8", ["8 buffers of 32768", "local store"]),
    ("--on qs22 --seed -1", ["--seed", "-1"]),
    ("--on qs22 --draws 0", ["--draws", "0"]),
    ("--on qs22 --samples 0", ["--samples", "0"]),
    ("--on qs22 --samples 1.5", ["--samples", "1.5"]),
    ("--on qs22 --repeats 0", ["--repeats", "0"]),
    ("--on qs22 --pattern far --size 32k --buffers 1 --repeats 1048576", ["packets", "1048576 times"]),
    ("--on qs22 --compute -5", ["--compute", "-5"]),
    ("--on qs22 --rules texbook", ["texbook", "textbook"]),
    ("--on ps3 --hidden 1,9", ["--hidden", "9", "7"]),
    ("--on ps3 --hidden 1,1", ["hidden", "different"]),
    ("--on ps3 --hidden one", ["one"]),
    ("--on cell --set memory.bnak=4", ["memory.bnak", "did you mean `memory.bank`?"]),
    ("--on cell --set memory.bank=0", ["memory.bank", "0"]),
    ("--on cell --set memory.bank", ["--set", "NAME=N"]),
    ("--on cell --set memory.bank=many", ["many"]),
    ("--on cell --set memory.bank=-1", ["memory.bank", "-1"]),
    ("--on host --set memory.bank=4", ["set", "host"]),
    ("--on cell --stride 100", ["stride of 100", "multiple of 128"]),
    ("--on cell --stride 128 --size 1k", ["stride of 128", "1024"]),
    ("--on cell --stride far", ["far"]),
    ("--on cell --stride 2k --size 128 --cached", ["stride", "one of the two"]),
    ("--on host --cached", ["cache", "simulated"]),
    ("--rules textbook", ["rules", "host"]),
    ("--hidden 1", ["hidden", "host"]),
    ("--on qs23", ["qs23", "did you mean `qs2"]),
    ("--on qs22:spe=6", ["qs22:spe=6", "--spes"]),
    ("--on nowhere.toml", ["nowhere.toml"]),
    ("--on broken.toml", ["broken.toml"]),
    ("--on other.toml", ["DSP", "os_cpu"]),
    ("--on host:cpus=4095", ["cpus", "4095"]),
    ("--on host --pattern ppe", ["PPE"]),
    ("--on qs22 -o exists.json", ["exists.json", "--force"]),
    ("--on qs22 -o nowhere/a.json", ["nowhere"]),
    ("--on qs22 -o a.jsn", ["jsn", "json"]),
    ("--on qs22 --plot exists.png", ["exists.png", "--force"]),
    ("--on qs22 --plot a.bmp", ["bmp", "png"]),
    ("--on cell --pattern pair -o cell.toml", ["PPE0 <- SPE0", "all-pairs and ppe"]),
    ("--patern far", ["--patern", "--pattern"]),
    ("--cores 4095", ["cpus", "4095", "this process has"]),
    ("--cores zero", ["cpus", "zero"]),
    ("--cores 3-1", ["cpus", "3-1"]),
    ("--on qs22 --cores 0", ["cores", "qs22", "host"]),
    ("--on qs22 --pattern line", ["line", "this computer only", "qs22"]),
    ("--cores 0 --pattern line", ["line", "at least 2"]),
    ("--pattern lines", ["lines", "did you mean `line`?"]),
    ("--on qs22 --pattern all-at-once --spes 1", ["all-at-once", "at least 2"]),
    ("--size 16M --buffers 1 --repeats 1000 --pattern 0<-mem", ["bytes of memory"]),
]


@pytest.mark.parametrize(("line", "fragments"), REQUESTS, ids=[line for line, _ in REQUESTS])
def test_a_wrong_request_is_named_and_exits_with_2(
    command: Command, tmp_path: Path, line: str, fragments: list[str]
) -> None:
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    before = sorted(tmp_path.iterdir())
    done = command("probe", *line.split())
    assert done.returncode == 2, done.stderr or done.stdout
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("cellweave")
    for fragment in fragments:
        assert fragment in done.stderr, done.stderr
    assert sorted(tmp_path.iterdir()) == before, "something was written"


def test_a_full_disk_exits_with_1_and_names_the_file(command: Command, tmp_path: Path) -> None:
    (tmp_path / "full.json").symlink_to("/dev/full")
    done = command("probe", "--on", "cell", "--pattern", "pair", "-o", "full.json", "--force")
    assert done.returncode == 1, done.stderr
    assert "full.json" in done.stderr and "Traceback" not in done.stderr


def test_a_refused_pinning_is_reported(command: Command, tmp_path: Path) -> None:
    (tmp_path / "far.toml").write_text(
        'name = "far"\n[[element]]\nname = "CPU0"\nos_cpu = 8191\n[[element]]\nname = "CPU1"\nos_cpu = 8190\n'
    )
    done = command("probe", "--on", "far.toml", "--pattern", "0<-1", "--samples", 2, "--size", 128)
    assert done.returncode == 0, done.stderr
    assert "unpinned" in done.stdout and "not known which cpus" in done.stdout


def test_transfers_at_the_same_time_are_compared_with_each_alone(command: Command) -> None:
    done = command("probe", "--on", "qs22", "--pattern", "near", "--pattern", "far", "--pattern", "pair", "--json")
    found = {m["pattern"]: m for m in json.loads(done.stdout)["measurements"] if m["size_bytes"] == 16384}
    assert found["pair"]["slowdown"] is None
    near, far = found["near"]["slowdown"]["p50"], found["far"]["slowdown"]["p50"]
    assert 0.95 < near < 1.2 and far > 1.5 * near
    alone = cw.probe("qs22", "0<-7", sizes=["16k"]).measurements[0]
    together = cw.probe("qs22", "far", sizes=["16k"]).measurements[0]["each"][0]
    span_us = (together["end_ns"] - together["start_ns"]) / 1e3
    assert together["transfer"] == "0<-7"
    assert together["slowdown"] == pytest.approx(span_us / alone["span_us"]["p50"])
    out = command("probe", "--on", "qs22", "--pattern", "far", "--size", "16k").stdout
    assert "slow-down" in out and "slowed most" in out


def test_one_cpu_has_memory_and_turns_and_no_pairs(command: Command, tmp_path: Path) -> None:
    cpu = cw.Machine.host().elements[-1]["os_cpu"]
    done = command("probe", "--cores", cpu, "--samples", 3, "--json", "-o", "one.csv", "--plot", "one.png")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [e["cpu"] for e in found["elements"]] == [cpu]
    assert {m["pattern"] for m in found["measurements"]} == {
        "memory-read-each", "memory-write-each", "memory-copy-each",
    }  # fmt: skip
    assert [x["pattern"] for x in found["exchanges"]] == ["yield"]
    rows = list(csv.DictReader(io.StringIO((tmp_path / "one.csv").read_text())))
    assert [row["pattern"] for row in rows][-1] == "yield" and rows[-1]["initiator"] == f"CPU{cpu}"


def test_what_two_cpus_do_with_a_line_is_in_table_json_and_csv(command: Command, tmp_path: Path) -> None:
    if len(cw.Machine.host().elements) < 2:
        pytest.skip("a line is handed over between two cpus")
    found = cw.probe(patterns=["line", "line-home", "false-sharing", "wake", "yield"], samples=10)
    assert {x["pattern"] for x in found.exchanges} == {"line", "line-home", "false-sharing", "wake", "yield"}
    homes = {x["home"] for x in found.exchanges if x["pattern"] == "line-home"}
    assert homes >= {"writer", "reader", "writer, fresh", "reader, fresh"}
    for x in found.exchanges:
        q = x["latency_ns"]
        assert 0 < q["min"] <= q["p10"] <= q["p50"] <= q["p90"]
        assert (x["slowdown"] is None) == (x["pattern"] != "false-sharing")
    wake = next(x for x in found.exchanges if x["pattern"] == "wake")
    line = next(x for x in found.exchanges if x["pattern"] == "line")
    assert wake["latency_ns"]["min"] > line["latency_ns"]["min"], "a sleeper takes a system call to wake"
    lines = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert [list(line) for line in lines] == [list(row) for row in found.rows()]
    # A narrow column breaks "line at reader, fresh" into two lines.
    for word in ["lines, wake-ups, turns", "line at reader", "fresh", "wake-up", "verdict: "]:
        assert word in str(found)


def test_a_quota_below_what_takes_part_is_said(command: Command, tmp_path: Path) -> None:
    (tmp_path / "part.toml").write_text(
        'name = "part"\nquota_cpus = 0.5\n[[element]]\nname = "CPU0"\n'
        f"os_cpu = {cw.Machine.host().elements[0]['os_cpu']}\n"
    )
    done = command("probe", "--on", "part.toml", "--pattern", "0<-mem", "--samples", 3)
    assert done.returncode == 0, done.stderr
    assert "a quota leaves 0.5 cpus" in done.stdout


def test_it_says_beforehand_how_long_it_takes() -> None:
    seen: list[dict[str, Any]] = []
    cw.probe(patterns="memory-read-each", samples=3, progress=seen.append)
    least, most = seen[0]["expected_s"]
    assert 0 < least <= most and seen[0]["done"] == 0


@pytest.mark.parametrize("ending", ["json", "csv", "toml"])
def test_who_is_killed_in_the_middle_leaves_no_file(tmp_path: Path, ending: str) -> None:
    line = [sys.executable, "-m", "cellweave", "probe", "--on", "qs22", "--pattern", "random", "--draws", "100000"]
    line += ["--pattern", "all-pairs", "--pattern", "ppe", "-o", f"part.{ending}"]
    run = subprocess.Popen(line, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(1.5)
    assert run.poll() is None
    run.kill()
    run.wait(timeout=60)
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_reports_what_was_measured_so_far(tmp_path: Path) -> None:
    line = [sys.executable, "-m", "cellweave", "probe", "--on", "qs22", "--pattern", "random", "--draws", "100000"]
    run = subprocess.Popen(
        [*line, "-o", "part.json"],
        cwd=tmp_path,
        env={**os.environ, "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(6)
    assert run.poll() is None, run.communicate()
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=60)
    assert run.returncode == 0, err
    assert "stopped by Ctrl-C" in out
    found = json.loads((tmp_path / "part.json").read_text())
    assert found["stopped"] and 0 < len(found["measurements"]) < 200_000


def test_a_machine_file_that_was_not_asked_for_is_not_written(tmp_path: Path) -> None:
    found = cw.probe("cell", "pair", sizes=[128])
    with pytest.raises(cw.RequestError, match="machine_file=True"):
        found.to_machine()
    with pytest.raises(cw.RequestError, match="machine_file=True"):
        found.save(tmp_path / "a.toml")
    assert list(tmp_path.iterdir()) == []
