"""One colour per element, the same in every picture of a machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# Colour-blind readers can tell these apart (Okabe and Ito); further colours differ in hue.
_FIRST = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#7F7F7F"]

INK = "#222222"
PAPER = "#FFFFFF"
FAINT = "#C8C8C8"
WARNING = "#B00020"


def colours(elements: Sequence[str]) -> dict[str, str]:
    """Element -> colour (``#rrggbb``), in the order given.

    >>> colours(["CPU0", "CPU1"])
    {'CPU0': '#0072B2', 'CPU1': '#E69F00'}
    """
    from colorsys import hsv_to_rgb

    chosen = {}
    for i, element in enumerate(elements):
        if i < len(_FIRST):
            chosen[element] = _FIRST[i]
            continue
        # The golden angle keeps neighbours apart for any number of elements.
        r, g, b = hsv_to_rgb((0.11 + (i - len(_FIRST)) * 0.618034) % 1.0, 0.45 + 0.25 * (i % 2), 0.85)
        chosen[element] = f"#{int(r * 255):02x}{int(g * 255):02x}{int(b * 255):02x}"
    return chosen


def ink_on(colour: str) -> str:
    """Black or white, whichever is read more easily on `colour` (``#rrggbb``).

    >>> ink_on("#0072B2"), ink_on("#F0E442")
    ('#FFFFFF', '#222222')
    """
    r, g, b = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return INK if 0.299 * r + 0.587 * g + 0.114 * b > 0.55 else PAPER
