"""Where the tasks of a graph stand in a picture: layers from source to sink, few crossings."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def layers(tasks: Sequence[str], edges: Sequence[tuple[str, str]]) -> dict[str, tuple[int, float]]:
    """Task -> (layer, place in the layer, centred on 0).

    A task's layer is its longest path from a source; edges that close a cycle do not count. Within a layer tasks stand
    in the order of their neighbours' mean place, after a few sweeps both ways.

    >>> layers(["a", "b", "c", "d"], [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")])
    {'a': (0, 0.0), 'b': (1, -0.5), 'c': (1, 0.5), 'd': (2, 0.0)}
    """
    after: dict[str, list[str]] = {t: [] for t in tasks}
    waits = dict.fromkeys(tasks, 0)
    for source, target in edges:
        after[source].append(target)
        waits[target] += 1
    depth = dict.fromkeys(tasks, 0)
    done: set[str] = set()
    ready = [t for t in tasks if waits[t] == 0]
    while len(done) < len(depth):
        if not ready:
            # Only cycles are left: open the one at the first task.
            ready = [next(t for t in tasks if t not in done)]
        task = ready.pop(0)
        if task in done:
            continue
        done.add(task)
        for target in after[task]:
            if target in done:
                continue
            depth[target] = max(depth[target], depth[task] + 1)
            waits[target] -= 1
            if waits[target] == 0:
                ready.append(target)

    rows: list[list[str]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for task in tasks:
        rows[depth[task]].append(task)
    around: dict[str, list[str]] = {t: [] for t in tasks}
    for source, target in edges:
        around[source].append(target)
        around[target].append(source)
    place = {t: i - (len(row) - 1) / 2 for row in rows for i, t in enumerate(row)}
    for sweep in range(8):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            side = [(depth[t], t) for t in row]
            mean = {}
            for layer, task in side:
                near = [place[n] for n in around[task] if (depth[n] < layer) == (sweep % 2 == 0)]
                mean[task] = sum(near) / len(near) if near else place[task]
            row.sort(key=lambda t: mean[t])
            for i, task in enumerate(row):
                place[task] = i - (len(row) - 1) / 2
    return {t: (depth[t], place[t]) for t in tasks}
