"""The loop of a campaign: cells go out to workers, rows come back and are kept one by one."""

from __future__ import annotations

import time
from asyncio import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from cellweave import _core
from cellweave.campaign.cell import VersionSkew, begun, compute, now, version
from cellweave.campaign.cluster import client, distributed
from cellweave.campaign.definition import Definition
from cellweave.campaign.store import Store

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator

    from cellweave.campaign.definition import Cell
    from cellweave.report.table import Table

# Cells that wait at the scheduler, for each worker's thread: enough that none is ever without one.
_AHEAD = 4
_GONE = "the scheduler is gone; the same command goes on with the cells that are left"


@dataclass
class Campaign:
    """A campaign that ran to its end.

    Attributes
    ----------
    name : str
        Its name.
    folder : path
        What keeps its rows.
    rows : list of dict
        A row per cell, in the order of the grid.
    repeated : int
        Cells that were computed this time; the others had been before.
    """

    name: str
    folder: Path
    rows: list[dict[str, Any]]
    repeated: int

    def to_dict(self) -> dict[str, Any]:
        """For programs."""
        failed = [
            {"key": row["key"], "graph": row["graph"], "error": row["error"]} for row in self.rows if row["error"]
        ]
        return {
            "name": self.name,
            "folder": str(self.folder),
            "cells": len(self.rows),
            "computed": self.repeated,
            "failed": failed,
        }

    def tables(self) -> list[Table]:
        """What ``cellweave campaign`` prints."""
        from cellweave.campaign.summary import summary

        return summary(self.folder).tables()


def campaign(
    file: str | os.PathLike[str],
    folder: str | os.PathLike[str] | None = None,
    dask: str | None = None,
    *,
    workers: int | None = None,
    again: bool = False,
    progress: Callable[[dict[str, Any]], None] | None = None,
) -> Campaign:
    """Plan, or run on the simulated Cell, every cell of a grid; one that was stopped goes on where it was.

    Parameters
    ----------
    file : path
        The campaign's file (TOML).
    folder : path, optional
        What keeps the rows; by default the file's name with ``.campaign``.
    dask : str, optional
        The address of a Dask scheduler; by default a cluster on this computer.
    workers : int, optional
        Processes of that cluster; by default one for each cpu.
    again : bool
        Repeat cells that failed.
    progress : callable, optional
        Called with ``{"share": .., "what": ..}`` after every cell.

    Returns
    -------
    Campaign

    Raises
    ------
    cellweave.RequestError
        Where the file is wrong, the folder holds another campaign, or no scheduler or worker of this version answers.
    cellweave.RunError
        Where a row cannot be written, or the scheduler is lost. Rows that were kept before are safe.
    """
    definition = Definition.load(file)
    where = Path(folder) if folder is not None else Path(file).with_suffix(".campaign")
    store = Store.open(where, definition)
    try:
        if again:
            store.forget_failed()
        kept = {row["key"] for row in store.rows()}
        todo = [cell for cell in definition.cells if cell.key not in kept]
        if todo:
            distributed()
            with client(dask, workers) as workers_client:
                tell = _teller(progress, len(kept), len(definition.cells))
                for row in _worked_off(workers_client, todo):
                    store.add(row)
                    tell()
        return Campaign(definition.name, where, store.rows(), len(todo))
    finally:
        store.close()


def _teller(progress: Callable[[dict[str, Any]], None] | None, kept: int, cells: int) -> Callable[[], None]:
    """Tells after each cell how many are done, and about how long the rest takes."""
    start = time.monotonic()
    done = 0

    def tell() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            left_s = (time.monotonic() - start) / done * (cells - kept - done)
            what = f"{kept + done} of {cells} cells, about {_minutes(left_s)} left"
            progress({"share": (kept + done) / cells, "what": what, "left_s": left_s})

    return tell


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _worked_off(workers: Any, cells: list[Cell]) -> Iterator[dict[str, Any]]:
    """The rows of cells, each as it ends. A worker that dies costs the time of its cell: another one repeats it."""
    found = distributed()
    run = uuid4().hex[:8]
    sent: dict[str, Cell] = {}

    def send(cell: Cell) -> Any:
        name = f"cellweave-{run}-{cell.key}"
        sent[name] = cell
        return workers.submit(compute, cell.to_dict(), version(), key=name, pure=False)

    waiting = iter(cells)
    threads = sum(workers.nthreads().values())
    ended = found.as_completed([send(cell) for cell in islice(waiting, max(1, threads) * _AHEAD)])
    try:
        for future in ended:
            with _said_where_lost():
                row = _row(future, sent.pop(future.key), found)
                for cell in islice(waiting, 1):
                    ended.add(send(cell))
            yield row
    finally:
        with suppress(Exception):  # where the scheduler is lost, nothing is left to cancel
            workers.cancel(list(ended.futures))


@contextmanager
def _said_where_lost() -> Iterator[None]:
    """Whatever Dask raises where its scheduler is lost becomes a sentence."""
    try:
        yield
    except (_core.RequestError, _core.RunError):
        raise
    except (Exception, CancelledError) as e:
        told = (str(e) or type(e).__name__).splitlines()[0]
        raise _core.RunError(f"{_GONE} ({told})") from e


def _row(future: Any, cell: Cell, found: Any) -> dict[str, Any]:
    if future.status == "cancelled":
        raise _core.RunError(_GONE)
    # A worker that dies takes results with it that nobody has fetched: this waits until another has repeated them.
    error = future.exception()
    if error is None:
        row: dict[str, Any] = future.result()
        return row
    if isinstance(error, found.KilledWorker):
        why = "every worker that began this cell died"
        return begun(cell.to_dict()) | {"error": why, "ended": now(), "cellweave": version()}
    if isinstance(error, VersionSkew):
        raise _core.RequestError(f"{error}: install the same on both")
    if isinstance(error, ModuleNotFoundError):
        raise _core.RequestError(f"a worker has no cellweave ({error}): install cellweave {version()} there")
    raise _core.RunError(f"a worker failed: {type(error).__name__}: {error}")
