"""Published facts and their groups are complete and frozen; `cellweave reproduce` sets obtained beside them."""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256
from importlib import import_module
from pathlib import Path

import cellweave as cw
import pytest
from cellweave.reproduce.bench import Bench
from cellweave.reproduce.facts import PAPERS, facts, groups, left_out, matrix, seeds
from cellweave.reproduce.known import experiments, resolve
from cellweave.reproduce.patterns import ROUND
from conftest import Command
from pages import asks_for_nothing

# The digest of the list of groups as it was before the first fit: the list must not change. Groups that came in later,
# and what was said of a group later, are not in it.
GROUPS_SHA256 = "90936f01c1a661e26e35f9434b1b6b9434541cdb3dd87dc7e0b27bfcab885780"


def test_the_list_of_groups_is_the_one_from_before_the_fit() -> None:
    listed = [[g.id, g.first_role, g.rows, g.matrix, g.claim] for g in groups().values() if g.added is None]
    text = json.dumps([listed, seeds()], sort_keys=True)
    assert sha256(text.encode()).hexdigest() == GROUPS_SHA256
    roles = [group.first_role for group in groups().values()]
    assert set(roles) == {"fitted", "validation", "scheduling", "message passing"}
    # Mappings of task graphs and programs of ranks say nothing about the bus alone; nothing else is counted apart.
    for role, modules in (("scheduling", {"scheduling"}), ("message passing", {"buffered_mpi", "particles"})):
        apart = {e.run.__module__ for e in experiments().values() for g in e.groups if groups()[g].first_role == role}
        assert {module.rpartition(".")[2] for module in apart} == modules
        roles = [other for other in roles if other != role]
    assert roles.count("validation") >= 0.6 * len(roles)


def test_a_group_leaves_validation_only_with_a_reason_and_the_ring_as_a_whole() -> None:
    for group in groups().values():
        assert group.role in {"fitted", "validation", "scheduling", "message passing", "not explained"}
        why = group.fitted_later or group.not_explained
        assert (group.role == group.first_role) == (why is None), group.id
        assert why is None or len(why) > 40, group.id
    apart = {group.id for group in groups().values() if group.role == "not explained"}
    ring = {name for name in groups() if name.startswith("ring-mapping/fig-")}
    assert apart == ring, "met or not: all figures of the ring, and nothing else"


def test_every_published_row_is_in_one_group_or_left_out_with_a_reason() -> None:
    grouped = [row for group in groups().values() for row in group.rows]
    matrices = {group.matrix for group in groups().values()} - {None}
    grouped += [fact.id for fact in facts().values() if fact.quantity in matrices]
    assert len(grouped) == len(set(grouped)), "a row votes twice"
    assert set(grouped) | set(left_out()) == set(facts())
    assert not set(grouped) & set(left_out())
    assert all(len(reason) > 20 for reason in left_out().values())


def test_every_group_has_exactly_one_experiment_and_every_experiment_known_groups() -> None:
    serving = [group for e in experiments().values() for group in e.groups]
    assert sorted(serving) == sorted(groups())
    for e in experiments().values():
        assert e.paper in PAPERS
        assert len(e.title) < 110 and e.about, e.id


def test_ids_name_groups_figures_and_papers() -> None:
    assert [e.id for e, _ in resolve(["dma-benchmark/fig-A.12"])] == ["dma-benchmark/fig-A.12"]
    assert resolve(["streaming-schedule/fig-5-error"])[0][1] == {"streaming-schedule/fig-5-error"}
    assert resolve(["streaming-schedule/fig-5", "streaming-schedule/fig-5-error"])[0][1] is None
    assert resolve(["streaming-schedule/fig-5-error", "streaming-schedule/fig-5"])[0][1] is None
    assert len(resolve(["all"])) == len(experiments())
    assert {e.paper for e, _ in resolve(["ring-mapping"])} == {"ring-mapping"}
    assert {f"dma-benchmark/fig-A.{i}" for i in range(1, 17)} <= set(experiments())
    for name in groups():
        assert len(resolve([name])) == 1, name


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("streaming-schedule/fig-44", "streaming-schedule/fig-4"),
        ("dma-benchmark/fig-A.17", "dma-benchmark/fig-A.1"),
        ("dma-benchmrk", "dma-benchmark"),
        ("fig-4", "ring-mapping/fig-4"),
        ("al", "all"),
    ],
)
def test_a_wrong_id_is_named_with_the_nearest_right_one(command: Command, word: str, near: str) -> None:
    out = command("reproduce", word)
    assert out.returncode == 2
    assert word in out.stderr and near.rpartition("/")[2] in out.stderr and "--list" in out.stderr
    assert "Traceback" not in out.stderr


