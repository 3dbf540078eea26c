"""What one firing of a stage costs: hand-written, peers, cellweave, in one run.

    python3 benches/stream-overhead/run.py

Installs what peers need (as root, from Debian), builds everything into build/, measures interleaved rounds on
two cores, checks every item that arrives, writes latest.json, table.md and picture.png to results/, and puts
the table into README.md here and, when cellweave took part, into the project's. It takes about five minutes;
--quick takes two and only proves that it works. In portions: --cases null, then --cases us1 --add, and so on.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import shutil
import signal
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import contenders as who
from contenders import BUILD, CASES, FLAGS, HERE, PYTHON, RINGS_KB, ROOT, Case, Contender

RESULTS = HERE / "results"
SPIN_NS = 1000.0
"""The time of the 1 us kernel."""
LIMIT_S = 60.0
"""A process that takes longer than this is stopped and counts as failed."""
FIRST_ITEMS = 512
"""The first number of items that is tried; more are used until a run takes long enough."""


class Failed(Exception):
    """A contender failed; the text says how."""


def cpus() -> tuple[int, int]:
    """The first two cpus that this process may use; all contenders run there and nowhere else."""
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:
        raise SystemExit(f"two cores are needed, this process may use {len(allowed)}")
    return allowed[0], allowed[1]


def start(command: list[str]) -> list[dict[str, Any]]:
    """Run one process to its end; give its lines of JSON."""
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=BUILD,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise Failed(f"still running after {LIMIT_S:.0f} s") from None
    except BaseException:  # also Ctrl-C: leave nothing running
        os.killpg(process.pid, signal.SIGKILL)
        raise
    lines = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    faults = [line["fault"] for line in lines if line.get("fault")]
    if faults:
        raise Failed(faults[0])
    if process.returncode != 0:
        said = (err.strip().splitlines() or [f"exit code {process.returncode}"])[-1]
        raise Failed(said.replace(f"{ROOT}/", ""))
    if not lines:
        raise Failed("printed no result")
    return lines


def fire(
    contender: Contender, case: Case, items: int, spin: int, cpu: tuple[int, int], ring_kb: int | None = None
) -> dict[str, Any]:
    """One measurement."""
    name = contender.name if ring_kb is None else f"{contender.name}/{ring_kb}"
    words = [name, case.name, case.stages, items, spin, *cpu]
    found: dict[str, Any] = {}
    for line in start([*contender.command, *map(str, words)]):
        found |= line
    return found


def size(contender: Contender, case: Case, spin: int, cpu: tuple[int, int], seconds: float) -> int:
    """The number of items that take about that long."""
    items = FIRST_ITEMS
    while True:
        ns = fire(contender, case, items, spin, cpu)["elapsed_ns"]
        if ns >= seconds * 1e9 / 4:
            return max(1, int(items * seconds * 1e9 / ns))
        items *= min(16, max(2, int(seconds * 1e9 / 2 / max(ns, 1))))


def sweep(
    contender: Contender, case: Case, items: int, spin: int, cpu: tuple[int, int], rounds: int
) -> dict[str, float]:
    """ns per firing by the ring's size in kB: the least of a few rounds, as in all of them other programs only slow."""
    found: dict[str, float] = {}
    for _ in range(rounds):
        for ring_kb in RINGS_KB:
            ns = fire(contender, case, items, spin, cpu, ring_kb)["ns_per_firing"]
            found[str(ring_kb)] = min(ns, found.get(str(ring_kb), ns))
    return found


def quantiles(values: list[float]) -> dict[str, Any]:
    """min, p10, p50, p90 and n."""
    ordered = sorted(values)

    def at(share: float) -> float:
        return ordered[round(share * (len(ordered) - 1))]

    return {
        "n": len(ordered),
        "min": ordered[0],
        "p10": at(0.1),
        "p50": statistics.median(ordered),
        "p90": at(0.9),
    }


def first_match(path: str, key: str) -> str | None:
    try:
        for line in Path(path).read_text().splitlines():
            if line.startswith(key):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return None


