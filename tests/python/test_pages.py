"""Pages that cellweave writes: whole, without any request, readable on a phone, by keyboard and in the dark."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html import escape
from pathlib import Path
from typing import Any

import cellweave as cw
import pytest
from browser import Browser
from cellweave.report.colours import colours
from cellweave.report.page import report
from cellweave.report.section import Section
from cellweave.report.web import shades
from cellweave.report.web.graph import draw_graph
from cellweave.report.web.headline import result_headline
from cellweave.report.web.machine import draw_heat, draw_loads
from cellweave.report.web.shell import asset
from cellweave.report.web.timeline import draw_timeline
from pages import MOST_BYTES, WIDTHS, asks_for_nothing, is_well_formed, read, shows_well

SETTLED = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
HOSTILE = '</script><img src=x onerror="alert(1)">&'


def wide_graph() -> cw.Graph:
    """Three kernels, the heavy one in eight tasks."""
    graph = cw.Graph("wide")
    graph.task("source", kernel="cellweave:count", cost_ns=50)
    for i in range(8):
        graph.task(f"spin{i}", kernel="cellweave:spin", params={"ns": 400}, cost_ns=400)
        graph.task(f"sink{i}", kernel="cellweave:discard", cost_ns=50)
        graph.edge("source.0", f"spin{i}", bytes=64)
        graph.edge(f"spin{i}", f"sink{i}", bytes=64)
    return graph


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of everything that a run leaves."""
    folder = tmp_path_factory.mktemp("page")
    graph = wide_graph()
    graph.save(folder / "app.toml")
    machine = cw.Machine.host()
    machine.save(folder / "machine.toml")
    plan = cw.plan(graph, machine, moves=2000)
    plan.save(folder / "plan.json")
    result = cw.run(graph, machine, plan, instances=5000, trace=folder / "trace.json")
    result.save(folder / "result.json")
    files = [folder / name for name in ("app.toml", "machine.toml", "plan.json", "trace.json", "result.json")]
    report(files, folder / "report.html")
    return folder / "report.html"


def test_a_report_is_one_small_file_that_asks_for_nothing(page: Path) -> None:
    asks_for_nothing(page)


def test_a_report_is_well_formed_and_every_picture_has_a_text(page: Path) -> None:
    is_well_formed(page)


def test_the_page_says_what_was_reached_first_and_folds_tasks_of_one_kernel(page: Path) -> None:
    result = json.loads((page.parent / "result.json").read_text())
    figure, rest = result_headline(result)
    text = page.read_text()
    assert f"<h1><b>{figure}</b> {escape(rest, quote=False)}</h1>" in text
    assert rest.startswith(f"{result['ratio']:.2f} of the prediction")
    order = ["Predicted and achieved", "The graph", "What ran when", "The machine host", "The tasks", "What the plan"]
    places = [text.index(f"<h2>{heading}") for heading in order]
    assert places == sorted(places)
    lines = re.findall(r"<summary><span>(\w+)</span><span>(\d+)</span>", text)
    assert sorted(lines) == [("count", "1"), ("discard", "8"), ("spin", "8")]
    for task in wide_graph().to_dict()["task"]:
        assert re.search(rf'aria-label="{task["name"]} \(\w+\) on \w+\. costs ', text), task


def test_the_first_sentence_names_the_largest_difference() -> None:
    tasks = {"subject": "57 tasks of CPU1", "share": 0.3, "predicted_ns": 100.0, "measured_ns": 130.0}
    moved = {"subject": "CPU1", "share": 0.1, "predicted_ns": 1.0, "measured_ns": 2.0}
    result = {"throughput_per_s": 22500.0, "ratio": 0.683, "elements": [], "differences": [tasks, moved]}
    result["explanation"] = "57 tasks of CPU1 that differ little from their costs, all together. And more."
    assert result_headline(result) == (
        "22.5 k/s",
        "0.68 of the prediction; 57 tasks of CPU1 took 1.30 times their costs.",
    )
    result |= {"differences": [moved], "explanation": "CPU1 spent 2 ns per instance on moving data; the plan counts 1."}
    assert "CPU1 spent 2 ns per instance on moving data." in result_headline(result)[1]


def palettes() -> dict[str, dict[str, str]]:
    """Theme -> variable -> colour, as the page's style has them."""
    blocks = re.findall(r":root \{(.*?)\}", asset("page.css"), re.DOTALL)
    assert len(blocks) == 3
    names = ("light", "dark", "print")
    return {name: dict(re.findall(r"--(\w+): (#\w{6})", block)) for name, block in zip(names, blocks, strict=True)}


