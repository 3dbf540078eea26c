"""Sets of graphs are what they were, and written whole."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import cellweave as cw
import pytest
from cellweave.sets import digest, graph_set
from conftest import Command

# Of all 250 texts, in order. A change here is a change of every result on the set.
PAPER250 = "e4e39fcea44895f88edb05b1343affe56ffcad86806ccd8ee06adfaf34a13598"


def test_the_set_is_frozen() -> None:
    assert digest([graph.to_toml() for graph in graph_set("paper250")]) == PAPER250


def test_the_command_writes_every_graph_and_a_list_with_digests(command: Command, tmp_path: Path) -> None:
    folder = tmp_path / "set"
    out = command("generate", "paper250", "--to", str(folder))
    assert out.returncode == 0, out.stderr
    index = json.loads((folder / "set.json").read_text())
    assert index["sha256"] == PAPER250 and PAPER250 in out.stdout
    graphs = index["graphs"]
    assert len(graphs) == 250 and len(list(folder.glob("*.toml"))) == 250
    for entry in graphs[::40]:
        assert sha256((folder / entry["file"]).read_bytes()).hexdigest() == entry["sha256"]
        assert cw.Graph.load(folder / entry["file"]).name == entry["name"]
    small = [g for g in graphs if g["size"] == "small"]
    assert (min(g["tasks"] for g in small), max(g["tasks"] for g in small)) == (20, 59)
    large = [g for g in graphs if g["size"] == "large"]
    assert (min(g["tasks"] for g in large), max(g["tasks"] for g in large)) == (87, 135)
    assert (min(g["edges"] for g in graphs), max(g["edges"] for g in graphs)) == (19, 204)
    assert sorted({g["ccr"] for g in graphs}) == [0.001, 0.002, 0.004, 0.007, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1]
    again = command("generate", "paper250", "--to", str(folder))
    assert again.returncode == 2 and "--force" in again.stderr
    assert command("generate", "paper250", "--to", str(folder), "--force", "-q").returncode == 0


def test_there_is_no_other_set() -> None:
    with pytest.raises(cw.RequestError, match="did you mean `paper250`"):
        graph_set("paper25")
