"""The build backend: it checks for cargo, builds the MPI library and `cellrun`, then lets maturin make the wheel.

`pip install .`, `pip install -e .`, `pip wheel .` and building an sdist all come through these hooks. The MPI library
and its launcher (`native`) are built and laid out before maturin packs them: into the package's folder, which an
editable install uses as it stands, and into `build/wheel/scripts` for the environment's own `bin`. (Left to itself,
maturin drops a binary that stands beside a pyo3 library without a word; and `maturin develop` does not come through
here: use `pip install -e .`.)
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import maturin
import native

prepare_metadata_for_build_wheel = maturin.prepare_metadata_for_build_wheel
prepare_metadata_for_build_editable = maturin.prepare_metadata_for_build_editable
build_sdist = maturin.build_sdist

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "build" / "wheel"
DATA.mkdir(parents=True, exist_ok=True)  # maturin looks for it in every hook


def _stage() -> None:
    native.stage(ROOT / "python" / "cellweave" / "mpi", DATA)


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    """Build the MPI library, then the wheel."""
    _stage()
    return str(maturin.build_wheel(wheel_directory, config_settings, metadata_directory))


def build_editable(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    """Build the MPI library, then the wheel of an editable install."""
    _stage()
    return str(maturin.build_editable(wheel_directory, config_settings, metadata_directory))


def _check() -> None:
    """Stop early and say what to install; maturin would fetch a compiler by itself."""
    if shutil.which("cargo") is None:
        sys.exit(
            "cellweave: building needs Rust 1.88 or newer, and `cargo` is not on PATH.\n"
            "Install it from https://rustup.rs (or `apt install cargo`, where that is new enough) and try again."
        )


def _requires(config_settings: Any = None) -> list[str]:
    _check()
    return []


# The first hook that an installer calls.
get_requires_for_build_wheel = _requires
get_requires_for_build_editable = _requires
get_requires_for_build_sdist = _requires
