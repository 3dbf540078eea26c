"""What a worker does: one cell of the grid becomes one row."""

from __future__ import annotations

import json
import time
from datetime import datetime, timezone
from functools import cache
from hashlib import sha256
from typing import Any

from cellweave import _core


class VersionSkew(Exception):
    """A worker has another version of cellweave than the campaign's."""


@cache
def version() -> str:
    """The version of cellweave here, with a digest of its library: results come from there."""
    assert _core.__file__ is not None
    with open(_core.__file__, "rb") as library:
        return f"{_core.__version__} (build {sha256(library.read()).hexdigest()[:8]})"


def compute(cell: dict[str, Any], wanted: str) -> dict[str, Any]:
    """Plan, and where it is asked for run, one cell.

    Parameters
    ----------
    cell : dict
        As :meth:`cellweave.campaign.definition.Cell.to_dict` gives it.
    wanted : str
        The campaign's :func:`version`.

    Returns
    -------
    dict
        A row; a cell that fails is a row whose ``error`` says why.

    Raises
    ------
    VersionSkew
        Where this process has another version.
    """
    if version() != wanted:
        raise VersionSkew(f"a worker has cellweave {version()}, and this campaign {wanted}")
    start = time.monotonic()
    row = begun(cell)
    try:
        row.update(_figures(cell))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as e:  # a panic of the library is no Exception
        known = isinstance(e, (_core.RequestError, _core.RunError))
        row["error"] = str(e) if known else f"{type(e).__name__}: {e}"
    return row | {"seconds": time.monotonic() - start, "ended": now(), "cellweave": wanted}


def begun(cell: dict[str, Any]) -> dict[str, Any]:
    """The row of a cell before it has figures: its place in the grid."""
    row = {name: cell[name] for name in ("key", "graph", "machine", "what", "method", "seed", "instances")}
    return row | {"options": json.dumps(cell["options"], sort_keys=True), "error": None}


def now() -> str:
    """The time, for a row."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")


def _figures(cell: dict[str, Any]) -> dict[str, Any]:
    from cellweave.graph import Graph
    from cellweave.machine import Machine
    from cellweave.plan import plan
    from cellweave.run import run
    from cellweave.sets import SMALL_TASKS, ratio_of

    graph = Graph.of(_core.Graph.parse(cell["graph_json"], "json", cell["folder"]))
    machine = Machine.from_toml(cell["machine_toml"])
    data = graph.to_dict()
    tasks = len(data["task"])
    found: dict[str, Any] = {
        "tasks": tasks,
        "edges": len(data.get("edge", [])),
        "ccr": ratio_of(graph.name),
        "size": "small" if tasks <= SMALL_TASKS else "large",
        "elements": len(machine.elements),
    }
    made = plan(graph, machine, cell["method"], seed=cell["seed"], **cell["options"])
    planned = made.to_dict()
    found |= {name: planned[name] for name in ("feasible", "period_ns", "bound_ns", "gap", "batch", "moves")}
    found["predicted_per_s"] = planned["throughput_per_s"]
    found["bottleneck"] = planned["bottleneck"]
    found["broken"] = "; ".join(v["text"] for v in planned["violations"]) or None
    found["plan_s"] = planned["seconds"]
    if cell["what"] == "simulated":
        result = run(graph, machine, made, instances=cell["instances"], until_steady=cell["until_steady"])
        found["ran"] = result.instances
        found["achieved_per_s"] = result.throughput_per_s
        found["steady_per_s"] = result.steady_per_s
        best = result.steady_per_s or result.throughput_per_s
        if result.until_steady is not None:
            steady = result.until_steady
            found |= {"decided": steady["decided"], "steady_after": steady["instances"]}
            found["highest_per_s"] = best = steady["highest_per_s"]
        found["ratio"] = best / planned["throughput_per_s"]
    return found
