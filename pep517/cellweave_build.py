"""The build backend: it checks for cargo, builds the MPI library and `cellrun`, then lets maturin make the wheel.

`pip install .`, `pip install -e .`, `pip wheel .` and building an sdist all call these hooks. `native` builds the MPI
library and its launcher and puts them where maturin packs them: into the package's folder, which an editable install
uses directly, and into `build/wheel/scripts` for the environment's `bin`. Maturin alone would silently drop a binary
beside a pyo3 library. `maturin develop` does not call these hooks: use `pip install -e .`.

`--config-settings build-args="--profile dev"` builds all with cargo's profile dev, in a fraction of the time: for tests
of what a wheel holds, not for use.
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
DEV = "--profile dev"  # of maturin's arguments
DATA.mkdir(parents=True, exist_ok=True)  # maturin looks for it in every hook


def _stage(config_settings: Any) -> None:
    debug = DEV in (config_settings or {}).get("build-args", "")
    native.stage(ROOT / "python" / "cellweave" / "mpi", DATA, debug)


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    """Build the MPI library, then the wheel."""
    _stage(config_settings)
    return str(maturin.build_wheel(wheel_directory, config_settings, metadata_directory))


def build_editable(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    """Build the MPI library, then the wheel of an editable install."""
    _stage(config_settings)
    return str(maturin.build_editable(wheel_directory, config_settings, metadata_directory))


def _check() -> None:
    """Stop with a message when cargo is missing; maturin would download a compiler."""
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
