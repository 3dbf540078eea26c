"""The file of a campaign: a grid of graphs, machines, methods, options, seeds and instances."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from glob import glob
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellweave import _core
from cellweave.choice import choice
from cellweave.graph import Graph
from cellweave.machine import Machine
from cellweave.sets import graph_set, set_names
from cellweave.whatif import spread_machine

if TYPE_CHECKING:
    import os

PREDICTED = "predicted"
SIMULATED = "simulated"
_KEYS = ("name", "what", "graphs", "machines", "methods", "seeds", "instances", "until_steady", "options")


@dataclass(frozen=True)
class Cell:
    """One point of the grid, with all that a worker needs.

    Attributes
    ----------
    key : str
        A digest of everything below; rows are kept by it.
    graph, machine : str
        Their names.
    graph_json, machine_toml : str
        Their texts.
    folder : str or None
        Where the graph's kernels and files are.
    what : {"predicted", "simulated"}
        Plan only, or also run on the simulated Cell.
    method : str
        Of planning.
    options : dict
        Further options of ``plan``.
    seed : int
        Of the search.
    instances : int or None
        Of the run.
    until_steady : bool
        Whether it goes on until its throughput is steady.
    """

    key: str
    graph: str
    machine: str
    graph_json: str
    machine_toml: str
    folder: str | None
    what: str
    method: str
    options: dict[str, Any]
    seed: int
    instances: int | None
    until_steady: bool

    def to_dict(self) -> dict[str, Any]:
        """For a worker."""
        return asdict(self)


@dataclass(frozen=True)
class Definition:
    """A campaign's file, read and spread out.

    Attributes
    ----------
    name : str
        The campaign's name.
    cells : list of Cell
        In the order of the grid: graphs, machines, methods, options, seeds, instances.
    """

    name: str
    cells: list[Cell]

    @property
    def digest(self) -> str:
        """Tells one campaign from another."""
        return sha256("".join(cell.key for cell in self.cells).encode()).hexdigest()

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Definition:
        """Read a campaign's file.

        Raises
        ------
        cellweave.RequestError
            Says what is wrong: a key, a graph, a machine or an option.
        """
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as e:
            raise _core.RequestError(f"{path}: {e.strerror}") from e
        except UnicodeError:
            raise _core.RequestError(f"{path} is not text (UTF-8)") from None
        try:
            return _definition(json.loads(_core.read_toml(text)), path)
        except _core.RequestError as e:
            raise _core.RequestError(f"{path}: {e}") from e


def _definition(words: dict[str, Any], path: Path) -> Definition:
    for key in words:
        choice("key", key, _KEYS)
    what = choice("what", _text("what", words.get("what", PREDICTED)), [PREDICTED, SIMULATED])
    graphs = _graphs(_list("graphs", words.get("graphs", []), str), path.parent)
    machines = _machines(_list("machines", words.get("machines", ["qs22"]), str), path.parent)
    methods = _list("methods", words.get("methods", ["auto"]), str)
    allowed = next(field.choices for field in _core.options("plan") if field.name == "method")
    for method in methods:
        choice("methods", method, allowed)
    seeds = _list("seeds", words.get("seeds", [1]), int)
    options = _list("options", words.get("options", [{}]), dict)
    for variant in options:
        _check_options(variant)
    if what == PREDICTED and "instances" in words:
        raise _core.RequestError('instances: a prediction has none; say what = "simulated"')
    until_steady = words.get("until_steady", False)
    if not isinstance(until_steady, bool):
        raise _core.RequestError(f"until_steady: {until_steady!r} is neither true nor false")
    if what == PREDICTED and until_steady:
        raise _core.RequestError('until_steady: a prediction does not run; say what = "simulated"')
    instances = [None]
    if what == SIMULATED and ("instances" in words or not until_steady):
        instances = _list("instances", words.get("instances", [1000]), int)
    if any(count is not None and count < 1 for count in instances):
        raise _core.RequestError("instances: at least 1")
    cells = [
        _cell(graph, machine, what, method, variant, seed, count, until_steady)
        for graph, machine, method, variant, seed, count in product(
            graphs, machines, methods, options, seeds, instances
        )
    ]
    if len({cell.key for cell in cells}) < len(cells):
        raise _core.RequestError("two cells of the grid are the same: a graph, machine or option is named twice")
    return Definition(_text("name", words.get("name", path.stem)), cells)


def _cell(
    graph: tuple[str, str, str | None],
    machine: tuple[str, str],
    what: str,
    method: str,
    options: dict[str, Any],
    seed: int,
    instances: int | None,
    until_steady: bool,
) -> Cell:
    told = [graph[1], machine[1], what, method, options, seed, instances, until_steady]
    key = sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:24]
    texts = (key, graph[0], machine[0], graph[1], machine[1], graph[2])
    return Cell(*texts, what, method, options, seed, instances, until_steady)


def _text(key: str, value: Any) -> str:
    if not isinstance(value, str):
        raise _core.RequestError(f"{key}: {value!r} is no text")
    return value


def _list(key: str, value: Any, kind: type) -> list[Any]:
    """A list of values of a type; one value stands for a list of one."""
    values = value if isinstance(value, list) else [value]
    words = {str: "text", int: "a whole number", dict: "a table of options"}
    for one in values:
        if not isinstance(one, kind) or isinstance(one, bool):
            raise _core.RequestError(f"{key}: {one!r} is not {words[kind]}")
    if not values:
        raise _core.RequestError(f"{key}: name at least one")
    return values


def _check_options(options: dict[str, Any]) -> None:
    """Refuse names and values that ``plan`` does not know."""
    fields = {field.name: field for field in _core.options("plan") if field.name not in ("method", "seed")}
    for name, value in options.items():
        fields[choice("options", name, list(fields))].check(value, name)


def _graphs(named: list[str], folder: Path) -> list[tuple[str, str, str | None]]:
    """Name, text and folder of every graph."""
    found = []
    for word in named:
        known, _, pattern = word.partition(":")
        if known in set_names():
            graphs = [g for g in graph_set(known) if fnmatchcase(g.name, pattern or "*")]
            if not graphs:
                raise _core.RequestError(f"graphs: no graph of {known} is called `{pattern}`")
        else:
            paths = sorted(glob(str(folder / word)))
            if not paths:
                allowed = ", ".join(set_names())
                raise _core.RequestError(f"graphs: no file `{word}` in {folder}, and no set of that name ({allowed})")
            graphs = [Graph.load(path) for path in paths]
        for graph in graphs:
            own = str(graph.folder) if graph.folder is not None else None
            found.append((graph.name, graph.native().to_json(), own))
    return found


def _machines(named: list[str], folder: Path) -> list[tuple[str, str]]:
    """Word and text of every machine."""
    found = []
    for word in named:
        for one in spread_machine(word):
            file = folder / one
            found.append((one, Machine.load(file if file.is_file() else one).to_toml()))
    return found
