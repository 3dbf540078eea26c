"""Pictures of pages for the book, by Chromium: ``python ci/pages.py PAGE.html PICTURE.png WIDTH HEIGHT [dark]``."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "python"))

import browser


def take(page: Path, picture: Path, width: int, height: int, dark: bool) -> None:
    """Save the top of a page as it looks in a window of that size."""
    program = browser.find()
    if program is None:
        raise SystemExit("ci/pages.py: no Chromium here: `apt-get install chromium` (Debian)")
    folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    with folder as kept, browser.Browser(program, Path(kept)) as opened:
        opened.open(page, width, dark, height)
        opened.screenshot(picture, whole=False)


if __name__ == "__main__":
    page, picture, width, height, *more = sys.argv[1:]
    take(Path(page), Path(picture), int(width), int(height), more == ["dark"])
