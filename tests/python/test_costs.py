"""Costs are kept with their date and distribution; profile, plan and page say how old and how steady they are."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import cellweave as cw
from cellweave.report.costs import age, basis, unsteady
from cellweave.report.page import report
from cellweave.report.tables import plan_tables

DATED = """
name = "dated"
[[task]]
name = "steady"
cost_ns = { core = 100.0 }
[[task]]
name = "bursty"
cost_ns = { core = 200.0 }
[[edge]]
from = "steady"
to = "bursty"
bytes = 64
[profile]
machine = "Model X, 2 cpus, Linux 6"
[profile.total_ns]
core = 300.0
[profile.cost.core]
steady = { measured = "2026-01-01T10:00:00Z", n = 500, min = 97.0, p10 = 98.0, p50 = 100.0, p90 = 105.0 }
bursty = { measured = "2026-01-02T11:30:00Z", n = 500, min = 90.0, p10 = 100.0, p50 = 200.0, p90 = 900.0 }
"""
NOW = datetime(2026, 1, 4, 12, 0, tzinfo=timezone.utc)
MACHINE = 'format = 1\nname = "one"\n[[element]]\nname = "CPU0"\nkind = "core"\n'


def dated(text: str = DATED) -> cw.Graph:
    return cw.Graph.from_toml(text)


def planned(graph: cw.Graph) -> dict[str, Any]:
    return cw.plan(graph, cw.Machine.from_toml(MACHINE), "greedy").to_dict()


def said(plan: dict[str, Any]) -> str:
    verdict = plan_tables(plan, NOW)[0]
    return next(row[1] for row in verdict.rows if row[0] == "costs")


def test_a_plan_says_how_old_and_how_steady_its_costs_are() -> None:
    plan = planned(dated())
    assert said(plan) == (
        "measured 2026-01-01 10:00 UTC to 2026-01-02 11:30 UTC, 3 days ago, on Model X, 2 cpus, Linux 6; p10 to p90: "
        "0.66 to 3.35 times the median"
    )
    assert "bursty (100 ns to 900 ns)" in "".join(plan_tables(plan)[0].notes)
    assert [c["task"] for c in plan["costs"]["unsteady"]] == ["bursty"]


def test_costs_that_were_changed_or_given_are_said_to_be() -> None:
    changed = planned(dated(DATED.replace("core = 200.0", "core = 150.0")))
    assert said(changed).startswith("1 measured 2026-01-01 10:00 UTC, 3 days ago")
    assert said(changed).endswith("; 1 given by hand")
    given = planned(dated(DATED.partition("[profile]")[0]))
    assert said(given) == "given by hand"
    assert unsteady(given["costs"]) == []


def test_an_application_of_an_older_version_loads_and_its_costs_have_no_date() -> None:
    old = planned(dated(DATED.partition("[profile.cost.core]")[0]))
    assert said(old) == "measured on Model X, 2 cpus, Linux 6 by a version that wrote neither date nor spread"


def test_a_plan_of_an_older_version_says_nothing_of_costs(tmp_path: Path) -> None:
    plan = planned(dated())
    del plan["costs"]
    assert basis(plan.get("costs") or {}) == ""
    assert not any(row[0] == "costs" for row in plan_tables(plan)[0].rows)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    dated().save(tmp_path / "a.toml")
    assert "[profile.cost.core]" in (tmp_path / "a.toml").read_text()
    assert cw.Graph.load(tmp_path / "a.toml").to_dict() == dated().to_dict()


def test_a_profile_keeps_the_dates_of_costs_that_it_does_not_measure() -> None:
    text = DATED.replace('name = "steady"\n', 'name = "steady"\nkernel = "cellweave:count"\n', 1)
    text = text.replace('name = "bursty"\ncost_ns = { core = 200.0 }', 'name = "bursty"\nkernel = "cellweave:discard"')
    measured = cw.profile(dated(text), instances=2000)
    costs = measured.graph.to_dict()["profile"]["cost"]["core"]
    assert costs["steady"]["measured"] == "2026-01-01T10:00:00Z" < costs["bursty"]["measured"]
    assert costs["bursty"]["p10"] <= costs["bursty"]["p50"] <= costs["bursty"]["p90"]
    assert measured.to_dict()["costs"]["measured"] == 2
    assert any(note.startswith("all costs: measured 2026-01-01") for note in measured.tables()[0].notes)


def test_ages_are_told_in_one_unit() -> None:
    ages = {
        "2026-01-04T11:59:00Z": "just now",
        "2026-01-04T11:50:00Z": "10 minutes ago",
        "2026-01-04T01:00:00Z": "11 hours ago",
        "2025-01-04T12:00:00Z": "365 days ago",
        "2027-01-01T00:00:00Z": "just now",
        "yesterday": "at an unknown time",
    }
    assert {date: age(date, NOW) for date in ages} == ages


def test_the_page_shows_dates_and_spreads_and_no_ages(tmp_path: Path) -> None:
    dated().save(tmp_path / "dated.toml")
    cw.plan(dated(), cw.Machine.from_toml(MACHINE), "greedy").save(tmp_path / "plan.json")
    report([tmp_path / "dated.toml", tmp_path / "plan.json"], tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "98 ns to 105 ns" in page and "2026-01-02 11:30 UTC" in page and " ago" not in page


def test_a_ring_that_only_cache_sizes_made_deep_is_counted() -> None:
    memory = "memory = { bytes = 1048576, hard = false, l1_bytes = 32768 }\n"
    elements = "".join(f'[[element]]\nname = "CPU{i}"\nkind = "core"\n{memory}' for i in (0, 1))
    overhead = "[overhead.core]\nper_transfer_ns = 100.0\nper_byte_ns = 0.05\n"
    machine = cw.Machine.from_toml(f'format = 1\nname = "two"\n{elements}{overhead}')
    given = {"steady": "CPU0", "bursty": "CPU1"}
    plan = cw.plan(dated(), machine, mapping=given).to_dict()
    assert [e["depth_from"] for e in plan["edges"]] == ["caches"]
    assert any("no curve of hand-overs is known" in note for note in plan_tables(plan)[0].notes)
