"""The command `cellweave`: a file per verb, one printer for all output."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line."""
    import cellweave

    if sys.argv[1:] == ["--version"]:
        print(f"cellweave {cellweave.__version__}")
