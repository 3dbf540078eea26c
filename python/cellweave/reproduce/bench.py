"""Measurements for experiments: transfers, rings and programs on the simulated machine, several at a time."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeVar

from cellweave import _core
from cellweave.reproduce.facts import seeds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

Given = TypeVar("Given")
Made = TypeVar("Made")
Transfer = tuple[str, str, str]
Stream = tuple[int, int, int]

# A "large transfer": commands of the largest size, as many in flight as half a local store holds.
LARGE_BYTES = 16384
LARGE_BUFFERS = 8
# By default: the bytes that a transfer moves, and its fewest and most commands.
_STREAM_BYTES = 1 << 20
_REPEATS = (32, 256)
# How long streams run that must all run equally long: 100 times the time of a large command.
_WINDOW_NS = 64_000
# All choices of the two SPEs that a Playstation 3 hides, and the few that a quick look uses.
HIDDEN = tuple(combinations(range(8), 2))
_QUICK_HIDDEN = 4


def reads(*pairs: tuple[int, int]) -> list[Transfer]:
    """SPEs that read from SPEs: ``(reader, source)``.

    Examples
    --------
    >>> reads((0, 7))
    [('SPE0', 'SPE7', 'get')]
    """
    return [(f"SPE{reader}", f"SPE{source}", "get") for reader, source in pairs]


def puts(*pairs: tuple[int, int]) -> list[Transfer]:
    """The same bytes the same way, moved by the SPE that has them: ``(reader, source)``.

    Examples
    --------
    >>> puts((0, 7))
    [('SPE7', 'SPE0', 'put')]
    """
    return [(f"SPE{source}", f"SPE{reader}", "put") for reader, source in pairs]


@dataclass(frozen=True)
class Load:
    """Transfers that run at the same time, and how.

    Attributes
    ----------
    transfers : sequence of (initiator, other, direction)
        Names of elements (``SPE3``, ``memory0``) and ``get``, ``put`` or ``alternating``.
    size_bytes, buffers : int
        Of one command; commands in flight per transfer.
    compute_ns : int
        ns that an initiator computes on each command's data before the next one in the same buffer.
    loop_cycles : int
        SPU cycles that the measured program itself spends on each command.
    walk : {"next", "one-bank", "cached"}
        How commands go through main memory: each next to the one before, all in one bank, or through lines that the PPE
        has in its cache.
    repeats : int, optional
        Commands of each transfer; by default so many that the start hardly counts.
    """

    transfers: Sequence[Transfer]
    size_bytes: int = LARGE_BYTES
    buffers: int = LARGE_BUFFERS
    repeats: int | None = None
    compute_ns: int = 0
    loop_cycles: int = 0
    walk: str = "next"

    def to_dict(self) -> dict[str, Any]:
        """For the core."""
        least, most = _REPEATS
        repeats = self.repeats or max(least, min(most, _STREAM_BYTES // self.size_bytes))
        return {**vars(self), "repeats": repeats}


@dataclass(frozen=True)
class Measured:
    """The result of a load.

    Attributes
    ----------
    gbs : float
        All bytes over the time from the first start to the last end, in GB/s.
    ticked_gbs : float
        The same over the longest time that an initiator's decrementer showed.
    latency_ns : float
        Mean over the transfers, from a command to seeing its end.
    transfers : list of dict
        ``start_ns end_ns ticks latency_ns gbs`` of each.
    timer_hz : float
        Of the decrementer.
    """

    gbs: float
    ticked_gbs: float
    latency_ns: float
    transfers: list[dict[str, float]] = field(repr=False)
    timer_hz: float

    def ticked_ns(self, times: int) -> float:
        """Mean time of a command by the decrementer, for transfers of `times` commands, one after another."""
        return sum(t["ticks"] for t in self.transfers) / len(self.transfers) / times / self.timer_hz * 1e9


@dataclass(frozen=True)
class Streamed:
    """The result of streams.

    Attributes
    ----------
    streams : list of dict
        ``gbs`` of each, and ``ticked_ns``: the decrementer's ns per message.
    ways : list of int
        Packets that the first Cell's rings carried clockwise, and the other way.
    """

    streams: list[dict[str, float]]
    ways: list[int]

    def each(self) -> list[float]:
        """GB/s of each stream."""
        return [stream["gbs"] for stream in self.streams]

    def gbs(self) -> float:
        """GB/s of all together: the sum of what each gets while all run."""
        return sum(self.each())


class Bench:
    """The simulated machine under one rule set.

    Parameters
    ----------
    rules : str or None
        A rule set's name; None is the default.
    quick : bool
        Fewer choices, mappings and rounds.
    tell : callable, optional
        Called with the share of the running experiment that is done.
    kept : dict, optional
        Results that several experiments share under this rule set: see :meth:`once`.
    campaigns : sequence of dict
        Rows of campaigns, for experiments that are judged by these.
    """

    def __init__(
        self,
        rules: str | None = None,
        quick: bool = False,
        tell: Callable[[float], None] | None = None,
        kept: dict[object, Any] | None = None,
        campaigns: Sequence[dict[str, Any]] = (),
    ) -> None:
        self.rules = rules
        self.quick = quick
        self.campaigns = campaigns
        self._kept = {} if kept is None else kept
        self.seeds = seeds()
        self._tell = tell or (lambda share: None)
        self._workers = max(1, min(8, os.cpu_count() or 1))

    def hidden(self) -> list[tuple[int, int]]:
        """The choices of two hidden SPEs to go through: all 28, or a few spread over them."""
        return list(HIDDEN[:: len(HIDDEN) // _QUICK_HIDDEN] if self.quick else HIDDEN)

    def over_hidden(self) -> str:
        """How many choices of :meth:`hidden` there are, in words."""
        return f"{len(self.hidden())} of {len(HIDDEN)} choices of two hidden SPEs"

    def fewer(self, full: int, quick: int) -> int:
        """`full`, or `quick` when only a quick look was asked for."""
        return quick if self.quick else full

    def once(self, key: object, measure: Callable[[], Made]) -> Made:
        """Call `measure` the first time that `key` is asked for; later give the same result."""
        if key not in self._kept:
            self._kept[key] = measure()
        made: Made = self._kept[key]
        return made

    def map(self, work: Callable[[Given], Made], items: Iterable[Given]) -> list[Made]:
        """`work` on every item, several at a time, in order.

        Each simulation is independent and uses one thread; the core runs it without the interpreter's lock.
        """
        todo = list(items)
        done: list[Made] = []
        with ThreadPoolExecutor(self._workers) as pool:
            try:
                for made in pool.map(work, todo):
                    done.append(made)
                    self._tell(len(done) / len(todo))
            except BaseException:
                pool.shutdown(wait=True, cancel_futures=True)
                raise
        return done

    def loads(self, machine: str, loads: Sequence[Load], hidden: Sequence[int] | None = None) -> list[Measured]:
        """Measure loads, one after another, each on a machine of its own.

        Parameters
        ----------
        machine : str
            A preset.
        hidden : sequence of int, optional
            SPEs that programs do not get.

        Raises
        ------
        cellweave.RequestError
            Where a load cannot be done on this machine.
        """
        request = {**self._machine(machine, hidden), "loads": [load.to_dict() for load in loads]}
        return [Measured(**found) for found in json.loads(_core.measure(json.dumps(request)))]

    def load(self, machine: str, load: Load, hidden: Sequence[int] | None = None) -> Measured:
        """Measure one load."""
        return self.loads(machine, [load], hidden)[0]

    def streams(
        self,
        machine: str,
        streams: Sequence[Stream],
        buffers: int = LARGE_BUFFERS,
        times: int | None = None,
        window_ns: int = _WINDOW_NS,
    ) -> Streamed:
        """SPEs that read from each other, all for the same time.

        Parameters
        ----------
        streams : sequence of (reader, source, bytes of a message)
            The source may be the reader; messages beyond 16 kB are several commands.
        buffers : int
            Messages in flight per stream.
        times : int, optional
            Messages of each; by default as many as fit into the window.
        window_ns : int
            No message is started later.
        """
        named = [{"reader": reader, "source": source, "bytes": size} for reader, source, size in streams]
        options = {"streams": named, "buffers": buffers, "times": times, "window_ns": window_ns}
        return Streamed(**self.program("streams", machine, options))

    def together(self, machine: str, pairs: Sequence[tuple[int, int]]) -> Streamed:
        """Large transfers, ``(reader, source)``, that all run for the same time."""
        return self.streams(machine, [(reader, source, LARGE_BYTES) for reader, source in pairs])

    def many(self, machine: str, loads: Sequence[Load], batch: int = 8) -> list[Measured]:
        """Measure loads in batches, several at a time."""
        parts = [loads[i : i + batch] for i in range(0, len(loads), batch)]
        return [one for part in self.map(lambda part: self.loads(machine, part), parts) for one in part]

    def ring(
        self,
        machine: str,
        mappings: Sequence[Sequence[int]],
        bytes: int,
        both: bool,
        rounds: int,
        seed: int,
        hidden: Sequence[int] | None = None,
    ) -> list[float]:
        """Time of a round of the ring under each mapping, in ns.

        Parameters
        ----------
        mappings : sequence of sequence of int
            The SPE of each task.
        bytes : int
            Of a packet.
        both : bool
            Packets go both ways around.
        seed : int
            Of the start state.
        """
        options = {"mappings": mappings, "bytes": bytes, "both": both, "rounds": rounds, "seed": seed}
        found: list[float] = self.program("ring", machine, options, hidden)["round_ns"]
        return found

    def program(
        self, name: str, machine: str, options: Mapping[str, Any], hidden: Sequence[int] | None = None
    ) -> dict[str, Any]:
        """Run one of the programs that are more than transfers; see the core's module ``reproduce``."""
        request = {**self._machine(machine, hidden), **options}
        found: dict[str, Any] = json.loads(_core.program(name, json.dumps(request)))
        return found

    def _machine(self, machine: str, hidden: Sequence[int] | None) -> dict[str, Any]:
        return {"machine": machine, "rules": self.rules, "hidden": None if hidden is None else list(hidden)}
