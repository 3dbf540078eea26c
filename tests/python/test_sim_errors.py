"""What goes wrong in programs of the simulated Cell, and how it is said."""

from __future__ import annotations

import gc
import re
import signal
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cellweave import RequestError, RunError, sim
from test_sim import Program, alone, said


def test_an_exception_ends_the_simulation_with_name_time_and_place() -> None:
    def broken(spe: sim.Spe) -> Program:
        yield spe.compute(ns=1000)
        raise ZeroDivisionError("no packets")

    with pytest.raises(RunError) as raised:
        alone(broken)
    assert re.fullmatch(
        r"SPE3 \(broken\) at 1\.000 us raised ZeroDivisionError: no packets \(.*test_sim_errors\.py:\d+\)",
        str(raised.value),
    )
    assert isinstance(raised.value.__cause__, ZeroDivisionError)


def test_unfinished_programs_are_closed_and_their_machine_is_freed() -> None:
    closed: list[int] = []

    def run() -> weakref.ref[sim.Cell]:
        cell = sim.Cell("cell")

        def waits(spe: sim.Spe) -> Program:
            try:
                yield spe.read_signal(1)
            finally:
                closed.append(cell.spes)

        cell.spe(0, waits)
        with pytest.raises(RunError, match="deadlock"):
            cell.run()
        return weakref.ref(cell)

    watched = run()
    assert closed == [8]
    gc.collect()
    assert watched() is None


def test_what_is_yielded_must_be_a_call() -> None:
    def wrong(spe: sim.Spe) -> Program:
        yield 17

    def nested(spe: sim.Spe) -> Program:
        yield wrong(spe)

    assert "TypeError: a program yields what the calls of its handle return (int was yielded): not 17" in said(wrong)
    assert "for a generator of your own write `yield from`" in said(nested)


def test_a_call_without_yield_is_found() -> None:
    def forgetful(spe: sim.Spe) -> Program:
        spe.get(0, 0, 16)
        yield spe.tags_all(1)

    def at_the_end(spe: sim.Spe) -> Program:
        yield spe.compute(1)
        spe.compute(1)

    assert "spe.get(...) was called and not yielded: write `yield spe.get(...)`" in said(forgetful)
    assert "spe.compute(...) was called and not yielded" in said(at_the_end)


def test_a_call_of_another_handle_is_refused() -> None:
    handles: list[sim.Spe] = []

    def lends(spe: sim.Spe) -> Program:
        handles.append(spe)
        yield spe.compute(1)

    def borrows(spe: sim.Spe) -> Program:
        yield spe.compute(10)
        yield handles[0].compute(1)

    cell = sim.Cell("cell")
    cell.spe(0, lends)
    cell.spe(1, borrows)
    with pytest.raises(RunError, match=r"SPE1 \(borrows\).*a program yields calls of its own handle"):
        cell.run()


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda spe: spe.get(0, 0, 17), "get of 17 bytes, .*: sizes are 1, 2, 4, 8, or a multiple of 16 up to 16384"),
        (lambda spe: spe.put(8, 0, 16), "both ends must be multiples of 16"),
        (lambda spe: spe.get(0, 0, 16, tag=32), "tag 32; allowed: 0 to 31"),
        (
            lambda spe: spe.get(0, 1 << 39, 16),
            "16 bytes from .*: this machine has 0x10000000 bytes of memory and the local stores of SPE0 to SPE7",
        ),
        (lambda spe: spe.alloc(300_000), "no room for 300000 bytes in its local store"),
        (lambda spe: spe.read(262_140, 8), "8 bytes at 0x3fffc of a local store of 262144 bytes"),
        (lambda spe: spe.get_list(0, []), "allowed are 1 to 2048 elements"),
        (lambda spe: spe.send_signal(12, 0, 3), "signal register 3; there are 1 and 2"),
        (lambda spe: spe.getllar(0, 64), "both must be multiples of 128"),
        (lambda spe: spe.compute(-1), "RequestError: -1 is not a time; allowed: 0 to"),
        (lambda spe: spe.read(-4, 4), "RequestError: -4 is not an offset in a local store; allowed: 0 to 262143"),
        (lambda spe: spe.get(-16, 0, 16), "RequestError: -16 is not an offset in a local store; allowed: 0 to 262143"),
        (lambda spe: spe.get(0, -16, 16), "RequestError: -16 is not an effective address; allowed: 0 to"),
        (lambda spe: spe.get_list(0, [(0, -1)]), "RequestError: -1 is not a number of bytes; allowed: 0 to"),
        (lambda spe: spe.write_u32(1 << 40, 0), "RequestError: 1099511627776 is not an offset in a local store;"),
        (lambda spe: spe.get(0, spe.local_store_of(-1), 16), "RequestError: -1 is not an SPE's number; allowed: 0 to"),
        (lambda spe: spe.get(0, 256, 16), "16 bytes at memory 0x100 were not allocated; nothing is allocated"),
        (lambda spe: spe.get(0, 0, "16"), "TypeError: 'str' object"),
    ],
)
def test_what_the_hardware_traps_names_program_time_and_line(call: Callable[[sim.Spe], Any], says: str) -> None:
    def program(spe: sim.Spe) -> Program:
        yield call(spe)

    text = said(program)
    assert re.match(rf"SPE3 \(program\) at 0\.\d{{3}} us.*{says}", text), text
    assert re.search(r"\(.*test_sim_errors\.py:\d+\)$", text), text


