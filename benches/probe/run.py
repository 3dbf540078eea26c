"""Does `probe` measure what the tools measure that people use, and is it steadier from run to run?

    .venv/bin/python benches/probe/run.py [--rounds N] [--quick]

Needs core-to-core-latency, which is built from crates.io into build/probe-peers, and likwid-bench from Debian's
package `likwid`; one that cannot be had is left out, and results.md says so. Writes results.json, results.md and
picture.png.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import re
import shutil
import statistics
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cellweave as cw
from cellweave.report.table import Table
from cellweave.report.units import number

HERE = Path(__file__).resolve().parent
PEERS = HERE.parent.parent / "build" / "probe-peers"
LATENCY = "core-to-core-latency"
VERSION = "1.2.0"
MEMORY_BYTES = "512MB"
"""What likwid-bench walks through: beyond the caches."""

Runs = dict[str, list[float]]


def latency_tool() -> str | None:
    """core-to-core-latency, built when it is not there."""
    program = PEERS / "bin" / LATENCY
    if not program.exists():
        line = ["cargo", "install", "--quiet", LATENCY, "--version", VERSION, "--locked", "--root", str(PEERS)]
        subprocess.run(line, check=False)
    return str(program) if program.exists() else None


def core_to_core(program: str, cpus: tuple[int, int], test: int) -> float:
    """ns of one hand-over: its mean, of the pair. Test 1 is one line with compare-and-swap, 2 is a line each way."""
    cores = ",".join(map(str, cpus))
    line = [program, "1000", "300", "--bench", str(test), "--cores", cores, "--csv"]
    out = subprocess.run(line, check=True, capture_output=True, text=True).stdout
    return float(re.findall(r"\d+(?:\.\d+)?", out)[-1])


def likwid(kernel: str) -> float:
    """GB/s of one thread on the first cpu."""
    line = ["likwid-bench", "-t", kernel, "-w", f"S0:{MEMORY_BYTES}:1"]
    out = subprocess.run(line, check=True, capture_output=True, text=True).stdout
    found = re.search(r"^MByte/s:\s+([\d.]+)", out, re.MULTILINE)
    assert found is not None, out
    return float(found[1]) / 1e3


def ours_line(cpus: tuple[int, int]) -> float:
    """ns of one hand-over."""
    found = cw.probe(f"host:cpus={cpus[0]},{cpus[1]}", "line", thorough=True)
    return float(found.exchanges[0]["latency_ns"]["p50"])


def ours_memory(cpu: int, pattern: str) -> float:
    """GB/s of one thread, with transfers as long as a stream."""
    found = cw.probe(f"host:cpus={cpu}", pattern, sizes=["1M"], buffers=[1], thorough=True)
    return float(found.measurements[0]["bandwidth_gbs"]["p50"])


def contenders() -> tuple[dict[str, dict[str, Callable[[], float]]], list[str]]:
    """Quantity -> who measures it; and who is missing."""
    cpus = [int(e["os_cpu"]) for e in cw.Machine.host().elements]
    found: dict[str, dict[str, Callable[[], float]]] = {}
    missing = []
    if len(cpus) > 1:
        pair = (cpus[0], cpus[1])
        latency = {"cellweave": lambda: ours_line(pair)}
        program = latency_tool()
        if program is None:
            missing.append(f"{LATENCY} (cargo could not install it)")
        else:
            latency[f"{LATENCY}, test 1"] = lambda: core_to_core(program, pair, 1)
            latency[f"{LATENCY}, test 2"] = lambda: core_to_core(program, pair, 2)
        found["a line handed over, ns"] = latency
    # The widest instructions that every x86 has; other computers have the plain kernels.
    wide = "_sse" if os.uname().machine == "x86_64" else ""
    tool = shutil.which("likwid-bench")
    if tool is None:
        missing.append("likwid-bench (Debian: apt-get install likwid)")
    for quantity, pattern, kernel in (
        ("memory read, GB/s", "memory-read-each", f"load{wide}"),
        ("memory written, GB/s", "memory-write-each", f"store{wide}"),
    ):
        found[quantity] = {"cellweave": lambda pattern=pattern: ours_memory(cpus[0], pattern)}
        if tool is not None:
            found[quantity][f"likwid-bench {kernel}"] = lambda kernel=kernel: likwid(kernel)
    return found, missing


def quartiles(values: list[float]) -> tuple[float, float, float]:
    """First quartile, median, third quartile."""
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high


def table(results: dict[str, Runs]) -> Table:
    """A row per quantity and tool."""
    columns = ["quantity", "tool", ">median", ">quartiles", ">IQR / median", "agrees with cellweave", "we are steadier"]
    found = Table("", columns)
    for quantity, runs in results.items():
        low, middle, high = quartiles(runs["cellweave"])
        for tool, values in runs.items():
            first, median, third = quartiles(values)
            spread = f"{100 * (third - first) / median:.1f} %"
            row = [quantity, tool, number(median), f"{number(first)} to {number(third)}", spread]
            if tool == "cellweave":
                row += ["", ""]
            else:
                within = first <= high and low <= third
                steadier = (high - low) / middle < (third - first) / median
                ratio = number(median / middle)
                row += ["yes" if within else f"no: {ratio} times ours", "yes" if steadier else "no"]
            found.rows.append(row)
    return found


def draw(results: dict[str, Runs], path: Path) -> None:
    """A dot for each run, a line from the first to the third quartile."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(len(results), 1, figsize=(9, 1.9 * len(results)), layout="constrained", squeeze=False)
    for ax, (quantity, runs) in zip(axes[:, 0], results.items(), strict=True):
        for i, (tool, values) in enumerate(runs.items()):
            first, median, third = quartiles(values)
            colour = "#0072b2" if tool == "cellweave" else "#777777"
            ax.plot([first, third], [i, i], color=colour, linewidth=6, alpha=0.5, solid_capstyle="butt")
            ax.plot(values, [i] * len(values), "o", color=colour, markersize=3)
            ax.annotate(number(median), (median, i), xytext=(0, 7), textcoords="offset points", ha="center", fontsize=8)
        ax.set_yticks(range(len(runs)), list(runs), fontsize=8)
        ax.set_ylim(len(runs) - 0.5, -0.7)
        if max(map(max, runs.values())) > 5 * min(map(min, runs.values())):
            ax.set_xscale("log")
        else:
            ax.set_xlim(left=0)
        ax.set_title(quantity, fontsize=9)
        ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--quick", action="store_true", help="only check that it works")
    chosen = parser.parse_args()
    found, missing = contenders()
    results: dict[str, Runs] = {quantity: {tool: [] for tool in tools} for quantity, tools in found.items()}
    load = os.getloadavg()[0]
    for _ in range(2 if chosen.quick else chosen.rounds):
        for quantity, tools in found.items():
            for tool, measure in tools.items():
                results[quantity][tool].append(measure())
    if chosen.quick:
        print(table(results).markdown())
        return
    machine: dict[str, Any] = cw.Machine.host().to_dict()
    now = datetime.datetime.now(datetime.timezone.utc)
    known = {
        "date": now.isoformat(timespec="seconds"),
        "machine": machine["description"],
        "kernel": os.uname().release,
        "load": [load, os.getloadavg()[0]],
        "rounds": chosen.rounds,
        "missing": missing,
        "results": results,
    }
    (HERE / "results.json").write_text(json.dumps(known, indent=1) + "\n")
    lines = [
        f"{now:%Y-%m-%d %H:%M} UTC; {known['machine']}, Linux {known['kernel']}; load average {load:.1f} to "
        f"{known['load'][1]:.1f}; {chosen.rounds} interleaved rounds.",
        "",
        table(results).markdown(),
        "",
    ]
    lines += [f"Left out: {name}." for name in missing]
    (HERE / "results.md").write_text("\n".join(lines).rstrip() + "\n")
    draw(results, HERE / "picture.png")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
