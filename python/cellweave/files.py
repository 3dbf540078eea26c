"""Writes files whole or not at all; existing files are overwritten only on request."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from cellweave import _core


def check_free(path: Path, force: bool) -> None:
    """Refuse a path that cannot be written, before any work is done.

    Raises
    ------
    cellweave.RequestError
        Where the file exists and `force` is not given, or where its folder does not exist.
    """
    if path.is_dir():
        raise _core.RequestError(f"{path} is a folder: name a file in it")
    if path.exists() and not force:
        raise _core.RequestError(f"{path} exists: pass --force (force=True) to overwrite it")
    if not path.parent.is_dir():
        raise _core.RequestError(f"there is no folder {path.parent} to write {path.name} in")
    if path.exists() and not os.access(path, os.W_OK):
        raise _core.RequestError(f"{path} cannot be written: permission denied")


def write_whole(path: Path, content: str | bytes, force: bool) -> None:
    """Write `content` to a new file beside `path` and rename it, so that `path` is never half written.

    Raises
    ------
    cellweave.RequestError
        As :func:`check_free`.
    cellweave.RunError
        Where writing fails; an old file is unchanged.
    """
    check_free(path, force)
    if path.exists() and not path.is_file():
        # A pipe or a device (/dev/stdout) cannot be replaced, only written to.
        _into(path, content)
        return
    data = content.encode() if isinstance(content, str) else content
    neighbour = None
    try:
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
        handle, neighbour = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        os.chmod(neighbour, mode)
        # Follow a symbolic link, so that the link stays a link.
        os.replace(neighbour, path.resolve())
        neighbour = None
    except OSError as e:
        raise _core.RunError(f"{path} could not be written: {e.strerror}") from e
    finally:
        if neighbour is not None:
            Path(neighbour).unlink(missing_ok=True)


def _into(path: Path, content: str | bytes) -> None:
    try:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    except OSError as e:
        raise _core.RunError(f"{path} could not be written: {e.strerror}") from e


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