def test_a_program_that_never_ends_is_stopped_at_the_time_that_was_allowed() -> None:
    def endless(spe: sim.Spe) -> Program:
        while True:
            yield spe.compute(ns=100)

    text = said(endless, stop_after_us=5)
    assert text.startswith("still running at 5.000 us, where this simulation was to stop: SPE3 (endless)")


def test_a_program_keeps_to_the_memory_that_was_allocated() -> None:
    def program(spe: sim.Spe, ea: int, at: int) -> Program:
        ls = yield spe.alloc(256)
        yield spe.get(ls, ea, 128)
        yield spe.tags_all(1)
        yield spe.read(at, 16)

    def message(beyond: int, at: int) -> str:
        cell = sim.Cell("cell")
        cell.spe(1, program, cell.allocate(0, 256) + beyond, at)
        with pytest.raises(RunError) as raised:
            cell.run()
        return str(raised.value)

    assert re.match(
        r"SPE1 \(program\) at 0\.003 us: get of 128 bytes, .*: 128 bytes at memory 0x90 were not allocated; "
        r"allocated nearby: 0x0 to 0xff \(.*test_sim_errors\.py:\d+\)",
        message(144, 0),
    )
    assert re.match(
        r"SPE1 \(program\) at 0\.\d{3} us: 16 bytes at 0x1000 of its local store were not allocated; "
        r"allocated nearby: 0x0 to 0xff \(.*test_sim_errors\.py:\d+\)",
        message(128, 4096),
    )


def test_memory_that_nobody_allocated_cannot_be_filled_or_read() -> None:
    cell = sim.Cell("cell")
    at = cell.allocate(0, 256)
    cell.memory(at, 256)[:] = bytes(256)
    beyond = cell.memory(at + 128, 129)
    beyond[127] = 1
    with pytest.raises(RequestError, match="1 bytes at memory 0x100 were not allocated; allocated nearby: 0x0 to 0xff"):
        beyond[128] = 1
    with pytest.raises(RequestError, match="129 bytes at memory 0x80 were not allocated; allocated nearby: 0x0 to 0xf"):
        bytes(beyond)


def caught_line(text: str) -> str:
    """The line of this file that a message ends with."""
    number = re.search(r"test_sim_errors\.py:(\d+)\)$", text)
    assert number, text
    return Path(__file__).read_text().splitlines()[int(number[1]) - 1].strip()


@pytest.mark.parametrize("loop", ["alone", "called", "catching"])
def test_a_program_that_never_yields_is_named_with_its_line(loop: str) -> None:
    def helper() -> None:
        while True:
            pass  # in a helper

    def endless(spe: sim.Spe) -> Program:
        yield spe.compute(ns=1000)
        if loop == "called":
            helper()
        if loop == "catching":
            try:
                while True:
                    pass
            except BaseException:  # a program that hides what ends it
                yield spe.compute(ns=1)  # comes here
        while True:
            pass  # in the program

    text = said(endless, watchdog_s=0.1)
    assert re.match(r"SPE3 \(endless\) at 1\.000 us never yields: it has run for 0\.1 s of real time", text)
    expected = {"alone": "in the program", "called": "in a helper", "catching": "comes here"}[loop]
    assert expected in caught_line(text) or caught_line(text) == "while True:"


def test_whoever_waits_for_another_program_that_never_yields_is_not_blamed() -> None:
    def endless(ppe: sim.Ppe) -> Program:
        while ppe.now_ps < 1_000_000:
            pass
        yield ppe.write_mailbox(0, 1)

    def waits(spe: sim.Spe) -> Program:
        yield spe.read_mailbox()

    cell = sim.Cell("cell")
    cell.spe(0, waits)
    cell.ppe(0, endless)
    with pytest.raises(RunError, match=r"PPE0 \(endless\) at 0\.000 us never yields"):
        cell.run(watchdog_s=0.1)


def test_a_program_may_run_for_long_between_two_calls_when_told_so() -> None:
    def slow(spe: sim.Spe) -> Program:
        yield spe.compute(sum(range(1_000_000)) % 7)

    alone(slow, watchdog_s=None)
    with pytest.raises(RequestError, match=r"watchdog_s: 0 is not allowed; at least 0\.001"):
        alone(slow, watchdog_s=0)


def test_ctrl_c_ends_a_simulation_as_it_ends_any_python_program() -> None:
    def endless(spe: sim.Spe) -> Program:
        steps = 0
        while True:
            yield spe.compute(ns=100)
            steps += 1
            if steps == 1000:
                signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        alone(endless)


def test_the_machine_cannot_be_used_while_it_runs() -> None:
    cell = sim.Cell("cell")

    def peeks(spe: sim.Spe) -> Program:
        yield spe.compute(1)
        cell.memory(0, 16)

    cell.spe(0, peeks)
    with pytest.raises(RunError, match="programs are running: they reach memory by get, put, load and store"):
        cell.run()
