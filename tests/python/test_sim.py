"""The simulated Cell from Python: programs, answers, errors, memory, traces, pictures."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Generator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cellweave import RequestError, RunError, sim
from cellweave.report.chip import loads
from cellweave.report.stages import stages_of_get

ROOT = Path(__file__).resolve().parents[2]

Program = Generator[Any, Any, None]


def alone(program: Callable[..., Any], *args: Any, machine: str = "cell", **options: Any) -> sim.Outcome:
    """Runs one program on SPE 3."""
    cell = sim.Cell(machine)
    cell.spe(3, program, *args)
    return cell.run(**options)


def said(program: Callable[..., Any], *args: Any, **options: Any) -> str:
    """The message of the error that ends a program."""
    with pytest.raises(RunError) as raised:
        alone(program, *args, **options)
    return str(raised.value)


# Programs


def test_bytes_go_where_they_should_and_come_back() -> None:
    data = np.random.default_rng(1).integers(0, 256, 50_000).astype("u1")
    cell = sim.Cell("qs22")
    source, target = cell.allocate(1, 50_000), cell.allocate(0, 50_000)
    cell.memory(source, 50_000)[:] = data

    def copy(spe: sim.Spe) -> Program:
        ls = yield spe.alloc(16384)
        for at in range(0, 49_152, 16384):
            yield spe.get(ls, source + at, 16384, tag=5)
            yield spe.putf(ls, target + at, 16384, tag=5)
            yield spe.tags_all(1 << 5)

    cell.spe(9, copy)
    cell.run()
    assert (np.asarray(cell.memory(target, 49_152)) == data[:49_152]).all()
    assert not any(cell.memory(target + 49_152, 848))


def test_a_reader_that_does_not_wait_gets_the_old_bytes() -> None:
    seen: list[bytes] = []
    cell = sim.Cell("cell")
    source = cell.allocate(0, 16)
    cell.memory(source, 16)[:] = b"n" * 16

    def early(spe: sim.Spe) -> Program:
        yield spe.write(0, b"o" * 16)
        yield spe.get(0, source, 16)
        seen.append((yield spe.read(0, 16)))
        yield spe.tags_all(1)
        seen.append((yield spe.read(0, 16)))

    cell.spe(0, early)
    cell.run()
    assert seen == [b"o" * 16, b"n" * 16]


def test_the_race_detector_names_the_program_that_reads_too_early() -> None:
    def early(spe: sim.Spe) -> Program:
        yield spe.get(0, spe.local_store_of(1), 16)
        yield spe.read(0, 16)

    alone(early)
    text = said(early, races=True)
    assert re.match(r"race: SPE3 \(early\) at 0\.\d{3} us: .*16 bytes", text)
    assert "test_sim.py:" in text


def test_generators_of_generators_are_programs_too() -> None:
    def fetched(spe: sim.Spe, ea: int) -> Generator[Any, Any, bytes]:
        ls = yield spe.alloc(16, 16)
        yield spe.get(ls, ea, 16)
        yield spe.tags_all(1)
        return (yield spe.read(ls, 16))  # type: ignore[no-any-return]

    seen = []

    def program(spe: sim.Spe) -> Program:
        for other in (1, 2):
            seen.append((yield from fetched(spe, spe.local_store_of(other))))

    alone(program)
    assert seen == [bytes(16)] * 2


def test_arguments_names_and_lambdas() -> None:
    def wait(spe: sim.Spe, register: int) -> Program:
        yield spe.read_signal(register)

    cell = sim.Cell("cell")
    cell.spe(0, wait, 1)
    cell.spe(1, wait, 2, name="listener")
    cell.spe(2, lambda spe: wait(spe, 1))
    with pytest.raises(RunError) as raised:
        cell.run()
    when, _, who = str(raised.value).partition(" us: ")
    assert re.fullmatch(r"deadlock at 0\.\d{3}", when)
    assert who == (
        "SPE0 (wait) waits for a signal on register 1; "
        "SPE1 (listener) waits for a signal on register 2; SPE2 (wait) waits for a signal on register 1"
    )


def test_every_call_of_an_spe_is_there_and_answers() -> None:
    cell = sim.Cell("cell")
    line = cell.allocate(0, 256)
    seen: dict[str, Any] = {}

    def everything(spe: sim.Spe) -> Program:
        yield spe.compute_cycles(32)
        ls = yield spe.alloc(4096)
        word = ls + 12
        yield spe.write_u32(word, 0x01020304)
        seen["bytes"] = yield spe.read(word, 4)
        yield spe.put(ls, line, 16)
        yield spe.putb(ls, line, 16)
        yield spe.getf(ls + 16, line, 16)
        yield spe.getb(ls + 32, line, 16)
        seen["all"] = yield spe.tags_all(1)
        yield spe.put_list(ls, [(line, 16), (line + 32, 16)], tag=1)
        seen["any"] = yield spe.tags_any(0b10)
        yield spe.put_listf(ls, [(line, 16)], tag=1)
        yield spe.put_listb(ls, [(line, 16)], tag=1)
        yield spe.get_listf(ls + 64, [(line, 16)], tag=1)
        yield spe.get_listb(ls + 64, [(line, 16)], tag=1)
        yield spe.tags_all(0b10)
        yield spe.get_list(ls + 128, [(line, 16), (line + 32, 16)], tag=2)
        seen["now"] = yield spe.tags_now(0b100)
        seen["space"] = yield spe.queue_space()
        yield spe.tags_all(0b100)
        seen["list"] = yield spe.read_u32(ls + 128 + 28)
        yield spe.getllar(ls, line)
        seen["putllc"] = yield spe.putllc(ls, line)
        seen["lost"] = yield spe.putllc(ls, line)
        seen["unconditional"] = yield spe.putlluc(ls, line)
        yield spe.signal_or(2)
        yield spe.write_u32(word, 5)
        yield spe.send_signal(word, 3, 2)
        yield spe.tags_all(1)
        yield spe.write_u32(word, 2)
        yield spe.send_signalf(word, 3, 2)
        yield spe.send_signalb(word, 3, 1)
        yield spe.read_signal(1)
        seen["signal"] = yield spe.read_signal(2)
        seen["signals"] = yield spe.signal_count(2)
        seen["mail"] = yield spe.mailbox_count()
        seen["room"] = yield spe.mailbox_space()
        seen["other room"] = yield spe.interrupt_mailbox_space()
        yield spe.write_mailbox(7)
        yield spe.write_interrupt_mailbox(8)
        seen["word"] = yield spe.read_mailbox()
        yield spe.set_decrementer(1000)
        yield spe.compute(ns=1000)
        seen["decrementer"] = yield spe.decrementer()

    def listen(ppe: sim.Ppe) -> Program:
        yield ppe.read_mailbox(3)
        yield ppe.read_interrupt_mailbox(3)
        yield ppe.write_mailbox(3, 9)

    cell.spe(3, everything)
    cell.ppe(0, listen)
    cell.run()
    assert seen.pop("decrementer") in (1000 - 26, 1000 - 27)  # 26.664 ticks a microsecond
    assert seen == {
        "bytes": b"\x04\x03\x02\x01",
        "all": 1,
        "any": 2,
        "now": 0,
        "space": 15,
        "list": 0x01020304,
        "putllc": True,
        "lost": False,
        "unconditional": None,
        "signal": 7,
        "signals": 0,
        "mail": 0,
        "room": 1,
        "other room": 1,
        "word": 9,
    }


def test_every_call_of_a_ppe_is_there_and_answers() -> None:
    cell = sim.Cell("qs22")
    at = cell.allocate(1, 128)
    seen: dict[str, Any] = {}

    def main(ppe: sim.Ppe) -> Program:
        seen["number"] = ppe.number
        yield ppe.store(at, b"0123456789abcdef")
        yield ppe.store_u32(at + 16, 77)
        seen["u32"] = yield ppe.load_u32(at + 16)
        seen["bytes"] = yield ppe.load(at + 4, 4)
        yield ppe.proxy_get(8, 0, at, 32, tag=3)
        seen["tags"] = yield ppe.proxy_wait(8, 1 << 3)
        seen["store"] = yield ppe.load(ppe.local_store_of(8) + 8, 8)
        yield ppe.proxy_put(8, 0, at + 32, 32, tag=4)
        seen["any"] = yield ppe.proxy_any(8, 1 << 4)
        yield ppe.proxy(8, "putf", 0, at + 64, 32, tag=4)
        seen["soon"] = yield ppe.proxy_now(8, 1 << 5)
        yield ppe.proxy_wait(8, 1 << 4)
        yield ppe.write_signal(8, 1, 4)
        seen["mail"] = yield ppe.mailbox_count(8)
        seen["other mail"] = yield ppe.interrupt_mailbox_count(8)
        yield ppe.write_mailbox(8, 5)
        seen["room"] = yield ppe.mailbox_space(8)
        yield ppe.compute(ns=10)
        seen["time"] = yield ppe.timebase()

    cell.ppe(1, main)
    cell.run()
    ticks = seen.pop("time")
    assert 0 < ticks < 100_000
    assert seen == {
        "number": 1,
        "u32": 77,
        "bytes": b"4567",
        "tags": 8,
        "store": b"89abcdef",
        "any": 16,
        "soon": 32,
        "mail": 0,
        "other mail": 0,
        "room": 3,
    }
    assert bytes(cell.memory(at + 64, 16)) == b"0123456789abcdef"
    assert bytes(cell.memory(at + 32, 20)) == b"0123456789abcdef" + (77).to_bytes(4, "little")


@pytest.mark.parametrize("handle", [sim.Spe, sim.Ppe])
def test_the_python_handles_have_the_calls_of_the_rust_ones(handle: type) -> None:
    table = (ROOT / "crates" / "sim" / "src" / "table.rs").read_text()
    rows = table.split(f"\n{handle.__name__} ")[1].split("\n}")[0]
    rust = set(re.findall(r"^    (?:call|step) (\w+)", rows, re.MULTILINE))
    python = {name for name in dir(handle) if not name.startswith("_")}
    assert len(rust) > 15
    assert python == rust | {"number", "now_ps", "local_store_of"}


# What is wrong before anything runs


def plain(spe: sim.Spe) -> None:
    pass


async def asynchronous(spe: sim.Spe) -> None:
    pass


def fine(spe: Any) -> Program:
    yield spe.compute(1)


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: sim.Cell("qs200"), "machine: no `qs200`; allowed: ps3, cell, qs20, qs22; did you mean `qs20`?"),
        (lambda: sim.Cell("ps3", rules="texbook"), "did you mean `textbook`?"),
        (lambda: sim.Cell("ps3", hidden=[8]), "hidden: 8 is not allowed; at least 0 and at most 7"),
        (lambda: sim.Cell("ps3", hidden=[1, 1]), "different numbers from 0 to 7"),
        (lambda: sim.Cell("cell", mfc_line=8), "; did you mean `mfc_lines`?"),
        (lambda: sim.Cell("cell", mfc_queue=0), "the machine's parameter mfc.queue is 0; allowed: 1 to 16"),
        (lambda: sim.Cell("cell", mfc_queue=1.5), "mfc_queue: 1.5 is not a whole number"),
        (lambda: sim.Cell("cell", bus_sink=-1), "bus_sink: -1 is not allowed; at least 0"),
        (lambda: sim.Cell("cell", rules_per_ring=1000), "rules.per_ring is 1000; allowed: at most 255"),
        (lambda: sim.Cell("qs22", link_command=400), "link_command: 400 is not a list of 2 numbers, like ["),
        (lambda: sim.Cell("ps3").spe(6, fine), "a program for SPE6; ps3 has 6 SPEs, from SPE0 on"),
        (lambda: sim.Cell("ps3").ppe(1, fine), "a program for PPE1; ps3 has 1, from PPE0 on"),
        (lambda: sim.Cell("ps3").spe(0.5, fine), "spe: 0.5 is not a whole number"),
        (lambda: sim.Cell("ps3").spe(0, plain), "`plain` does not yield: a program yields each of its calls"),
        (lambda: sim.Cell("ps3").spe(0, asynchronous), "`asynchronous` is an async function"),
        (lambda: sim.Cell("ps3").spe(0, 3), "a program is a generator function, not 3"),
        (lambda: sim.Cell("ps3").run(), "there is no program"),
        (lambda: sim.Cell("ps3").allocate(1, 16), "memory of chip 1; there are 1"),
        (lambda: sim.Cell("ps3").allocate(0, 16, 3), "memory aligned to 3, which is no power of two"),
        (lambda: sim.Cell("ps3").allocate(0, 1 << 40), "bytes of the memory of chip 0; 268435456 are left"),
        (lambda: sim.Cell("ps3").memory(1 << 28, 1), "main memory has 268435456 bytes"),
        (lambda: sim.Cell("ps3").memory(0, 4).__setitem__(slice(None), b"12345"), "5 bytes do not fill the 4"),
        (lambda: sim.Cell("ps3").memory(0, 4)[::2], "not in steps of 2"),
        (lambda: sim.Cell("ps3").memory(0, 4)[0], "1 bytes at memory 0x0 were not allocated; nothing is allocated"),
        (lambda: sim.Cell("ps3").local_store(6), "spe: 6 is not allowed; at least 0 and at most 5"),
    ],
)
def test_a_wrong_request_says_what_is_allowed(build: Callable[[], Any], says: str) -> None:
    with pytest.raises(RequestError) as raised:
        build()
    assert says in str(raised.value)


def test_an_spe_takes_one_program_and_a_machine_runs_once() -> None:
    cell = sim.Cell("cell")
    at = cell.allocate(0, 4)
    cell.spe(0, fine)
    with pytest.raises(RequestError, match=r"SPE0 has a program already: fine"):
        cell.spe(0, fine)
    cell.run()
    with pytest.raises(RequestError, match="this machine has run; make another one"):
        cell.run()
    assert bytes(cell.memory(at, 4)) == bytes(4)


def test_a_machine_stays_in_its_thread() -> None:
    cell, errors = sim.Cell("cell"), []

    def elsewhere() -> None:
        try:
            cell.allocate(0, 16)
        except RequestError as e:
            errors.append(str(e))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert errors == ["a simulated machine stays in the thread that made it"]


def test_a_machine_may_be_freed_in_another_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    complaints: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", complaints.append)
    machines = [sim.Cell("cell"), sim.Cell("qs22")]
    for cell in machines:
        cell.spe(0, fine)
    cell.run()
    watched = [weakref.ref(cell) for cell in machines]
    del cell
    thread = threading.Thread(target=machines.clear)
    thread.start()
    thread.join()
    assert [freed() for freed in watched] == [None, None]
    assert not complaints


# Machines


def reader(spe: sim.Spe, source: int, times: int = 20) -> Program:
    for i in range(times):
        yield spe.get(i % 4 * 16384, source, 16384, tag=i % 4)
        yield spe.tags_all(1 << (i + 1) % 4)
    yield spe.tags_all(15)


def test_hidden_spes_are_left_out_and_the_others_numbered_anew() -> None:
    cell = sim.Cell("qs22", hidden=[0, 5])
    assert cell.spes == 12
    assert [(s["chip"], s["physical"]) for s in cell.to_dict()["spes"]][5:8] == [(0, 7), (1, 1), (1, 2)]
    cell = sim.Cell("ps3", hidden=[0, 5])
    cell.spe(0, reader, cell.local_store(1))
    counters = cell.run().counters
    ramps = cell.to_dict()["ramps"]
    moved = {ramps[i] for i, n in enumerate(counters["chips"][0]["received"]) if n}
    assert moved == {"SPE1"}, "the first that is not hidden"


def test_memory_of_the_other_chip_comes_over_the_link() -> None:
    elapsed = {}
    for chip in (0, 1):
        cell = sim.Cell("qs22")
        cell.spe(0, reader, cell.allocate(chip, 16384))
        outcome = cell.run()
        elapsed[chip] = outcome.elapsed_ns
        assert outcome.counters["link_lines"] == [20 * 128 if chip else 0, 0]
        assert sum(outcome.counters["chips"][chip]["bank_reads"]) == 20 * 128
    assert elapsed[1] > elapsed[0]


def test_parameters_change_what_they_name() -> None:
    def elapsed(**given: Any) -> float:
        cell = sim.Cell("cell", **given)
        cell.spe(0, reader, cell.allocate(0, 16384))
        return cell.run().elapsed_ns

    assert elapsed(mfc_lines=1) > 5 * elapsed() > 0
    assert elapsed(memory_latency=1000) > elapsed()
    assert sim.Cell("qs22", link_command=[1, 2]).to_dict()["numbers"]["link.command[1]"] == 2


def test_every_rule_set_runs_and_the_first_is_the_default() -> None:
    names = [rules["name"] for rules in sim.rule_sets()]
    assert sim.Cell("qs22").to_dict()["rules"] == names[0]
    for name in names:
        cell = sim.Cell("qs22", rules=name)
        for i in range(8):
            cell.spe(i, reader, cell.local_store((i + 3) % 8))
        assert cell.run().counters["packets"] == 8 * 20 * 128


# Determinism

TWICE = """
from cellweave import sim
cell = sim.Cell("qs22")
def reader(spe, source):
    for i in range(20):
        yield spe.get(0, source, 4096, tag=i % 3)
        yield spe.compute(ns=10 * spe.number)
    yield spe.tags_all(7)
