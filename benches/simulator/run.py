"""How fast the simulator is: packets per second of wall time, its limit, and SimGrid's S4U, in one run.

    python3 benches/simulator/run.py

Builds the example `simulator` of crates/sim, installs SimGrid from Debian (as root), builds s4u_ring.cpp,
measures interleaved rounds on one core, and writes results.json, results.md, picture.png and the table of
README.md. About two minutes; --quick only checks that it works and writes nothing. `--old PROGRAM` measures an older
build of the example in the same rounds, and fails when its outcomes are not the same to the tick.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = HERE / "build"
PYTHON = ROOT / ".venv/bin/python"
PATTERNS = ("near", "shift", "far", "random", "memory")
RULES = ("default", "textbook")
MARKS = ("<!-- table -->", "<!-- end of table -->")
PACKETS_GOAL = 8e6
"""Goal: data packets per second on one core, in every pattern."""
RING_GOAL = 1.3
"""Goal: messages per second on the ring of 8, as a multiple of S4U's."""
S4U_HEADER = Path("/usr/include/simgrid/s4u.hpp")


class Contender:
    """A program that measures itself, and its amount of work."""

    def __init__(self, name: str, program: list[str], size: int, unit: str) -> None:
        self.name, self.program, self.size, self.unit = name, program, size, unit

    def fire(self, share: float, cpu: int) -> dict[str, Any]:
        """One measurement with a share of the work."""
        command = ["taskset", "-c", str(cpu), *self.program, str(max(8, int(self.size * share)))]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{self.name}: {(done.stderr.strip() or 'no message').splitlines()[-1]}")
        found: dict[str, Any] = json.loads(done.stdout)
        found["per_s"] = found[self.unit] / found["wall_s"]
        return found


def simulator() -> str:
    """Build the example; give its path."""
    command = ["cargo", "build", "--release", "--quiet", "-p", "cellweave-sim", "--example", "simulator"]
    subprocess.run(command, cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return str(target / "release/examples/simulator")


def s4u(install: bool) -> tuple[str | None, str]:
    """Build S4U's ring; give its program, and its version or the reason why it is missing."""
    if not S4U_HEADER.exists() and install and os.geteuid() == 0 and shutil.which("apt-get"):
        subprocess.run(
            ["apt-get", "install", "--yes", "--quiet", "--no-install-recommends", "libsimgrid-dev", "g++"],
            check=False,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
        )
    if not S4U_HEADER.exists():
        return None, "SimGrid is not installed: apt-get install libsimgrid-dev"
    BUILD.mkdir(exist_ok=True)
    program = str(BUILD / "s4u_ring")
    command = ["g++", "-O3", "-march=native", "-std=c++17", "-o", program, "s4u_ring.cpp", "-lsimgrid"]
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None, f"s4u_ring.cpp does not compile: {done.stderr.strip().splitlines()[0]}"
    query = ["dpkg-query", "-W", "-f=${Version}", "libsimgrid-dev"]
    return program, subprocess.run(query, capture_output=True, text=True, check=False).stdout.strip() or "?"


def contenders(ours: str, theirs: str | None, old: str | None) -> list[Contender]:
    """All contenders, each with work for about a third of a second."""
    found = [
        Contender(f"{pattern} {rules}", [ours, "pattern", pattern, rules], 2_000, "packets")
        for pattern in PATTERNS
        for rules in RULES
    ]
    found += [Contender(f"bare {queue}", [ours, "bare", queue], 3_000_000, "packets") for queue in ("wheel", "heap")]
    found.append(Contender("ring cellweave", [ours, "ring"], 10_000, "messages"))
    if old:
        found += [Contender(f"{p} old", [old, "pattern", p, "default"], 2_000, "packets") for p in PATTERNS]
        found.append(Contender("ring old", [old, "ring"], 10_000, "messages"))
    if theirs:
        found.append(Contender("ring S4U", [theirs], 10_000, "messages"))
    return found


def measure(o: argparse.Namespace) -> dict[str, Any]:
    """All rounds; contenders take turns in each."""
    cpu = max(os.sched_getaffinity(0))
    program, version = s4u(not o.no_install)
    if program is None:
        print(f"left out: S4U: {version}")
    everybody = contenders(simulator(), program, o.old)
    runs: dict[str, list[dict[str, Any]]] = {c.name: [] for c in everybody}
    load = [os.getloadavg()[0]]
    for n in range(o.rounds):
        for c in everybody:
            runs[c.name].append(c.fire(o.share, cpu))
        load.append(os.getloadavg()[0])
        print(f"round {n + 1} of {o.rounds}", flush=True)
    rows = {}
    for name, all_of in runs.items():
        outcomes = {(r.get("cycles"), r.get("hash")) for r in all_of}
        if len(outcomes) != 1:
            raise SystemExit(f"{name}: not the same outcome in every round: {outcomes}")
        rates = sorted(r["per_s"] for r in all_of)
        rows[name] = {
            "per_s": {"min": rates[0], "p50": statistics.median(rates), "max": rates[-1]},
            "rounds": [r["per_s"] for r in all_of],
            **{
                key: all_of[0][key]
                for key in ("packets", "messages", "events", "cycles", "hash", "rules")
                if key in all_of[0]
            },
        }
    for name in [name for name in rows if name.endswith(" old")]:
        new = rows["ring cellweave" if name == "ring old" else name.replace(" old", " default")]
        if any(rows[name][key] != new[key] for key in ("cycles", "hash")):
            raise SystemExit(f"{name}: not the outcome of today's build")
    model = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return {
        "format": 1,
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": {
            "cpu_model": model[0].split(":", 1)[1].strip() if model else platform.processor(),
            "cores": os.cpu_count(),
            "kernel": platform.release(),
            "simgrid": version,
        },
        "load_average": {"min": min(load), "max": max(load)},
        "rounds": o.rounds,
        "results": rows,
    }


