"""A simulated machine, and programs on it."""

from __future__ import annotations

import inspect
import json
import re
import threading
from typing import TYPE_CHECKING, Any

from cellweave import _core
from cellweave.choice import at_least, choice
from cellweave.sim.memory import Memory
from cellweave.sim.outcome import Outcome
from cellweave.sim.ppe import Ppe
from cellweave.sim.spe import Spe

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_CYCLES_PER_US = 1600
_MOST = 2**64 - 1
_LONGEST_S = 1e9
_INDEX = re.compile(r"(.*)\[(\d)\]")


def machines() -> list[str]:
    """The machines that can be simulated.

    Examples
    --------
    >>> from cellweave import sim
    >>> sim.machines()
    ['ps3', 'cell', 'qs20', 'qs22']
    """
    return list(_core.sim_machines())


def rule_sets() -> list[dict[str, Any]]:
    """The rule sets of the bus's data arbiter, the default first; each a dict with its ``name`` and its rules.

    Examples
    --------
    >>> from cellweave import sim
    >>> "textbook" in [rules["name"] for rules in sim.rule_sets()]
    True
    """
    return list(json.loads(_core.sim_rules()))


def parameters(machine: str = "qs22") -> dict[str, int | list[int]]:
    """The parameters of a machine, by the names that :class:`Cell` takes.

    Times are bus cycles of 625 ps where the name does not say otherwise; a list has a value for each chip.

    Examples
    --------
    >>> from cellweave import sim
    >>> sim.parameters("ps3")["timebase_hz"]
    79800000
    >>> sim.parameters()["mfc_queue"]
    16
    """
    found: dict[str, int | list[int]] = {}
    for name, value in _core.sim_parameters(machine):
        indexed = _INDEX.fullmatch(name)
        key = (indexed.group(1) if indexed else name).replace(".", "_")
        if indexed:
            several = found.setdefault(key, [])
            assert isinstance(several, list)
            several.append(value)
        else:
            found[key] = value
    return found