@pytest.mark.parametrize("theme", ["light", "dark", "print"])
def test_text_has_a_contrast_of_4_5_and_marks_of_3_on_every_ground(theme: str) -> None:
    palette = palettes()[theme]
    assert palette.keys() == palettes()["light"].keys()
    for ground in ("paper", "raised"):
        for ink in ("ink", "muted", "warning", "accent"):
            assert shades.contrast(palette[ink], palette[ground]) >= 4.5, (ink, ground)
        for mark in ("edge", "predicted", "achieved"):
            assert shades.contrast(palette[mark], palette[ground]) >= 3.0, (mark, ground)
    assert shades.contrast(palette["ink"], palette["wait"]) >= 4.5
    assert shades.contrast(palette["paper"], palette["ink"]) >= 4.5, "what is said when pointed at"


def test_ink_on_every_fill_has_a_contrast_of_4_5() -> None:
    fills = [*colours([f"CPU{i}" for i in range(256)]).values(), shades.UNMAPPED]
    fills += [shades.shade(i / 100) for i in range(101)]
    for fill in fills:
        ink = {"#000": "#000000", "#fff": "#FFFFFF"}[shades.ink_over(fill)]
        assert shades.contrast(fill, ink) >= 4.5, fill


def test_names_are_text_wherever_they_stand() -> None:
    events: list[dict[str, Any]] = [
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": 0, "args": {"name": HOSTILE}},
        {"ph": "X", "pid": 1, "tid": 0, "ts": 1.0, "dur": 2.0, "name": HOSTILE, "args": {"first": 0, "firings": 1}},
    ]
    graph = {"name": HOSTILE, "task": [{"name": "a", "kernel": HOSTILE}], "edge": []}
    elements = [{"name": HOSTILE, "kind": "core"}, {"name": "b", "kind": "core"}]
    drawn = [
        draw_timeline({"traceEvents": events}, {}),
        draw_graph(graph, {"a": HOSTILE}),
        draw_loads(elements, {HOSTILE: 0.5}, {}, {}),
        draw_heat(HOSTILE, [[None, 1.0], [2.0, None]], [HOSTILE, "b"], "ns"),
        Section(HOSTILE, [], text=[HOSTILE]).html(),
    ]
    for html in drawn:
        reader = read(html)
        assert not reader.wrong and not reader.open
        assert not any(name == "img" for name, _ in reader.found), html


