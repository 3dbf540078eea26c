"""What ran when: a row per element, which the page's script zooms and pans."""

from __future__ import annotations

import json
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cellweave.report.colours import colours
from cellweave.report.tables import natural
from cellweave.report.units import time_ns
from cellweave.report.web.marks import figure, key, mark, picture, share, tag, text
from cellweave.report.web.shades import ink_over

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MOST = 25_000  # bars that a page holds: 20 to 30 bytes each
_ROWS_MOST = 64
_AT_FIRST = 120  # bars of the fullest row that are shown at first
_WAIT = "waiting"
_BUCKETS = 240  # of the line that shows the whole run
_KEYS_MOST = 24


@dataclass
class _Fired:
    """A batch of a task, or a wait."""

    row: int
    start_ns: int
    length_ns: int
    task: str
    first: int
    firings: int


def draw_timeline(trace: Mapping[str, Any], kernels: Mapping[str, str], elements: Sequence[str] = ()) -> str:
    """Draw a trace.

    Parameters
    ----------
    trace : mapping
        Chrome's format: complete events with ``ts`` and ``dur`` in us, threads named by metadata.
    kernels : mapping of str to str
        Task -> its kernel; tasks of one kernel share a colour. Without it, names that differ in a number do.
    elements : sequence of str
        Names of rows that come first, in this order.
    """
    rows, fired = _read(trace, elements)
    if not fired:
        return tag("p", text("The trace holds no batch."))
    left_out = max(0, len(fired) - _MOST)
    fired = fired[left_out // 2 :][:_MOST]
    zero = min(f.start_ns for f in fired)
    end = max(f.start_ns + f.length_ns for f in fired) - zero
    groups = {f.task: _WAIT if f.task == _WAIT else kernels.get(f.task) or natural(f.task)[0] for f in fired}
    named = list(dict.fromkeys(g for g in groups.values() if g != _WAIT))
    fills = colours(named)
    colour: dict[str, str] = {**fills, _WAIT: "var(--wait)"}
    inks = {**{name: ink_over(fill) for name, fill in fills.items()}, _WAIT: ""}
    low, high = _first_window(fired, zero, end)
    tasks = list(groups)
    number = {task: i for i, task in enumerate(tasks)}
    data = {
        "end": end,
        "view": [low, high],
        "tasks": tasks,
        "fills": [colour[groups[t]] for t in tasks],
        "inks": [inks[groups[t]] for t in tasks],
        "rows": [_packed([f for f in fired if f.row == i], zero, number) for i in range(len(rows))],
    }
    body = []
    for i, name in enumerate(rows):
        seen = [f for f in fired if f.row == i and f.start_ns - zero < high and f.start_ns + f.length_ns - zero > low]
        drawn = [_bar(f, zero, low, high, colour[groups[f.task]]) for f in seen]
        body.append(tag("span", text(name), class_="name"))
        body.append(picture(f"{name}: what ran when", drawn, high=30, class_="lane"))
    body.append(tag("span", "", class_="name") + tag("div", _axis(low, high), class_="axis", aria_hidden="true"))
    body.append(tag("span", text("whole run"), class_="name") + _overview(fired, zero, end, len(rows)))
    says = f"Timeline of {len(rows)} elements; plus and minus zoom, left and right move, up and down go from bar to bar"
    shown = tag("div", *body, class_="lanes", role="group", aria_label=says, tabindex=0)
    # `</` would end the script.
    packed = json.dumps(data, separators=(",", ":")).replace("</", "<\\/")
    script = tag("script", packed, type="application/json")
    entries = [(colour[g], g) for g in named[:_KEYS_MOST]] + [(colour[_WAIT], _WAIT)]
    if len(named) > _KEYS_MOST:
        entries.append(("transparent", f"and {len(named) - _KEYS_MOST} more"))
    words = f"{len(fired)} batches and waits in {time_ns(end)}"
    words += f"; {left_out} more, before and after, are not in this page" if left_out else ""
    how = "Drag to move, Ctrl and the wheel or two fingers to zoom."
    return figure(key(entries) + tag("div", _BUTTONS, shown, script, class_="timeline"), f"{words}. {how}")


_BUTTONS = tag(
    "div",
    *(
        tag("button", text(sign), type="button", data_do=what, aria_label=says, title=says)
        for sign, what, says in (
            ("+", "in", "zoom in"),
            ("\u2212", "out", "zoom out"),
            ("\u2190", "left", "earlier"),
            ("\u2192", "right", "later"),
            ("all", "all", "the whole run"),
        )
    ),
    class_="buttons",
)


def _read(trace: Mapping[str, Any], elements: Sequence[str]) -> tuple[list[str], list[_Fired]]:
    """Names of the rows, and the events in the order of their start."""
    events = trace["traceEvents"]
    names = {
        (e.get("pid", 0), e.get("tid", 0)): str(e["args"]["name"])
        for e in events
        if e.get("ph") == "M" and e.get("name") == "thread_name"
    }
    complete = [e for e in events if e.get("ph") == "X"]
    keys = {(e.get("pid", 0), e.get("tid", 0)) for e in complete}
    named = {k: names.get(k, f"thread {k[1]}") for k in keys}
    place = {name: i for i, name in enumerate(elements)}
    ordered = sorted(keys, key=lambda k: (place.get(named[k], len(place)), k[0], natural(named[k])))[:_ROWS_MOST]
    row = {k: i for i, k in enumerate(ordered)}
    fired = []
    for e in complete:
        at = row.get((e.get("pid", 0), e.get("tid", 0)))
        if at is not None:
            args = e.get("args") or {}
            task = _WAIT if e.get("cat") == "wait" else str(e["name"])
            start, length = round(float(e["ts"]) * 1000), round(float(e["dur"]) * 1000)
            fired.append(_Fired(at, start, length, task, int(args.get("first", 0)), int(args.get("firings", 0))))
    fired.sort(key=lambda f: f.start_ns)
    return [named[k] for k in ordered], fired


def _first_window(fired: Sequence[_Fired], zero: int, end: int) -> tuple[int, int]:
    """From and to, in the middle of the run, with as many bars of the fullest row as can be told apart."""
    counts: dict[int, int] = {}
    for f in fired:
        counts[f.row] = counts.get(f.row, 0) + 1
    fullest = max(counts, key=lambda row: counts[row])
    starts = [f.start_ns - zero for f in fired if f.row == fullest]
    if len(starts) <= _AT_FIRST:
        return 0, end
    first = max(0, bisect_left(starts, end // 2) - _AT_FIRST // 2)
    window = starts[first : first + _AT_FIRST + 1]
    return window[0], max(window[-1], window[0] + 1)


def _packed(fired: Sequence[_Fired], zero: int, number: Mapping[str, int]) -> list[int]:
    """Five numbers a bar: ns since the last one's start, length, task, first instance and firings."""
    packed, last = [], zero
    for f in fired:
        packed += [f.start_ns - last, f.length_ns, number[f.task], f.first, f.firings]
        last = f.start_ns
    return packed


def _bar(f: _Fired, zero: int, low: int, high: int, fill: str) -> str:
    start, end = max(f.start_ns - zero, low), min(f.start_ns + f.length_ns - zero, high)
    span = high - low
    rect = tag(
        "rect", x=share((start - low) / span), width=share((end - start) / span), height="100%", style=f"fill:{fill}"
    )
    return mark(_says(f, zero), rect)


def _says(f: _Fired, zero: int) -> str:
    since = f"{time_ns(f.length_ns)} from {time_ns(f.start_ns - zero)} on"
    if not f.firings:
        return f"{f.task}: {since}"
    one = f"instance {f.first}" if f.firings == 1 else f"instances {f.first} to {f.first + f.firings - 1}"
    return f"{f.task}: {one}, {since}"


def _axis(low: int, high: int) -> str:
    """From and to; the script writes a finer one."""
    return tag("span", text(time_ns(low)), style="left:0") + tag("span", text(time_ns(high)), style="right:0")


def _overview(fired: Sequence[_Fired], zero: int, end: int, rows: int) -> str:
    """How busy the elements were during the whole run; the script marks on it what is shown above."""
    busy = [0.0] * _BUCKETS
    width = max(end, 1) / _BUCKETS
    for f in fired:
        if f.task == _WAIT:
            continue
        start, stop = (f.start_ns - zero) / width, (f.start_ns - zero + f.length_ns) / width
        for bucket in range(int(start), min(_BUCKETS, int(stop) + 1)):
            busy[bucket] += max(0.0, min(stop, bucket + 1) - max(start, bucket))
    bars = []
    for i, part in enumerate(busy):
        high = min(1.0, part / max(1, rows))
        bars.append(
            tag("rect", x=share(i / _BUCKETS), y=share(1 - high), width=share(1 / _BUCKETS), height=share(high))
        )
    view = tag("rect", height="100%", class_="view", x="0", width="0")
    return picture("how busy all elements were during the whole run", [*bars, view], high=26, class_="whole")