class Cell:
    """A simulated machine with programs on it.

    Parameters
    ----------
    machine : str
        ``ps3`` (6 SPEs), ``cell`` (8), ``qs20`` or ``qs22`` (two chips, 16).
    rules : str, optional
        Rule set of the bus's data arbiter, one of :func:`rule_sets`.
    hidden : sequence of int, optional
        SPEs of each chip, as the hardware numbers them (0 to 7), that no program can use; the others are numbered from
        0.
    **numbers : int or list of int
        Any of :func:`parameters`: ``mfc_lines=8``, ``link_command=[400, 420]``.

    Raises
    ------
    cellweave.RequestError
        Where a name or number is wrong; the message says what is allowed.

    Examples
    --------
    >>> from cellweave import sim
    >>> sim.Cell("ps3", hidden=[0, 5]).spes
    6
    >>> sim.Cell("ps3", mfc_line=8)
    Traceback (most recent call last):
    cellweave.RequestError: a parameter of ps3: no `mfc_line`; allowed: ...; did you mean `mfc_lines`?
    """

    def __init__(
        self,
        machine: str = "qs22",
        *,
        rules: str | None = None,
        hidden: Sequence[int] | None = None,
        **numbers: int | Sequence[int],
    ) -> None:
        choice("machine", machine, machines())
        if rules is not None:
            choice("rules", rules, [r["name"] for r in rule_sets()])
        if hidden is not None:
            hidden = [_number("hidden", spe, 7) for spe in hidden]
        self._simulation = _core.Simulation.build(machine, rules, hidden, _named(machine, numbers))
        self._machine: dict[str, Any] = json.loads(self._simulation.to_json())
        self._programs = 0
        self._thread = threading.get_ident()
        self._state = "new"

    @property
    def name(self) -> str:
        return str(self._machine["name"])

    @property
    def spes(self) -> int:
        """The number of SPEs that programs can use."""
        return len(self._machine["spes"])

    @property
    def ppes(self) -> int:
        """The number of PPEs, one per chip."""
        return int(self._machine["ppes"])

    def to_dict(self) -> dict[str, Any]:
        """The machine's parameters, and where each SPE is."""
        return self._machine

    def _native(self) -> _core.Simulation:
        if threading.get_ident() != self._thread:
            raise _core.RequestError("a simulated machine stays in the thread that made it")
        if self._state == "running":
            raise _core.RequestError("programs are running: they reach memory by get, put, load and store")
        return self._simulation

    def _building(self) -> _core.Simulation:
        native = self._native()
        if self._state != "new":
            raise _core.RequestError("this machine has run; make another one")
        return native

    def allocate(self, chip: int, bytes: int, align: int = 128) -> int:
        """Take main memory of a chip. Programs can use only memory that was taken.

        Parameters
        ----------
        chip : int
            0, or 1 on a machine with two.
        bytes : int
            How much.
        align : int
            A power of two. Memory has 16 banks of 128 bytes side by side.

        Returns
        -------
        int
            The effective address of the first byte.
        """
        chip, bytes, align = (_number(k, v) for k, v in [("chip", chip), ("bytes", bytes), ("align", align)])
        return self._building().allocate(chip, bytes, align)

    def memory(self, at: int, bytes: int) -> Memory:
        """Main memory from `at` on, to be filled before the run and read after it.

        Examples
        --------
        >>> import numpy as np
        >>> from cellweave import sim
        >>> cell = sim.Cell("qs22")
        >>> samples = cell.memory(cell.allocate(1, 64), 64)
        >>> samples[:] = np.arange(16, dtype="<f4")
        >>> float(np.frombuffer(bytes(samples), "<f4").sum())
        120.0
        """
        at, bytes = _number("at", at), _number("bytes", bytes)
        self._native()
        total = self._machine["memory_bytes"] * self._machine["chips"]
        if at + bytes > total:
            raise _core.RequestError(f"{bytes} bytes at {at:#x}: main memory has {total} bytes")
        return Memory(self._native, at, bytes)

    def cache_in_ppe(self, at: int, bytes: int) -> None:
        """Say that the PPE has just written this memory: reads get it from the PPE's cache."""
        self._building().cache_in_ppe(_number("at", at), _number("bytes", bytes))

    def local_store(self, spe: int) -> int:
        """Where the local store of `spe` starts, as an effective address."""
        at_least("spe", spe, 0, self.spes - 1)
        return _core.sim_local_store(spe)

    def spe(self, number: int, program: Callable[..., Any], *args: Any, name: str | None = None) -> None:
        """Give an SPE a program.

        Parameters
        ----------
        number : int
            From 0; on a machine with two chips, those of chip 0 first.
        program : generator function
            Called with a handle (:class:`Spe`) and `args`.
        name : str, optional
            Its name in errors and traces; by default the function's name.

        Examples
        --------
        >>> from cellweave import sim
        >>> def busy(spe, ns):
        ...     yield spe.compute(ns)
        >>> cell = sim.Cell("cell")
        >>> for i in range(cell.spes):
        ...     cell.spe(i, busy, 100 * i)
        >>> cell.run().elapsed_ns
        700.0
        """
        self._start(Spe(_number("spe", number)), program, args, name)

    def ppe(self, number: int, program: Callable[..., Any], *args: Any, name: str | None = None) -> None:
        """Give a PPE a program, which is called with a handle (:class:`Ppe`) and `args`; otherwise as :meth:`spe`."""
        self._start(Ppe(_number("ppe", number)), program, args, name)

    def _start(
        self,
        handle: Spe | Ppe,
        program: Callable[..., Any],
        args: tuple[Any, ...],
        name: str | None,
    ) -> None:
        native = self._building()
        if not callable(program):
            raise _core.RequestError(f"a program is a generator function, not {program!r}")
        called = getattr(program, "__name__", type(program).__name__)
        if inspect.iscoroutinefunction(program) or inspect.isasyncgenfunction(program):
            raise _core.RequestError(
                f"`{called}` is an async function: a program is a plain `def` that yields its calls"
            )
        generator = program(handle, *args)
        if not inspect.isgenerator(generator):
            raise _core.RequestError(
                f"`{called}` does not yield: a program yields each of its calls, as in `data = yield spe.read(ls, 16)`"
            )
        native.start(handle, name if name is not None else str(generator.__name__), generator)
        self._programs += 1

    def run(
        self,
        trace: bool = False,
        races: bool = False,
        stop_after_us: float | None = None,
        watchdog_s: float | None = 10.0,
    ) -> Outcome:
        """Run until every program is done and nothing is under way.

        Parameters
        ----------
        trace : bool
            Record a trace.
        races : bool
            End with an error when bytes are used while a transfer moves them.
        stop_after_us : float, optional
            End with an error when the simulation is not over by that simulated time.
        watchdog_s : float, optional
            End with an error that names program and line when a program runs for so many seconds of real time without
            ``yield``; it is found a quarter of that later at the latest. A program that computes for longer between two
            of its calls needs more; ``None`` never ends one.

        Raises
        ------
        cellweave.RunError
            What ended the run early: an operation that the hardware would trap, an exception in a program, a program
            that never yields, a deadlock or a race. The message names the program and the simulated time.

        Examples
        --------
        >>> from cellweave import sim
        >>> def early(spe, source):
        ...     yield spe.get(0, source, 17)
        >>> cell = sim.Cell("cell")
        >>> cell.spe(2, early, cell.local_store(1))
        >>> cell.run()
        Traceback (most recent call last):
        cellweave.RunError: SPE2 (early) at 0.003 us: get of 17 bytes, ...
        """
        native = self._building()
        if not self._programs:
            raise _core.RequestError("there is no program: give one to an SPE or a PPE first, by spe(0, program)")
        cycles = None
        if stop_after_us is not None:
            at_least("stop_after_us", stop_after_us, 0, _MOST / _CYCLES_PER_US / 2)
            cycles = int(stop_after_us * _CYCLES_PER_US)
        if watchdog_s is not None:
            at_least("watchdog_s", watchdog_s, 0.001, _LONGEST_S)
            watchdog_s = float(watchdog_s)
        self._state = "running"
        try:
            return Outcome(native.run(bool(trace), bool(races), cycles, watchdog_s))
        finally:
            self._state = "over"

    def __repr__(self) -> str:
        return f"Cell({self.name!r}, {self.spes} SPEs, {self._programs} programs)"


def _number(what: str, value: Any, most: int = _MOST) -> int:
    """A whole number that the machine can hold."""
    try:
        number = int(value.__index__())
    except AttributeError as e:
        raise _core.RequestError(f"{what}: {value!r} is not a whole number") from e
    at_least(what, number, 0, most)
    return number


def _named(machine: str, given: dict[str, Any]) -> list[tuple[str, int]]:
    """The parameters that were given, by the names of the core."""
    known = parameters(machine)
    inner = {name.replace(".", "_"): name for name, _ in _core.sim_parameters(machine)}
    found = []
    for key, value in given.items():
        default = known[choice(f"a parameter of {machine}", key, list(known))]
        if isinstance(default, list):
            values = list(value) if isinstance(value, (list, tuple)) else []
            if len(values) != len(default):
                raise _core.RequestError(f"{key}: {value!r} is not a list of {len(default)} numbers, like {default}")
            found += [(inner[f"{key}[{i}]"], _number(key, v)) for i, v in enumerate(values)]
        else:
            found.append((inner[key], _number(key, value)))
    return found
