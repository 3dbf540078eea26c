"""Results kept in a folder, so that a page can be made again without measuring again."""

from __future__ import annotations

import json
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from cellweave import _core
from cellweave.files import write_whole

if TYPE_CHECKING:
    from pathlib import Path


class Cache:
    """A folder with a file per experiment and rule set.

    A file is used only by the code that wrote it: its name has a digest of the simulator and the experiments.

    Parameters
    ----------
    folder : path or None
        It is made if it does not exist; None keeps nothing.

    Raises
    ------
    cellweave.RequestError
        Where the folder cannot be made.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        if folder is not None:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as e:
                raise _core.RequestError(f"--cache: {folder}: {e.strerror}") from e
            self._code = _digest()

    def read(self, experiment: str, rules: str, quick: bool) -> dict[str, Any] | None:
        """What was kept, or None."""
        if self._folder is None:
            return None
        try:
            kept: dict[str, Any] = json.loads(
                self._path(self._folder, experiment, rules, quick).read_text(encoding="utf-8")
            )
        except (OSError, ValueError):
            return None
        return kept

    def keep(self, experiment: str, rules: str, quick: bool, found: dict[str, Any]) -> None:
        """Keep what was found."""
        if self._folder is not None:
            write_whole(self._path(self._folder, experiment, rules, quick), json.dumps(found), force=True)

    def _path(self, folder: Path, experiment: str, rules: str, quick: bool) -> Path:
        depth = "quick" if quick else "full"
        return folder / f"{experiment.replace('/', '.')}-{rules}-{depth}-{self._code}.json"


def _digest() -> str:
    """A digest of the native library, the facts and the experiments."""
    hashed = sha256()
    native = _core.__file__
    assert native is not None
    with open(native, "rb") as binary:
        hashed.update(binary.read())
    package = files("cellweave")
    for folder in ("facts", "reproduce", "reproduce/experiments"):
        for entry in sorted(package.joinpath(folder).iterdir(), key=lambda entry: entry.name):
            if entry.name.endswith((".py", ".csv", ".toml")):
                hashed.update(entry.read_bytes())
    return hashed.hexdigest()[:16]