@pytest.mark.parametrize("n", [1, 2, 17, 128])
def test_machines_of_any_size_are_drawn_with_all_their_elements(n: int) -> None:
    elements = [
        {"name": f"CPU{i}", "kind": "core", "place": {"chip": i // 64, "l3": i // 8, "core": i}} for i in range(n)
    ]
    drawn = draw_loads(elements, {f"CPU{i}": 0.5 for i in range(n)}, {}, {"CPU0": 3})
    assert drawn.count('class="mark"') == n and "CPU0, 3 tasks, busy 50 % as planned" in drawn
    matrix = [[None if i == j else float(i + j) for j in range(n)] for i in range(n)]
    heat = draw_heat("Latency", matrix, [f"CPU{i}" for i in range(n)], "ns")
    # A row of 128 has 32 cells, each the mean of 4 x 4; those of the diagonal have values then.
    assert heat.count('class="mark"') == (32 * 32 if n == 128 else n * (n - 1))
    assert ("CPU0 to CPU3 reads from CPU4 to CPU7: 7 ns" in heat) == (n == 128) and len(heat) < MOST_BYTES / 4


def test_a_long_trace_keeps_its_middle_and_says_what_is_left_out() -> None:
    events = [{"ph": "X", "pid": 1, "tid": 0, "ts": float(i), "dur": 0.5, "name": f"t{i % 7}"} for i in range(50_000)]
    drawn = draw_timeline({"traceEvents": events}, {})
    assert "25000 batches" in drawn and "25000 more" in drawn and len(drawn) < MOST_BYTES
    packed = json.loads(re.findall(r'<script type="application/json">(.*?)</script>', drawn)[0])
    assert sum(map(len, packed["rows"])) == 5 * 25_000
    assert "holds no batch" in draw_timeline({"traceEvents": []}, {})


def test_the_page_of_a_graph_of_thousands_of_tasks_stays_small(tmp_path: Path) -> None:
    graph = cw.Graph.daggen(tasks=4000, seed=3)
    graph.save(tmp_path / "app.toml")
    report([tmp_path / "app.toml"], tmp_path / "large.html")
    asks_for_nothing(tmp_path / "large.html")
    is_well_formed(tmp_path / "large.html")
    text = (tmp_path / "large.html").read_text()
    assert "too many to draw here" in text and "and 3500 more rows" in text


def test_a_report_without_pictures_needs_no_matplotlib(page: Path) -> None:
    code = "import sys; from pathlib import Path; from cellweave.report.page import report\n"
    code += "report([Path('result.json'), Path('plan.json')], Path('quick.html')); print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=page.parent, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_chromium_shows_it_without_a_complaint(chromium: Browser, page: Path, width: int, dark: bool) -> None:
    chromium.open(page, width, dark)
    shows_well(chromium, page, width)
    shown = chromium.evaluate("getComputedStyle(document.body).backgroundColor")
    wanted = palettes()["dark" if dark else "light"]["paper"]
    assert tuple(int(wanted[i : i + 2], 16) for i in (1, 3, 5)) == tuple(map(int, re.findall(r"\d+", shown)))


def test_marks_say_their_figures_when_pointed_at_and_by_arrow_keys(chromium: Browser, page: Path) -> None:
    chromium.open(page, 1024)
    box = "document.querySelector('svg.graph .box').parentNode"
    chromium.evaluate(f"{box}.scrollIntoView({{block: 'center'}})")
    chromium.evaluate(SETTLED)
    x, y = chromium.evaluate(
        f"(() => {{ const b = {box}.getBoundingClientRect(); return [b.x + b.width / 2, b.y + 4] }})()"
    )
    chromium.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    said = "(document.getElementById('tip').hidden ? '' : document.getElementById('tip').textContent)"
    assert chromium.evaluate(said) == chromium.evaluate(f"{box}.getAttribute('aria-label')")
    chromium.press("Escape")
    assert chromium.evaluate(said) == ""
    chromium.evaluate("document.querySelector('.bars .mark').focus()")
    first = chromium.evaluate(said)
    chromium.press("ArrowDown")
    second = chromium.evaluate(said)
    assert first.startswith("predicted") or first.startswith("planned")
    assert second and second != first


def test_the_timeline_zooms_and_pans_by_buttons_and_keys(chromium: Browser, page: Path) -> None:
    chromium.open(page, 1024)
    view = "parseFloat(document.querySelector('.whole .view').getAttribute('{}'))"

    def shown() -> tuple[float, float]:
        chromium.evaluate(SETTLED)
        return chromium.evaluate(view.format("x")), chromium.evaluate(view.format("width"))

    chromium.evaluate("document.querySelector('[data-do=all]').click()")
    assert shown() == (0.0, 100.0)
    chromium.evaluate("document.querySelector('[data-do=in]').click()")
    assert shown() == pytest.approx((25, 50))
    chromium.evaluate("document.querySelector('.lanes').focus()")
    chromium.press("ArrowRight")
    x, width = shown()
    assert 41 < x < 42 and width == pytest.approx(50)
    chromium.press("0")
    assert shown() == (0.0, 100.0)
    chromium.press("ArrowDown")
    chromium.press("ArrowDown")
    second = "document.querySelectorAll('svg.lane .mark')[1].getAttribute('aria-label')"
    assert chromium.evaluate("document.getElementById('tip').textContent") == chromium.evaluate(second)
    chromium.press("+")
    chromium.evaluate(SETTLED)
    assert chromium.evaluate("document.activeElement.className") == "lanes"
    bars = "document.querySelectorAll('svg.lane .mark').length"
    assert 0 < chromium.evaluate(bars) < 5000
    assert chromium.complaints() == []


@pytest.fixture(scope="module")
def columns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A drawn graph with kernels, on the simulated Cell and here."""
    folder = tmp_path_factory.mktemp("columns")
    drawn = cw.Graph.daggen(tasks=12, seed=3).to_dict()
    for task in drawn["task"]:
        task |= {"kernel": "cellweave:spin", "params": {"ns": 500.0}}
    (folder / "app.json").write_text(json.dumps(drawn))
    graph = cw.Graph.load(folder / "app.json")
    files = [folder / "app.json"]
    for machine in ("qs22", "host"):
        plan = cw.plan(graph, machine, moves=500)
        plan.save(folder / f"plan-{machine}.json")
        cw.run(graph, machine, plan, instances=200).save(folder / f"result-{machine}.json")
        files += [folder / f"plan-{machine}.json", folder / f"result-{machine}.json"]
    report(files, folder / "report.html", folder / "pictures")
    return folder / "report.html"


def test_an_application_that_ran_on_a_cell_and_here_stands_in_three_columns(columns: Path) -> None:
    text = columns.read_text()
    assert text.index("<h2>Predicted, on a simulated Cell, on this computer") < text.index("<h2>qs22: Predicted")
    for name in ("Predicted", "Simulated qs22", "This computer"):
        assert f'<th scope="col">{name}</th>' in text and f"<h3>{name}</h3>" in text
    assert "costs that the application gives (ppe, spe)" in text
    cell = json.loads((columns.parent / "result-qs22.json").read_text())
    assert f"{cell['ratio']:.3f} of the prediction" in text
    assert f"{cell['bottlenecks']['simulated']['name']}, " in text
    assert "<h3>What the time of each element went to</h3>" in text
    assert "<h2>What rings, memory and links carried" in text
    assert (columns.parent / "pictures" / "result-qs22-floorplan.png").stat().st_size > 10_000
    asks_for_nothing(columns)
    is_well_formed(columns)


@pytest.mark.parametrize("width", WIDTHS)
def test_three_columns_fit_every_screen(columns: Path, chromium: Browser, width: int) -> None:
    chromium.open(columns, width)
    shows_well(chromium, columns, width)
