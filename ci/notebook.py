"""The book's notebook: its cells stand here, and what they show is written into docs/notebook.ipynb.

``python ci/notebook.py`` runs the cells and writes the file; a test runs those of the file.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).resolve().parents[1] / "docs" / "notebook.ipynb"
"""Where the notebook is."""

CELLS = [
    """# cellweave in a notebook

A machine, a plan, a placement and the result of a run show themselves as tables with a picture. Run the cells with
Jupyter after `pip install cellweave jupyter`.""",
    """import cellweave as cw

cw.Machine.load("cell")""",
    """An application of 24 tasks, drawn at random, and a plan for it. The same seed and the same number of moves give
the same plan. The dashed line of `plan.plot("contributions")` is the bound that no mapping can beat.""",
    """graph = cw.Graph.daggen(tasks=24, seed=7)
plan = cw.plan(graph, on="cell", moves=20_000)
plan""",
    """Eight ranks in a ring: which SPE gets which rank? All mappings are compared.""",
    """cw.place("ring", on="cell", objective="rings")""",
    """A stream on this computer: profiled, planned and run, predicted beside achieved.""",
    """stream = cw.Graph("stream")
stream.task("numbers", kernel="cellweave:count")
stream.task("work", kernel="cellweave:spin", params={"ns": 1000})
stream.task("end", kernel="cellweave:discard")
stream.edge("numbers", "work", bytes=64)
stream.edge("work", "end", bytes=64)
result = cw.run(stream, instances=50_000)
result""",
]
"""Text and code, in turns."""


def run(source: str, names: dict[str, Any]) -> Any:
    """Run a cell; what its last line gives, as in a notebook."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<cell>", "exec"), names)
    if not isinstance(last, ast.Expr):
        return None
    return eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)


def lines(text: str) -> list[str]:
    """Text as a notebook's file has it."""
    return text.splitlines(keepends=True)


def shown(value: Any) -> list[dict[str, Any]]:
    """What a notebook keeps of a cell's value."""
    if value is None:
        return []
    data = {"text/html": lines(value._repr_html_()), "text/plain": lines(str(value))}
    return [{"output_type": "execute_result", "execution_count": None, "data": data, "metadata": {}}]


def main() -> None:
    """Run all cells and write the notebook."""
    names: dict[str, Any] = {}
    cells: list[dict[str, Any]] = []
    for at, source in enumerate(CELLS):
        cell: dict[str, Any] = {"id": f"cell-{at}", "metadata": {}, "source": lines(source)}
        if at % 2 == 0:
            cells.append(cell | {"cell_type": "markdown"})
            continue
        cells.append(cell | {"cell_type": "code", "execution_count": None, "outputs": shown(run(source, names))})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    book = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    NOTEBOOK.write_text(json.dumps(book, indent=1) + "\n")
    print(f"wrote {NOTEBOOK}")


if __name__ == "__main__":
    main()
