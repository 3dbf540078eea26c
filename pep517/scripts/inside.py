#!python
"""Runs the script of the same name inside the package cellweave, wherever that is installed."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

name = Path(sys.argv[0]).name
spec = find_spec("cellweave")
if spec is None or spec.origin is None:
    sys.exit(f"{name}: the package cellweave is not installed for {sys.executable}")
script = Path(spec.origin).parent / "mpi" / "bin" / name
if not script.exists():
    sys.exit(f"{name}: {script} is missing; install cellweave again: pip install --force-reinstall cellweave")
os.execv(script, [str(script), *sys.argv[1:]])
