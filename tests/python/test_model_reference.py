"""The library's contention model equals a second, plain one, written from the table of equations.

The two share nothing but the names of contributions. Equations (1) to (9) are written out for a Cell,
firstPeriod and buffers for both rules, and everything is a dict and a loop.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from itertools import product

import cellweave as cw
import pytest

GB = 1e9
LOCAL_STORE = 256 * 1024
PRESETS = [
    "ps3", "ps3:spe=0", "ps3:spe=2", "cell", "cell:spe=5", "qs20", "qs20:ppe=1,spe=11", "qs22", "qs22:ppe=1",
    "qs22:ppe=2,spe=3",
]  # fmt: skip
SIZES = {"ps3": (1, 6), "cell": (1, 8), "qs20": (2, 16), "qs22": (2, 16)}


def elements_of(preset: str) -> list[dict]:
    """Name, kind and chip of every element."""
    name, _, options = preset.partition(":")
    ppes, spes = SIZES[name]
    for option in filter(None, options.split(",")):
        key, _, value = option.partition("=")
        ppes, spes = (int(value), spes) if key == "ppe" else (ppes, int(value))
    list_of = [{"name": f"PPE{i}", "kind": "ppe", "chip": i} for i in range(ppes)]
    list_of += [{"name": f"SPE{i}", "kind": "spe", "chip": i // 8} for i in range(spes)]
    return list_of


def draw_graph(rng: random.Random, tasks: int, most_bytes: int) -> dict:
    """A random DAG as an application's dict, with peeks and a broadcast now and then."""
    graph = {"name": "g", "code_bytes": 65536, "task": [], "edge": []}
    for t in range(tasks):
        ppe = rng.uniform(10, 4000)
        cost = {"ppe": ppe, "spe": ppe * rng.uniform(0.2, 3)}
        graph["task"].append({"name": f"t{t}", "cost_ns": cost if rng.random() < 0.9 else {"*": ppe}})
    for target in range(1, tasks):
        for source in range(target):
            if rng.random() < 2.0 / target:
                port, size = str(len(graph["edge"])), rng.randint(1, most_bytes)
                earlier = [e for e in graph["edge"] if e["from"].startswith(f"t{source}.")]
                if earlier and rng.random() < 0.4:
                    port, size = earlier[0]["from"].split(".")[1], earlier[0]["bytes"]
                edge = {"from": f"t{source}.{port}", "to": f"t{target}.{len(graph['edge'])}", "bytes": size}
                graph["edge"].append(edge | {"peek": rng.choice([0, 0, 0, 1, 2, 5])})
    return graph


def task_of(port: str) -> str:
    return port.split(".")[0]


def reference(graph: dict, elements: list[dict], mapping: dict, buffering: str, batch: int) -> dict:
    """Contributions, firstPeriod, buffers and the number of broken limits of a mapping."""
    kind = {e["name"]: e["kind"] for e in elements}
    chip = {e["name"]: e["chip"] for e in elements}
    edges = [
        {
            "port": e["from"],
            "k": task_of(e["from"]),
            "l": task_of(e["to"]),
            "bytes": e["bytes"],
            "peek": math.ceil(e["peek"] / batch),
            "i": mapping[task_of(e["from"])],
            "j": mapping[task_of(e["to"])],
        }
        for e in graph["edge"]
    ]

    # firstPeriod; tasks were drawn in topological order.
    first = {}
    for task in graph["task"]:
        first[task["name"]] = 0
        for e in edges:
            if e["l"] == task["name"]:
                local = buffering == "shared" and e["i"] == e["j"]
                at = first[e["k"]] + e["peek"] + (0 if local else 2)
                first[task["name"]] = max(first[task["name"]], at)

    # Buffers. A broadcast has one buffer at its producer, and one per element that consumers are on.
    out_bytes, in_bytes = defaultdict(float), defaultdict(float)
    for e in edges:
        distance = first[e["l"]] - first[e["k"]]
        if buffering == "shared" and e["i"] == e["j"]:
            once = e["bytes"] * batch * (distance + 1)
            in_bytes[e["port"], e["j"]] = max(in_bytes[e["port"], e["j"]], once)
        else:
            each = e["bytes"] * batch * distance
            out_bytes[e["port"], e["i"]] = max(out_bytes[e["port"], e["i"]], each)
            in_bytes[e["port"], e["j"]] = max(in_bytes[e["port"], e["j"]], each)
    buffers = {e["name"]: 0.0 for e in elements}
    for held in (out_bytes, in_bytes):
        for (_, element), size in held.items():
            buffers[element] += size

    # d(i, j), and transfers; the data of a port goes to an element once.
    d, count = defaultdict(float), defaultdict(int)
    for _port, i, j, size in {(e["port"], e["i"], e["j"], e["bytes"]) for e in edges if e["i"] != e["j"]}:
        d[i, j] += size
        count[i, j] += 1

    ns = defaultdict(float)
    for task in graph["task"]:  # (14), (15)
        on = mapping[task["name"]]
        ns[f"compute of {on}"] += task["cost_ns"].get(kind[on], task["cost_ns"].get("*"))
    for (i, j), size in d.items():
        ns[f"input of {j} (1)"] += size / (25 * GB) * 1e9
        ns[f"output of {i} (2)"] += size / (25 * GB) * 1e9
        if kind[j] == "ppe":
            ns[f"{j} reads {i} (3)"] += size / (2 * GB) * 1e9
        for c in {chip[i], chip[j]}:
            ns[f"bus of chip {c} (4)"] += size / (149 * GB) * 1e9
        if chip[j] == 0 and chip[i] == 1:
            if kind[j] == "spe":
                ns[f"{j} reads chip 1 (5)"] += size / (4.91 * GB) * 1e9
            ns["chip 0 reads chip 1 (7)"] += size / (13 * GB) * 1e9
        if chip[j] == 1 and chip[i] == 0:
            if kind[j] == "spe":
                ns[f"{j} reads chip 0 (6)"] += size / (3.38 * GB) * 1e9
            ns["chip 1 reads chip 0 (8)"] += size / (11.5 * GB) * 1e9
        if chip[i] != chip[j]:
            ns["between the chips (9)"] += size / (19 * GB) * 1e9

    broken = 0
    for e in elements:
        if e["kind"] == "spe":
            name = e["name"]
            broken += buffers[name] > LOCAL_STORE - graph["code_bytes"]  # (16)
            broken += sum(n for (_, j), n in count.items() if j == name) > 16  # (17)
            broken += sum(n for (i, j), n in count.items() if i == name and kind[j] == "ppe") > 8  # (18)
    return {
        "ns": {name: x for name, x in ns.items() if x > 0},
        "first": first,
        "buffers": buffers,
        "broken": broken,
        "period": max(ns.values(), default=0.0),
    }


