"""Probing: how the elements of a machine talk to each other, measured pattern by pattern."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellweave import _core
from cellweave.choice import choice
from cellweave.files import check_free, write_whole
from cellweave.machine import Machine
from cellweave.options import chosen

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from matplotlib.figure import Figure

    from cellweave.report.table import Table

ENDINGS = ["json", "csv", "toml"]
_WHO = ("pattern", "transfers", "initiator", "other", "home", "partners")
_HOW = ("size_bytes", "buffers", "repeats", "compute_ns", "walk", "n")
_QUANTILES = (
    "bandwidth_gbs",
    "bandwidth_each_gbs",
    "bandwidth_by_timer_gbs",
    "latency_ns",
    "span_us",
    "ticks",
    "slowdown",
)
_LAST = ("interval", "pace_spread", "quality", "excluded")


class Probe:
    """What was measured.

    Attributes
    ----------
    machine, target : str
        The machine, and with what was chosen about it (the rules of a simulated bus).
    exact : bool
        Simulated: another run gives the same, one sample is all there is to know.
    stopped : bool
        Ctrl-C came before everything was measured.
    measurements : list of dict
        In the order in which they were taken: ``pattern``, ``transfers`` (written out), ``partners``, ``size_bytes``,
        ``buffers``, ``n``, ``bandwidth_gbs``, ``bandwidth_each_gbs``, ``latency_ns``, ``span_us`` and ``ticks`` (each
        ``min``, ``p10``, ``p50``, ``p90``), ``slowdown`` (how many times longer than alone, where there are several
        transfers), ``alone_gbs`` (what these move alone, one after the other), ``interval`` (half of the median's 95 %
        confidence interval, as a part of it), ``pace_spread``, ``quality``, ``excluded``, ``left_out`` (why), and
        ``each``: the transfers one by one.
    exchanges : list of dict
        Lines, wake-ups and turns between cpus of this computer: ``pattern``, ``pair``, ``shares``, ``home``, ``n``,
        ``latency_ns``, ``slowdown``, ``interval``, ``pace_spread``, ``quality``, ``excluded``, ``left_out``.
    verdict : str
        How far the figures can be trusted, in words.
    notes : list of str
        What was fitted to what, when a machine file was asked for.
    """

    def __init__(self, data: dict[str, Any], csv: str, file: tuple[str, list[str]] | None = None) -> None:
        self._data = data
        self._csv = csv
        self._file = file
        self.notes: list[str] = list(file[1]) if file else []

    def to_dict(self) -> dict[str, Any]:
        """As in the file that ``cellweave probe -o FILE.json`` writes."""
        return self._data

    @property
    def machine(self) -> str:
        return str(self._data["machine"])

    @property
    def target(self) -> str:
        return str(self._data["target"])

    @property
    def exact(self) -> bool:
        return bool(self._data["exact"])

    @property
    def stopped(self) -> bool:
        return bool(self._data["stopped"])

    @property
    def measurements(self) -> list[dict[str, Any]]:
        return list(self._data["measurements"])

    @property
    def exchanges(self) -> list[dict[str, Any]]:
        return list(self._data["exchanges"])

    @property
    def verdict(self) -> str:
        from cellweave.report.probe import verdict

        return verdict(self._data)

    def rows(self) -> list[dict[str, Any]]:
        """The measurements with flat columns (``bandwidth_gbs_p50``), for a data frame or Parquet; exchanges follow.

        Examples
        --------
        >>> import cellweave as cw
        >>> found = cw.probe("cell", "far", sizes=[128], buffers=[1])
        >>> [(row["partners"], row["n"], row["quality"]) for row in found.rows()]
        [(8, 1, 'exact')]
        """
        rows = []
        named = {"machine": self.machine, "target": self.target}
        for m in [*self.measurements, *self.exchanges]:
            initiator, other = m["pair"] or (None, None)
            known = {**m, "initiator": initiator, "other": other}
            row: dict[str, Any] = dict(named)
            for key in (*_WHO, *_HOW):
                row[key] = known.get(key)
            for key in _QUANTILES:
                found = known.get(key) or {}
                row.update({f"{key}_{q}": found.get(q) for q in ("min", "p10", "p50", "p90")})
            for key in _LAST:
                row[key] = known[key]
            rows.append(row)
        return rows

    def to_csv(self) -> str:
        """A line per measurement, with the columns of :meth:`rows`."""
        return self._csv

    def to_machine(self) -> Machine:
        """The machine with the distances and limits that were measured; ask for it with ``machine_file=True``.

        Raises
        ------
        cellweave.RequestError
            Where it was not asked for, or Ctrl-C came before.
        """
        if self._file is None:
            raise _core.RequestError("no machine was fitted: probe with machine_file=True, to the end")
        return Machine.from_toml(self._file[0])

    def save(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write ``.json``, ``.csv``, or ``.toml`` (the machine's file); an existing file only with `force`."""
        path = Path(path)
        kind = choice("the ending of a result's name", path.suffix.lstrip("."), ENDINGS)
        if kind == "toml":
            self.to_machine().save(path, force)
        else:
            text = self.to_csv() if kind == "csv" else json.dumps(self._data, indent=1) + "\n"
            write_whole(path, text, force)

    def tables(self) -> list[Table]:
        """What ``cellweave probe`` prints."""
        from cellweave.report.probe import probe_tables

        return probe_tables(self._data, self.notes)

    def plot(self) -> Figure:
        """Draw what was measured: matrices of pairs as heat maps, curves over sizes, else bars.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from cellweave.report.curves import draw_probe

        return draw_probe(self._data)

    def __repr__(self) -> str:
        return f"Probe({self.target!r}, {len(self.measurements)} measurements)"

    def __str__(self) -> str:
        from cellweave.report.table import text

        return text(self.tables())

    def _repr_html_(self) -> str:
        from cellweave.report.table import html

        return html(self.tables())


def probe(
    on: str | os.PathLike[str] = "host",
    patterns: str | Iterable[str] = (),
    *,
    sizes: Iterable[int | str] = (),
    buffers: Iterable[int | str] = (),
    spes: Iterable[int | str] = (),
    cores: str | None = None,
    thorough: bool = False,
    seed: int = 1,
    draws: int = 10,
    samples: int | None = None,
    repeats: int | None = None,
    compute_ns: int = 0,
    rules: str | None = None,
    hidden: Sequence[int] | None = None,
    parameters: Mapping[str, int] | None = None,
    stride: int | str | None = None,
    cached: bool = False,
    machine_file: bool = False,
    progress: Callable[[dict[str, Any]], None] | None = None,
) -> Probe:
    """Measure patterns of transfers, on this computer or on a simulated Cell.

    Parameters
    ----------
    on : str or path
        ``host`` (or a part of it: ``host:cpus=0-1``), a machine file of this computer, or a simulated machine: ``ps3``,
        ``cell``, ``qs20``, ``qs22``.
    patterns : str or sequence of str, optional
        Names, or written out, reader first: ``0<-7,7<-0``. By default all pairs, and main memory; on this computer also
        transfers at the same time, lines and wake-ups.
    sizes : sequence of int or str, optional
        Bytes of a transfer: 128, 16k, or a range by doubling: ``16..16k``. By default 16k, and 16 for latency.
    buffers : sequence of int or str, optional
        Transfers that an initiator keeps in flight, 1 to 8: 4, or a range: ``1..8``. By default 4, and 1 for latency.
    spes : sequence of int or str, optional
        How many elements take part: 6, or a range: ``1..6``. By default what makes sense for the pattern.
    cores : str, optional
        Cpus of this computer that take part: ``0-7,16``. By default all that this process may use.
    thorough : bool
        Samples until medians are known to 1 %, and sizes from 64 bytes to 16 MB through 1 to 8 buffers: minutes.
    seed : int
        Seed of random patterns.
    draws : int
        How many random patterns.
    samples : int, optional
        Samples of each experiment; by default until the median is known to 5 %, and 1 where it is simulated.
    repeats : int, optional
        How often each transfer is done in a sample; by default chosen.
    compute_ns : int
        Time of computing on each transfer once it is complete.
    rules : str, optional
        The rule set of the simulated bus's arbiter.
    hidden : sequence of int, optional
        Physical SPEs of the simulated machine that programs do not get.
    parameters : mapping of str to int, optional
        Numbers of the simulated machine by name, such as ``memory.bank``.
    stride : int or str, optional
        Bytes in main memory from one transfer to the next, a multiple of 128; by default they are next to each other.
        On a Cell ``2k`` is the same bank of memory every time, ``64k`` a new page.
    cached : bool
        Main memory is in the cache of the simulated PPE.
    machine_file : bool
        Also fit a machine to what was measured; without patterns, measure all that it needs.
    progress : callable, optional
        Called before each experiment with a dict (``share``, ``done``, ``total``, ``pattern``, ``expected_s``: how many
        seconds all of it takes, at least and at most).

    Returns
    -------
    Probe
        Ctrl-C ends the measuring; what was measured until then is returned.

    Raises
    ------
    cellweave.RequestError
        Where something is wrong with the request; nothing was measured then.

    Examples
    --------
    >>> import cellweave as cw
    >>> far = cw.probe("qs22", "0<-7,7<-0", sizes=[16384], buffers=[4]).measurements[0]
    >>> far["quality"], far["partners"], 30 < far["bandwidth_gbs"]["p50"] < 52
    ('exact', 2, True)
    """
    text, csv, file = _core.probe(str(on), chosen("probe", locals()), progress)
    return Probe(json.loads(text), csv, file)


def check_output(path: Path, force: bool) -> None:
    """Refuse a result's file before anything is measured for it."""
    choice("the ending of a result's name", path.suffix.lstrip("."), ENDINGS)
    check_free(path, force)


def pattern_names() -> list[tuple[str, str]]:
    """The patterns that have names, each with a line about it.

    Examples
    --------
    >>> from cellweave.probe import pattern_names
    >>> "far" in dict(pattern_names())
    True
    """
    return list(_core.patterns())
