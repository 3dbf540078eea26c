"""What the time of each element of a simulated machine went to: a bar per element, all of the same length."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cellweave._core import spent_parts
from cellweave.report.tables import OCCUPIED, SPENT
from cellweave.report.units import percent, time_ns
from cellweave.report.web.marks import key, mark, picture, share, tag, text

if TYPE_CHECKING:
    from collections.abc import Mapping

# Work has strong colours, waits have pale ones; neighbours can be told apart by every eye.
_FILLS = dict(
    zip(
        SPENT,
        ("#0072B2", "#E69F00", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#B8C0C8", "#8C97A3", "#E4E8EC", "#D0D6DC"),
        strict=True,
    )
)
_MEANS = dict(spent_parts())


def draw_spent(result: Mapping[str, Any]) -> str:
    """Draw what the time of each element went to."""
    elements = result["elements"]
    known = [part for part in SPENT if any(e["spent_ns"].get(part) for e in elements)]
    rows = []
    for e in elements:
        total = sum(e["spent_ns"].values())
        if not total:
            continue
        shapes, at = [], 0.0
        for part in known:
            ns = e["spent_ns"].get(part, 0)
            if ns:
                shape = tag("rect", x=share(at), width=share(ns / total), height="100%", fill=_FILLS[part])
                shapes.append(mark(f"{e['name']}: {time_ns(ns)}, {percent(ns / total)}: {_MEANS[part]}", shape))
            at += ns / total
        occupied = sum(e["spent_ns"].get(part, 0) for part in OCCUPIED) / total
        bar = picture(str(e["name"]), shapes, high=18, class_="bar")
        figure = tag("span", text(f"{100 * occupied:.0f} %"), class_="figure")
        rows.append(tag("span", text(str(e["name"])), class_="name") + bar + figure)
    legend = key((_FILLS[part], _MEANS[part]) for part in known)
    said = tag(
        "p", text("The figure behind a bar is the part of the time that the element did something."), class_="note"
    )
    return legend + tag("div", *rows, class_="bars", role="group", aria_label="what the time went to") + said