def table(data: dict[str, Any]) -> str:
    """Markdown: packets, limits, messages, goals."""
    rows = data["results"]
    rate = {name: row["per_s"]["p50"] / 1e6 for name, row in rows.items()}
    default = rows[f"{PATTERNS[0]} default"]["rules"]
    m, load = data["machine"], data["load_average"]
    old = "ring old" in rows
    lines = [
        f"{data['date']}, one core, medians of {data['rounds']} interleaved rounds (best and worst).",
        "",
        f"| M data packets/s | {default} (default) | textbook |" + (" before, default |" if old else ""),
        "|--|--|--|" + ("--|" if old else ""),
    ]

    def cell(name: str) -> str:
        q = rows[name]["per_s"]
        return f"{q['p50'] / 1e6:.2f} ({q['max'] / 1e6:.2f}, {q['min'] / 1e6:.2f})"

    for p in PATTERNS:
        before = f" {cell(f'{p} old')} |" if old else ""
        lines.append(f"| {p} | {cell(f'{p} default')} | {cell(f'{p} textbook')} |{before}")
    lines += [
        "",
        "| the limit: the events of as many packets, and nothing done about them | M packets/s |",
        "|--|--|",
        f"| the simulator's event wheel | {cell('bare wheel')} |",
        f"| a binary heap of the standard library | {cell('bare heap')} |",
        "",
        "| ring of 8, both ways | M messages of 1 kB/s |",
        "|--|--|",
        f"| cellweave, real bytes, `get` and a signal for each | {cell('ring cellweave')} |",
    ]
    if old:
        lines.append(f"| cellweave, before | {cell('ring old')} |")
    lines.append(
        f"| SimGrid {m['simgrid']}, S4U | {cell('ring S4U')} |"
        if "ring S4U" in rows
        else f"| S4U | left out: {m['simgrid']} |"
    )
    lines += ["", "| goal | reached | asked | |", "|--|--|--|--|"]
    slowest = min((rate[f"{p} default"], p) for p in PATTERNS)
    fastest = max((rate[f"{p} default"], p) for p in PATTERNS)
    for word, (value, pattern) in (("fastest", fastest), ("slowest", slowest)):
        verdict = "reached" if value * 1e6 >= PACKETS_GOAL else "missed"
        lines.append(
            f"| M packets/s, {word} pattern ({pattern}) | {value:.2f} | ≥ {PACKETS_GOAL / 1e6:.0f} | {verdict} |"
        )
    if "ring S4U" in rows:
        ratio = rate["ring cellweave"] / rate["ring S4U"]
        verdict = "reached" if ratio >= RING_GOAL else "missed"
        lines.append(f"| messages on the ring, cellweave / S4U | {ratio:.2f} | ≥ {RING_GOAL} | {verdict} |")
    lines += [
        "",
        f"Machine: {m['cpu_model']}, {m['cores']} cores, Linux {m['kernel']}; load average {load['min']:.1f} to "
        f"{load['max']:.1f}. Other work on the machine slows everybody down: ratios are safer than rates.",
    ]
    return "\n".join(lines) + "\n"


