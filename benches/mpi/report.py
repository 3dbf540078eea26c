"""Tables and pictures of measured rounds."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import rounds as measured
from rounds import Found

US = "cellweave"
COLOURS = {
    "cellweave": "#c0392b",
    "cellweave before": "#e6a59d",
    "hand-written": "#7f8c8d",
    "Intel MPI": "#2471a3",
    "MPICH 5": "#1e8449",
    "MPICH 4": "#82c596",
    "Open MPI 5": "#ca8a04",
}


def size_name(size: int) -> str:
    """A size such as 8 B, 64 kB, 1 MB."""
    for unit, bytes_ in (("MB", 1 << 20), ("kB", 1 << 10)):
        if size >= bytes_ and size % bytes_ == 0:
            return f"{size // bytes_} {unit}"
    return f"{size} B"


def figure(value: float | None) -> str:
    """A figure with three digits."""
    if value is None:
        return ""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def table(
    found: Found,
    cases: dict[str, str],
    who: list[str],
    peers: list[str],
    goals: Mapping[str, str | float],
    smaller: bool = True,
) -> list[str]:
    """A Markdown table: a row per case, a column per contender, our ratio to the best peer, the goal."""
    rows = [
        "| | " + " | ".join(who) + " | ours / best peer (95 %) | asked |",
        "|--|" + "--:|" * (len(who) + 2),
    ]
    for case, title in cases.items():
        values = [figure(found.median(name, case)) for name in who]
        against = found.best_peer(case, peers) if smaller else _largest(found, case, peers)
        ratio = found.ratio(case, US, against[0]) if against else None
        told = f"**{ratio[0]:.2f}** ({ratio[1]:.2f} to {ratio[2]:.2f}), {against[0]}" if ratio and against else ""
        rows.append(f"| {title} | " + " | ".join(values) + f" | {told} | {goals.get(case, '')} |")
    return rows


def _largest(found: Found, case: str, peers: list[str]) -> tuple[str, float] | None:
    known = [(value, peer) for peer in peers if (value := found.median(peer, case)) is not None]
    return (max(known)[1], max(known)[0]) if known else None


def _names(found: Found) -> list[str]:
    """The contenders, in the order of the colours."""
    return sorted(
        {run.who for run in found.runs}, key=lambda name: list(COLOURS).index(name) if name in COLOURS else 99
    )


def curves(
    found: Found, series: dict[str, dict[int, str]], title: str, unit: str, path: Path, columns: int = 0
) -> None:
    """Curves over the message's size on logarithmic axes, one line per contender.

    There is a panel per series, all in one row or in rows of `columns`.
    """
    columns = columns or len(series)
    rows = -(-len(series) // columns)
    size = (6.2 * columns, 4.4) if rows == 1 else (3.4 * columns, 3.2 * rows)
    figure_, axes = plt.subplots(rows, columns, figsize=size, squeeze=False, sharey="row")
    names = _names(found)
    for axis, (panel, cases) in zip(axes.flat, series.items(), strict=True):
        for name in names:
            points = [(size, value) for size, case in cases.items() if (value := found.median(name, case)) is not None]
            if points:
                axis.plot(
                    [max(size, 1) for size, _ in points],
                    [value for _, value in points],
                    marker="o",
                    markersize=3,
                    linewidth=2.2 if name == US else 1.2,
                    linestyle="--" if name == "hand-written" else "-",
                    color=COLOURS.get(name),
                    label=name,
                )
        axis.set_xscale("log", base=2)
        axis.set_yscale("log")
        sizes = [size for size in cases if size in (8, 64) or size >= 256]
        axis.set_xticks([max(size, 1) for size in sizes], [size_name(size) for size in sizes], rotation=60, fontsize=8)
        axis.set_title(panel, fontsize=10)
        axis.grid(alpha=0.3)
    for row in axes:
        row[0].set_ylabel(unit)
    known = {name: line for axis in axes.flat for line, name in zip(*axis.get_legend_handles_labels(), strict=True)}
    axes[0][0].legend(list(known.values()), list(known), fontsize=8)
    figure_.suptitle(title, fontsize=11)
    figure_.tight_layout()
    figure_.savefig(path, dpi=110)
    plt.close(figure_)


def bars(found: Found, cases: dict[str, str], title: str, unit: str, path: Path, most: float | None = None) -> None:
    """Bars per case, one per contender, on a logarithmic axis."""
    names = _names(found)
    figure_, axis = plt.subplots(figsize=(max(6.0, 1.1 * len(cases) + 2), 4.2))
    width = 0.8 / len(names)
    for place, name in enumerate(names):
        points = [(at, value) for at, case in enumerate(cases) if (value := found.median(name, case)) is not None]
        axis.bar(
            [at + (place - (len(names) - 1) / 2) * width for at, _ in points],
            [min(value, most) if most else value for _, value in points],
            width,
            color=COLOURS.get(name),
            label=name,
        )
    axis.set_yscale("log")
    axis.set_xticks(range(len(cases)), list(cases.values()), fontsize=8, rotation=20)
    axis.set_ylabel(unit)
    axis.set_title(title, fontsize=11)
    axis.grid(alpha=0.3, axis="y")
    axis.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    figure_.tight_layout()
    figure_.savefig(path, dpi=110)
    plt.close(figure_)


def write(folder: Path, found: Found, tables: Callable[[Found], list[str]]) -> Found:
    """Write results.json and results.md; give the state of most runs, to be drawn.

    What was measured on other computers is kept. Each state of a computer has a section.
    """
    results = folder / "results.json"
    others = [one for one in measured.known(results) if not measured.is_same_computer(one.machine, found.machine)]
    computers = [found, *others]
    results.write_text(_json(computers))
    said = [
        line
        for one in computers
        for line in ([f"# {one.machine['cpu']}", ""] if others else []) + _sections(one, tables)
    ]
    (folder / "results.md").write_text("\n".join(said).rstrip() + "\n")
    print("\n".join(_sections(found, tables)))
    return found.in_state(found.states()[0])


def _json(computers: list[Found]) -> str:
    parts = []
    for found in computers:
        one = {"machine": found.machine, "failures": found.failures, "real_time": found.real_time}
        listed = ",\n   ".join(measured.listed(found.runs))
        parts.append(json.dumps(one, indent=1).removesuffix("\n}") + f',\n "runs": [\n   {listed}\n ]\n}}')
    return f'{{"format": {measured.FORMAT}, "computers": [\n' + ",\n".join(parts) + "\n]}\n"


def _sections(found: Found, tables: Callable[[Found], list[str]]) -> list[str]:
    """The tables of one computer, a section per state."""
    said: list[str] = []
    states = found.states()
    for state in states:
        some = found.in_state(state)
        if len(states) > 1:
            took = f"a copy of 16 kB in the cpu's caches took {some.cell_us():.2f} us"
            if wire_ns := some.wire_ns():
                took = f"a line took {wire_ns:.0f} ns from one cpu to the other, and 16 kB in a stream "
                took += f"{some.cell_us():.2f} us"
            said += [f"## While {took}", ""]
        said += [measured.head(some), "", *tables(some), ""]
    shown = sum(len(found.in_state(state).runs) for state in states)
    if shown < len(found.runs):
        said += [f"{len(found.runs) - shown} of {len(found.runs)} figures are of rare states, and not shown.", ""]
    if found.failures:
        said += [*(f"{name} failed: {why}" for name, why in found.failures.items()), ""]
    return said
