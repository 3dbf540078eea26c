"""The chapter on the scheduler paper says what the campaigns' rows say."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

PROGRAM = Path(__file__).resolve().parents[2] / "benches" / "scheduler-paper" / "page.py"


@pytest.fixture(scope="module")
def page() -> ModuleType:
    spec = importlib.util.spec_from_file_location("scheduler_page", PROGRAM)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_tables_and_sentences_of_the_chapter_are_those_of_the_rows(page: ModuleType) -> None:
    text, figures = page.PAGE.read_text(), page.Figures()
    for name, table in page.blocks(figures).items():
        assert page.marked(text, name)[0].partition("\n")[2].rpartition("\n")[0] == table, name
    assert page.lacking(text, figures) == []
    assert page.lacking(text.replace("averages and shares", ""), figures) != []
