"""What several tests use: the command as a program, and small applications."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Command = Callable[..., "subprocess.CompletedProcess[str]"]

os.environ.setdefault("MPLBACKEND", "Agg")

CHAIN = """name = "chain"
[[task]]
name = "source"
kernel = "cellweave:count"
[[task]]
name = "middle"
kernel = "cellweave:copy"
[[task]]
name = "sink"
kernel = "cellweave:discard"
[[edge]]
from = "source"
to = "middle"
bytes = 64
[[edge]]
from = "middle"
to = "sink"
bytes = 64
"""

COSTED = """name = "costed"
[[task]]
name = "a"
cost_ns = { ppe = 900.0, spe = 300.0, core = 500.0 }
[[task]]
name = "b"
cost_ns = { ppe = 700.0, spe = 400.0, core = 500.0 }
[[edge]]
from = "a"
to = "b"
bytes = 256
"""


@pytest.fixture
def command(tmp_path: Path) -> Command:
    """Runs `cellweave ARGUMENTS...` in a folder of its own, which holds chain.toml and costed.toml."""
    (tmp_path / "chain.toml").write_text(CHAIN)
    (tmp_path / "costed.toml").write_text(COSTED)
    env = {**os.environ, "MPLBACKEND": "Agg", "NO_COLOR": "1", "TERM": "dumb"}

    def run(*arguments: object, **kwargs: object) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-m", "cellweave", *map(str, arguments)]
        return subprocess.run(line, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120, **kwargs)

    return run
