"""Machine, plan, placement and result show themselves in a notebook; the book's notebook runs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "ci"))

import notebook  # noqa: E402


def test_the_notebook_of_the_book_runs_and_shows_tables_and_pictures() -> None:
    book = json.loads((ROOT / "docs" / "notebook.ipynb").read_text())
    names: dict[str, Any] = {}
    showed = 0
    for cell, source in zip(book["cells"], notebook.CELLS, strict=True):
        assert "".join(cell["source"]) == source, "python ci/notebook.py writes the notebook again"
        if cell["cell_type"] != "code":
            continue
        value = notebook.run(source, names)
        page = value._repr_html_()
        assert "<table>" in page and "data:image/png;base64," in page
        kept = cell["outputs"][0]["data"]
        assert "data:image/png;base64," in "".join(kept["text/html"])
        # Plans may become better, and figures of this computer differ; a preset stays what it is.
        if type(value).__name__ == "Machine":
            assert "".join(kept["text/plain"]) == str(value)
        showed += 1
    assert showed == 4
