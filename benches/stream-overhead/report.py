"""The table, the goals and the picture of a result file."""

from __future__ import annotations

import json
import math
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from contenders import CASES, CHAINS, LENGTHS, programs

Cells = dict[tuple[str, str, int], dict[str, Any]]

TITLES = {
    "null": "64-byte items, null kernel",
    "us1": "64-byte items, 1 µs kernel",
    "copy16k": "16 kB copied per stage",
    "diamond": "diamond 1-4-1, null kernel",
}
TBB_RATIO = {2: 42.0, 4: 39.0, 8: 66.0}
"""oneTBB's parallel_pipeline / reference on null when the goals were set; a slower reference would be no limit."""
MARKS = ("<!-- table -->", "<!-- end of table -->")
"""The marks around the table in this folder's README."""
FRONT_MARKS = (
    "<!-- stream-overhead: written by benches/stream-overhead/run.py -->",
    "<!-- /stream-overhead -->",
)
"""The marks around the figures in the project's README."""


def cells(data: dict[str, Any]) -> Cells:
    return {(r["contender"], r["case"], r["stages"]): r for r in data["results"]}


def median(found: Cells, contender: str, case: str, stages: int) -> float | None:
    row = found.get((contender, case, stages))
    return row["ns_per_firing"]["p50"] if row else None


def best(found: Cells, kinds: tuple[str, ...], case: str, stages: int) -> tuple[float, str] | None:
    """The smallest median among contenders of these kinds, and its contender."""
    names = [c.name for p in programs() for c in p.contenders if c.kind in kinds]
    values = [(v, n) for n in names if (v := median(found, n, case, stages)) is not None]
    return min(values) if values else None


def number(ns: float | None) -> str:
    if ns is None:
        return ""
    return f"{ns:.2f}" if ns < 10 else f"{ns:.1f}" if ns < 100 else f"{ns:.0f}"


def figures(data: dict[str, Any]) -> list[str]:
    """The medians, and the machine they were measured on."""
    found = cells(data)
    heads = [f"{name} S={s}" for name in ("null", "1 µs", "16 kB") for s in LENGTHS] + ["diamond"]
    lines = [
        f"ns per firing of a stage, {data['date']}, two cores, medians of {data['rounds']} interleaved rounds:",
        "",
        "| | " + " | ".join(heads) + " |",
        "|--" * (1 + len(heads)) + "|",
    ]
    for program in programs():
        for c in program.contenders:
            values = [median(found, c.name, case.name, case.stages) for case in CASES]
            if any(v is not None for v in values):
                label = f"**{c.label}**" if c.kind == "ours" else c.label
                lines.append(f"| {label} | " + " | ".join(map(number, values)) + " |")
    m = data["machine"]
    lines += [
        "",
        f"Machine: {m['cpu_model']}{', virtual' if m['virtual'] else ''}, {m['cores']} cores, cpus used "
        f"{m['cpus_used'][0]} and {m['cpus_used'][1]}, "
        + ", ".join(f"{k} {v}" for k, v in m["caches"].items())
        + f", Linux {m['kernel']}, {m['system']}; "
        + ", ".join(f"{k} {v}" for k, v in {**m["peers"], "cellweave": m["cellweave"]}.items() if v)
        + f"; load average {data['load_average']['min']:.1f} to {data['load_average']['max']:.1f}.",
    ]
    return lines


THEMES = {
    "null": "Items of 64 bytes, and a stage that does nothing: what the runtime itself costs",
    "us1": "Items of 64 bytes, and 1 µs of work in a stage: how well two cores share it",
    "copy16k": "Items of 16 kB, copied by each stage: how well data stay in the caches",
    "diamond": "Four stages side by side between a source and a sink, all doing nothing",
}
"""What each case asks, for the project's README."""


def front(data: dict[str, Any]) -> str:
    """The text for the project's README: a small table per case, the command, and where the rest is.

    Of each program but ours the best of its settings counts, length by length.
    """
    found = cells(data)
    lines = [
        f"ns per firing of a stage on two cores, medians of {data['rounds']} interleaved rounds; less is better. Of",
        "each program but cellweave the best of its settings is shown, length by length.",
    ]
    for name, title in THEMES.items():
        lengths = [case.stages for case in CASES if case.name == name]
        heads = [f"{stages} stages" for stages in lengths]
        lines += ["", f"**{title}.**", "", "| | " + " | ".join(heads) + " |", "|--" + "|--:" * len(heads) + "|"]
        for program in programs():
            ours = program.contenders[0].kind == "ours"
            chosen = program.contenders[:1] if ours else program.contenders
            words = [c.label.replace(",", "").split() for c in program.contenders]
            heading = program.contenders[0].label.split(",")[0]
            label = " ".join(word for word in heading.split() if all(word in other for other in words))
            values = [
                min((v for c in chosen if (v := median(found, c.name, name, stages)) is not None), default=None)
                for stages in lengths
            ]
            if any(v is not None for v in values):
                label = f"**{label}**" if ours else label
                lines.append(f"| {label} | " + " | ".join(map(number, values)) + " |")
    m = data["machine"]
    lines += [
        "",
        f"Measured {data['date']} on {m['cpu_model']}{', virtual' if m['virtual'] else ''}, {m['cores']} cores; load "
        f"average {data['load_average']['min']:.1f} to {data['load_average']['max']:.1f}.",
        "`python3 benches/stream-overhead/run.py` repeats it. Every setting, the versions, limits, goals, and",
        "predicted against achieved: [benches/stream-overhead](benches/stream-overhead/README.md).",
        "",
    ]
    return "\n".join(lines)


