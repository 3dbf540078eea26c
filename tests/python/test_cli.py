"""The command line does what it says: files appear whole, JSON is JSON, Ctrl-C drains, exit codes are 0 and 1."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import cellweave as cw
import pytest
from conftest import Command

PLAN_KEYS = {
    "application", "machine", "method", "buffering", "feasible", "violations", "period_ns", "bound_ns", "gap",
    "throughput_per_s", "bottleneck", "mapping", "contributions", "buffers_bytes", "batch", "order", "edges", "moves",
    "seconds",
}  # fmt: skip
RUN_KEYS = {
    "application", "machine", "plan", "instances", "elapsed_s", "throughput_per_s", "steady_per_s", "predicted_per_s",
    "ratio", "differences", "explanation", "steady_after", "elements", "latency_ns", "pinned",
}  # fmt: skip


def test_version_include_and_help_answer_with_0(command: Command) -> None:
    assert command("--version").stdout.strip() == f"cellweave {cw.__version__}"
    folder = Path(command("--include").stdout.strip())
    assert (folder / "cellweave.h").is_file()
    verbs = ["machine", "machine list", "machine show", "profile", "plan", "run", "generate daggen", "report"]
    for verb in ["", *verbs, "mpi", "mpi report"]:
        done = command(*verb.split(), "--help")
        assert done.returncode == 0 and "Usage" in done.stdout, verb


def test_help_is_quick_because_nothing_heavy_is_imported() -> None:
    code = "import sys, cellweave.cli; print(sorted({'numpy', 'matplotlib', 'numba', 'highspy'} & set(sys.modules)))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_every_machine_in_the_list_can_be_shown(command: Command) -> None:
    listed = json.loads(command("machine", "list", "--json").stdout)
    assert {"ps3", "cell", "qs20", "qs22", "host"} <= {m["name"] for m in listed}
    for machine in listed:
        shown = json.loads(command("machine", "show", machine["name"], "--json").stdout)
        assert shown["elements"]


def test_a_machine_file_that_was_written_is_read_again(command: Command, tmp_path: Path) -> None:
    assert command("machine", "show", "qs20:spe=4", "-o", "m.toml", "--picture", "m.png").returncode == 0
    assert (tmp_path / "m.png").read_bytes().startswith(b"\x89PNG")
    assert cw.Machine.load(tmp_path / "m.toml") == cw.Machine.load("qs20:spe=4")


def test_a_graph_is_drawn_planned_and_its_plan_has_the_promised_keys(command: Command, tmp_path: Path) -> None:
    line = "generate daggen --tasks 135 --fat 0.5 --regular 0.5 --density 0.2 --jump 2 --ccr 0.01 --seed 7 -o g.toml"
    assert command(*line.split()).returncode == 0
    done = command("plan", "g.toml", "--on", "qs22", "--json", "-o", "plan.json", "--picture", "plan.svg")
    assert done.returncode == 0, done.stderr
    plan = json.loads(done.stdout)
    assert set(plan) >= PLAN_KEYS
    assert plan == json.loads((tmp_path / "plan.json").read_text())
    assert plan["gap"] == pytest.approx(1 - plan["bound_ns"] / plan["period_ns"])
    assert (tmp_path / "plan.svg").read_text().lstrip().startswith("<?xml")


def test_the_table_of_a_plan_names_period_gap_and_bottleneck(command: Command) -> None:
    out = command("plan", "costed.toml", "--on", "qs22").stdout
    for word in ["period", "bound", "gap", "bottleneck", "compute of SPE", "feasible"]:
        assert word in out


def test_generated_graphs_go_to_stdout_where_no_file_is_named(command: Command, tmp_path: Path) -> None:
    text = command("generate", "daggen", "--tasks", 12).stdout
    assert len(cw.Graph.from_toml(text).to_dict()["task"]) == 12
    data = json.loads(command("generate", "daggen", "--tasks", 12, "--json").stdout)
    assert cw.Graph.from_dict(data).to_toml() == cw.Graph.from_toml(text).to_toml()


def test_an_infeasible_plan_is_written_shown_and_exits_with_1(command: Command, tmp_path: Path) -> None:
    (tmp_path / "big.toml").write_text(
        '[[task]]\nname = "a"\ncost_ns = { spe = 5.0 }\n[[task]]\nname = "b"\ncost_ns = { spe = 5.0 }\n'
        '[[edge]]\nfrom = "a"\nto = "b"\nbytes = 1000000\n'
    )
    done = command("plan", "big.toml", "--on", "ps3", "-o", "plan.json")
    assert done.returncode == 1
    assert "NO" in done.stdout and "broken: " in done.stdout
    assert json.loads((tmp_path / "plan.json").read_text())["feasible"] is False


def test_quiet_says_nothing_and_force_overwrites(command: Command, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text("old")
    done = command("plan", "costed.toml", "--on", "qs22", "-o", "plan.json", "--force", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert json.loads((tmp_path / "plan.json").read_text())["application"] == "costed"


def test_a_run_profiles_plans_and_has_the_promised_keys(command: Command, tmp_path: Path) -> None:
    done = command("run", "chain.toml", "--instances", 20000, "--json", "-o", "result.json", "--trace", "t.json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert set(result) >= RUN_KEYS and result["instances"] == 20000
    assert json.loads((tmp_path / "result.json").read_text()) == result
    assert json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    assert "traceback" not in done.stderr.lower()


def test_profile_plan_run_report_work_on_each_other_s_files(command: Command, tmp_path: Path) -> None:
    assert command("profile", "chain.toml", "-o", "measured.toml").returncode == 0
    for task in cw.Graph.load(tmp_path / "measured.toml").to_dict()["task"]:
        assert task["cost_ns"]
    assert command("plan", "measured.toml", "-o", "plan.json").returncode == 0
    done = command(
        "run", "measured.toml", "--plan", "plan.json", "--instances", 50000, "-o", "r.json", "--trace", "t.json"
    )
    assert done.returncode == 0, done.stderr
    assert command("machine", "show", "host", "-o", "m.toml").returncode == 0
    files = ["r.json", "plan.json", "t.json", "measured.toml", "m.toml"]
    done = command("report", *files, "-o", "report.html", "--pictures", "pictures")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "report.html").read_text()
    pictures = {path.name for path in (tmp_path / "pictures").iterdir()}
    assert pictures == {"measured-mapping.png", "plan-contributions.png", "t-timeline.png", "m-machine.png"}
    for heading in ("Predicted and achieved", "The graph", "What ran when", "The machine host", "What the plan counts"):
        assert f"<h2>{heading}" in page


def test_a_profile_in_another_folder_finds_what_the_application_reads(command: Command, tmp_path: Path) -> None:
    (tmp_path / "data.raw").write_bytes(bytes(64 * 100))
    (tmp_path / "app.toml").write_text(
        'name = "files"\n[[task]]\nname = "in"\nkernel = "cellweave:read"\nparams = { path = "data.raw" }\n'
        '[[task]]\nname = "out"\nkernel = "cellweave:write"\nparams = { path = "out.raw" }\n'
        '[[edge]]\nfrom = "in"\nto = "out"\nbytes = 64\n'
    )
    (tmp_path / "there").mkdir()
    assert command("profile", "app.toml", "-o", "there/app.toml").returncode == 0
    done = command("run", "there/app.toml")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "there" / "out.raw").read_bytes() == bytes(64 * 100)
    assert not (tmp_path / "out.raw").exists()


def test_work_that_fails_exits_with_1_and_names_the_task(command: Command, tmp_path: Path) -> None:
    (tmp_path / "app.toml").write_text(
        (tmp_path / "chain.toml")
        .read_text()
        .replace('"cellweave:discard"', '"cellweave:write"\nparams = { path = "/dev/full" }')
    )
    done = command("run", "app.toml", "--instances", 100000)
    assert done.returncode == 1
    assert "sink" in done.stderr and "Traceback" not in done.stderr


def test_a_full_disk_loses_no_result(command: Command, tmp_path: Path) -> None:
    # Links of our own: a fault here must not replace the device itself.
    for name in ("r.json", "t.json"):
        (tmp_path / name).symlink_to("/dev/full")
    done = command("run", "chain.toml", "--instances", 20000, "--trace", "t.json", "--force", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["instances"] == 20000 and "trace" not in result
    assert [w for w in result["warnings"] if "the trace t.json could not be written: No space left" in w]
    assert "wrote" not in done.stderr
    done = command("run", "chain.toml", "--instances", 20000, "-o", "r.json", "--force", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["instances"] == 20000
    assert "r.json could not be written: No space left" in done.stderr
    assert (tmp_path / "r.json").is_symlink() and (tmp_path / "t.json").is_char_device()


def test_a_standard_output_that_takes_nothing_is_named_and_a_closed_one_is_none(tmp_path: Path) -> None:
    def shell(line: str) -> subprocess.CompletedProcess[str]:
        line = line.replace("cellweave", f"'{sys.executable}' -m cellweave")
        return subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, timeout=120)

    done = shell("cellweave machine show cell > /dev/full")
    assert done.returncode == 1
    assert done.stderr == "cellweave machine: the standard output cannot be written: No space left on device\n"
    done = shell("cellweave machine show cell -o cell.toml >&- <&-")
    assert (done.returncode, done.stderr) == (0, "wrote cell.toml\n")


def test_a_closed_pipe_is_no_error(command: Command, tmp_path: Path) -> None:
    line = f"'{sys.executable}' -m cellweave generate daggen --tasks 20000 | head -1; echo ${{PIPESTATUS[0]}}"
    out = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert out.stdout.splitlines()[-1] == "0", out.stderr
    assert "Traceback" not in out.stderr


def test_names_that_the_terminal_cannot_show_are_no_error(command: Command, tmp_path: Path) -> None:
    (tmp_path / "umlaut.toml").write_text('name = "größe"\n[[task]]\nname = "tä"\ncost_ns = { spe = 1.0 }\n', "utf-8")
    line = [sys.executable, "-m", "cellweave", "plan", "umlaut.toml", "--on", "qs22", "--method", "greedy"]
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(line, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "gr\\xf6\\xdfe" in done.stdout


def test_a_file_whose_name_is_not_utf_8_is_read(command: Command, tmp_path: Path) -> None:
    name = os.fsdecode(b"\xff.toml")
    os.rename(tmp_path / "costed.toml", tmp_path / name)
    assert command("plan", name, "--on", "qs22", "-q").returncode == 0
    done = command("plan", "chain.toml", "--on", name)
    assert done.returncode == 2 and "UTF-8" in done.stderr


@pytest.fixture
def endless(command: Command, tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """A run without an end, in a process of its own, which ends with the test."""
    app = (tmp_path / "chain.toml").read_text().replace('"cellweave:copy"', '"cellweave:spin"\nparams = { ns = 1000 }')
    (tmp_path / "endless.toml").write_text(app)
    line = [sys.executable, "-m", "cellweave", "profile", "endless.toml", "-o", "measured.toml", "-q"]
    assert subprocess.run(line, cwd=tmp_path, timeout=120).returncode == 0
    started = []

    def start(*more: str) -> subprocess.Popen[str]:
        run = subprocess.Popen(
            [sys.executable, "-m", "cellweave", "run", "measured.toml", *more],
            cwd=tmp_path,
            env={**os.environ, "NO_COLOR": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # Tests that nohup runs, or a shell in the background, would hand on that these are ignored.
            preexec_fn=lambda: [signal.signal(how, signal.SIG_DFL) for how in (signal.SIGINT, signal.SIGHUP)],
        )
        started.append(run)
        return run

    yield start
    for run in started:
        run.kill()
        run.communicate()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_ctrl_c_drains_reports_and_writes_the_result(
    command: Command, tmp_path: Path, endless: Callable[..., subprocess.Popen[str]], how: signal.Signals
) -> None:
    run = endless("-o", "result.json")
    time.sleep(4)
    assert run.poll() is None, run.communicate()
    run.send_signal(how)
    out, err = run.communicate(timeout=60)
    assert run.returncode == 0, err
    assert "achieved" in out and "Ctrl-C" in out
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["stopped"] and result["instances"] > 0


def test_a_second_ctrl_c_stops_what_does_not_drain(command: Command, tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(
        "import time\nimport cellweave as cw\n\n\n"
        '@cw.kernel(inputs={"in": "uint8"})\ndef sleep(x):\n    print("asleep", flush=True)\n    time.sleep(120)\n'
    )
    (tmp_path / "slow.toml").write_text(
        '[[task]]\nname = "source"\nkernel = "cellweave:count"\ncost_ns = { "*" = 10.0 }\n'
        '[[task]]\nname = "sleeper"\nkernel = "python:slow:sleep"\ncost_ns = { "*" = 10.0 }\n'
        '[[edge]]\nfrom = "source"\nto = "sleeper.in"\nbytes = 64\n'
    )
    line = [sys.executable, "-m", "cellweave", "run", "slow.toml", "-o", "result.json"]
    run = subprocess.Popen(line, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert run.stdout is not None and run.stdout.readline() == "asleep\n"
    for _ in range(2):
        run.send_signal(signal.SIGINT)
        time.sleep(1)
    _, err = run.communicate(timeout=60)
    assert run.returncode == 1, err
    assert "stopped" in err and "Traceback" not in err
    assert not (tmp_path / "result.json").exists()


def test_planning_needs_no_kernel_where_costs_are_given(command: Command, tmp_path: Path) -> None:
    (tmp_path / "app.toml").write_text(
        '[[task]]\nname = "a"\nkernel = "python:nowhere_at_all:f"\ncost_ns = { spe = 5.0 }\n'
    )
    assert command("plan", "app.toml", "--on", "qs22", "-q").returncode == 0


def test_a_run_that_is_killed_leaves_no_half_file(
    command: Command, tmp_path: Path, endless: Callable[..., subprocess.Popen[str]]
) -> None:
    run = endless("-o", "result.json", "--trace", "t.json")
    time.sleep(3)
    run.kill()
    run.communicate(timeout=60)
    assert not (tmp_path / "result.json").exists() and not (tmp_path / "t.json").exists()


def test_explain_shows_where_the_time_went(command: Command, tmp_path: Path) -> None:
    assert command("profile", "chain.toml", "-o", "measured.toml").returncode == 0
    text = (tmp_path / "measured.toml").read_text()
    assert "[profile.total_ns]" in text
    assert "alone_ns = [" in text
    plain = command("run", "measured.toml", "--instances", "200000")
    explained = command("run", "measured.toml", "--instances", "200000", "--explain")
    assert plain.returncode == explained.returncode == 0
    for title in ("tasks, ns per firing", "speeds: a pass"):
        assert title not in plain.stdout
        assert title in explained.stdout


@pytest.mark.parametrize(("on", "element", "other"), [("qs22", "SPE9", "SPE3"), ("cell", "SPE5", "PPE0")])
def test_run_plans_around_the_elements_given_to_tasks(command: Command, on: str, element: str, other: str) -> None:
    line = ["run", "costed.toml", "--on", on, "--instances", 100]
    result = json.loads(command(*line, "--map", f"b={element}", "--json").stdout)
    assert element in [e["name"] for e in result["elements"]]
    assert command("plan", "costed.toml", "--on", on, "--map", f"b={other}", "-o", "plan.json").returncode == 0
    refused = command(*line, "--plan", "plan.json", "--map", f"b={element}")
    assert refused.returncode == 2
    assert refused.stderr.strip() == (
        f"cellweave run: mapping: `b` on `{element}` is asked for, and the plan has it on `{other}`; "
        "plan again with this mapping"
    )
