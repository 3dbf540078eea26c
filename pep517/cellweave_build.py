"""The build backend: maturin, after a look at whether it can work.

`pip install .`, `pip install -e .`, `pip wheel .` and building an sdist all come through these hooks. A native program
or C library that the wheel is to hold has its place before maturin in `build_wheel` and
`build_editable`: build it with cargo, stage it, let maturin pack. (Left to itself, maturin drops a binary that stands
beside a pyo3 library without a word; and `maturin develop` does not come through here: use `pip install -e .`.)
"""

from __future__ import annotations

import shutil
import sys
from typing import Any

import maturin

prepare_metadata_for_build_wheel = maturin.prepare_metadata_for_build_wheel
prepare_metadata_for_build_editable = maturin.prepare_metadata_for_build_editable
build_wheel = maturin.build_wheel
build_editable = maturin.build_editable
build_sdist = maturin.build_sdist


def _check() -> None:
    """Stop early and say what to install; maturin would fetch a compiler by itself."""
    if shutil.which("cargo") is None:
        sys.exit(
            "cellweave: building needs Rust 1.85 or newer, and `cargo` is not on PATH.\n"
            "Install it from https://rustup.rs (or `apt install cargo`, where that is new enough) and try again."
        )


def _requires(config_settings: Any = None) -> list[str]:
    _check()
    return []


# The first hook that an installer calls.
get_requires_for_build_wheel = _requires
get_requires_for_build_editable = _requires
get_requires_for_build_sdist = _requires
