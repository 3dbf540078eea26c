"""A page with the tables and pictures of any files that cellweave wrote."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellweave import _core
from cellweave._core import __version__
from cellweave.files import check_free, write_whole
from cellweave.report.pattern import pattern_tables
from cellweave.report.probe import probe_tables
from cellweave.report.section import Section
from cellweave.report.story import Found, lead, sections
from cellweave.report.tables import result_tables
from cellweave.report.web import shell

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cellweave.report.table import Table

__all__ = ["Section", "make_folder", "read_profile", "report", "write_page", "write_pictures"]


def report(files: Sequence[Path], output: Path, pictures: Path | None = None, force: bool = False) -> list[Path]:
    """Write the page, and each picture as a file of its own if `pictures` names a folder.

    Parameters
    ----------
    files : sequence of path
        ``result.json``, ``plan.json``, a trace, an application, a machine file, in any order. A plan's mapping is drawn
        on the application of the same name.
    output : path
        The page.
    pictures : path, optional
        A folder; made if it is not there.
    force : bool
        Overwrite what exists.

    Returns
    -------
    list of path
        What was written.

    Raises
    ------
    cellweave.RequestError
        Where a file is none of these.
    """
    check_free(output, force)
    found = Found()
    for path in files:
        kind, data = _read(path)
        if kind in _CHECKS:
            _checked(path, _CHECKS[kind], data)
        getattr(found, kind).append((path.stem, data))
    figure, sentence, about = lead(found)
    title = f"{figure} {sentence}".strip() if not about else f"{about}: {figure} {sentence}"
    top = shell.lead(figure, sentence, about)
    return _write(title, top, list(sections(found)), output, pictures, force)


def write_page(
    title: str, heading: str, parts: Sequence[Section], output: Path, pictures: Path | None, force: bool
) -> list[Path]:
    """Write sections as a page, and their pictures as files if `pictures` names a folder; what was written."""
    check_free(output, force)
    return _write(title, shell.lead("", heading), parts, output, pictures, force)


def _write(
    title: str, top: str, parts: Sequence[Section], output: Path, pictures: Path | None, force: bool
) -> list[Path]:
    written = write_pictures(parts, pictures, force) if pictures is not None else []
    foot = f"Written by cellweave {__version__}. The page is one file and asks no other computer for anything."
    write_whole(output, shell.page(title, top, (part.html() for part in parts), foot), force)
    return [*written, output]


def make_folder(folder: Path) -> None:
    """Make the folder of pictures if it does not exist.

    Raises
    ------
    cellweave.RequestError
        Where that cannot be.
    """
    try:
        folder.mkdir(exist_ok=True)
    except OSError as e:
        raise _core.RequestError(f"--pictures: {folder}: {e.strerror}") from e


def write_pictures(sections: Sequence[Section], folder: Path, force: bool) -> list[Path]:
    """Write every picture as a file of its own; the folder is made if it does not exist."""
    from cellweave.report.pictures import save

    make_folder(folder)
    drawings = {folder / f"{name}.png": draw for section in sections for name, draw in section.pictures.items()}
    for path in drawings:
        check_free(path, force)
    for path, draw in drawings.items():
        save(draw(), path, force)
    return list(drawings)


def _read(path: Path) -> tuple[str, Any]:
    """What kind of file it is, and its content."""
    if path.suffix == ".json":
        try:
            data = json.loads(path.read_text())
        except OSError as e:
            raise _core.RequestError(f"{path}: {e.strerror}") from e
        except (ValueError, RecursionError) as e:
            raise _core.RequestError(f"{path}: not JSON: {e}") from e
        if isinstance(data, dict):
            if "traceEvents" in data:
                return "trace", data
            if "mapping" in data and "period_ns" in data:
                return "plan", json.loads(_core.Plan.load(str(path)).to_json())
            if {"elapsed_s", "elements", "instances"} <= set(data):
                return "result", data
            if "measurements" in data:
                return "probe", data
            if {"pattern", "phases"} <= set(data):
                return "pattern", data
            if "task" in data:
                return "graph", json.loads(_core.Graph.load(str(path)).to_json())
        raise _core.RequestError(
            f"{path}: neither a result, a plan, a probe, a profile of an MPI job, a trace nor an application"
        )
    if path.suffix == ".toml" and _is_machine(path):
        return "machine", json.loads(_core.Machine.load(str(path)).to_json())
    return "graph", json.loads(_core.Graph.load(str(path)).to_json())


def read_profile(path: Path) -> dict[str, Any]:
    """Read what `cellrun --profile` wrote.

    Raises
    ------
    cellweave.RequestError
        Where the file is something else.
    """
    kind, data = _read(path)
    if kind != "pattern":
        raise _core.RequestError(f"{path}: not a profile of an MPI job; `cellrun --profile FILE.json` writes one")
    _checked(path, pattern_tables, data)
    assert isinstance(data, dict)
    return data


def _is_machine(path: Path) -> bool:
    try:
        return re.search(r"^\s*(\[\[\s*)?element\b", path.read_text(), re.MULTILINE) is not None
    except (OSError, UnicodeDecodeError) as e:
        raise _core.RequestError(f"{path}: {getattr(e, 'strerror', None) or 'not a text'}") from e


def _events(trace: Any) -> list[Table]:
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            float(event["ts"]), float(event["dur"]), str(event["name"])
    return []


_CHECKS: dict[str, Callable[[Any], list[Table]]] = {
    "result": result_tables,
    "trace": _events,
    "probe": lambda data: probe_tables(data, []),
    "pattern": pattern_tables,
}


def _checked(path: Path, tables: Callable[[Any], list[Table]], data: Any) -> list[Table]:
    try:
        return tables(data)
    except (KeyError, TypeError, AttributeError, ValueError) as e:
        raise _core.RequestError(f"{path}: not a file that this version writes ({type(e).__name__}: {e})") from e