def picture(data: dict[str, Any], path: Path) -> None:
    """Bars of packets with the limits as lines, and bars of messages."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    rows = data["results"]
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), width_ratios=(3, 1), layout="constrained")

    def bars(axis: Any, names: list[str], at: list[float], width: float, colour: str, label: str | None) -> None:
        q = [rows[name]["per_s"] for name in names]
        middle = [v["p50"] / 1e6 for v in q]
        below = [(v["p50"] - v["min"]) / 1e6 for v in q]
        above = [(v["max"] - v["p50"]) / 1e6 for v in q]
        axis.bar(at, middle, width, yerr=[below, above], color=colour, label=label, error_kw={"elinewidth": 1})

    default = rows[f"{PATTERNS[0]} default"]["rules"]
    places = [float(i) for i in range(len(PATTERNS))]
    bars(left, [f"{p} default" for p in PATTERNS], [x - 0.2 for x in places], 0.38, "#cc3311", f"{default} (default)")
    bars(left, [f"{p} textbook" for p in PATTERNS], [x + 0.2 for x in places], 0.38, "#ee9988", "textbook")
    if "ring old" in rows:
        before = [rows[f"{p} old"]["per_s"]["p50"] / 1e6 for p in PATTERNS]
        left.scatter([x - 0.2 for x in places], before, s=300, marker="_", color="black", label="before", zorder=3)
    for name, colour in (("bare wheel", "#228833"), ("bare heap", "#4477aa")):
        left.axhline(rows[name]["per_s"]["p50"] / 1e6, color=colour, linewidth=1.2, label=f"limit: {name}")
    left.axhline(PACKETS_GOAL / 1e6, color="#777777", linestyle=":", label="goal")
    left.set_yscale("log")
    left.set_yticks([1, 2, 5, 10, 20, 50, 100], ["1", "2", "5", "10", "20", "50", "100"])
    left.set_xticks(places, PATTERNS)
    left.set_ylabel("M data packets/s of wall time")
    left.set_ylim(1, 300)
    left.legend(fontsize=8, ncols=3, loc="upper center")
    names = [name for name in ("ring cellweave", "ring S4U") if name in rows]
    for i, name in enumerate(names):
        bars(right, [name], [float(i)], 0.6, "#4477aa" if name == "ring S4U" else "#cc3311", None)
    if "ring old" in rows:
        right.scatter([0], [rows["ring old"]["per_s"]["p50"] / 1e6], s=900, marker="_", color="black", zorder=3)
    if "ring S4U" in rows:
        goal = RING_GOAL * rows["ring S4U"]["per_s"]["p50"] / 1e6
        right.axhline(goal, color="#777777", linestyle=":", label=f"goal: {RING_GOAL} x S4U")
        right.set_ylim(0, 1.25 * goal)
        right.legend(fontsize=8)
    right.set_xticks(range(len(names)), [name.removeprefix("ring ") for name in names])
    right.set_ylabel("M messages of 1 kB/s of wall time")
    right.set_title("ring of 8, both ways", fontsize=10)
    left.set_title("eight SPEs, 16 kB at a time", fontsize=10)
    figure.suptitle(
        f"Speed of the simulator on one core, {data['date']}, medians of {data['rounds']} rounds", fontsize=11
    )
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw(data: dict[str, Any]) -> None:
    """Draw with this Python if it has matplotlib, else with the project's own."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        if PYTHON.exists() and Path(sys.executable) != PYTHON:
            subprocess.run([str(PYTHON), __file__, "--report"], check=False)
        else:
            print("no picture: neither this Python nor the project's .venv can import matplotlib", file=sys.stderr)
        return
    picture(data, HERE / "picture.png")


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--rounds", type=int, default=7, help="measurements of each (7)")
    p.add_argument("--old", metavar="PROGRAM", help="an older build of the example, to be measured as well")
    p.add_argument("--no-install", action="store_true", help="leave S4U out when it is not there")
    p.add_argument("--quick", action="store_true", help="one short round: proves that it works, writes nothing")
    p.add_argument("--report", action="store_true", help="only write table and picture of results.json again")
    o = p.parse_args()
    if o.rounds < 1:
        p.error("--rounds: at least 1")
    o.rounds, o.share = (1, 0.02) if o.quick else (o.rounds, 1.0)
    results = HERE / "results.json"
    if o.report:
        data = json.loads(results.read_text())
    else:
        data = measure(o)
        if not o.quick:
            results.write_text(json.dumps(data, indent=1) + "\n")
    text = table(data)
    if not o.quick:
        (HERE / "results.md").write_text(text)
        readme = HERE / "README.md"
        before, rest = readme.read_text().split(MARKS[0], 1)
        readme.write_text(f"{before}{MARKS[0]}\n{text}{MARKS[1]}{rest.split(MARKS[1], 1)[1]}")
        draw(data)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
