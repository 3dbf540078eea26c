"""Campaigns: real schedulers and workers as processes on loopback; stopped, killed and refused ones lose nothing."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cellweave as cw
import pytest
from conftest import Command

pytest.importorskip("distributed", reason="needs the extra `campaign`: pip install 'cellweave[campaign]'")
pytest.importorskip("pyarrow", reason="needs the extra `campaign`: pip install 'cellweave[campaign]'")

from cellweave.campaign.definition import Definition
from cellweave.campaign.store import FIGURES, Store
from cellweave.campaign.summary import summary
from cellweave.sets import graph_set

# 12 cells; annealing of so many moves takes some tenths of a second.
GRID = """
name = "small"
graphs = ["paper250:daggen-2[036]-*-ccr0.01"]
machines = ["qs22:ppe=1,spe=2..3"]
methods = ["greedy", "anneal"]
options = [{ moves = 200000, batch = 1, gap = 0.0 }]
"""
CELLS = 12
LOOPBACK = "tcp://127.0.0.1"


@pytest.fixture
def grid(tmp_path: Path) -> Path:
    path = tmp_path / "grid.toml"
    path.write_text(GRID)
    return path


@pytest.fixture(autouse=True)
def settings_of_dask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Dask writes its settings where it finds none.
    monkeypatch.setenv("DASK_CONFIG", str(tmp_path / "dask"))


def figures(folder: Path) -> list[dict[str, Any]]:
    """All that must be equal when a campaign is repeated."""
    return [{name: row[name] for name in FIGURES} for row in Store(folder).rows()]


@pytest.fixture(scope="module")
def through(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What a campaign gives that ran through."""
    folder = tmp_path_factory.mktemp("through")
    (folder / "grid.toml").write_text(GRID)
    words = ["campaign", str(folder / "grid.toml"), "--workers", "2", "-q"]
    env = os.environ | {"DASK_CONFIG": str(folder / "dask")}
    subprocess.run([sys.executable, "-m", "cellweave", *words], check=True, env=env)
    return figures(folder / "grid.campaign")


class Cluster:
    """A scheduler and workers, each a process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "scheduler.json"
        self.processes: list[subprocess.Popen[bytes]] = []
        words = ["scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
        self._start([*words, "--scheduler-file", str(self._file)])
        wait_for(lambda: self._file.exists() and self._file.read_text().strip().endswith("}"))
        self.address = str(json.loads(self._file.read_text())["address"])

    def worker(self, *words: str) -> subprocess.Popen[bytes]:
        own = ["worker", self.address, "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", "--no-dashboard"]
        return self._start([*own, "--local-directory", str(self._folder), *words])

    def _start(self, words: list[str]) -> subprocess.Popen[bytes]:
        log = (self._folder / f"log{len(self.processes)}").open("wb")
        started = subprocess.Popen([sys.executable, "-m", "dask", *words], stdout=log, stderr=log, cwd=self._folder)
        log.close()
        self.processes.append(started)
        return started

    def stop(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path)
    try:
        yield made
    finally:
        made.stop()


def wait_for(condition: Any, seconds: float = 60.0) -> None:
    """Not a test of time: a machine that is busy may take long, but not for ever."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)


