"""A placing as tables, and the distribution of what mappings cost as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cellweave.report.colours import INK, WARNING
from cellweave.report.table import Table
from cellweave.report.units import number, percent, time_ns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

# Parts that a row writes out; the JSON has all of them.
_SHOWN = 32


def placing_tables(data: Mapping[str, Any]) -> list[Table]:
    """What ``cellweave place`` prints: the mapping, and the named affinities beside it."""

    def cost(value: float | None) -> str:
        return "not run" if value is None else _cost(value, data["unit"])

    rows: list[Sequence[str]] = [
        ("mapping", _permutation(data["mapping"])),
        ("cost", f"{cost(data['cost'])}, {_proof(data)}"),
        ("found by", f"{data['method']}, {data['evaluated']} looked at, {data['seconds']:.3g} s"),
    ]
    title = f"{data['pattern']}: {data['parts']} parts on {data['machine']} by {data['objective']}"
    listed = [("best", data["permutation"], data["cost"])]
    listed += [(a["name"], a["permutation"], a["cost"]) for a in data["affinities"]]
    listed += [("worst seen" if not data["whole"] else "worst", data["worst_permutation"], data["worst"])]
    listed.append(("median", [], data["median"]))
    beside: list[Sequence[str]] = [
        (name, _permutation(permutation), cost(value), _ratio(value, data["cost"]))
        for name, permutation, value in listed
        if value is not None
    ]
    raced = [_race(data)] if "race" in data else []
    return [
        Table(title, ["", ""], rows, list(data["notes"])),
        Table(
            "Beside it",
            ["", "element of part 0, 1, ..", ">cost", ">by best"],
            beside,
            ["the papers name these affinities and do not write them out; the permutations are our reading"],
        ),
        *raced,
    ]


def draw_placing(data: Mapping[str, Any]) -> Axes:
    """Draw the part of the mappings that cost at most so much, and mark the best and the named affinities."""
    import matplotlib.pyplot as plt

    _, ax = plt.subplots(figsize=(8, 4), layout="constrained")
    points = data["distribution"]
    ax.plot(points, [100 * i / (len(points) - 1) for i in range(len(points))], color=INK, linewidth=1.6)
    shown = [("best", data["cost"])] + [(a["name"], a["cost"]) for a in data["affinities"]]
    shown = [(name, value) for name, value in shown if value is not None]
    heights: dict[float, int] = {}
    for name, value in shown:
        level = heights[value] = heights.get(value, -1) + 1
        ax.axvline(value, color=WARNING if name == "best" else INK, linewidth=0.8, linestyle=":")
        ax.annotate(
            name, (value, 4 + 7 * level), fontsize=8, color=WARNING if name == "best" else INK, rotation=0, ha="left"
        )
    ax.set_xlabel(f"cost, {data['unit']}")
    ax.set_ylabel("mappings that cost at most as much, %")
    ax.set_ylim(0, 100)
    ax.set_title(f"{data['pattern']} on {data['machine']} by {data['objective']}", fontsize=10, color=INK)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _cost(value: float, unit: str) -> str:
    return time_ns(value) if unit == "ns" else f"{number(value)} {unit}"


def _ratio(value: float, best: float) -> str:
    return number(value / best) if best else "-"


def _race(data: Mapping[str, Any]) -> Table:
    """The contenders, by their mean."""
    ran = [c for c in data["race"] if c["n"]]
    rows: list[Sequence[str]] = [
        (
            c["name"],
            _permutation(c["permutation"] or []),
            str(c["n"]),
            time_ns(c["mean_ns"]),
            time_ns(c["p90_ns"]),
            time_ns(c["variance_ns2"] ** 0.5),
            c["left"] or "",
        )
        for c in sorted(ran, key=lambda c: float(c["mean_ns"]))
    ]
    columns = ["", "element of part 0, 1, ..", ">runs", ">mean", ">p90", ">deviation", "left the race"]
    return Table("Race", columns, rows, [f"{c['name']}: {c['left']}" for c in data["race"] if not c["n"]])


def _proof(data: Mapping[str, Any]) -> str:
    if data["all_equal"]:
        return "as every other mapping"
    if data["proved"]:
        return "proved: no mapping costs less"
    if "race" in data:
        return "known with 95 % confidence" if data["known"] else "not known to be best"
    if data["bound"] <= 0:
        return "with nothing proved"
    return f"at most {percent(data['cost'] / data['bound'] - 1)} above the best"


def _permutation(entries: Sequence[Any]) -> str:
    shown = " ".join(str(entry) for entry in entries[:_SHOWN])
    return shown + (f" .. ({len(entries)})" if len(entries) > _SHOWN else "")
