"""Tables and pictures of measured rounds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import rounds as measured
from rounds import Rounds

US = "cellweave"
COLOURS = {
    "cellweave": "#c0392b",
    "hand-written": "#7f8c8d",
    "Intel MPI": "#2471a3",
    "MPICH 5": "#1e8449",
    "MPICH 4": "#82c596",
    "Open MPI 5": "#ca8a04",
}


def size_name(size: int) -> str:
    """8 B, 64 kB, 1 MB."""
    for unit, bytes_ in (("MB", 1 << 20), ("kB", 1 << 10)):
        if size >= bytes_ and size % bytes_ == 0:
            return f"{size // bytes_} {unit}"
    return f"{size} B"


def figure(value: float | None) -> str:
    """Three digits."""
    if value is None:
        return ""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def table(
    found: Rounds, cases: dict[str, str], who: list[str], peers: list[str], goals: dict[str, float], smaller: bool = True
) -> list[str]:
    """A Markdown table: a row per case, a column per contender, ours by the best peer with its interval, and the goal."""
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


def _largest(found: Rounds, case: str, peers: list[str]) -> tuple[str, float] | None:
    known = [(value, peer) for peer in peers if (value := found.median(peer, case)) is not None]
    return (max(known)[1], max(known)[0]) if known else None


def curves(found: Rounds, series: dict[str, dict[int, str]], title: str, unit: str, path: Path) -> None:
    """Curves over the message's size on logarithmic axes, one panel per series, one line per contender."""
    figure_, axes = plt.subplots(1, len(series), figsize=(6.2 * len(series), 4.4), squeeze=False, sharey=True)
    names = sorted(
        {name for one in found.valid for name in one}, key=lambda name: list(COLOURS).index(name) if name in COLOURS else 99
    )
    for axis, (panel, cases) in zip(axes[0], series.items(), strict=True):
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
        sizes = [size for size in cases]
        axis.set_xticks([max(size, 1) for size in sizes], [size_name(size) for size in sizes], rotation=60, fontsize=8)
        axis.set_title(panel, fontsize=10)
        axis.grid(alpha=0.3)
    axes[0][0].set_ylabel(unit)
    axes[0][0].legend(fontsize=8)
    figure_.suptitle(title, fontsize=11)
    figure_.tight_layout()
    figure_.savefig(path, dpi=110)
    plt.close(figure_)


def bars(found: Rounds, cases: dict[str, str], title: str, unit: str, path: Path, most: float | None = None) -> None:
    """Bars per case, one per contender, on a logarithmic axis."""
    names = sorted(
        {name for one in found.valid for name in one}, key=lambda name: list(COLOURS).index(name) if name in COLOURS else 99
    )
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
    axis.legend(fontsize=8)
    figure_.tight_layout()
    figure_.savefig(path, dpi=110)
    plt.close(figure_)


def write(folder: Path, found: Rounds, asked: int, text: list[str], extra: dict[str, Any] | None = None) -> None:
    """results.json and results.md of a bench's folder."""
    whole = {
        "format": 1,
        "machine": measured.identity(),
        "n": len(found.valid),
        "dropped": found.dropped,
        "wire_ns": found.wires_ns,
        "failures": found.failures,
        "rounds": found.valid,
        **(extra or {}),
    }
    (folder / "results.json").write_text(json.dumps(whole, indent=1) + "\n")
    failures = [f"{name} failed: {why}" for name, why in found.failures.items()]
    said = [measured.head(found, asked), "", *text, *(["", *failures] if failures else [])]
    (folder / "results.md").write_text("\n".join(said) + "\n")
    print("\n".join(said))
