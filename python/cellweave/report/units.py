"""Numbers for people: ns, bytes and rates with a fitting unit and three digits."""

from __future__ import annotations

import math

_STEPS = [(1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")]


def number(x: float) -> str:
    """Three significant digits, without an exponent where that is readable.

    >>> number(0.12345), number(123456.0), number(7)
    ('0.123', '123456', '7')
    """
    if not math.isfinite(x):
        return "-" if math.isnan(x) else ("inf" if x > 0 else "-inf")
    if x == int(x) and abs(x) < 1e15:
        return str(int(x))
    if abs(x) >= 100:
        return f"{x:.0f}"
    return f"{x:.3g}"


def _scaled(x: float, unit: str) -> str:
    for step, letter in _STEPS:
        if abs(x) >= step * 0.9995:
            return f"{number(x / step)} {letter}{unit}"
    return f"{number(x)} {unit}"


def time_ns(ns: float) -> str:
    """A time given in ns.

    >>> time_ns(5200.0), time_ns(80.0), time_ns(3.2e9)
    ('5.2 us', '80 ns', '3.2 s')
    """
    for step, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if abs(ns) >= step:
            return f"{number(ns / step)} {unit}"
    return f"{number(ns)} ns"


def size_bytes(n: float) -> str:
    """A size given in bytes; kB = 1000 bytes.

    >>> size_bytes(256), size_bytes(196608)
    ('256 B', '197 kB')
    """
    return _scaled(float(n), "B")


def rate_per_s(x: float) -> str:
    """A rate given in 1/s.

    >>> rate_per_s(192307.7)
    '192 k/s'
    """
    return _scaled(x, "/s")


def bandwidth(bytes_per_s: float) -> str:
    """A bandwidth given in bytes/s, in GB/s; GB = 1e9 bytes.

    >>> bandwidth(4.91e9)
    '4.91 GB/s'
    """
    return f"{number(bytes_per_s / 1e9)} GB/s"


def percent(share: float) -> str:
    """A share of 1.

    >>> percent(0.0213), percent(0.974)
    ('2.13 %', '97.4 %')
    """
    return f"{number(share * 100)} %"
