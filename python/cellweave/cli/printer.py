"""All output of the command goes through here: results on stdout, everything else on stderr."""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellweave import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from cellweave.report.table import Table

_QUIET_FIRST_S = 1.0  # work shorter than this shows no progress


class Unread(Exception):
    """Nobody reads the standard output any more (`| head`). typer would end the program with 1 for a broken pipe."""


class Printer:
    """Prints what a verb found, for people or for programs.

    Parameters
    ----------
    as_json : bool
        One JSON document on stdout instead of tables.
    quiet : bool
        No tables, no notes, no progress.
    """

    def __init__(self, as_json: bool = False, quiet: bool = False) -> None:
        self.as_json = as_json
        self.quiet = quiet

    def result(self, data: Any, tables: Callable[[], Sequence[Table]]) -> None:
        """The verb's result: `data` for programs, else `tables()` for people."""
        with _standard_output():
            if self.as_json:
                print(json.dumps(data, indent=1))
            elif not self.quiet:
                from rich.console import Console

                class Strict(Console):
                    def on_broken_pipe(self) -> None:
                        # Rich would end the program; who reads no more is the caller's business.
                        raise

                console = Strict(highlight=False, soft_wrap=False, width=None if sys.stdout.isatty() else 110)
                for i, table in enumerate(tables()):
                    if i:
                        console.print()
                    console.print(table.rich())

    @contextmanager
    def shows(self, data: Any, tables: Callable[[], Sequence[Table]]) -> Iterator[None]:
        """Show the verb's result at the end of the block that saves it, also where it fails.

        A full disk loses no result, and a reader of stdout who leaves (`| head`) loses no file.
        """
        try:
            yield
        finally:
            self.result(data, tables)

    def text(self, text: str) -> None:
        """Text that is itself the result (a machine file, an application), whatever the flags."""
        with _standard_output():
            sys.stdout.write(text if text.endswith("\n") else text + "\n")

    def note(self, text: str) -> None:
        """A line beside the result: what was written where, what to know."""
        if not self.quiet:
            say(text)

    def wrote(self, path: str | Path, then: str = "") -> None:
        """A file that was written, and what to do with it: its name can be pasted into a shell, and clicked."""
        shown = shlex.quote(str(path))
        if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
            # Terminals that know no links show the name alone (OSC 8).
            shown = f"\x1b]8;;{Path(path).absolute().as_uri()}\x1b\\{shown}\x1b]8;;\x1b\\"
        self.note(f"wrote {shown}{then}")

    def progress(self, describe: Callable[[dict[str, Any]], tuple[float | None, str]]) -> Progress:
        """A bar for work that takes longer than a second.

        Parameters
        ----------
        describe : callable
            Makes of the core's dict the share done (0 to 1; None = not known) and a line of text.
        """
        return Progress(describe, shown=not self.quiet and sys.stderr.isatty())


class Progress:
    """Something to hand to the core as `progress`; shows itself only after a second, and only on a terminal."""

    def __init__(self, describe: Callable[[dict[str, Any]], tuple[float | None, str]], shown: bool) -> None:
        self._describe = describe
        self._shown = shown
        self._start = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __call__(self, state: dict[str, Any]) -> None:
        if not self._shown or time.monotonic() - self._start < _QUIET_FIRST_S:
            return
        share, line = self._describe(state)
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn
            from rich.progress import Progress as Bar

            columns = (BarColumn(bar_width=24), TextColumn("{task.description}", markup=False))
            self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task("", total=None)
            self._bar.start()
        line = f"{time.monotonic() - self._start:.0f} s, {line}"
        if share is None:
            if self._bar.tasks[0].total is not None:
                self._bar.reset(self._task, total=None)
            self._bar.update(self._task, description=line)
        else:
            self._bar.update(self._task, description=line, total=1.0, completed=max(0.0, min(1.0, share)))

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()


@contextmanager
def _standard_output() -> Iterator[None]:
    """Writing to stdout; where that fails, the error says so."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError as e:
        raise Unread from e
    except OSError as e:
        raise _core.RunError(f"the standard output cannot be written: {e.strerror}") from e


def fail(where: str, message: str) -> None:
    """One wrong thing, on stderr: what, where, what is allowed."""
    say(f"{where}: {message}")


def say(text: str) -> None:
    """A line on stderr; where nobody can read it, that changes nothing."""
    with suppress(OSError):
        print(text, file=sys.stderr, flush=True)
