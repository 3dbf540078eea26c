"""Fills that are the same on light and dark pages, and the ink that can be read on each."""

from __future__ import annotations

UNMAPPED = "#D5D9DE"

# From little to much, dark to bright, told apart by every eye (the ends and middle of "viridis").
_RAMP = ["#440154", "#414487", "#2A788E", "#22A884", "#7AD151", "#FDE725"]


def luminance(colour: str) -> float:
    """Relative luminance of ``#rrggbb``, as WCAG 2 defines it.

    >>> luminance("#000000"), luminance("#FFFFFF")
    (0.0, 1.0)
    """

    def linear(value: float) -> float:
        return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(int(colour[i : i + 2], 16) / 255) for i in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Contrast of two colours, 1 to 21, as WCAG 2 defines it.

    >>> contrast("#FFFFFF", "#000000")
    21.0
    """
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def ink_over(fill: str) -> str:
    """Black or white, whichever has more contrast on `fill`: at least 4.58.

    >>> ink_over("#0072B2"), ink_over("#009E73")
    ('#fff', '#000')
    """
    return "#000" if contrast(fill, "#000000") >= contrast(fill, "#FFFFFF") else "#fff"


def shade(part: float) -> str:
    """The fill of a heat map's cell, from little (0) to much (1).

    >>> shade(0.0), shade(1.0)
    ('#440154', '#fde725')
    """
    place = max(0.0, min(1.0, part)) * (len(_RAMP) - 1)
    first = min(int(place), len(_RAMP) - 2)
    one, other = ([int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in _RAMP[first : first + 2])
    ends = zip(one, other, strict=True)
    return "#" + "".join(f"{round(a + (b - a) * (place - first)):02x}" for a, b in ends)