def said_by(*command: str) -> str | None:
    """The first line that a program prints."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    except OSError:
        return None
    return (done.stdout.splitlines() or [""])[0] or None


def identity(cpu: tuple[int, int]) -> dict[str, Any]:
    """The machine and the versions, which go with all figures."""
    caches = {}
    for index in sorted(Path(f"/sys/devices/system/cpu/cpu{cpu[0]}/cache").glob("index*")):
        try:
            level, kind, size_text = ((index / name).read_text().strip() for name in ("level", "type", "size"))
        except OSError:
            continue
        caches[f"L{level}{'' if kind == 'Unified' else kind[0].lower()}"] = size_text
    peers = {name: who.version(name) for name in ("libtbb-dev", "gnuradio-dev")}
    peers["futuresdr"] = next(
        line.split('"')[1].lstrip("=")
        for line in (HERE / "futuresdr/Cargo.toml").read_text().splitlines()
        if line.startswith("futuresdr =")
    )
    return {
        "cpu_model": first_match("/proc/cpuinfo", "model name"),
        "cores": os.cpu_count(),
        "cpus_used": list(cpu),
        "caches": caches,
        "virtual": "hypervisor" in (first_match("/proc/cpuinfo", "flags") or ""),
        "kernel": platform.release(),
        "system": first_release_name(),
        "compilers": {"gcc": said_by("gcc", "--version"), "rustc": said_by("rustc", "--version")},
        "flags": " ".join(FLAGS),
        "peers": peers,
        "cellweave": said_by(str(PYTHON), "-c", "import cellweave; print(cellweave.__version__)"),
        "commit": said_by("git", "rev-parse", "--short=12", "HEAD"),
    }


def first_release_name() -> str | None:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME")
    except OSError:
        return None


def options() -> argparse.Namespace:
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--rounds", type=int, default=5, help="measurements of each contender in each case (5)")
    p.add_argument("--seconds", type=float, default=0.2, help="how long one of them takes (0.2)")
    p.add_argument("--sweeps", type=int, default=2, help="how often each size of a ring is tried (2)")
    p.add_argument("--only", nargs="+", default=[], metavar="WORD", help="contenders whose name has one of these")
    p.add_argument("--cases", nargs="+", default=[], metavar="NAME", help="null, us1, copy16k, diamond, or null/8")
    p.add_argument("--add", action="store_true", help="keep what latest.json has of other cases: a bench in portions")
    p.add_argument("--no-install", action="store_true", help="leave out what is not there")
    p.add_argument("--quick", action="store_true", help="one short round: proves that it works, measures nothing")
    p.add_argument("--results", type=Path, default=RESULTS, help="folder to write to")
    p.add_argument("--report", action="store_true", help="only draw results/latest.json again")
    o = p.parse_args()
    if o.quick:
        o.rounds, o.seconds = 1, 0.02
    if o.rounds < 1 or not 0 < o.seconds <= 10:
        p.error("--rounds: at least 1; --seconds: more than 0, at most 10")
    names = {c.name for c in CASES} | {str(c) for c in CASES}
    for name in o.cases:
        if name not in names:
            p.error(f"--cases: '{name}' is none of {', '.join(sorted(names))}")
    return o


def prepare(o: argparse.Namespace) -> tuple[list[Contender], dict[str, str]]:
    """Install and build. Gives the contenders that can take part, and why the others cannot."""
    BUILD.mkdir(exist_ok=True)
    shutil.rmtree(BUILD / "ours", ignore_errors=True)
    for command in (
        ["gcc", *FLAGS, "-c", "stage.c", "-o", str(BUILD / "stage.o")],
        ["gcc", *FLAGS, "limits.c", "stage.c", "-o", str(BUILD / "limits")],
    ):
        subprocess.run(command, cwd=HERE, check=True)
    ready: list[Contender] = []
    missing: dict[str, str] = {}
    for program in who.programs():
        wanted = [c for c in program.contenders if not o.only or any(word in c.name for word in o.only)]
        if not wanted:
            continue
        fault = who.install(program, allowed=not o.no_install) or who.build(program)
        for c in wanted:
            if fault:
                missing[c.name] = fault
                print(f"left out: {c.name}: {fault}")
            else:
                ready.append(c)
    return ready, missing


def measure(o: argparse.Namespace, ready: list[Contender], missing: dict[str, str], spin: int | None) -> dict[str, Any]:
    """All rounds. Within a case contenders take turns: a slow minute of the machine hits all of them."""
    cpu = cpus()
    os.sched_setaffinity(0, cpu)
    limits = [str(BUILD / "limits"), *map(str, cpu)]
    spin = spin or max(1, round(SPIN_NS / start(limits)[0]["spin_turn_ns"]["p50"]))
    cases = [c for c in CASES if not o.cases or c.name in o.cases or str(c) in o.cases]
    turns = [(case, c) for case in cases for c in ready if c.runs(case)]
    items: dict[tuple[Case, Contender], int] = {}
    failed: dict[str, str] = {}
    for case, c in turns:
        try:
            items[case, c] = size(c, case, spin, cpu, o.seconds)
        except Failed as why:
            failed[f"{c.name} {case}"] = str(why)
            print(f"failed: {c.name} {case}: {why}")
    rings: dict[tuple[Case, Contender], dict[str, float]] = {}
    for case, c in items:
        if c.ring or (c.name == "ours:two_cores" and case.name == "copy16k"):
            rings[case, c] = sweep(c, case, max(1, items[case, c] // 2), spin, cpu, o.sweeps)
    found: dict[tuple[Case, Contender], list[dict[str, Any]]] = {key: [] for key in items}
    machine: list[dict[str, Any]] = []
    load = [os.getloadavg()[0]]
    for n in range(o.rounds):
        machine.append(start([*limits, str(spin)])[0])
        for case, c in turns:
            if (case, c) not in items:
                continue
            try:
                best = rings.get((case, c), {}) if c.ring else {}
                ring_kb = int(min(best, key=best.__getitem__)) if best else None
                found[case, c].append(fire(c, case, items[case, c], spin, cpu, ring_kb))
            except Failed as why:
                failed[f"{c.name} {case}"] = str(why)
                print(f"failed: {c.name} {case}: {why}")
        load.append(os.getloadavg()[0])
        print(f"round {n + 1} of {o.rounds}")
    rows = []
    for (case, c), runs in found.items():
        if not runs:
            continue
        row: dict[str, Any] = {
            "contender": c.name,
            "case": case.name,
            "stages": case.stages,
            "items": items[case, c],
            "ns_per_firing": quantiles([r["ns_per_firing"] for r in runs]),
            "rounds": [r["ns_per_firing"] for r in runs],
        }
        if (case, c) in rings:
            row["ns_per_firing_by_ring_kb"] = rings[case, c]
        if all("ratio" in r for r in runs):
            row["ratio"] = [r["ratio"] for r in runs]
            row |= {
                key: runs[-1].get(key) for key in ("predicted_ns_per_firing", "batch", "mapping", "pinned", "ring_kb")
            }
        rows.append(row)
    return {
        "format": 1,
        "question": "ns per firing of a stage",
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": identity(cpu),
        "load_average": {"min": min(load), "max": max(load)},
        "rounds": o.rounds,
        "spin_turns": spin,
        "limits": limits_of(machine),
        "limit_rounds": machine,
        "left_out": missing,
        "failed": failed,
        "results": rows,
    }


def limits_of(rounds: list[dict[str, Any]]) -> dict[str, Any]:
    """What no contender can beat, from the measurements of each round."""
    limit = {
        key: {
            "min": min(m[key]["min"] for m in rounds),
            "p50": statistics.median(m[key]["p50"] for m in rounds),
        }
        for key in ("ping_pong_one_way_ns", "stream_line_ns", "spin_ns")
    }
    return {**limit, "ideal_us1_ns": limit["spin_ns"]["p50"] / 2}


def added(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Both portions of a bench; `new` counts where both have a case of a contender."""

    def key(row: dict[str, Any]) -> tuple[str, str, int]:
        return row["contender"], row["case"], row["stages"]

    known = {key(row) for row in new["results"]}
    again = {f"{row['contender']} {row['case']}/{row['stages']}" for row in new["results"]}
    rounds = old["limit_rounds"] + new["limit_rounds"]
    load = [part["load_average"] for part in (old, new)]
    return {
        **new,
        "load_average": {"min": min(p["min"] for p in load), "max": max(p["max"] for p in load)},
        "limits": limits_of(rounds),
        "limit_rounds": rounds,
        "left_out": {**old["left_out"], **new["left_out"]},
        "failed": {**{name: why for name, why in old["failed"].items() if name not in again}, **new["failed"]},
        "results": [row for row in old["results"] if key(row) not in known] + new["results"],
    }


