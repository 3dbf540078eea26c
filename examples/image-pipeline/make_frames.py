"""Draws the frames: discs, boxes and bars that move over an uneven, noisy ground.

python make_frames.py [FOLDER [HOW MANY [SEED]]]
"""

import sys
from pathlib import Path

import numpy as np

COLUMNS, ROWS = 96, 64


def frames(count: int, seed: int = 1) -> np.ndarray:
    """So many frames, u8, count x ROWS x COLUMNS."""
    random = np.random.Generator(np.random.PCG64(seed))
    y, x = np.mgrid[:ROWS, :COLUMNS]
    things = [
        (kind, random.uniform(8, 88), random.uniform(8, 56), *random.uniform(-1.5, 1.5, 2), random.integers(4, 9), grey)
        for kind, grey in zip(("disc", "box", "bar") * 2, random.integers(120, 250, 6), strict=True)
    ]
    made = []
    for t in range(count):
        picture = 40 + 0.3 * x + 0.2 * y
        for kind, cx, cy, vx, vy, size, grey in things:
            dx, dy = x - (cx + vx * t) % COLUMNS, y - (cy + vy * t) % ROWS
            inside = {
                "disc": dx * dx + dy * dy < size * size,
                "box": (abs(dx) < size) & (abs(dy) < size),
                "bar": (abs(dx + dy) < 3) & (abs(dx - dy) < 2 * size),
            }[kind]
            picture = np.where(inside, grey, picture)
        made.append(np.clip(picture + random.integers(-6, 7, picture.shape), 0, 255).astype(np.uint8))
    return np.stack(made)


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "frames")
    folder.mkdir(exist_ok=True)
    count, seed = (int(word) for word in (sys.argv[2:] + ["24", "1"][len(sys.argv[2:]) :]))
    for number, picture in enumerate(frames(count, seed)):
        (folder / f"{number:03}.pgm").write_bytes(f"P5\n{COLUMNS} {ROWS}\n255\n".encode() + picture.tobytes())


if __name__ == "__main__":
    main()
