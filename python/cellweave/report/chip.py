"""A simulated Cell with its loads: what each segment of the rings, each ramp, memory and the link carried."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cellweave.report.colours import FAINT, INK, PAPER
from cellweave.report.table import Table
from cellweave.report.units import number, size_bytes, time_ns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LINE_BYTES = 128
_RAMP_GBS = 25.6  # a ramp sends, and takes, 16 bytes a bus cycle; so does memory
_RINGS_EACH_WAY = 2
_COLUMNS = 6  # ramps along each side of the ring
_PITCH = 1.3
_BOX = (1.02, 0.95)
_BANKS = 16
_WIDE = _PITCH * _COLUMNS
_BETWEEN = 2.8  # room for the link
_SHADES = ("#E4E1DA", "#F6C65B", "#E07A1F", "#A3133A")  # from idle to full


@dataclass(frozen=True)
class Load:
    """The bandwidth that a part carried, and the most that it can carry."""

    name: str
    gbs: float
    most_gbs: float

    @property
    def share(self) -> float:
        return self.gbs / self.most_gbs


def _gbs(lines: float, elapsed_ns: float) -> float:
    return lines * _LINE_BYTES / elapsed_ns if elapsed_ns else 0.0


def ramp_names(machine: Mapping[str, Any], chip: int) -> list[str]:
    """The names of a chip's ramps; SPEs have the programs' numbers."""
    own = {spe["ramp"]: f"SPE{i}" for i, spe in enumerate(machine["spes"]) if spe["chip"] == chip}
    own |= {machine["ppe_ramp"]: f"PPE{chip}", machine["memory_ramp"]: "memory"}
    names = dict(enumerate(machine["ramps"])) | dict.fromkeys(machine["spe_ramps"], "hidden") | own
    return [names[ramp] for ramp in range(len(names))]


def segment_gbs(seen: Mapping[str, Any], way: int, segment: int, ns: float) -> tuple[float, float]:
    """What a segment of the rings of a direction carried, and the most that it can carry, in GB/s."""
    return _gbs(seen["segment_packets"][way][segment], ns), _RINGS_EACH_WAY * _RAMP_GBS


def ramp_gbs(seen: Mapping[str, Any], ramp: int, ns: float) -> tuple[float, float, float]:
    """What a ramp took, what it sent, and the most of each, in GB/s."""
    return _gbs(seen["received"][ramp], ns), _gbs(seen["sent"][ramp], ns), _RAMP_GBS


def loads(outcome: Mapping[str, Any]) -> list[Load]:
    """Everything that can be the bottleneck, the busiest first.

    Parameters
    ----------
    outcome : mapping
        :meth:`cellweave.sim.Outcome.to_dict`.
    """
    return [Load(load["name"], load["gbs"], load["most_gbs"]) for load in outcome["loads"]]


def draw_chips(outcome: Mapping[str, Any]) -> Figure:
    """Draw every chip with its loads; the title names what was busiest.

    Parameters
    ----------
    outcome : mapping
        :meth:`cellweave.sim.Outcome.to_dict`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    import matplotlib.pyplot as plt
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    machine, counters, ns = outcome["machine"], outcome["counters"], outcome["elapsed_ns"]
    chips = len(counters["chips"])
    width = chips * _WIDE + (chips - 1) * _BETWEEN
    fig, ax = plt.subplots(figsize=(0.86 * width + 2.0, 5.6), layout="constrained")
    shades = LinearSegmentedColormap.from_list("load", _SHADES)
    for chip in range(chips):
        _draw_chip(ax, shades, chip, machine, counters["chips"][chip], ns)
    if chips == 2:
        _draw_link(ax, shades, machine, counters["link_lines"], ns)
    ax.set_xlim(-0.5, width + 0.5)
    ax.set_ylim(-1.2, 4.65)
    ax.set_aspect("equal")
    ax.axis("off")
    top = loads(outcome)[0]
    busiest = f"busiest: {top.name}, {number(top.gbs)} GB/s of {number(top.most_gbs)}" if top.gbs else "nothing moved"
    title = f"{machine['name']}, rules `{machine['rules']}`, {time_ns(ns)}: {busiest}"
    ax.set_title(title, fontsize=11, color=INK)
    bar = fig.colorbar(ScalarMappable(Normalize(0, 100), shades), ax=ax, fraction=0.02, pad=0.01, aspect=30)
    bar.set_label("load, % of what it can carry", fontsize=8)
    bar.ax.tick_params(labelsize=7)
    return fig


