"""The command `cellweave`: a file per verb, one printer for all output.

Exit codes: 0 done, 1 the work failed, 2 the request was wrong.
"""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
from typing import Annotated, TextIO

import typer

import cellweave
from cellweave.cli import campaign, generate, machine, mpi, place, plan, probe, profile, report, reproduce, run, tour
from cellweave.cli.printer import Printer, Unread, fail, say

app = typer.Typer(
    help="Works out where the communicating parts of a streaming program should run, and runs them there.",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


_FIRST = """\
cellweave works out where the communicating parts of a program should run, and runs them there.

Type one of these first:

  cellweave tour                                       this computer on one page, in half a minute
  cellweave machine show host --picture machine.png    what this computer is
  cellweave probe -o distances.toml                    how its cores talk to each other
  cellweave generate daggen --tasks 30 -o app.toml     an application to try things with,
  cellweave plan app.toml --on qs22                    planned for a simulated Cell

  cellweave run APP                                    your own application: profiled, planned and run
  cellweave --help                                     everything else
  cellweave --install-completion                       the Tab key in this shell
"""


def _version(shown: bool) -> None:
    if shown:
        print(f"cellweave {cellweave.__version__}")
        raise typer.Exit


def _include(shown: bool) -> None:
    if shown:
        print(cellweave.include_dir())
        raise typer.Exit


@app.callback()
def _cellweave(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    include: Annotated[
        bool,
        typer.Option(
            "--include", callback=_include, is_eager=True, help="Print the folder of cellweave.h, for gcc -I."
        ),
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        Printer().text(_FIRST)


app.add_typer(machine.app, name="machine")
app.command("probe")(probe.probe)
app.command("place")(place.place)
app.command("profile")(profile.profile)
app.command("plan")(plan.plan)
app.command("run")(run.run)
app.add_typer(generate.app, name="generate")
app.add_typer(campaign.app, name="campaign")
app.command("tour")(tour.tour)
app.command("reproduce")(reproduce.reproduce)
app.command("report")(report.report)
app.add_typer(mpi.app, name="mpi")


def main() -> None:
    """Run the command line and leave with its exit code."""
    # A polite `kill` is a Ctrl-C: the stream drains, and what was achieved is reported. So is a closed terminal, unless
    # it is to be ignored (`nohup`).
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) == signal.SIG_DFL:
        signal.signal(signal.SIGHUP, signal.default_int_handler)
    _open_closed()
    for stream in (sys.stdout, sys.stderr):
        # A name that the terminal cannot show is no reason to fail.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        sys.exit(call(sys.argv[1:]))
    finally:
        _let_go(sys.stdout)
        _let_go(sys.stderr)


def _let_go(stream: TextIO) -> None:
    """Drop what a stream cannot take: that was told, and Python would change the exit code for it."""
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _open_closed() -> None:
    """Open /dev/null for a standard stream that the caller closed (`>&-`).

    Else a file that is opened later gets its number, and with it what is printed.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115


def call(arguments: list[str]) -> int:
    """Run one command line.

    Returns
    -------
    int
        The exit code.
    """
    where = " ".join(["cellweave", *[a for a in arguments[:1] if not a.startswith("-")]])
    try:
        code = app(arguments, prog_name="cellweave", standalone_mode=False)
        sys.stdout.flush()
        if code == 130:
            # Some versions of typer turn Ctrl-C into this, some into the exceptions below.
            raise KeyboardInterrupt
        return code if isinstance(code, int) else 0
    except cellweave.RequestError as e:
        fail(where, str(e))
        return 2
    except cellweave.RunError as e:
        fail(where, str(e))
        return 1
    except (KeyboardInterrupt, typer.Abort):
        fail(where, "stopped")
        return 1
    except (BrokenPipeError, Unread):
        _let_go(sys.stdout)
        return 0
    except SystemExit as e:
        # typer's own output, to a reader who left, ends so.
        if isinstance(e.__context__, BrokenPipeError):
            _let_go(sys.stdout)
            return 0
        raise
    except MemoryError:
        fail(where, "out of memory")
        return 1
    except OSError as e:
        name = f"{e.filename}: " if e.filename else ""
        hint = " (ulimit -n says how many)" if e.errno == errno.EMFILE else ""
        fail(where, f"{name}{e.strerror or e}{hint}")
        return 1
    except UnicodeError:
        fail(where, "a name on the command line is not UTF-8")
        return 2
    except Exception as e:
        # typer's own refusals (of flags and arguments) have no common public base class in all its versions.
        message = getattr(e, "format_message", None)
        if message is None:
            if os.environ.get("CELLWEAVE_TRACEBACK"):
                raise
            fail(where, f"a mistake in cellweave: {type(e).__name__}: {e} (CELLWEAVE_TRACEBACK=1 shows where)")
            return 1
        text = str(message())
        if text.startswith("Usage"):
            fail(where, "a command is missing")
            say(text)
        else:
            fail(where, " ".join(text.split()) or "see --help")
            say(f"`{where} --help` lists what is allowed.")
        return 2
