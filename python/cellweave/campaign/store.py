"""The folder of a campaign: its definition's digest, a lock, and a Parquet file per finished cell."""

from __future__ import annotations

import fcntl
import io
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellweave import _core
from cellweave.campaign.cell import version
from cellweave.files import write_whole

if TYPE_CHECKING:
    from cellweave.campaign.definition import Definition

# Column -> its type in Parquet. The first ones are the same whenever a cell is repeated; the last ones say how it went.
FIGURES = {
    "key": "string",
    "graph": "string",
    "tasks": "int64",
    "edges": "int64",
    "ccr": "double",
    "size": "string",
    "machine": "string",
    "elements": "int64",
    "what": "string",
    "method": "string",
    "options": "string",
    "seed": "int64",
    "instances": "int64",
    "feasible": "bool",
    "broken": "string",
    "period_ns": "double",
    "bound_ns": "double",
    "gap": "double",
    "predicted_per_s": "double",
    "bottleneck": "string",
    "batch": "int64",
    "moves": "int64",
    "achieved_per_s": "double",
    "steady_per_s": "double",
    "ran": "int64",
    "decided": "bool",
    "steady_after": "int64",
    "highest_per_s": "double",
    "ratio": "double",
    "error": "string",
}
HOW = {"plan_s": "double", "seconds": "double", "ended": "string", "cellweave": "string"}
COLUMNS = FIGURES | HOW
_MANIFEST = "campaign.json"
_ROWS = "rows"
_FORMAT = 1
# So many files of one row become one file of many rows.
_MANY = 500


def parquet() -> Any:
    """The modules ``pyarrow`` and ``pyarrow.parquet``.

    Raises
    ------
    cellweave.RequestError
        Where they are not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise _core.RequestError("campaigns need Dask and Parquet: pip install 'cellweave[campaign]'") from None
    return pyarrow


class Store:
    """The rows of one campaign.

    Parameters
    ----------
    folder : path
        The campaign's folder.

    Raises
    ------
    cellweave.RequestError
        Where it is no campaign's folder.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self._arrow = parquet()
        self._lock: Any = None
        try:
            self.about: dict[str, Any] = json.loads((self.folder / _MANIFEST).read_text(encoding="utf-8"))
        except OSError:
            raise _core.RequestError(f"{self.folder} is no folder of a campaign: it has no {_MANIFEST}") from None
        except ValueError as e:
            raise _core.RequestError(f"{self.folder / _MANIFEST} is damaged: {e}") from None

    @classmethod
    def open(cls, folder: Path, definition: Definition) -> Store:
        """The folder of this campaign, made where it does not exist, and locked for this process.

        Raises
        ------
        cellweave.RequestError
            Where another campaign has the folder, or one is running in it.
        cellweave.RunError
            Where the folder cannot be made.
        """
        parquet()
        try:
            (folder / _ROWS).mkdir(parents=True, exist_ok=True)
            lock = open(folder / ".lock", "a")  # noqa: SIM115
        except OSError as e:
            raise _core.RunError(f"{folder}: {e.strerror}") from e
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            raise _core.RequestError(
                f"a campaign is running in {folder}: wait for it, or name another folder"
            ) from None
        own = {
            "format": _FORMAT,
            "name": definition.name,
            "digest": definition.digest,
            "cells": len(definition.cells),
            "cellweave": version(),
            "order": [cell.key for cell in definition.cells],
        }
        if not (folder / _MANIFEST).exists():
            write_whole(folder / _MANIFEST, json.dumps(own) + "\n", force=False)
        store = cls(folder)
        store._lock = lock
        for key, what in (("format", "format"), ("digest", "grid"), ("cellweave", "cellweave")):
            if store.about.get(key) != own[key]:
                store.close()
                name, old = store.about.get("name"), store.about.get(key)
                told = "" if key == "digest" else f" {old}, and this is {own[key]}"
                raise _core.RequestError(
                    f"{folder} holds the campaign `{name}` with another {what}{told}: name another folder with -o"
                )
        store._gather()
        return store

    def close(self) -> None:
        """Give the lock back."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def add(self, row: dict[str, Any]) -> None:
        """Keep a row.

        Raises
        ------
        cellweave.RunError
            Where it cannot be written; rows that were kept before are safe.
        """
        self._write(self.folder / _ROWS / f"{row['key']}.parquet", [row])

    def rows(self) -> list[dict[str, Any]]:
        """Every row that is kept, in the order of the grid."""
        found = {row["key"]: row for path in self._files() for row in self._read(path)}
        return [found[key] for key in self.about["order"] if key in found]

    def forget_failed(self) -> int:
        """Remove the rows of failed cells, so that these are tried again; gives back how many."""
        rows = self.rows()
        good = [row for row in rows if row["error"] is None]
        if len(good) < len(rows):
            self._replace(good)
        return len(rows) - len(good)

    def _files(self) -> list[Path]:
        # The file of many rows is read first: a single row that is still there says the same.
        return sorted((self.folder / _ROWS).glob("*.parquet"), key=lambda path: (path.stem != "all", path.name))

    def _gather(self) -> None:
        """Put many small files into one."""
        if len(self._files()) > _MANY:
            self._replace(self.rows())

    def _replace(self, rows: list[dict[str, Any]]) -> None:
        old = self._files()
        whole = self.folder / _ROWS / "all.parquet"
        self._write(whole, rows)
        for path in old:
            if path != whole:
                path.unlink()

    def _write(self, path: Path, rows: list[dict[str, Any]]) -> None:
        arrow = self._arrow
        kinds = {"string": arrow.string(), "int64": arrow.int64(), "double": arrow.float64(), "bool": arrow.bool_()}
        schema = arrow.schema([(name, kinds[kind]) for name, kind in COLUMNS.items()])
        table = arrow.Table.from_pylist([{name: row.get(name) for name in COLUMNS} for row in rows], schema)
        out = io.BytesIO()
        arrow.parquet.write_table(table, out)
        write_whole(path, out.getvalue(), force=True)

    def _read(self, path: Path) -> list[dict[str, Any]]:
        try:
            rows: list[dict[str, Any]] = self._arrow.parquet.read_table(path).to_pylist()
        except (OSError, ValueError) as e:
            told = str(e).splitlines()[0]
            raise _core.RequestError(f"{path} is damaged ({told}): remove it, and its cells are repeated") from e
        return rows