def assert_agree(graph: dict, preset: str, mapping: dict, buffering: str, batch: int) -> dict:
    want = reference(graph, elements_of(preset), mapping, buffering, batch)
    plan = cw.plan(
        cw.Graph.from_dict(graph), cw.Machine.load(preset), mapping=mapping, buffering=buffering, batch=batch
    )
    got = plan.to_dict()
    ns = {c["name"]: c["ns"] for c in got["contributions"] if c["ns"] > 0}
    assert ns == pytest.approx(want["ns"], rel=1e-12)
    assert got["period_ns"] == pytest.approx(want["period"], rel=1e-12)
    assert got["first_period"] == want["first"]
    assert {e: got["buffers_bytes"].get(e, 0) for e in want["buffers"]} == want["buffers"]
    assert len(got["violations"]) == want["broken"], got["violations"]
    assert got["feasible"] == (want["broken"] == 0)
    assert got["bound_ns"] <= got["period_ns"]
    return want


@pytest.mark.parametrize("preset", PRESETS)
def test_library_and_reference_agree_on_random_graphs_and_mappings(preset: str) -> None:
    rng = random.Random(preset)
    names = [e["name"] for e in elements_of(preset)]
    broken = 0
    for _ in range(60):
        graph = draw_graph(rng, rng.randint(1, 30), rng.choice([100, 3_000, 30_000]))
        for _ in range(4):
            used = rng.sample(names, rng.randint(1, len(names)))
            mapping = {task["name"]: rng.choice(used) for task in graph["task"]}
            batch = rng.choice([1, 1, 1, 2, 7, 64])
            broken += assert_agree(graph, preset, mapping, rng.choice(["shared", "duplicated"]), batch)["broken"] > 0
    assert broken > 0 or preset == "ps3:spe=0", "some mapping must break a limit, else nothing shows that it is seen"


def test_more_than_sixteen_incoming_and_eight_outgoing_transfers_are_broken_limits() -> None:
    graph = {"name": "star", "code_bytes": 65536, "task": [], "edge": []}
    for t in range(36):
        graph["task"].append({"name": f"t{t}", "cost_ns": {"*": 1.0}})
    for t in range(17):
        graph["edge"].append({"from": f"t{t}.0", "to": f"t17.{t}", "bytes": 8, "peek": 0})
        graph["edge"].append({"from": f"t17.{t}", "to": f"t{18 + t}.0", "bytes": 8, "peek": 0})
    mapping = {f"t{t}": "SPE1" if t < 26 else "SPE2" for t in range(36)} | {"t17": "SPE0"}
    assert assert_agree(graph, "qs22", mapping, "shared", 1)["broken"] == 1
    mapping |= {f"t{18 + t}": "PPE0" for t in range(9)}
    assert assert_agree(graph, "qs22", mapping, "shared", 1)["broken"] == 2
    mapping |= {"t0": "SPE0", "t18": "SPE1"}
    assert assert_agree(graph, "qs22", mapping, "shared", 1)["broken"] == 0


def test_no_bound_is_above_the_best_of_all_mappings() -> None:
    rng = random.Random(3)
    elements = elements_of("cell:spe=2")
    names = [e["name"] for e in elements]
    for _ in range(60):
        graph = draw_graph(rng, rng.randint(1, 6), rng.choice([300, 20_000]))
        tasks = [t["name"] for t in graph["task"]]
        best = math.inf
        for on in product(names, repeat=len(tasks)):
            seen = reference(graph, elements, dict(zip(tasks, on, strict=True)), "shared", 1)
            if not seen["broken"]:
                best = min(best, seen["period"])
        plan = cw.plan(cw.Graph.from_dict(graph), "cell:spe=2", moves=20_000, gap=0.0)
        assert plan.bound_ns <= best * (1 + 1e-12)
        assert plan.period_ns == pytest.approx(best, rel=1e-9), "annealing finds the best of so few mappings"