def portion(o: argparse.Namespace, latest: Path) -> dict[str, Any] | None:
    """What there is already, with --add; only portions of one computer, one commit and as many rounds go together."""
    if not o.add or not latest.exists():
        return None
    old: dict[str, Any] = json.loads(latest.read_text())
    if (old["machine"], old["rounds"]) != (identity(cpus()), o.rounds):
        raise SystemExit(
            f"--add: {latest.name} is of another computer, commit or number of rounds: leave --add out first"
        )
    return old


def write(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    part = path.with_name(path.name + ".part")
    part.write_text(text)
    part.replace(path)


def main() -> int:
    o = options()
    latest = o.results / "latest.json"
    if o.report:
        if not latest.exists():
            print(f"{latest.name} does not exist: run without --report first", file=sys.stderr)
            return 2
        data = json.loads(latest.read_text())
    else:
        old = portion(o, latest)
        data = measure(o, *prepare(o), old["spin_turns"] if old else None)
        data = added(old, data) if old else data
        o.results.mkdir(parents=True, exist_ok=True)
        write(latest, json.dumps(data, indent=1) + "\n")
    import report

    table = report.table(data)
    write(o.results / "table.md", table)
    print(table)
    measured = {(row["case"], row["stages"]) for row in data["results"]}
    whole = measured == {(case.name, case.stages) for case in CASES} and not o.only
    if o.results.resolve() == RESULTS and whole and not o.quick:
        report.into(HERE / "README.md", table, report.MARKS)
        if any(row["contender"] == "ours:auto" for row in data["results"]):
            report.into(ROOT / "README.md", report.front(data), report.FRONT_MARKS)
    report.picture_with(PYTHON, latest, o.results / "picture.png")
    return 1 if data["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
