"""The ring of `ring-mapping` from Python: arrays of run times, their ranking, and what is refused."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

import cellweave as cw
import numpy as np
import pytest
from cellweave.ring import Ring
from scipy.stats import spearmanr

BY_HAND = Ring.of(["[0123]", "[0132]", (0, 2, 1, 3), "0,2,3,1"], [[4, 1, 5, 2], [4, 3, 7, 4]])


def test_statistics_of_times_made_by_hand() -> None:
    assert BY_HAND.averages_ns.tolist() == [4, 2, 6, 3]
    assert BY_HAND.ranked() == [("[0132]", 2), ("[0231]", 3), ("[0123]", 4), ("[0213]", 6)]
    assert (BY_HAND.worst_by_best, BY_HAND.mean_by_best, BY_HAND.median_by_best) == (3, 15 / 8, 3.5 / 2)
    assert BY_HAND.run_worst_by_best == [5, pytest.approx(7 / 3)]
    assert BY_HAND.rank("[0123]") == 3
    assert BY_HAND.run_ranks((0, 1, 2, 3)) == [3, 2]
    assert BY_HAND.slowdown([0, 2, 1, 3]) == 3


def test_correlation_is_spearmans() -> None:
    random = np.random.default_rng(3)
    names = [(0, *rest) for rest in ([1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1])]
    for _ in range(20):
        a, b = (random.integers(1, 5, size=(2, 6)).astype(float) for _ in range(2))
        if len(set(a.mean(axis=0))) == 1 or len(set(b.mean(axis=0))) == 1:
            continue
        expected = spearmanr(a.mean(axis=0), b.mean(axis=0)).statistic
        assert Ring.of(names, a.tolist()).correlation(Ring.of(names, b.tolist())) == pytest.approx(expected)


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize("packet_bytes", [16, 512, 2048])
def test_every_mapping_of_six_is_run_and_repeats_exactly(packet_bytes: int, bidirectional: bool) -> None:
    asked: dict[str, Any] = {
        "packet_bytes": packet_bytes,
        "bidirectional": bidirectional,
        "rounds": 6,
        "runs": 2,
        "seed": 9,
    }
    found = cw.ring("ps3", threads=1, **asked)
    assert found.runtimes_ns.shape == (2, 120)
    assert len(set(found.mappings)) == 120
    assert all(mapping[0] == 0 and sorted(mapping) == list(range(6)) for mapping in found.mappings)
    assert (found.runtimes_ns > 0).all()
    np.testing.assert_array_equal(found.averages_ns, found.runtimes_ns.mean(axis=0))
    assert (found.runtimes_ns[0] != found.runtimes_ns[1]).any(), "another start state is another run"
    np.testing.assert_array_equal(cw.ring("ps3", threads=2, **asked).runtimes_ns, found.runtimes_ns)


def test_default_places_are_drawn_anew_in_each_run() -> None:
    asked: dict[str, Any] = {"rounds": 5, "runs": 2, "mappings": ["[01234567]"]}
    pinned, default = (cw.ring("cell", placement=placement, **asked) for placement in ("pinned", "default"))
    assert (pinned.runtimes_ns != default.runtimes_ns).all()
    np.testing.assert_array_equal(cw.ring("cell", placement="default", **asked).runtimes_ns, default.runtimes_ns)


def test_rules_and_hidden_spes_make_a_difference() -> None:
    asked: dict[str, Any] = {"rounds": 20, "runs": 1, "mappings": ["[042513]", "[012345]"]}
    usual = cw.ring("ps3", **asked).runtimes_ns
    assert (cw.ring("ps3", rules="textbook", **asked).runtimes_ns != usual).any()
    assert (cw.ring("ps3", hidden=[0, 5], **asked).runtimes_ns != usual).any()


def test_a_picture_has_a_curve_for_each_run_and_the_average() -> None:
    import matplotlib.pyplot as plt

    found = cw.ring("cell", tasks=4, rounds=5, runs=3)
    figure = found.plot()
    (axes,) = figure.axes
    labels = [line.get_label() for line in axes.get_lines()]
    assert labels == ["run 1", "run 2", "run 3", "average of the runs"]
    average = np.asarray(axes.get_lines()[-1].get_ydata(), dtype=float)
    assert (np.diff(average) >= 0).all()
    assert average[0] == pytest.approx(found.averages_ns.min() / 1e3)
    assert "both ways" in axes.get_title() and "cell" in axes.get_title()
    plt.close(figure)


def test_it_prints_as_a_table() -> None:
    found = cw.ring("cell", tasks=4, rounds=5, runs=2)
    text = str(found)
    assert "worst by best" in text and found.ranked()[0][0] in text and "2 runs of 5 rounds" in text
    assert "<table>" in found._repr_html_()
    assert "6 mappings" in repr(found)
    assert "A ring of 4" in str(BY_HAND)


def test_progress_counts_rings_and_its_exception_comes_out() -> None:
    seen: list[dict[str, Any]] = []
    cw.ring("cell", tasks=4, rounds=5, runs=2, progress=seen.append)
    assert [state["done"] for state in seen] == list(range(1, 13))
    assert seen[-1]["share"] == 1

    def fails(state: dict[str, Any]) -> None:
        raise ZeroDivisionError(state["total"])

    with pytest.raises(ZeroDivisionError):
        cw.ring("cell", tasks=4, rounds=5, runs=2, progress=fails)


def test_ctrl_c_ends_even_one_long_ring() -> None:
    calls = 0

    def interrupts(state: dict[str, Any]) -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            os.kill(os.getpid(), signal.SIGINT)

    assert threading.current_thread() is threading.main_thread()
    with pytest.raises(KeyboardInterrupt):
        cw.ring("cell", tasks=3, packet_bytes=16, rounds=2**30, runs=1, mappings=["[012]"], progress=interrupts)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"packet_bytes": 17}, "packets of 17 bytes; allowed: multiples of 16"),
        ({"packet_bytes": 32768}, "packet_bytes: 32768 is not allowed"),
        ({"tasks": 7}, "a ring of 7 tasks on ps3; allowed: 3 to 6"),
        ({"rounds": 0}, "rounds: 0 is not allowed"),
        ({"placement": "pined"}, "did you mean `pinned`"),
        ({"machine": "ps4"}, "ps4"),
        ({"rules": "textbok"}, "textbook"),
        ({"hidden": [9]}, "hidden: 9 is not allowed"),
        ({"mappings": ["[012344]"]}, "task 5 is nowhere"),
        ({"mappings": ["[102345]"]}, "thread 0 executes task 0"),
        ({"mappings": ["[01234]"]}, "5 numbers for 6 tasks"),
        ({"mappings": [[0, 1, 2, 3, 4, -5]]}, "-5 is not a task"),
        ({"mappings": ["[01234x]"]}, "`x` is no task"),
        ({"mappings": []}, "0 mappings"),
    ],
)
def test_wrong_requests_say_what_is_allowed(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(cw.RequestError) as caught:
        cw.ring(**{"rounds": 5, "runs": 1, **arguments})
    assert message in str(caught.value)


def test_another_first_task_is_allowed_where_it_is_asked_for() -> None:
    found = cw.ring("ps3", rounds=5, runs=1, any_first=True, mappings=["[102345]", "[012345]"])
    assert found.mappings == [(1, 0, 2, 3, 4, 5), (0, 1, 2, 3, 4, 5)]
    with pytest.raises(cw.RequestError, match="is not among the 2"):
        found.rank("[021345]")