def _x(chip: int, column: float) -> float:
    """The middle of a column; the second chip is mirrored, so that the links of both face each other."""
    x = (column + 0.5) * _PITCH
    return x if chip == 0 else 2 * _WIDE + _BETWEEN - x


def _at(chip: int, ramp: int, inset: float) -> tuple[float, float]:
    """Where a ramp meets a track of the ring, `inset` from the outer one."""
    if ramp < _COLUMNS:
        return _x(chip, ramp), 2.9 - inset
    return _x(chip, 2 * _COLUMNS - 1 - ramp), 0.98 + inset


def _draw_chip(
    ax: Axes, shades: Any, chip: int, machine: Mapping[str, Any], seen: Mapping[str, Any], ns: float
) -> None:
    from matplotlib.patches import FancyBboxPatch

    left = min(_x(chip, 0), _x(chip, _COLUMNS - 1)) - _PITCH / 2
    ax.add_patch(
        FancyBboxPatch(
            (left - 0.28, -1.07),
            _WIDE + 0.56,
            5.6,
            boxstyle="round,pad=0.05,rounding_size=0.12",
            facecolor="#FAF8F3",
            edgecolor=FAINT,
        )
    )
    names = ramp_names(machine, chip)
    for ramp, name in enumerate(names):
        _draw_unit(ax, shades, chip, ramp, name, seen, ns)
    for way, inset in ((0, 0.0), (1, 0.34)):
        for s in range(len(names)):
            _draw_segment(ax, shades, chip, s, way, inset, _gbs(seen["segment_packets"][way][s], ns))
    packets = sum(seen["ring_packets"])
    ax.text(
        left + _WIDE / 2,
        1.94,
        f"chip {chip}: {packets} packets, {number(_gbs(packets, ns))} GB/s\nrings 0, 1 outside; rings 2, 3 inside",
        ha="center",
        va="center",
        fontsize=8.5,
        color=INK,
    )


def _draw_unit(ax: Axes, shades: Any, chip: int, ramp: int, name: str, seen: Mapping[str, Any], ns: float) -> None:
    from matplotlib.patches import Rectangle

    into, out = _gbs(seen["received"][ramp], ns), _gbs(seen["sent"][ramp], ns)
    share = min(1.0, max(into, out) / _RAMP_GBS)
    x = _x(chip, ramp if ramp < _COLUMNS else 2 * _COLUMNS - 1 - ramp)
    wide, high = _BOX
    y = 3.4 if ramp < _COLUMNS else 0.48 - high
    hidden = name == "hidden"
    fill = PAPER if hidden else shades(share)
    ax.add_patch(
        Rectangle(
            (x - wide / 2, y), wide, high, facecolor=fill, edgecolor=INK, lw=0.7, hatch="////" if hidden else None
        )
    )
    ink = PAPER if share > 0.75 else INK
    box = {"facecolor": PAPER, "edgecolor": "none", "pad": 1.0} if hidden else None
    says = name if hidden else f"{name}\nin {number(into)}\nout {number(out)}"
    if name == "memory":
        says = f"memory\nwritten {number(into)}\nread {number(out)}"
        _draw_banks(ax, x, seen)
    ax.text(x, y + high / 2, says, ha="center", va="center", fontsize=8.2, color=ink, bbox=box, linespacing=1.25)
    foot = y if ramp < _COLUMNS else y + high
    ax.plot([x, x], [foot, _at(chip, ramp, 0.34)[1]], color="#8A8A8A", lw=0.9, zorder=1)


def _draw_banks(ax: Axes, x: float, seen: Mapping[str, Any]) -> None:
    """A bar for each bank under memory, as high as its lines against the busiest bank's."""
    from matplotlib.patches import Rectangle

    lines = [r + w for r, w in zip(seen["bank_reads"], seen["bank_writes"], strict=True)]
    most, step = max([*lines, 1]), _BOX[0] / _BANKS
    for bank, n in enumerate(lines):
        at = x - _BOX[0] / 2 + bank * step
        ax.add_patch(Rectangle((at, -0.92), step * 0.8, 0.36 * n / most, facecolor="#0072B2", edgecolor="none"))
    ax.plot([x - _BOX[0] / 2, x + _BOX[0] / 2], [-0.92, -0.92], color="#8A8A8A", lw=0.6)
    ax.text(x, -0.95, f"{_BANKS} banks", ha="center", va="top", fontsize=6, color=INK)


