"""cellweave: works out where the communicating parts of a program should run, and runs them there."""

from __future__ import annotations

from pathlib import Path

from cellweave._core import __version__

__all__ = ["__version__", "include_dir"]


def include_dir() -> Path:
    """The folder that holds ``cellweave.h``, the C header of the kernel ABI.

    Returns
    -------
    pathlib.Path
        An absolute path, for ``gcc -I``.

    Examples
    --------
    >>> import cellweave as cw
    >>> (cw.include_dir() / "cellweave.h").is_file()
    True
    """
    return Path(__file__).resolve().parent / "include"
