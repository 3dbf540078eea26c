"""mpi4py's own tests (the folder `test` of its source), less what this library does not support.

Usage, as a rank: python suite.py FOLDER [OPTIONS of FOLDER/main.py]

mpi4py's tests skip a part of MPI when using it raises NotImplementedError. That is what mpi4py raises for a function
that the library lacks. This library has all functions of the standard's ABI, and those that are not supported return
MPI_ERR_UNSUPPORTED_OPERATION.
"""

from __future__ import annotations

import sys
from typing import Any

from mpi4py import MPI

MODULES = "test_(dynproc|file|io|p2p_buf_part|session|spawn)[.]py"
"""Processes that are started or met later, files, partitioned messages and sessions."""
TESTS = [
    "TestErrhandlerFile",
    "TestErrhandlerSession",
    "TestMessageRMA",
    "TestSequential",
    "TestWinNull.testGetName",
    "testSafeFreeCreated",
]
"""The same, and one-sided communication, in the other modules."""
if MPI.COMM_WORLD.size == 1:
    TESTS.append("TestProcessPool.")  # Its workers would be processes started later.


def _absent(*_: Any, **__: Any) -> Any:
    raise NotImplementedError


class File(MPI.File):
    Open = classmethod(_absent)


class Session(MPI.Session):
    Init = classmethod(_absent)


sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv.pop(1))
from main import TestProgram  # noqa: E402


class Suite(TestProgram):  # type: ignore[misc]
    """The tests; some modules ask for files and sessions when they are loaded."""

    def createTests(self, *arguments: Any, **options: Any) -> None:
        real = MPI.File, MPI.Session
        MPI.File, MPI.Session = File, Session
        try:
            super().createTests(*arguments, **options)
        finally:
            MPI.File, MPI.Session = real


sys.argv += ["-e", MODULES, *(word for test in TESTS for word in ("-x", test))]
Suite(module=None)
