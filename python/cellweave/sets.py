"""Sets of graphs that stay the same for years, so that results on them can be compared."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellweave import _core
from cellweave.choice import choice
from cellweave.files import write_whole
from cellweave.graph import Graph

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

# Graphs of the paper's smaller half have up to so many tasks.
SMALL_TASKS = 59
_SETS: dict[str, Callable[[], list[_core.Graph]]] = {"paper250": _core.paper_set}
_INDEX = "set.json"


def set_names() -> list[str]:
    """The names of the sets."""
    return list(_SETS)


def graph_set(name: str) -> list[Graph]:
    """The graphs of a set, in its order.

    Parameters
    ----------
    name : {"paper250"}
        25 graphs of 20 to 135 tasks, each with ten ratios of communication to computation from 0.001 to 0.1, after
        section 5.2 of ``streaming-schedule``.

    Examples
    --------
    >>> from cellweave.sets import graph_set
    >>> first = graph_set("paper250")[0]
    >>> first.name, len(first.to_dict()["task"]), len(first.to_dict()["edge"])
    ('daggen-20-seed1-ccr0.001', 20, 19)
    """
    return [Graph.of(native) for native in _SETS[choice("set", name, set_names())]()]


def ratio_of(name: str) -> float | None:
    """The ratio of communication to computation that the name of a drawn graph ends with.

    Examples
    --------
    >>> ratio_of("daggen-20-seed1-ccr0.001"), ratio_of("vocoder")
    (0.001, None)
    """
    try:
        return float(name.rpartition("-ccr")[2]) if "-ccr" in name else None
    except ValueError:
        return None


def digest(texts: list[str]) -> str:
    """One digest of all texts, in order."""
    return sha256("".join(sha256(text.encode()).hexdigest() for text in texts).encode()).hexdigest()


def write_set(name: str, folder: str | os.PathLike[str], force: bool = False) -> dict[str, Any]:
    """Write every graph of a set as an application file, and ``set.json``, which lists them with their digests.

    Parameters
    ----------
    folder : path
        It is made where it does not exist.
    force : bool
        Overwrite files that exist.

    Returns
    -------
    dict
        As in ``set.json``: ``set``, ``sha256`` of all, and per graph ``file name tasks edges ccr size sha256``.

    Raises
    ------
    cellweave.RequestError
        Where the folder holds files already, or there is no such set.
    """
    graphs, folder = graph_set(name), Path(folder)
    if folder.exists() and not folder.is_dir():
        raise _core.RequestError(f"--to: {folder} is no folder")
    if not force and folder.is_dir() and any(folder.iterdir()):
        raise _core.RequestError(f"--to: {folder} holds files: name an empty folder, or pass --force (force=True)")
    folder.mkdir(parents=True, exist_ok=True)
    texts = [graph.to_toml() for graph in graphs]
    listed = []
    for graph, text in zip(graphs, texts, strict=True):
        data = graph.to_dict()
        tasks = len(data["task"])
        file = f"{graph.name}.toml"
        write_whole(folder / file, text, force)
        listed.append(
            {
                "file": file,
                "name": graph.name,
                "tasks": tasks,
                "edges": len(data["edge"]),
                "ccr": ratio_of(graph.name),
                "size": "small" if tasks <= SMALL_TASKS else "large",
                "sha256": sha256(text.encode()).hexdigest(),
            }
        )
    index = {"format": 1, "set": name, "sha256": digest(texts), "graphs": listed}
    write_whole(folder / _INDEX, json.dumps(index, indent=1) + "\n", force)
    return index