def test_wrong_options_are_refused_before_any_work(command: Command, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("mine")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.png").write_text("mine")
    for words, told in (
        (["reproduce"], "--list"),
        (["reproduce", "all", "--rules", "textbok"], "textbook"),
        (["reproduce", "all", "-o", str(tmp_path / "page.html")], "--force"),
        (["reproduce", "all", "-o", str(tmp_path / "no" / "page.html")], "no folder"),
        (["reproduce", "all", "--cache", str(tmp_path / "page.html")], "page.html"),
        (["reproduce", "all", "--pictures", str(tmp_path / "page.html")], "page.html"),
        (["reproduce", "all", "--pictures", str(tmp_path / "full")], "--force"),
    ):
        out = command(*words)
        assert out.returncode == 2, words
        assert told in out.stderr, out.stderr
    assert (tmp_path / "page.html").read_text() == "mine"


def test_the_list_shows_every_id(command: Command) -> None:
    listed = json.loads(command("reproduce", "--list", "--json").stdout)
    assert {entry["id"] for entry in listed} == set(experiments()) | set(groups())
    roles = {entry["id"]: entry["role"] for entry in listed}
    assert all(roles[name] == group.role for name, group in groups().items())


def test_the_seeds_and_the_published_matrices_are_there() -> None:
    assert seeds()["ring_runs"] == [1, 2, 3]
    table = matrix("Table7 bandwidth")
    assert len(table) == 16 and table[0][:2] == [23.1, 23.4] and table[15][0] == 3.4


def test_a_group_alone_gives_its_rows_and_the_keys_that_programs_rely_on(command: Command) -> None:
    out = command("reproduce", "streaming-schedule/flexio-shares", "--json")
    assert out.returncode == 0, out.stderr
    told = json.loads(out.stdout)
    assert (told["id"], told["paper"]) == ("streaming-schedule/flexio-shares", "streaming-schedule")
    assert [row["id"] for row in told["rows"]] == ["streaming-schedule-026", "streaming-schedule-027"]
    for row in told["rows"]:
        assert {"id", "quantity", "conditions", "published", "obtained", "unit", "ratio", "verdict"} <= set(row)
        assert row["ratio"] == pytest.approx(row["obtained"] / row["published"], rel=1e-3)


def test_the_same_experiment_gives_the_same_rows_again() -> None:
    first, second = (cw.reproduce("streaming-schedule/fig-4", quick=True).rows() for _ in range(2))
    assert first == second


def test_every_rule_set_has_a_ratio_on_every_row() -> None:
    done = cw.reproduce(["streaming-schedule/near", "streaming-schedule/far"], rules="all")
    told = done.to_dict()
    assert len(done.rules) >= 3
    assert all(set(rows) == {"streaming-schedule-020", "streaming-schedule-021"} for rows in told["misfit"].values())
    far = [told["misfit"][rules]["streaming-schedule-021"]["ratio"] for rules in done.rules]
    assert len(set(far)) > 1, "the rule sets do not differ"


def test_a_cached_result_is_used_and_a_damaged_one_is_not(tmp_path: Path) -> None:
    first = cw.reproduce("streaming-schedule/near", cache=tmp_path).rows()
    (kept,) = tmp_path.iterdir()
    data = json.loads(kept.read_text())
    data["rows"][0]["detail"] = "from the folder"
    kept.write_text(json.dumps(data))
    assert cw.reproduce("streaming-schedule/near", cache=tmp_path).rows()[0].detail == "from the folder"
    kept.write_text("{")
    assert cw.reproduce("streaming-schedule/near", cache=tmp_path).rows() == first


def test_figures_whose_points_were_not_published_never_get_a_number() -> None:
    rows = cw.reproduce("dma-benchmark/fig-A.1", quick=True).rows()
    assert len(rows) == 6 * 11
    assert {row.verdict for row in rows} == {"not published"}
    assert {(row.published, row.ratio) for row in rows} == {(None, None)}
    assert all(isinstance(row.obtained, float) and row.obtained > 0 for row in rows)


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> tuple[cw.Reproduction, Path]:
    folder = tmp_path_factory.mktemp("reproduced")
    done = cw.reproduce("all", quick=True)
    done.page(folder / "page.html", folder / "pictures")
    return done, folder


def test_a_quick_look_at_everything_has_a_row_for_every_published_one(everything: tuple[cw.Reproduction, Path]) -> None:
    done, _ = everything
    rows = done.rows()
    voting = {row.group for row in rows if row.role != "shown"}
    assert voting == set(groups())
    matrices = {group.id for group in groups().values() if group.matrix}
    for name, group in groups().items():
        own = {row.id for row in rows if row.group == name}
        assert set(group.rows) <= own, name
        assert own, name
    assert matrices
    assert len({row.id for row in rows}) == len(rows), "an id twice"
    assert {row.role for row in rows} <= {
        "fitted",
        "validation",
        "scheduling",
        "message passing",
        "not explained",
        "shown",
    }
    assert all(row.verdict == "not published" for row in rows if row.role == "shown")


def test_place_is_never_worse_than_the_best_affinity_that_affinity_model_names(
    everything: tuple[cw.Reproduction, Path],
) -> None:
    rows = {row.id: row.obtained for row in everything[0].rows()}
    for figure in ("fig-2", "fig-3", "blade-ring", "blade-doubling"):
        ratio = rows[f"affinity-model/{figure}:by the best named affinity, until the last message, place, simulated"]
        assert isinstance(ratio, float) and ratio >= 0.97, figure
        gbs = rows[f"affinity-model/{figure}:place, simulated"], rows[f"affinity-model/{figure}:Default, mean"]
        assert all(isinstance(value, float) for value in gbs) and gbs[0] > gbs[1]  # type: ignore[operator]


def test_the_half_that_sends_more_belongs_where_the_simulated_link_is_faster(
    everything: tuple[cw.Reproduction, Path],
) -> None:
    rows = {row.id.partition(":")[2]: row for row in everything[0].rows() if "blade-sides" in row.id}
    first, second = (rows[f"the half that sends more on Cell {cell}"].obtained for cell in (0, 1))
    assert isinstance(first, float) and isinstance(second, float) and first < second
    assert rows["place, model"].obtained == second, "the limits name the same side"
    assert rows["Model's, with sizes"].detail.startswith("8 of the 8 parts"), "the published model names the other one"


def test_the_page_holds_every_group_every_picture_and_says_that_it_was_quick(
    everything: tuple[cw.Reproduction, Path],
) -> None:
    done, folder = everything
    page = (folder / "page.html").read_text()
    for group in groups():
        assert group in page, group
    assert "a quick look" in page
    drawn = {path.name for path in (folder / "pictures").iterdir()}
    expected = {f"{r.experiment.paper}-{name}.png" for r in done.results for name in r.pictures}
    assert drawn == expected | {"published.png"}
    assert page.count("<svg") == len(drawn)
    asks_for_nothing(folder / "page.html", most_bytes=20_000_000)


def test_the_loop_of_dma_benchmark_is_counted_and_moves_saturation_with_eight_buffers_to_256_bytes() -> None:
    dma = import_module("cellweave.reproduce.experiments.dma_benchmark")
    assert dma.LOOP_CYCLES == sum(dma.LOOP.values()) == 39
    bench = Bench(quick=True)
    hidden = bench.hidden()[0]

    def saturation(cycles: int) -> float:
        loads = [replace(load, loop_cycles=cycles) for load in dma._loads("get", 8, range(6, 7), dma._SIZES)]
        gbs = [m.ticked_gbs for m in bench.loads("ps3", loads, hidden)]
        return float(next(size for size, g in zip(dma._SIZES, gbs, strict=True) if g >= 0.9 * max(gbs)))

    assert (saturation(0), saturation(dma.LOOP_CYCLES)) == (128, 256)


def test_two_mappings_of_a_named_pair_are_one_ring_only_where_task_i_is_on_spe_ai() -> None:
    ring = import_module("cellweave.reproduce.experiments.ring_mapping")
    for named in (ring.QS22_NAMED, [ring._PS3_NAMED[2], ring._PS3_NAMED[1]]):
        first, second = map(ring.neighbours, named)
        assert first == second
        first, second = (ring.neighbours(ring.inverse(p)) for p in named)
        assert len(first & second) == len(named[0]) // 2
        bus = ring.neighbours([spe for spe in ROUND if spe < len(named[0])])
        assert ring.neighbours(named[0]) == bus and bus not in (first, second)


def test_two_runs_give_the_throughput_and_how_long_the_start_counts() -> None:
    from cellweave.reproduce.scenarios import steady

    # 10 s for start and drain, 2 instances/s between them.
    shorter, longer = (cw.Result({"instances": n, "elapsed_s": 10 + n / 2, "elements": []}) for n in (100, 200))
    found = steady(shorter, longer)
    assert (found.per_s, found.after) == (2.0, pytest.approx(1980))
    assert found.after / (10 + found.after / 2) == pytest.approx(0.99 * 2)


def test_a_ppe_reads_faster_with_more_reads_in_flight() -> None:
    bench = Bench()
    each = [bench.program("ppe-read", "qs22", {"bytes": 16384, "times": 16, "in_flight": n})["ns"] for n in (1, 2, 4)]
    assert each[0] > 1.8 * each[1] > 2 * each[2]
