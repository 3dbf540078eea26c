"""Programs of ranks in `reproduce`: what a memory allows, where data and ranks are, and what is said when it fails."""

from __future__ import annotations

import cellweave as cw
import pytest
from cellweave.reproduce.bench import Bench
from cellweave.reproduce.ranks import Ranks


def obtained(ids: str) -> dict[str, float]:
    """The numbers of an experiment, by the part of their ids after the colon."""
    rows = cw.reproduce(ids, quick=True).rows()
    return {row.id.rpartition(":")[2]: row.obtained for row in rows if isinstance(row.obtained, float)}


def test_one_memory_limits_a_matrix_times_a_vector_and_two_memories_do_not() -> None:
    gflops = obtained("buffered-mpi/mat-vec")
    limit = gflops["limit"]
    for n in (512, 1024):
        for name in ("8 ranks, one memory", "16 ranks, one memory"):
            assert 0 < gflops[f"{n} {name}"] < limit
        assert limit < gflops[f"{n} 16 ranks, both memories"] < gflops[f"{n} 16 ranks, nearest"] < 2 * limit
        assert gflops[f"{n} 4 + 4 ranks, nearest"] > limit
    assert gflops["buffered-mpi-010"] == gflops["1024 8 ranks, one memory"]


def test_each_mode_has_its_bandwidth_and_a_copy_more_costs_time() -> None:
    gbs = obtained("buffered-mpi/fig-3")
    for size in (1024, 4096, 1 << 22):
        assert gbs[f"buffered {size}"] < gbs[f"synchronous {size}"]
    assert gbs["switched at 2 kB 1024"] == pytest.approx(gbs["buffered 1024"], rel=0.05)
    assert gbs["switched at 2 kB 4096"] == pytest.approx(gbs["synchronous 4096"], rel=0.05)


def test_data_in_the_other_cells_memory_costs_time() -> None:
    found = obtained("buffered-mpi/memories")
    assert found["latency on the first Cell, data nearest"] == found["latency on the first Cell, data one"]
    assert found["latency on the second Cell, data one"] > 2 * found["latency on the second Cell, data nearest"]


def test_more_ranks_take_longer_to_start() -> None:
    found = obtained("buffered-mpi/start")
    times = [found[str(ranks)] for ranks in (1, 2, 4, 8, 16)]
    assert times == sorted(set(times)) and times[0] > 0 and times[-1] < 100


def test_a_rule_set_reaches_the_ranks_and_what_cannot_run_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    programs = [Ranks(Bench(rules), "qs20", "start") for rules in (None, "textbook")]
    assert all(program.run((), 2).us > 0 for program in programs)
    with pytest.raises(cw.RunError, match="allowed are"):
        Ranks(Bench("no-such"), "qs20", "start").run((), 2)
    with pytest.raises(cw.RunError, match="qs20 has 16 SPEs"):
        programs[0].run((), 17)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(cw.RunError, match="cellcc"):
        Ranks(Bench(), "qs20", "start")