def table(data: dict[str, Any]) -> str:
    """Markdown: medians, limits, goals, predictions, and what is missing."""
    lines, limits = figures(data), data["limits"]
    least = {key: f"{number(q['min'])}, {number(q['p50'])} ns" for key, q in limits.items() if isinstance(q, dict)}
    lines += [
        "",
        f"Limits (min, median): a cache line one way {least['ping_pong_one_way_ns']}; "
        f"a stream of lines {least['stream_line_ns']} each; the 1 µs kernel {least['spin_ns']}, "
        f"so that {limits['ideal_us1_ns']:.0f} ns is ideal on two cores.",
    ]
    judged = goals(data)
    if judged:
        lines += ["", "| goal | case | reached | asked | |", "|--|--|--|--|--|"]
        lines += [f"| {g['goal']} | {g['case']} | {g['reached']} | {g['asked']} | {g['verdict']} |" for g in judged]
    told = predictions(data)
    if told:
        lines += [
            "",
            "| predicted against achieved | n | median error | largest error | whole run: median | largest |",
            "|--|--|--|--|--|--|",
        ]
        for name, windows, whole in told:
            shares = [f"{100 * f(e):.1f} %" for e in (windows, whole) for f in (statistics.median, max)]
            lines.append(f"| {name} | {len(windows)} | " + " | ".join(shares) + " |")
    gone: dict[str, list[str]] = {}
    for name, why in {**data["left_out"], **data["failed"]}.items():
        gone.setdefault(why, []).append(name)
    if gone:
        lines += [
            "",
            "Missing: " + "; ".join(f"{', '.join(names)} ({why})" for why, names in gone.items()) + ".",
        ]
    return "\n".join(lines) + "\n"


def goals(data: dict[str, Any]) -> list[dict[str, str]]:
    """Each goal with what was reached, as ratios within this run."""
    found, ideal = cells(data), data["limits"]["ideal_us1_ns"]
    out: list[dict[str, str]] = []

    def add(goal: str, case: str, reached: float, asked: float, most: bool) -> None:
        kept = reached <= asked if most else reached >= asked
        digits = 2 if asked < 10 else 0
        out.append(
            {
                "goal": goal,
                "case": case,
                "reached": f"{reached:.{digits}f}",
                "asked": f"{'≤' if most else '≥'} {asked:.{digits}f}",
                "verdict": "reached" if kept else "missed",
            }
        )

    for s in LENGTHS:
        tbb, limit = median(found, "tbb:parallel_pipeline", "null", s), best(found, ("reference",), "null", s)
        if tbb and limit:
            add(
                "reference is good: oneTBB / reference",
                f"null S={s}",
                tbb / limit[0],
                TBB_RATIO[s],
                most=False,
            )
    for s in LENGTHS:
        ours, limit = median(found, "ours:auto", "null", s), best(found, ("reference",), "null", s)
        peer = best(found, ("peer",), "null", s)
        if ours and limit:
            add("ours / best reference", f"null S={s}", ours / limit[0], 1.3, most=True)
        if ours and peer:
            add(f"ours / best peer ({peer[1]})", f"null S={s}", ours / peer[0], 1.0, most=True)
    for s in LENGTHS:
        ours, limit = median(found, "ours:auto", "us1", s), best(found, ("reference",), "us1", s)
        if ours and limit:
            add(
                "share of ideal, or of the reference where lower",
                f"1 µs S={s}",
                max(ideal, limit[0]) / ours,
                0.95,
                most=False,
            )
    for s in LENGTHS:
        ours, rest = (
            median(found, "ours:auto", "copy16k", s),
            best(found, ("reference", "peer"), "copy16k", s),
        )
        if ours and rest:
            add(
                f"ours / best of all ({rest[1]})",
                f"16 kB S={s}",
                ours / rest[0],
                1.5 if s == 8 else 1.1,
                most=True,
            )
    for s in LENGTHS:
        row = found.get(("ours:two_cores", "copy16k", s))
        if row and row.get("ns_per_firing_by_ring_kb"):
            tried = row["ns_per_firing_by_ring_kb"]
            best_kb = min(tried, key=tried.__getitem__)
            # Both from the sweep: they took turns, and each is the least of as many runs.
            near_kb = min(tried, key=lambda kb: abs(math.log(int(kb) / row["ring_kb"])))
            add(
                f"two cores, in the sweep: the plan's ring ({row['ring_kb']:.0f} kB) / the best ({best_kb} kB)",
                f"16 kB S={s}",
                tried[near_kb] / tried[best_kb],
                1.15,
                most=True,
            )
    ours = median(found, "ours:auto", "diamond", 6)
    for peer_name, factor in (("gnuradio:pinned", 4.0), ("tbb:flow_graph", 50.0)):
        theirs = median(found, peer_name, "diamond", 6)
        if ours and theirs:
            add(f"{peer_name} / ours", "diamond", theirs / ours, factor, most=False)
    return out


