"""Every code block of the book runs, and prints what the book says.

A page is run from its top in a new folder. A block that starts with ``# file: NAME`` (or ``//``) becomes that
file. A ``console`` block holds commands after ``$`` and what they print: ``...`` stands for anything. Its commands
succeed; the last one of a block that opens with ``console exit 2`` exits with 2. A ``python`` block runs as it
stands. Blocks of other languages are only shown.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs").glob("*.md")) + [p for p in [ROOT / "README.md"] if p.exists()]
BLOCK = re.compile(r"^```([a-z]+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXIT = re.compile(r"\bexit (\d+)")
FILE = re.compile(r"^(?:#|//|/\*|<!--) file: (\S+)")


def blocks(text: str) -> list[tuple[int, str, str, str]]:
    """Line, language, rest of the opening line, and text of each block."""
    return [
        (text.count("\n", 0, m.start()) + 1, m.group(1), m.group(2).strip(), m.group(3)) for m in BLOCK.finditer(text)
    ]


def commands(block: str) -> list[tuple[str, str]]:
    """The commands of a console block, each with what it should print."""
    found: list[tuple[str, str]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], ""))
        elif line.startswith("> ") and found:
            found[-1] = (found[-1][0] + "\n" + line[2:], "")
        elif found:
            found[-1] = (found[-1][0], found[-1][1] + line + "\n")
    return found


def fits(printed: str, expected: str) -> bool:
    """Whether the output is as the book says; `...` is anything, also nothing or many lines; spaces may differ."""

    def squeezed(text: str) -> str:
        return "\n".join(" ".join(line.split()) for line in text.strip().splitlines())

    pattern = ".*".join(re.escape(part) for part in squeezed(expected).split("..."))
    return re.fullmatch(pattern, squeezed(printed), re.DOTALL) is not None


def environment() -> dict[str, str]:
    """The command and the interpreter under test come first."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    own = {"PATH": path, "MPLBACKEND": "Agg", "COLUMNS": "110", "CELLWEAVE_SOURCE": str(ROOT)}
    # Dask writes its settings where it finds none: into the page's folder, not into the user's.
    return {**os.environ, **own, "DASK_CONFIG": ".dask"}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_the_code_of_a_page_runs_and_prints_what_the_page_says(page: Path, tmp_path: Path) -> None:
    ran = 0
    for line, language, note, text in blocks(page.read_text()):
        where = f"{page.name}:{line}"
        if "not run" in note:
            continue
        name = FILE.match(text)
        if name:
            target = tmp_path / name.group(1)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        elif language == "console":
            given = commands(text)
            for at, (command, expected) in enumerate(given):
                out = subprocess.run(
                    ["bash", "-c", command],
                    cwd=tmp_path,
                    env=environment(),
                    capture_output=True,
                    text=True,
                    timeout=300,
                )
                assert fits(out.stdout + out.stderr, expected) or fits(out.stdout, expected), (
                    f"{where}: {command}\nprinted\n{out.stdout}{out.stderr}\ninstead of\n{expected}"
                )
                code = EXIT.search(note) if at == len(given) - 1 else None
                assert out.returncode == (int(code[1]) if code else 0), (
                    f"{where}: {command}\nexits with {out.returncode} and prints\n{out.stdout}{out.stderr}"
                )
                ran += 1
        elif language == "python":
            out = subprocess.run(
                [sys.executable, "-c", text],
                cwd=tmp_path,
                env=environment(),
                capture_output=True,
                text=True,
                timeout=300,
            )
            assert out.returncode == 0, f"{where}: {out.stderr}"
            ran += 1
        else:
            continue
    assert ran or "```" not in page.read_text() or page.name in {"README.md", "index.md"}, "nothing on this page ran"


def test_three_dots_stand_for_anything_and_nothing_else_does() -> None:
    assert fits("wrote a.toml\nb\n", "...\nb\n")
    assert fits("a   b\n", "a b")
    assert fits("", "...")
    assert not fits("a\nc\n", "a\nb\n")
    assert not fits("a\nb\n", "a\n")