for i in range(16):
    cell.spe(i, reader, cell.local_store((5 * i + 1) % 16))
outcome = cell.run(trace=TRACE)
print(outcome.cycles, outcome.hash)
"""


def test_the_same_program_has_the_same_hash_in_every_process_traced_or_not() -> None:
    printed = {
        subprocess.run(
            [sys.executable, "-c", TWICE.replace("TRACE", trace)], capture_output=True, text=True, check=True
        ).stdout
        for trace in ("False", "False", "True")
    }
    assert len(printed) == 1
    assert int(printed.pop().split()[1]) != 0


# Traces and pictures


@pytest.fixture(scope="module")
def busy() -> sim.Outcome:
    """Each SPE reads from another one, some from memory; traced."""

    def program(spe: sim.Spe, source: int) -> Program:
        yield from reader(spe, source, 10)
        yield spe.compute(ns=500)

    cell = sim.Cell("qs22")
    for i in range(16):
        cell.spe(
            i, program, cell.allocate(i // 8, 16384) if i % 4 == 0 else cell.local_store((i + 5) % 16), name=f'a "{i}"'
        )
    return cell.run(trace=True)


def test_a_trace_holds_every_packet_every_program_and_names_all_tracks(busy: sim.Outcome) -> None:
    trace = busy.trace
    assert trace is not None and trace["otherData"]["left_out"] == 0
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "thread_name"}
    events = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    assert {(e["pid"], e["tid"]) for e in events} <= set(names)
    assert names[0, 2] == 'SPE2 (a "2")'
    packets = [e for e in events if e["cat"] == "packet"]
    assert len(packets) == busy.counters["packets"]
    for chip, counters in enumerate(busy.counters["chips"]):
        rings = Counter(e["tid"] // 3 for e in packets if e["pid"] == chip + 1)
        assert [rings[r] for r in range(4)] == counters["ring_packets"]
        sent = Counter(e["name"].partition(" -> ")[0] for e in packets if e["pid"] == chip + 1)
        assert sum(sent.values()) == sum(counters["sent"])
        spes = {name for name in sent if name.startswith("SPE")}
        assert spes == {
            f"SPE{i}" for i in range(8 * chip, 8 * chip + 8) if any((k + 5) % 16 == i for k in range(16) if k % 4)
        }
    computed = sum(e["dur"] for e in events if e["cat"] == "compute")
    assert computed * 1000 == pytest.approx(sum(s["compute_cycles"] for s in busy.counters["spes"]) * 0.625)


def test_bars_on_one_track_of_a_trace_do_not_overlap(busy: sim.Outcome) -> None:
    trace = busy.trace
    assert trace is not None
    tracks: dict[Any, list[tuple[float, float]]] = {}
    for e in trace["traceEvents"]:
        if e["ph"] == "X":
            tracks.setdefault((e["pid"], e["tid"]), []).append((e["ts"], e["ts"] + e["dur"]))
    for spans in tracks.values():
        spans.sort()
        assert all(end <= start + 1e-9 for (_, end), (start, _) in pairwise(spans))


def test_a_trace_is_saved_whole_and_only_if_there_is_one(busy: sim.Outcome, tmp_path: Path) -> None:
    busy.save_trace(tmp_path / "t.json")
    assert (tmp_path / "t.json").stat().st_size > 1000
    with pytest.raises(RequestError, match="exists"):
        busy.save_trace(tmp_path / "t.json")
    outcome = alone(fine)
    assert outcome.trace is None
    with pytest.raises(RequestError, match=r"this run was not traced: call run\(trace=True\)"):
        outcome.save_trace(tmp_path / "u.json")


def test_the_picture_names_the_busiest_and_shows_what_was_counted(busy: sim.Outcome) -> None:
    figure = busy.plot()
    title = figure.axes[0].get_title()
    top = loads(busy.to_dict())[0]
    assert title.startswith("qs22, rules `") and f"busiest: {top.name}, " in title
    texts = " ".join(t.get_text() for t in figure.axes[0].texts)
    for name in ("PPE0", "SPE15", "memory", "IOIF0", "to chip 1", "16 banks"):
        assert name in texts
    assert f"{sum(busy.counters['chips'][1]['ring_packets'])} packets" in texts
    assert "rings: packets" in busy.plot_timeline((0, 2000)).axes[0].get_title()


def test_loads_count_a_far_packet_on_every_segment_of_its_way() -> None:
    cell = sim.Cell("cell")
    cell.spe(3, reader, cell.local_store(7))  # ramps SPE3, SPE5, SPE7
    outcome = cell.run()
    found = {load.name: load for load in loads(outcome.to_dict()) if load.gbs}
    assert set(found) == {"SPE7, out", "SPE3, in", "SPE7 to SPE5", "SPE5 to SPE3"}
    rate = 20 * 16384 / outcome.elapsed_ns
    assert [load.gbs for load in found.values()] == pytest.approx([rate] * 4)
    assert found["SPE7, out"].share == pytest.approx(rate / 25.6)


@pytest.mark.parametrize("source", ["SPE3", "SPE6", "memory"])
@pytest.mark.parametrize("size", [16, 128, 512, 2048])
def test_the_stages_of_a_get_add_up_to_the_time_that_it_takes(size: int, source: str) -> None:
    cell = sim.Cell("qs22")
    ea = cell.allocate(0, size) if source == "memory" else cell.local_store(int(source[3:]))

    def one_get(spe: sim.Spe) -> Program:
        yield spe.get(0, ea, size)
        yield spe.tags_all(1)

    cell.spe(1, one_get)
    outcome = cell.run(trace=True)
    assert outcome.trace is not None
    stages = stages_of_get(cell.to_dict()["numbers"], outcome.trace, size, source == "memory")
    assert max(stage.end for stage in stages) == outcome.cycles
    assert all(stage.start <= stage.end for stage in stages)
    for row in {stage.row for stage in stages if stage.row.startswith("line")}:
        line = [stage for stage in stages if stage.row == row]
        assert all(a.end == b.start for a, b in pairwise(line)), "no gap and no overlap"


def test_the_book_has_the_rule_sets_that_there_are_and_the_verdicts_of_the_bench() -> None:
    spec = importlib.util.spec_from_file_location("inside", ROOT / "ci" / "inside.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = module.PAGE.read_text()
    assert page == module.with_tables(page), "run ci/inside.py"


def test_a_get_is_drawn_only_where_it_can_be() -> None:
    with pytest.raises(RequestError, match="bytes: 17 is not allowed; a multiple of 16 up to 2048"):
        sim.plot_get(bytes=17)
    with pytest.raises(RequestError, match="source: no `SPE9`"):
        sim.plot_get(source="SPE9")


def test_an_outcome_reads_as_a_table() -> None:
    cell = sim.Cell("cell")
    cell.spe(3, reader, cell.local_store(7))
    outcome = cell.run()
    text = str(outcome)
    assert re.search(r"SPE3 .* 20 +328 kB +0 B", text) and "SPE7, out" in text
    assert repr(outcome).startswith("Outcome('cell', ") and repr(cell) == "Cell('cell', 8 SPEs, 1 programs)"
