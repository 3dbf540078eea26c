"""Compares the pictures in `out` with those of reference.py, and draws some of them.

python compare.py [PICTURE.png]
"""

import sys
from pathlib import Path

import numpy as np
import reference


def pixels(path: Path, header: bytes, shape: tuple[int, ...]) -> np.ndarray:
    """A picture's values."""
    data = path.read_bytes()
    if not data.startswith(header):
        raise SystemExit(f"{path}: not a picture of this pipeline")
    return np.frombuffer(data[len(header) :], np.uint8).reshape(shape)


pairs = []
for path in sorted(Path("frames").glob("*.pgm")):
    grey = pixels(path, b"P5\n96 64\n255\n", (64, 96))
    got = pixels(Path("out") / f"{path.stem}.ppm", b"P6\n96 64\n255\n", (64, 96, 3))
    if not (got == reference.pipeline(grey)).all():
        raise SystemExit(f"{path.stem}: not the picture of reference.py")
    pairs.append((grey, got))
print(f"{len(pairs)} pictures are those of reference.py, bit by bit")

if len(sys.argv) > 1:
    import matplotlib.pyplot as plt

    _, axes = plt.subplots(2, 4, figsize=(10, 3.6), layout="constrained")
    for column, number in enumerate(range(0, len(pairs), max(1, len(pairs) // 4))[:4]):
        for ax, picture in zip(axes[:, column], pairs[number], strict=True):
            ax.imshow(picture, cmap="gray", vmin=0, vmax=255)
            ax.set_axis_off()
        axes[0, column].set_title(f"frame {number}", fontsize=9)
    plt.savefig(sys.argv[1], dpi=110)
