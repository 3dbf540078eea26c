"""A page with the tables and pictures of any files that cellweave wrote."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellweave import _core
from cellweave.files import check_free, write_whole
from cellweave.report.pattern import pattern_tables, title
from cellweave.report.probe import probe_tables
from cellweave.report.table import html
from cellweave.report.tables import graph_tables, machine_tables, plan_tables, result_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from cellweave.report.table import Table

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
h1 { font-size: 1.5rem } h2 { font-size: 1.15rem; border-bottom: 1px solid #c8c8c8; margin-top: 2.2rem }
table { border-collapse: collapse; margin: .5rem 0 1rem } td, th { padding: .15rem .8rem .15rem 0 }
th { border-bottom: 1px solid #888 } td { border-bottom: 1px solid #eee; vertical-align: top }
svg { max-width: 100%; height: auto }
"""


@dataclass
class Section:
    """A part of the page: a heading, paragraphs, tables, pictures."""

    title: str
    tables: Sequence[Table]
    pictures: dict[str, Callable[[], Figure]] = field(default_factory=dict)
    text: Sequence[str] = ()


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
    found = [(path, *_read(path)) for path in files]
    sections = list(_sections(found))
    title = next((s.title for s in sections), "cellweave")
    return write_page(title, "cellweave", sections, output, pictures, force)


def write_page(
    title: str, heading: str, sections: Sequence[Section], output: Path, pictures: Path | None, force: bool
) -> list[Path]:
    """Write sections as a page, and their pictures as files if `pictures` names a folder; what was written."""
    check_free(output, force)
    written = write_pictures(sections, pictures, force) if pictures is not None else []
    from cellweave.report.pictures import inline_svg

    body = []
    for section in sections:
        body.append(f"<h2>{escape(section.title)}</h2>")
        body += [f"<p>{escape(paragraph)}</p>" for paragraph in section.text]
        body.append(html(section.tables))
        body += [f"<figure>{inline_svg(draw())}</figure>" for draw in section.pictures.values()]
    page = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style></head>\n"
        f"<body><h1>{escape(heading)}</h1>\n" + "\n".join(body) + "\n</body></html>\n"
    )
    write_whole(output, page, force)
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


def _drawing(draw: Callable[..., Axes], *arguments: Any) -> Callable[[], Figure]:
    from cellweave.report.pictures import figure_of

    return lambda: figure_of(draw(*arguments))


def _sections(found: Sequence[tuple[Path, str, Any]]) -> Iterator[Section]:
    from cellweave.report.contributions import draw_contributions
    from cellweave.report.curves import draw_probe
    from cellweave.report.machine import draw_machine
    from cellweave.report.mapping import draw_mapping
    from cellweave.report.timeline import draw_timeline
    from cellweave.report.traffic import draw_calls, draw_traffic

    plans = [data for _, kind, data in found if kind == "plan"]
    order = {"result": 0, "plan": 1, "trace": 2, "graph": 3, "machine": 4, "probe": 5, "pattern": 6}
    for path, kind, data in sorted(found, key=lambda item: order[item[1]]):
        stem = path.stem
        if kind == "result":
            tables = _checked(path, result_tables, data)
            yield Section(f"{data['application']}: predicted and achieved", tables)
        elif kind == "plan":
            bars = {f"{stem}-contributions": _drawing(draw_contributions, data)}
            yield Section(f"{data['application']}: the plan", plan_tables(data), bars)
        elif kind == "trace":
            bars = {f"{stem}-timeline": _drawing(draw_timeline, data)}
            _checked(path, _events, data)
            yield Section("what ran when", [], bars)
        elif kind == "graph":
            plan = next((p for p in plans if p["application"] == data["name"]), None)
            mapping = plan["mapping"] if plan else None
            drawing = {f"{stem}-mapping": _drawing(draw_mapping, data, mapping)}
            yield Section(f"{data['name']}: the graph", graph_tables(data), drawing)
        elif kind == "probe":
            measured = _checked(path, lambda d: probe_tables(d, []), data)
            yield Section(f"{data['target']}: measured", measured, {f"{stem}-probe": partial(draw_probe, data)})
        elif kind == "pattern":
            sent = _checked(path, pattern_tables, data)
            drawn: dict[str, Callable[[], Figure]] = {
                f"{stem}-traffic": partial(draw_traffic, data),
                f"{stem}-calls": partial(draw_calls, data),
            }
            yield Section(title(data), sent, drawn)
        else:
            floor: dict[str, Callable[[], Figure]] = {f"{stem}-machine": partial(draw_machine, data)}
            yield Section(f"the machine {data['name']}", machine_tables(data), floor)


def _events(trace: Any) -> list[Table]:
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            float(event["ts"]), float(event["dur"]), str(event["name"])
    return []


def _checked(path: Path, tables: Callable[[Any], list[Table]], data: Any) -> list[Table]:
    try:
        return tables(data)
    except (KeyError, TypeError, AttributeError, ValueError) as e:
        raise _core.RequestError(f"{path}: not a file that this version writes ({type(e).__name__}: {e})") from e
