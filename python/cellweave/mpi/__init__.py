"""MPI on one machine: where its header, library, compilers and launcher are."""

from __future__ import annotations

from pathlib import Path

__all__ = ["prefix"]


def prefix() -> Path:
    """The folder of the MPI library.

    Returns
    -------
    pathlib.Path
        An absolute path, with ``bin`` (``cellcc``, ``cellcxx``, ``cellrun``, and ``mpicc``, ``mpicxx``, ``mpiexec``,
        ``mpirun`` for programs that look for those names), ``include`` (``mpi.h``, ``cell.h``) and ``lib``
        (``libmpi_abi.so.1``, the description for ``pkg-config``). ``cellcc -showme:prefix`` prints it.

    Examples
    --------
    >>> from cellweave.mpi import prefix
    >>> (prefix() / "include" / "mpi.h").exists()
    True
    """
    return Path(__file__).resolve().parent
