"""The comparison of obtained with published, on rows made by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from cellweave.reproduce import verdict
from cellweave.reproduce.rows import Row, Rows, Spread
from cellweave.reproduce.summary import groups_table, summary, votes

ROW = Row("a-1", "streaming-schedule/near", "fitted", "q", "c", 200.0, 204.0, "GB/s", 1.02, "within 10 %", 0.02, "")


@pytest.mark.parametrize(
    ("published", "obtained", "pivot", "expected"),
    [
        (100, 100, None, "within 10 %"),
        (100, 110, None, "within 10 %"),
        (100, 90, None, "within 10 %"),
        (100, 110.1, None, "within 25 %"),
        (100, 125, None, "within 25 %"),
        (100, 74.9, None, "same direction"),
        (100, 200, None, "same direction"),
        (100, 201, None, "contradicts"),
        (100, 49, None, "contradicts"),
        (100, -100, None, "contradicts"),
        (2.35, 1.2, 1, "same direction"),
        (2.35, 9.0, 1, "same direction"),
        (2.35, 1.0, 1, "contradicts"),
        (2.35, 0.7, 1, "contradicts"),
        (25, 1, 0, "same direction"),
        (25, -1, 0, "contradicts"),
        (80, 132, 149, "same direction"),
        (80, 205, 149, "contradicts"),
        (80, None, 149, "contradicts"),
        (80, float("nan"), 149, "contradicts"),
    ],
)
def test_a_number_has_the_verdict_of_its_ratio_and_then_of_its_side(
    published: float, obtained: float | None, pivot: float | None, expected: str
) -> None:
    assert verdict.number(published, obtained, pivot).verdict == expected


def test_a_published_zero_is_compared_by_difference() -> None:
    near = verdict.number(0, 9.0, scale=100)
    assert (near.verdict, near.ratio, near.deviation) == ("within 10 %", None, 0.09)
    assert verdict.number(0, 24.0, scale=100).verdict == "within 25 %"
    assert verdict.number(0, 26.0, scale=100).verdict == "contradicts"
    assert verdict.number(0, -9.0, scale=100).verdict == "within 10 %"


def test_a_pivot_may_be_another_number_on_the_obtained_side() -> None:
    # 10 of 19 is the larger half; 7 of 12 is, too, and 5 of 12 is not.
    assert verdict.number(10, 7, pivot=9.5, pivot_obtained=6).verdict == "same direction"
    assert verdict.number(10, 5, pivot=9.5, pivot_obtained=6).verdict == "contradicts"


def test_a_range_is_met_inside_and_compared_with_its_nearer_end_outside() -> None:
    assert verdict.span(512, 1024, 700) == verdict.Judged("within 10 %", 1.0, 0.0)
    assert verdict.span(512, 1024, 1100).verdict == "within 10 %"
    assert verdict.span(512, 1024, 256).ratio == 0.5
    assert verdict.span(512, 1024, 4096, pivot=2048).verdict == "contradicts"
    assert verdict.span(512, 1024, None).verdict == "contradicts"


def test_a_lower_bound_is_met_by_everything_above_it() -> None:
    assert verdict.at_least(2, 20).verdict == "within 10 %"
    assert verdict.at_least(2, 20).ratio == 10
    assert verdict.at_least(2, 1.9).verdict == "within 10 %"
    assert verdict.at_least(2, 1.2, pivot=1).verdict == "same direction"
    assert verdict.at_least(2, 0.9, pivot=1).verdict == "contradicts"


def test_ranks_are_compared_as_places_in_the_list() -> None:
    assert verdict.ranks([101], [113], 120).verdict == "within 10 %"
    assert verdict.ranks([101], [114], 120).verdict == "within 25 %"
    assert verdict.ranks([101], [62], 120).verdict == "same direction"
    assert verdict.ranks([101], [60], 120).verdict == "contradicts"
    assert verdict.ranks([3212], [3212 + 504], 5040).deviation == pytest.approx(0.1)
    assert verdict.ranks([101], [101], 120).ratio is None


def test_of_several_ranks_the_farthest_counts() -> None:
    assert verdict.ranks([1, 42, 45], [1, 42, 45], 120).deviation == 0
    assert verdict.ranks([1, 42, 45], [1, 42, 69], 120).deviation == pytest.approx(0.2)
    assert verdict.ranks([1, 42, 45], [1, 42], 120).verdict == "contradicts"
    assert verdict.ranks([1], None, 120).verdict == "contradicts"


def test_places_in_a_list_that_does_not_repeat_are_no_ranking() -> None:
    rows = Rows()
    rows.places("ring-mapping-004", [92.0], 120, 0.49)
    rows.places("ring-mapping-014", [101.0], 120, 0.5)
    rows.number("ring-mapping-005", 1.8, pivot=1.0, correlation=-0.1)
    rows.claim("ring-mapping-025", True, "no", "", 0.1)
    assert [row.verdict for row in rows.found] == ["no ranking", "within 10 %", "no ranking", "no ranking"]
    assert [row.deviation for row in rows.found] == [None, 0.0, None, None]
    assert {row.role for row in rows.found} == {"not explained"}
    told = summary(rows.found)
    assert told["no_ranking"] == ["ring-mapping/fig-2-identity", "ring-mapping/fig-4-top-10"]
    assert (told["not_explained"]["groups"], told["not_explained"]["met"]) == (3, 1)
    assert (told["fitted"]["groups"], told["validation"]["groups"], told["contradictions"]) == (0, 0, [])


def test_claims_are_yes_or_no_without_a_ratio() -> None:
    assert verdict.claim(True) == verdict.Judged("yes", None, None)
    assert verdict.claim(False) == verdict.Judged("no", None, None)


def test_a_group_votes_with_its_worst_row() -> None:
    assert verdict.worst(["within 10 %", "yes", "contradicts", "same direction"]) == "contradicts"
    assert verdict.worst(["yes", "no"]) == "no"
    assert verdict.worst(["within 10 %", "not published"]) == "within 10 %"
    rows = [ROW, replace(ROW, id="a-2", verdict="same direction", deviation=0.4)]
    assert [(v.group, v.verdict, v.deviation) for v in votes(rows)] == [
        ("streaming-schedule/near", "same direction", 0.4)
    ]


def test_a_fitted_group_is_met_within_5_percent_and_a_validation_group_within_25() -> None:
    def met(**change: object) -> bool:
        return votes([replace(ROW, **change)])[0].met()  # type: ignore[arg-type]

    far = {"group": "streaming-schedule/far", "role": "validation"}
    assert met(deviation=0.05) and not met(deviation=0.051)
    assert met(**far, deviation=0.24, verdict="within 25 %") and not met(
        **far, deviation=0.26, verdict="same direction"
    )
    assert met(**far, deviation=None, verdict="yes") and not met(**far, deviation=None, verdict="no")
    assert not met(deviation=0.01, verdict="no")


def test_the_summary_counts_by_role_and_names_what_is_missed() -> None:
    far = replace(
        ROW, id="a-2", group="streaming-schedule/far", role="validation", verdict="contradicts", deviation=1.5
    )
    rows = [ROW, far]
    told = summary(rows)
    assert (told["fitted"]["groups"], told["fitted"]["met"]) == (1, 1)
    assert (told["validation"]["groups"], told["validation"]["met"]) == (1, 0)
    assert told["validation"]["missed"] == {"streaming-schedule/far": "contradicts"}
    assert told["contradictions"] == ["streaming-schedule/far"]


def test_rows_read_published_values_of_every_form() -> None:
    rows = Rows()
    rows.number("dma-benchmark-018", 0.55, pivot=1.0)
    rows.number("dma-benchmark-022", 1024.0)
    rows.number("dma-benchmark-024", Spread([1.0, 3.0, 2.0], "3 choices"))
    rows.places("ring-mapping-004", Spread([90.0, 92.0, 100.0], "3 choices"), 120, 0.9)
    rows.run_places("ring-mapping-010", [2, 3, 4, 3, 5, 7], 120, 0.9, "", parts=2)
    rows.claim("affinity-model-012", False, "1 % less", "why")
    found = {row.id: row for row in rows.found}
    assert found["dma-benchmark-018"].published == 0.5
    assert found["dma-benchmark-022"].verdict == "within 10 %"
    assert (found["dma-benchmark-024"].obtained, found["dma-benchmark-024"].ratio) == (2.0, None)
    assert found["dma-benchmark-024"].detail == "median over 3 choices, 1 .. 3"
    assert (found["ring-mapping-004"].obtained, found["ring-mapping-004"].deviation) == (92.0, 0.0)
    assert (found["ring-mapping-010"].published, found["ring-mapping-010"].deviation) == ("3,2,4;5,7,3", 0.0)
    assert (found["affinity-model-012"].verdict, found["affinity-model-012"].role) == ("no", "validation")


def test_the_table_of_groups_goes_by_what_they_count_as() -> None:
    ring = replace(ROW, id="a-3", group="ring-mapping/fig-4-worst", role="not explained", verdict="no", deviation=None)
    far = replace(ROW, id="a-2", group="streaming-schedule/far", role="validation")
    lines = groups_table([ring, far, ROW]).markdown().splitlines()
    assert lines[:2] == ["| group | counts as | verdict | farthest row | met |", "| --- | --- | --- | ---: | --- |"]
    assert [line.split(" | ")[1] for line in lines[2:]] == ["fitted", "validation", "not explained"]
    assert lines[4] == "| ring-mapping/fig-4-worst | not explained | no |  | no |"