def _draw_segment(ax: Axes, shades: Any, chip: int, s: int, way: int, inset: float, gbs: float) -> None:
    ramps = 2 * _COLUMNS
    a, b = _at(chip, s, inset), _at(chip, (s + 1) % ramps, inset)
    share = min(1.0, gbs / (_RINGS_EACH_WAY * _RAMP_GBS))
    out = 0.0
    xs, ys = [a[0], b[0]], [a[1], b[1]]
    end = s % _COLUMNS == _COLUMNS - 1
    if end:  # round the end of the ring, a little outside of the last ramps
        towards = 1 if (s < _COLUMNS) == (chip == 0) else -1
        out = towards * (0.42 - inset)
        xs, ys = [a[0], a[0] + out, b[0] + out, b[0]], [a[1], a[1], b[1], b[1]]
    colour = shades(share)
    ax.plot(xs, ys, color=colour, lw=1.5 + 7.5 * share, solid_capstyle="butt", solid_joinstyle="round", zorder=2)
    middle = ((a[0] + b[0]) / 2 + out, (a[1] + b[1]) / 2)
    if way == 1:
        a, b = b, a
    along = (0.0, 0.11 if b[1] > a[1] else -0.11) if end else (0.11 if b[0] > a[0] else -0.11, 0.0)
    ax.annotate(
        "",
        (middle[0] + along[0], middle[1] + along[1]),
        (middle[0] - along[0], middle[1] - along[1]),
        arrowprops={"arrowstyle": "-|>", "color": INK if gbs else "#9A9A9A", "lw": 0, "mutation_scale": 9},
        zorder=3,
    )
    if not gbs:
        return
    if end:
        side = 1 if (out > 0) == (way == 0) else -1
        if out == 0:
            side = 1
        ax.text(
            middle[0] + side * 0.1,
            middle[1] + (0.28 if way == 0 else -0.28),
            number(gbs),
            ha="left" if side > 0 else "right",
            va="center",
            fontsize=7.4,
            color=INK,
        )
        return
    above = (s < _COLUMNS) == (way == 0)
    ax.text(
        middle[0],
        middle[1] + (0.1 if above else -0.1),
        number(gbs),
        ha="center",
        va="bottom" if above else "top",
        fontsize=7.4,
        color=INK,
        zorder=4,
    )


def _draw_link(ax: Axes, shades: Any, machine: Mapping[str, Any], lines: Sequence[int], ns: float) -> None:
    ramp = int(machine["link_ramp"])
    y0 = 3.85 if ramp < _COLUMNS else 0.0
    left = _x(0, _COLUMNS - 1) + _BOX[0] / 2
    right = _x(1, _COLUMNS - 1) - _BOX[0] / 2
    for to, (y, a, b) in enumerate(((y0 + 0.14, right, left), (y0 - 0.14, left, right))):
        gbs = _gbs(lines[to], ns)
        share = min(1.0, gbs * machine["numbers"][f"link.line_ps[{to}]"] / 1000 / _LINE_BYTES)
        ax.annotate(
            "",
            (b, y),
            (a, y),
            arrowprops={"arrowstyle": "-|>", "color": shades(share), "lw": 1.5 + 7.5 * share, "mutation_scale": 12},
        )
        ax.text(
            (left + right) / 2,
            y + (0.14 if to == 0 else -0.14),
            f"to chip {to}: {number(gbs)} GB/s",
            ha="center",
            va="bottom" if to == 0 else "top",
            fontsize=7.5,
            color=INK,
        )


def outcome_tables(outcome: Mapping[str, Any]) -> list[Table]:
    """Time, what programs did, and the busiest of what they used."""
    machine, counters, ns = outcome["machine"], outcome["counters"], outcome["elapsed_ns"]
    title = f"{machine['name']}, rules {machine['rules']}: {time_ns(ns)}, {outcome['cycles']} bus cycles"
    programs = Table(title, ["element", ">computed", ">waited", ">commands", ">got", ">put"])
    cycle_ns = machine["cycle_ps"] / 1000
    for i, spe in enumerate(counters["spes"]):
        if any(spe.values()):
            row = [time_ns(spe[key] * cycle_ns) for key in ("compute_cycles", "wait_cycles")]
            programs.rows.append(
                [f"SPE{i}", *row, str(spe["commands"]), size_bytes(spe["got_bytes"]), size_bytes(spe["put_bytes"])]
            )
    return [programs, busiest_table(outcome)]


def busiest_table(outcome: Mapping[str, Any], most: int = 5) -> Table:
    """The parts of the machine that carried most of what they can carry."""
    busiest = Table("busiest", ["what", ">carried", ">of", ">load"])
    for load in loads(outcome)[:most]:
        if load.gbs:
            cells = [f"{number(load.gbs)} GB/s", f"{number(load.most_gbs)} GB/s", f"{100 * load.share:.0f} %"]
            busiest.rows.append([load.name, *cells])
    return busiest