def predictions(data: dict[str, Any]) -> list[tuple[str, list[float], list[float]]]:
    """Family, and |achieved / predicted - 1| of ours over mappings, lengths and rounds.

    First by the result's own ratio, the median of a run's windows, which leaves stolen time out; then by this
    bench's clock over the whole run.
    """
    out = []
    for name in (*CHAINS, "diamond"):
        rows = [r for r in data["results"] if r["case"] == name and "ratio" in r]
        windows = [abs(x - 1) for r in rows for x in r["ratio"]]
        whole = [abs(r["predicted_ns_per_firing"] / ns - 1) for r in rows for ns in r["rounds"]]
        if windows:
            out.append((name, windows, whole))
    return out


def into(path: Path, text: str, marks: tuple[str, str]) -> None:
    """Put the text between the two marks of a file."""
    begin, end = marks
    whole = path.read_text()
    if begin in whole and end in whole:
        before, after = whole.split(begin, 1)[0], whole.split(end, 1)[1]
        path.write_text(f"{before}{begin}\n{text}{end}{after}")


def picture(data: dict[str, Any], path: Path) -> None:
    """A panel per kernel: a dot per length, whiskers from min to p90, ns per firing on a logarithmic axis."""
    import matplotlib
    import matplotlib.ticker

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.lines import Line2D

    found = cells(data)
    shown = [c for p in programs() for c in p.contenders if any(c.name == key[0] for key in found)]
    colours = {"reference": "#555555", "peer": "#4477aa", "ours": "#cc3311"}
    marks = {2: "o", 4: "s", 8: "^", 6: "D"}
    figure, axes = plt.subplots(2, 2, figsize=(13, 2.6 + 0.62 * len(shown)), sharey=True, layout="constrained")
    for axis, (name, title) in zip(axes.flat, TITLES.items(), strict=True):
        for y, c in enumerate(reversed(shown)):
            lengths = [s for s in marks if (c.name, name, s) in found]
            for k, s in enumerate(lengths):
                q = found[c.name, name, s]["ns_per_firing"]
                at = y + 0.22 * ((len(lengths) - 1) / 2 - k)
                axis.plot([q["min"], q["p90"]], [at, at], color=colours[c.kind], linewidth=1)
                axis.plot(q["p50"], at, marks[s], color=colours[c.kind], markersize=5)
        if name == "us1":
            axis.set_xlim(left=0)
        else:
            axis.set_xscale("log")
            axis.xaxis.set_major_formatter(matplotlib.ticker.StrMethodFormatter("{x:g}"))
        axis.set_title(title, fontsize=11)
        axis.set_yticks(range(len(shown)), [c.label for c in reversed(shown)], fontsize=9)
        axis.grid(axis="x", which="major", alpha=0.4)
        axis.grid(axis="y", alpha=0.15)
        axis.set_xlabel("ns per firing of a stage")
        if name == "us1" and "ideal_us1_ns" in data["limits"]:
            axis.axvline(data["limits"]["ideal_us1_ns"], color="#228833", linewidth=1)
            axis.annotate(
                "ideal",
                (data["limits"]["ideal_us1_ns"], 0.99),
                xycoords=("data", "axes fraction"),
                xytext=(-3, -1),
                textcoords="offset points",
                ha="right",
                va="top",
                fontsize=8,
                color="#228833",
            )
    legend = [
        Line2D(
            [],
            [],
            color="#777777",
            marker=marks[n],
            linestyle="",
            label=f"{n} stages" if n != 6 else "diamond, 6",
        )
        for n in sorted(marks)
    ]
    legend += [Line2D([], [], color=colour, linewidth=4, label=kind) for kind, colour in colours.items()]
    figure.legend(handles=legend, loc="outside lower center", ncols=len(legend), fontsize=9)
    m = data["machine"]
    figure.suptitle(
        f"What a firing costs on two cores. {m['cpu_model']}, {data['date']}, "
        f"medians of {data['rounds']} rounds, whiskers min to p90",
        fontsize=11,
    )
    figure.savefig(path, dpi=110)
    plt.close(figure)


def picture_with(python: Path, results: Path, path: Path) -> None:
    """Draw with this Python if it has matplotlib, else with the project's own."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        done = (
            subprocess.run(
                [str(python), __file__, str(results), str(path)], capture_output=True, text=True, check=False
            )
            if python.exists()
            else None
        )
        if done is None or done.returncode != 0:
            print(
                "no picture: neither this Python nor the project's .venv can import matplotlib",
                file=sys.stderr,
            )
        return
    picture(json.loads(results.read_text()), path)


if __name__ == "__main__":
    picture(json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2]))
