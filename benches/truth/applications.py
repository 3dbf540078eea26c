"""The applications of benches/truth: twenty, of as many sorts, each as an application file has it."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any

Application = dict[str, Any]


class Builder:
    """Collects tasks and edges; every kernel is one of kernels.c unless its name has a colon."""

    def __init__(self, name: str, library: str) -> None:
        self.library = library
        self.app: Application = {"name": name, "task": [], "edge": []}
        self.ports: dict[str, list[int]] = {}

    def task(self, name: str, kernel: str, **params: float) -> str:
        """Add a task; its name."""
        kernel = kernel if ":" in kernel else f"{self.library}:truth_{kernel}"
        self.app["task"].append({"name": name, "kernel": kernel, "params": params})
        self.ports[name] = [0, 0]
        return name

    def edge(self, source: str, target: str, n_bytes: int, **more: int) -> None:
        """Add an edge between ports of its own."""
        out, into = self.ports[source][1], self.ports[target][0]
        self.ports[source][1] += 1
        self.ports[target][0] += 1
        self.app["edge"].append({"from": f"{source}.out{out}", "to": f"{target}.in{into}", "bytes": n_bytes, **more})

    def chain(self, names: list[str], n_bytes: int) -> Application:
        """Add the edges of a chain; the application."""
        for source, target in pairwise(names):
            self.edge(source, target, n_bytes)
        return self.app


def fan(b: Builder, n_bytes: int, branches: list[str], end: str = "copy") -> Application:
    """source -> every branch -> one task -> sink."""
    source, end, sink = b.task("source", "source"), b.task("join", end), b.task("sink", "sink")
    for branch in branches:
        b.edge(source, branch, n_bytes)
        b.edge(branch, end, n_bytes)
    return b.chain([end, sink], n_bytes)


def line(b: Builder, n_bytes: int, stages: list[str]) -> Application:
    """source -> stages -> sink."""
    return b.chain([b.task("source", "source"), *stages, b.task("sink", "sink")], n_bytes)


def mixed(b: Builder, tasks: int, seed: int) -> Application:
    """Layers of up to six tasks of all sorts, each fed by one to three of the layer before."""
    draw = Random(seed)
    sorts = [
        ("copy", {}), ("fir", {"size": 8}), ("spin", {"rounds": 300}), ("spin", {"rounds": 1500}),
        ("look_up", {"size": 65536, "rounds": 40}), ("butterfly", {"size": 16}), ("check", {}),
    ]  # fmt: skip
    n_bytes = 512
    before = [b.task("source", "source")]
    left = tasks - 2
    made = 0
    while left > 0:
        layer = []
        for _ in range(min(left, draw.randint(2, 6))):
            kernel, params = draw.choice(sorts)
            layer.append(b.task(f"t{made}", kernel, **params))
            made += 1
        left -= len(layer)
        fed = set()
        for name in layer:
            for source in draw.sample(before, min(len(before), draw.randint(1, 3))):
                b.edge(source, name, n_bytes)
                fed.add(source)
        for source in before:  # nothing is computed for nobody
            if source not in fed:
                b.edge(source, layer[0], n_bytes)
        before = layer
    sink = b.task("sink", "sink")
    for source in before:
        b.edge(source, sink, n_bytes)
    return b.app


def applications(library: str) -> dict[str, Application]:
    """Name -> application file."""
    made: dict[str, Application] = {}

    def new(name: str) -> Builder:
        return Builder(name, library)

    def add(app: Application) -> None:
        made[app["name"]] = app

    b = new("fir-bank")
    add(fan(b, 1024, [b.task(f"band{i}", "fir", size=24) for i in range(8)]))
    b = new("fft-chain")
    add(line(b, 4096, [b.task(f"stage{i}", "butterfly", size=2**i) for i in range(9)]))
    b = new("matrix-products")
    add(fan(b, 4096, [b.task(f"product{i}", "matrix", size=32) for i in range(4)]))
    b = new("video-frames")
    add(line(b, 307200, [b.task(f"blur{i}", "blur", size=320) for i in range(3)]))
    b = new("feedback")
    mix, shape, out = b.task("mix", "copy"), b.task("shape", "fir", size=16), b.task("out", "spin", rounds=800)
    b.chain([b.task("source", "source"), mix, shape, out, b.task("sink", "sink")], 512)
    b.edge(shape, mix, 512, delay=64)
    add(b.app)
    b = new("numba")
    stages = [b.task(f"compiled{i}", "python:truth_kernels:smooth") for i in range(4)]
    b.chain([b.task("source", "source"), *stages, b.task("sink", "sink")], 2048)
    # A Python kernel has one input and one output, and names them.
    for edge in b.app["edge"]:
        for end, port in (("from", "y"), ("to", "x")):
            if edge[end].startswith("compiled"):
                edge[end] = f"{edge[end].split('.')[0]}.{port}"
    add(b.app)
    b = new("copies-16k")
    add(line(b, 16384, [b.task(f"copy{i}", "copy") for i in range(6)]))
    b = new("copies-256k")
    add(line(b, 262144, [b.task(f"copy{i}", "copy") for i in range(4)]))
    b = new("tables-8M")
    add(line(b, 256, [b.task(f"table{i}", "look_up", size=2**21, rounds=100) for i in range(4)]))
    add(mixed(new("mixed-40"), 40, 4))
    add(mixed(new("mixed-150"), 150, 15))
    b = new("even-spins")
    add(line(b, 64, [b.task(f"spin{i}", "spin", rounds=1500) for i in range(8)]))
    b = new("uneven-spins")
    add(line(b, 64, [b.task(f"spin{i}", "spin", rounds=250 * (i + 1) ** 2) for i in range(6)]))
    b = new("fine-chain")
    add(line(b, 64, [b.task(f"copy{i}", "copy") for i in range(14)]))
    b = new("wide-diamond")
    add(fan(b, 256, [b.task(f"branch{i}", "spin", rounds=400) for i in range(16)]))
    b = new("sorting")
    add(line(b, 2048, [b.task("sort0", "sorted"), b.task("spin", "spin", rounds=3000), b.task("fir", "fir", size=12)]))
    b = new("packets")
    add(line(b, 1500, [b.task("check0", "check"), b.task("route", "branches", rounds=4000), b.task("check1", "check")]))
    b = new("peeking")
    names = [b.task("source", "source"), b.task("first", "fir", size=8), b.task("second", "fir", size=8)]
    b.edge(names[0], names[1], 512, peek=4)
    b.edge(names[1], names[2], 512, peek=16)
    b.edge(names[2], b.task("sink", "sink"), 512)
    add(b.app)
    b = new("pyramid")
    source, join = b.task("source", "source"), b.task("join", "copy")
    for scale in range(3):
        parts = [b.task(f"blur{scale}-{i}", "blur", size=64) for i in range(scale + 1)]
        b.chain([source, *parts, join], 16384)
    add(b.chain([join, b.task("sink", "sink")], 16384))
    b = new("tables-and-filters")
    branches = [b.task(f"table{i}", "look_up", size=2**18, rounds=60) for i in range(3)]
    add(fan(b, 4096, [*branches, *(b.task(f"fir{i}", "fir", size=4) for i in range(3))], "fir"))
    return made
