"""The stages of the image pipeline are those of SciPy, bit by bit, on pictures that are hard for them."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path
from types import ModuleType

import cellweave as cw
import numpy as np
import pytest
from scipy import ndimage

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "image-pipeline"
SHAPE = (64, 96)
CORNERS = np.ones((3, 3))


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"image_{name}", FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


reference = load("reference")


def masks() -> np.ndarray:
    """Noise of many densities, a chequerboard, a comb whose teeth meet at the end, a spiral, nothing, everything."""
    random = np.random.default_rng(7)
    found = [random.random(SHAPE) < density for density in (0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95)]
    y, x = np.mgrid[: SHAPE[0], : SHAPE[1]]
    spiral = np.zeros(SHAPE, bool)
    top, left, bottom, right = 0, 0, SHAPE[0] - 1, SHAPE[1] - 1
    while top < bottom and left < right:
        spiral[top, left : right + 1] = spiral[top : bottom + 1, right] = True
        spiral[bottom, left : right + 1] = spiral[top + 2 : bottom + 1, left] = True
        top, left, bottom, right = top + 2, left + 2, bottom - 2, right - 2
    found += [(x + y) % 2 == 0, (x % 2 == 0) & (y % 2 == 0), (x % 2 == 0) | (y == SHAPE[0] - 1), spiral]
    return np.stack([*found, np.zeros(SHAPE, bool), np.ones(SHAPE, bool)]).astype(np.uint8)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("image") / "libimage.so"
    warnings = ["-Wall", "-Wextra", "-Werror"]
    subprocess.run(
        ["cc", "-O3", *warnings, "-fPIC", "-shared", f"-I{cw.include_dir()}", FOLDER / "image.c", "-o", made],
        check=True,
    )
    return made


def through(library: Path, stages: list[str], pictures: np.ndarray, on: str = "host") -> np.ndarray:
    """What comes out of some of the stages, one after the other."""
    types = {"blur_rows": "int16", "blur_columns": "uint8", "threshold": "uint8", "label": "int16"}
    graph = cw.Graph("some")
    graph.task("source", cost_ns=100)
    graph.task("sink", cost_ns=100)
    before, size = "source", pictures[0].nbytes
    for stage in stages:
        graph.task(stage, f"{library}:kernel_{stage}", cost_ns=1000)
        graph.edge(before, stage, bytes=size)
        before, size = stage, pictures[0].size * np.dtype(types[stage]).itemsize
    graph.edge(before, "sink", bytes=size)
    kept = cw.run(graph, on, inputs={"source": pictures}, outputs={"sink": types[before]}).outputs["sink"]
    return np.asarray(kept).reshape(len(pictures), *SHAPE)


@pytest.mark.parametrize("on", ["host", "cell"])
def test_parts_are_numbered_as_scipy_numbers_them(library: Path, on: str) -> None:
    pictures = masks()
    for mask, got in zip(pictures, through(library, ["label"], pictures, on), strict=True):
        assert (got == ndimage.label(mask, CORNERS)[0]).all()
        assert (got == reference.labels(mask)).all()


def test_blur_and_gradient_are_scipys(library: Path) -> None:
    pictures = np.random.default_rng(3).integers(0, 256, (8, *SHAPE)).astype(np.uint8)
    blurred = through(library, ["blur_rows", "blur_columns"], pictures)
    for picture, got in zip(pictures, blurred, strict=True):
        rows = ndimage.correlate1d(picture.astype(int), [1, 4, 6, 4, 1], axis=1, mode="nearest")
        both = (ndimage.correlate1d(rows, [1, 4, 6, 4, 1], axis=0, mode="nearest") + 128) // 256
        assert (got == both).all()
        assert (reference.blurred(picture) == both).all()
        sobel = [ndimage.sobel(both, axis=axis, mode="nearest") for axis in (0, 1)]
        assert (reference.gradient(both) == abs(sobel[0]) + abs(sobel[1])).all()
