"""What somebody meets who has just installed it: the bare command, the Tab key, pipes that close, the first picture."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cellweave.report.timeline import OWN_COLOUR, draw_timeline
from conftest import Command

BIN = Path(sys.executable).parent
ENV = {**os.environ, "NO_COLOR": "1", "TERM": "dumb", "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}


def bash(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A line of bash that finds this `cellweave`."""
    env = {**ENV, "HOME": str(folder)}
    return subprocess.run(["bash", "-c", line], cwd=folder, env=env, capture_output=True, text=True, timeout=60)


def test_the_bare_command_says_what_to_type_and_every_line_of_it_works(command: Command, tmp_path: Path) -> None:
    done = command()
    assert done.returncode == 0 and not done.stderr
    typed = [line.split("    ")[0].strip() for line in done.stdout.splitlines() if line.startswith("  cellweave")]
    assert len(typed) > 4
    for line in typed:
        if any(word in line for word in ("APP", "completion", "probe", "tour")):
            # Tested elsewhere: they need an application, a shell, or a minute.
            continue
        ran = command(*line.split()[1:])
        assert ran.returncode == 0, f"{line}: {ran.stderr}"


def test_a_group_without_a_command_shows_its_help_line_by_line(command: Command) -> None:
    done = command("machine")
    assert done.returncode == 2
    assert "cellweave machine: a command is missing" in done.stderr and "\n  show " in done.stderr


@pytest.mark.parametrize("line", ["", "machine list", "machine list --json", "plan costed.toml --on qs22", "--help"])
def test_a_reader_who_leaves_at_once_changes_no_exit_code(line: str, command: Command, tmp_path: Path) -> None:
    command("--version")
    # The reader is gone before the first line is written.
    code = bash(f"(sleep 0.2; cellweave {line}; echo $? >&2) | true", tmp_path)
    assert code.stderr.strip() == "0", code.stderr


def test_a_closed_standard_error_changes_no_exit_code(command: Command, tmp_path: Path) -> None:
    assert bash("cellweave plan nowhere.toml 2>&-", tmp_path).returncode == 2
    assert bash("cellweave plan nowhere.toml 2>/dev/full", tmp_path).returncode == 2
    gone = bash(
        "{ (sleep 0.2; cellweave plan nowhere.toml; echo $? > code) 2>&1 >/dev/null; } | true; cat code", tmp_path
    )
    assert gone.stdout.strip() == "2"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_gets_a_script_for_the_tab_key(shell: str, tmp_path: Path) -> None:
    script = bash(f"_CELLWEAVE_COMPLETE=source_{shell} cellweave", tmp_path)
    assert script.returncode == 0 and f"_CELLWEAVE_COMPLETE=complete_{shell}" in script.stdout
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed: apt-get install {shell}")
    (tmp_path / "script").write_text(script.stdout)
    checked = subprocess.run([shell, "-n", "script"], cwd=tmp_path, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("cellweave pl", ["place", "plan"]),
        ("cellweave plan --ma", ["--max-batch", "--map"]),
        ("cellweave plan --method a", ["auto", "anneal"]),
        ("cellweave plan app", ["app.toml", "apps/"]),
        ("cellweave plan app.toml --on qs", ["qs20", "qs22"]),
    ],
)
def test_the_tab_key_knows_verbs_options_words_machines_and_files(
    words: str, expected: list[str], tmp_path: Path
) -> None:
    (tmp_path / "app.toml").touch()
    (tmp_path / "apps").mkdir()
    count = len(words.split()) - 1
    script = bash("_CELLWEAVE_COMPLETE=source_bash cellweave > script", tmp_path)
    assert script.returncode == 0
    line = f"source ./script; COMP_WORDS=({words}); COMP_CWORD={count}; _cellweave_completion cellweave"
    done = bash(line + '; printf "%s\\n" "${COMPREPLY[@]}"', tmp_path)
    assert sorted(done.stdout.split()) == sorted(expected), done.stderr


def test_install_completion_writes_into_the_shell_s_own_files(tmp_path: Path) -> None:
    done = bash("cellweave --install-completion; echo $?", tmp_path)
    assert done.stdout.splitlines()[-1] == "0", done.stderr
    assert "cellweave" in (tmp_path / ".bashrc").read_text()


def test_a_printed_path_can_be_pasted_and_clicked(command: Command, tmp_path: Path) -> None:
    done = command("generate", "daggen", "-o", "my graph.toml")
    assert "wrote 'my graph.toml'" in done.stderr
    line = "cellweave generate daggen --force -o 'my graph.toml'"
    shown = bash(f"export TERM=xterm; script -qec {shlex.quote(line)} /dev/null", tmp_path)
    if "script: command not found" in shown.stderr:
        pytest.skip("script is not installed: apt-get install bsdutils")
    assert f"\x1b]8;;{(tmp_path / 'my graph.toml').as_uri()}\x1b\\" in shown.stdout


def test_starting_imports_only_what_the_verb_needs() -> None:
    code = (
        "import sys, cellweave.cli; heavy = {'cellweave.reproduce.run', 'cellweave.sim', 'rich', 'numpy', 'networkx'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_a_verb_is_a_function_also_after_its_module_was_imported() -> None:
    code = (
        "import cellweave, cellweave.plan, cellweave.reproduce.cache, importlib; "
        "importlib.import_module('cellweave.run'); "
        "assert all(callable(getattr(cellweave, name)) for name in ('plan', 'run', 'reproduce', 'kernel')); "
        "from cellweave import *; assert plan is cellweave.plan; assert sim.__name__ == 'cellweave.sim'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_no_two_tasks_of_a_timeline_share_a_colour_unless_the_legend_says_so() -> None:
    names = [f"band{i}" for i in range(30)] + [f"{chr(97 + i)}x" for i in range(20)]
    events = [{"ph": "X", "tid": 0, "name": name, "ts": 10.0 * i, "dur": 9.0} for i, name in enumerate(names)]
    axes = draw_timeline(events)
    legend = axes.get_legend()
    assert legend is not None
    labels = [text.get_text() for text in legend.get_texts()]
    assert "band..." in labels and labels[-1] == f"{21 - OWN_COLOUR} others" and len(labels) == OWN_COLOUR + 1
    shades = [tuple(handle.get_facecolor()) for handle in legend.legend_handles if handle is not None]
    assert len(set(shades)) == len(shades)
