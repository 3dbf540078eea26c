"""The ratio of obtained to published for all rows, and the misfit of every rule set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cellweave.report.colours import FAINT, INK, PAPER, WARNING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from cellweave.reproduce.rows import Row

_SHADES = {
    "yes": "#009E73",
    "within 10 %": "#009E73",
    "within 25 %": "#56B4E9",
    "same direction": "#E69F00",
    "no": WARNING,
    "contradicts": WARNING,
    "no ranking": FAINT,
    "not published": FAINT,
}
# Larger ratios are drawn at the edge.
_WIDEST = 4.0


def draw_ratios(rows: Sequence[Row], title: str) -> Figure:
    """Draw each row's ratio on a log scale, a column per role; bands show 10 and 25 %.

    Parameters
    ----------
    rows : sequence of Row
        Those without a ratio (claims, ranks) are left out.
    """
    import matplotlib.pyplot as plt
    from matplotlib.lines import Line2D

    roles = [
        role
        for role in ("fitted", "validation", "scheduling", "message passing", "not explained")
        if any(row.role == role for row in rows)
    ]
    parts = {role: [row for row in rows if row.role == role and row.ratio is not None] for role in roles}
    most = max(1, *(len(part) for part in parts.values()))
    figure, axes = plt.subplots(
        1, len(parts), sharex=True, squeeze=False, figsize=(2 + 5 * len(parts), 1.3 + 0.24 * most), layout="constrained"
    )
    for ax, (role, part) in zip(axes[0], parts.items(), strict=True):
        _ratio_axis(ax, part)
        ax.set_title(f"{role}: {len(part)} rows", fontsize=9, color=INK)
        ax.set_ylim(most - 0.4, -0.6)
    seen = [name for name in _SHADES if any(row.verdict == name for part in parts.values() for row in part)]
    marks = [Line2D([], [], marker="o", linestyle="", color=_SHADES[name], label=name) for name in seen]
    figure.legend(handles=marks, loc="outside lower center", ncols=max(1, len(marks)), fontsize=8, frameon=False)
    figure.suptitle(title, fontsize=10, color=INK)
    return figure


def _ratio_axis(ax: Axes, rows: Sequence[Row]) -> None:
    ax.axvspan(0.75, 1.25, color=FAINT, alpha=0.25, linewidth=0)
    ax.axvspan(0.9, 1.1, color=FAINT, alpha=0.45, linewidth=0)
    ax.axvline(1.0, color=INK, linewidth=1)
    for y, row in enumerate(rows):
        assert row.ratio is not None
        x = min(_WIDEST, max(1 / _WIDEST, row.ratio))
        ax.plot([1.0, x], [y, y], color=_SHADES[row.verdict], linewidth=1)
        ax.plot([x], [y], marker="o", markersize=5, color=_SHADES[row.verdict])
    ax.set_yticks(range(len(rows)), [_label(row) for row in rows], fontsize=7)
    ax.set_xscale("log", base=2)
    ticks = [1 / _WIDEST, 0.5, 0.75, 1.0, 1.25, 2.0, _WIDEST]
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks], fontsize=8)
    ax.minorticks_off()
    ax.set_xlim(1 / _WIDEST * 0.93, _WIDEST * 1.07)
    ax.set_xlabel("obtained / published", fontsize=8)
    ax.spines[["top", "right"]].set_visible(False)


def draw_misfit(rows_by_rules: Mapping[str, Sequence[Row]]) -> Figure:
    """Draw the misfit of every rule set on every row: the verdict as colour, the ratio as number.

    Parameters
    ----------
    rows_by_rules : mapping
        Rule set -> its rows that vote; every rule set has the same rows in the same order.
    """
    import matplotlib.pyplot as plt
    from matplotlib.patches import Rectangle

    names = list(rows_by_rules)
    first = rows_by_rules[names[0]]
    figure, ax = plt.subplots(figsize=(5.5 + 1.1 * len(names), 1.2 + 0.2 * len(first)), layout="constrained")
    for x, name in enumerate(names):
        for y, row in enumerate(rows_by_rules[name]):
            ax.add_patch(Rectangle((x, y), 1, 1, facecolor=_SHADES[row.verdict], edgecolor=PAPER, alpha=0.75))
            ax.text(x + 0.5, y + 0.5, _short(row), ha="center", va="center", fontsize=6.5, color=INK)
    ax.set_xlim(0, len(names))
    ax.set_ylim(len(first), 0)
    ax.set_xticks([x + 0.5 for x in range(len(names))], names, rotation=30, ha="left", fontsize=8)
    ax.xaxis.tick_top()
    ax.set_yticks(
        [y + 0.5 for y in range(len(first))], [f"{_label(row)} ({row.role[0]})" for row in first], fontsize=6.5
    )
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set_xlabel("obtained / published; (f) fitted, (v) validation, (s) scheduling, (n) not explained", fontsize=8)
    return figure


def _label(row: Row) -> str:
    """The group, and which row of it."""
    return row.id if row.id.startswith(row.group) else f"{row.group} {row.id.rpartition('-')[2]}"


def _short(row: Row) -> str:
    if row.ratio is not None:
        return f"{row.ratio:.2f}"
    return row.verdict if row.deviation is None else f"off {row.deviation:.0%}"