def begin(*words: str) -> subprocess.Popen[str]:
    """The command, in a session of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "cellweave", "campaign", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def kept(folder: Path) -> int:
    return len(list((folder / "rows").glob("*.parquet")))


def test_a_campaign_gives_what_planning_gives(through: list[dict[str, Any]]) -> None:
    assert len(through) == CELLS and not any(row["error"] for row in through)
    row = next(row for row in through if row["method"] == "anneal" and row["tasks"] == 26)
    graph = next(g for g in graph_set("paper250") if g.name == row["graph"])
    made = cw.plan(graph, row["machine"], "anneal", moves=200_000, batch=1, gap=0.0)
    assert (row["period_ns"], row["bound_ns"], row["feasible"]) == (made.period_ns, made.bound_ns, made.feasible)
    assert (row["ccr"], row["size"], row["elements"]) == (0.01, "small", 3)


def test_what_is_done_is_not_repeated(command: Command, grid: Path, through: list[dict[str, Any]]) -> None:
    folder = grid.with_suffix(".campaign")
    first = json.loads(command("campaign", str(grid), "--workers", "2", "--json").stdout)
    assert (first["cells"], first["computed"], first["failed"]) == (CELLS, CELLS, [])
    lost = sorted((folder / "rows").glob("*.parquet"))[:3]
    for path in lost:
        path.unlink()
    again = json.loads(command("campaign", str(grid), "--workers", "1", "--json").stdout)
    assert again["computed"] == len(lost)
    assert json.loads(command("campaign", str(grid), "--json").stdout)["computed"] == 0
    assert figures(folder) == through


def test_killed_at_any_moment_and_resumed_the_table_is_the_same(
    command: Command, grid: Path, through: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    # What a killed one leaves behind goes with the test.
    monkeypatch.setenv("TMPDIR", str(grid.parent))
    folder = grid.with_suffix(".campaign")
    for wanted in (1, 4, 9):
        running = begin(str(grid), "--workers", "2")
        wait_for(lambda wanted=wanted, running=running: kept(folder) >= wanted or running.poll() is not None)
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
        running.communicate()
    assert command("campaign", str(grid), "--workers", "2", "-q").returncode == 0
    assert figures(folder) == through


def test_ctrl_c_keeps_what_is_done(grid: Path, command: Command) -> None:
    folder = grid.with_suffix(".campaign")
    running = begin(str(grid), "--workers", "1")
    wait_for(lambda: kept(folder) >= 1 or running.poll() is not None)
    running.send_signal(signal.SIGINT)
    _, told = running.communicate(timeout=60)
    assert "Traceback" not in told
    if running.returncode != 0:
        assert running.returncode == 1 and "stopped" in told
    assert len(Store(folder).rows()) == kept(folder) >= 1


def test_a_killed_worker_costs_no_result(grid: Path, cluster: Cluster, through: list[dict[str, Any]]) -> None:
    folder = grid.with_suffix(".campaign")
    victim = cluster.worker()
    cluster.worker()
    running = begin(str(grid), "--dask", cluster.address)
    wait_for(lambda: kept(folder) >= 1 or running.poll() is not None)
    victim.kill()
    _, told = running.communicate(timeout=120)
    assert running.returncode == 0, told
    assert figures(folder) == through


def test_when_the_scheduler_dies_the_rows_stay(
    grid: Path, cluster: Cluster, command: Command, through: list[dict[str, Any]]
) -> None:
    folder = grid.with_suffix(".campaign")
    cluster.worker()
    running = begin(str(grid), "--dask", cluster.address)
    wait_for(lambda: kept(folder) >= 1 or running.poll() is not None)
    cluster.stop()
    _, told = running.communicate(timeout=120)
    assert running.returncode == 1 and "the same command goes on" in told, told
    assert "Traceback" not in told
    assert command("campaign", str(grid), "--workers", "2", "-q").returncode == 0
    assert figures(folder) == through


@pytest.mark.parametrize(
    ("preload", "told"),
    [
        ("import cellweave.campaign.cell as c\nc.version = lambda: '9.9.9 (build 0)'\n", "9.9.9 (build 0)"),
        ("import sys\nsys.modules['cellweave'] = None\n", "has no cellweave"),
    ],
)
def test_a_worker_of_another_version_is_refused(
    grid: Path, cluster: Cluster, command: Command, tmp_path: Path, preload: str, told: str
) -> None:
    from cellweave.campaign.cell import version

    (tmp_path / "other.py").write_text(preload)
    cluster.worker("--preload", str(tmp_path / "other.py"))
    out = command("campaign", str(grid), "--dask", cluster.address)
    assert out.returncode == 2, out.stderr
    assert told in out.stderr and version() in out.stderr
    assert kept(grid.with_suffix(".campaign")) == 0


def test_no_scheduler_is_said_at_once(grid: Path, command: Command) -> None:
    out = command("campaign", str(grid), "--dask", f"{LOOPBACK}:9")
    assert out.returncode == 2 and "no scheduler answers at tcp://127.0.0.1:9" in out.stderr
    assert "Traceback" not in out.stderr


@pytest.mark.parametrize("module", ["pyarrow", "distributed"])
def test_without_the_extra_it_says_what_to_install(grid: Path, module: str) -> None:
    program = (
        f"import sys; sys.modules[{module!r}] = None\nfrom cellweave.cli import call\nsys.exit(call(sys.argv[1:]))"
    )
    words = [sys.executable, "-c", program, "campaign", str(grid)]
    out = subprocess.run(words, capture_output=True, text=True)
    assert out.returncode == 2 and "pip install 'cellweave[campaign]'" in out.stderr, out.stderr


def test_two_campaigns_do_not_share_a_folder(grid: Path, command: Command, tmp_path: Path) -> None:
    definition = Definition.load(grid)
    folder = tmp_path / "shared"
    store = Store.open(folder, definition)
    out = command("campaign", str(grid), "-o", str(folder))
    assert out.returncode == 2 and "is running in" in out.stderr
    store.close()
    other = tmp_path / "other.toml"
    other.write_text(GRID.replace("anneal", "delegate"))
    out = command("campaign", str(other), "-o", str(folder))
    assert out.returncode == 2 and "holds the campaign `small` with another grid" in out.stderr


def test_a_full_disk_is_said_and_rows_stay(grid: Path, tmp_path: Path) -> None:
    store = Store.open(tmp_path / "full", Definition.load(grid))
    rows = [{"key": key, "graph": "g"} for key in store.about["order"][:2]]
    store.add(rows[0])
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        with pytest.raises(cw.RunError, match="could not be written"):
            store.add(rows[1])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert [row["key"] for row in store.rows()] == [rows[0]["key"]]
    store.close()


def test_a_failed_cell_is_a_row_with_its_error(command: Command, tmp_path: Path) -> None:
    (tmp_path / "none.toml").write_text('name = "none"\ntask = [{ name = "a", cost_ns = { gpu = 5.0 } }]\n')
    (tmp_path / "some.toml").write_text('name = "some"\ntask = [{ name = "a", cost_ns = { "*" = 5.0 } }]\n')
    grid = tmp_path / "grid.toml"
    grid.write_text('graphs = ["none.toml", "some.toml"]\nmethods = "greedy"\n')
    out = command("campaign", str(grid), "--workers", "1")
    assert out.returncode == 1 and "1 failed" in out.stderr and "has no cost" in out.stderr
    rows = Store(tmp_path / "grid.campaign").rows()
    assert [row["error"] is None for row in rows] == [False, True]
    assert "has no cost" in rows[0]["error"] and rows[1]["period_ns"] == 5.0
    again = command("campaign", str(grid), "--workers", "1", "--again", "--json")
    assert json.loads(again.stdout)["computed"] == 1


def test_a_cell_that_kills_every_worker_is_a_row(command: Command, tmp_path: Path) -> None:
    (tmp_path / "boom.py").write_text(
        'import os\n\nimport cellweave as cw\n\n\n@cw.kernel(inputs={"in": "uint8"})\ndef fire(x):\n    os._exit(3)\n'
    )
    app = ['name = "boom"', 'task = [{ name = "a", kernel = "cellweave:count", cost_ns = 100.0 },']
    app += ['{ name = "b", kernel = "python:boom:fire", cost_ns = 100.0 }]']
    app += ['edge = [{ from = "a", to = "b", bytes = 8 }]']
    (tmp_path / "boom.toml").write_text("\n".join(app).replace("= 100.0", '= { "*" = 100.0 }'))
    grid = tmp_path / "grid.toml"
    grid.write_text('graphs = "boom.toml"\nwhat = "simulated"\ninstances = 5\nmethods = "greedy"\n')
    out = command("campaign", str(grid), "--workers", "1")
    assert out.returncode == 1, out.stderr
    (row,) = Store(tmp_path / "grid.campaign").rows()
    assert row["error"] == "every worker that began this cell died"
    assert (row["graph"], row["instances"], row["options"]) == ("boom", 5, "{}")


def test_many_files_become_one(grid: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cellweave.campaign.store._MANY", 2)
    definition = Definition.load(grid)
    store = Store.open(tmp_path / "many", definition)
    for key in store.about["order"][:5]:
        store.add({"key": key, "graph": "g"})
    before = store.rows()
    store.close()
    store = Store.open(tmp_path / "many", definition)
    assert kept(tmp_path / "many") == 1 and store.rows() == before
    store.close()
    (tmp_path / "many" / "rows" / "all.parquet").write_bytes(b"PAR1")
    with pytest.raises(cw.RequestError, match="is damaged"):
        store.rows()


def test_a_simulated_campaign_runs_on_the_cell(command: Command, tmp_path: Path) -> None:
    grid = tmp_path / "run.toml"
    words = ['graphs = "paper250:daggen-20-*-ccr0.1"', 'what = "simulated"', "instances = [200, 400]"]
    grid.write_text("\n".join([*words, 'methods = "greedy"', 'machines = "qs22:ppe=1"']))
    out = command("campaign", str(grid), "--workers", "2", "-q")
    assert out.returncode == 0, out.stderr
    rows = Store(tmp_path / "run.campaign").rows()
    assert [row["instances"] for row in rows] == [200, 400]
    assert all(row["achieved_per_s"] > 0 and 0 < row["ratio"] < 10 for row in rows)


def test_the_summary_groups_divides_and_draws(
    command: Command, grid: Path, tmp_path: Path, through: list[dict[str, Any]]
) -> None:
    folder = grid.with_suffix(".campaign")
    store = Store.open(folder, Definition.load(grid))
    for row in through:
        store.add(row)
    store.close()
    found = summary(folder, ["method"], over="method=anneal")
    by_method = {group["method"]: group for group in found.groups}
    assert by_method["anneal"]["mean"] == 1.0 and by_method["greedy"]["max"] <= 1.0 + 1e-9
    assert by_method["greedy"]["rows"] == CELLS // 2
    picture = tmp_path / "picture.png"
    words = ["campaign", "summary", str(folder), "--by", "method,tasks", "--of", "period_ns"]
    out = command(*words, "--picture", str(picture), "--json")
    assert len(json.loads(out.stdout)["groups"]) == 6 and picture.stat().st_size > 1000
    for flag, wrong, near in (("--by", "metod", "method"), ("--of", "period", "period_ns"), ("--over", "seed=7", "1")):
        refused = command("campaign", "summary", str(folder), flag, wrong)
        assert refused.returncode == 2 and near in refused.stderr, refused.stderr
    assert command("campaign", "summary", str(tmp_path)).returncode == 2


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("grahps = []", "did you mean `graphs`"),
        ('graphs = "no.toml"', "no file `no.toml`"),
        ('graphs = "paper250:nothing"', "no graph of paper250"),
        ('graphs = "paper250:*20-*"\nmethods = ["gredy"]', "did you mean `greedy`"),
        ('graphs = "paper250:*20-*"\nmachines = "qs23"', "qs2"),
        ('graphs = "paper250:*20-*"\noptions = [{ movse = 1 }]', "did you mean `moves`"),
        ('graphs = "paper250:*20-*"\noptions = [{ gap = 2.0 }]', "0.999"),
        ('graphs = "paper250:*20-*"\ninstances = [5]', "simulated"),
        ('graphs = "paper250:*20-*"\nseeds = [1, 1]', "named twice"),
        ('graphs = "paper250:*20-*"\nwhat = "guessed"', "predicted, simulated"),
        ('graphs = "paper250:*20-*"\nuntil_steady = true', "simulated"),
        ('graphs = "paper250:*20-*"\nwhat = "simulated"\nuntil_steady = 1', "neither true nor false"),
        ("graphs = [", "grid.toml"),
    ],
)
def test_a_wrong_file_says_what_is_wrong(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "grid.toml").write_text(text)
    with pytest.raises(cw.RequestError) as refused:
        Definition.load(tmp_path / "grid.toml")
    assert told in str(refused.value), str(refused.value)
