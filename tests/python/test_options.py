"""An option stands in one place, in Rust: Python's signature and documentation, flags and book say the same."""

from __future__ import annotations

import importlib.util
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cellweave as cw
import pytest
from cellweave import _core
from conftest import Command

ROOT = Path(__file__).resolve().parents[2]
VERBS: dict[str, Callable[..., Any]] = {
    "probe": cw.probe,
    "place": cw.place,
    "profile": cw.profile,
    "plan": cw.plan,
    "run": cw.run,
    "daggen": cw.Graph.daggen,
    "ring": cw.ring,
}
COMMANDS = {verb: verb for verb in ["probe", "place", "profile", "plan", "run"]} | {"daggen": "generate daggen"}
CALLS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "probe": lambda options: _core.probe("ps3", options),
    "place": lambda options: _core.place("ring", None, _core.Machine.load("cell"), options),
    "profile": lambda options: _core.profile(graph(), _core.Machine.load("host"), options),
    "plan": lambda options: _core.plan(graph(), _core.Machine.load("qs22"), options),
    "run": lambda options: _core.run(graph(), _core.Machine.load("host"), None, options, {}, []),
    "daggen": _core.daggen,
    "ring": _core.ring,
}


def graph() -> _core.Graph:
    return _core.Graph.parse('task = [{ name = "a", cost_ns = { "*" = 5.0 } }]', "toml")


def described(function: Callable[..., Any]) -> dict[str, str]:
    """Parameter -> what numpydoc says of it, in one line."""
    text = inspect.getdoc(function) or ""
    section = text.split("Parameters\n----------\n")[1].split("\n\n")[0]
    entries = re.findall(r"^(\w+) : [^\n]*\n((?:    [^\n]*\n?)+)", section, re.MULTILINE)
    return {name: " ".join(body.split()).replace("``", "`") for name, body in entries}


def test_every_verb_is_looked_at() -> None:
    assert set(_core.verbs()) == set(VERBS) == set(CALLS)


@pytest.mark.parametrize("verb", VERBS)
def test_the_signature_in_python_has_the_options_and_their_defaults(verb: str) -> None:
    parameters = inspect.signature(VERBS[verb]).parameters
    for field in _core.options(verb):
        assert field.name in parameters, f"{verb}: {field.name}"
        default = parameters[field.name].default
        empty = default in (None, ()) and field.default in (None, [], {})
        assert empty or default == field.default, f"{verb}: {field.name} is {default!r} and {field.default!r}"


@pytest.mark.parametrize("verb", VERBS)
def test_the_documentation_in_python_says_what_the_core_says(verb: str) -> None:
    said = described(VERBS[verb])
    for field in _core.options(verb):
        assert said[field.name] == field.help, f"{verb}: {field.name}"
        entry = re.search(rf"^\s+{field.name} : ({{.*}})", VERBS[verb].__doc__ or "", re.MULTILINE)
        if entry and field.choices:
            assert re.findall(r'"(\w+)"', entry[1]) == field.choices


@pytest.mark.parametrize("verb", COMMANDS)
def test_help_says_flag_meaning_range_and_default(verb: str, command: Command) -> None:
    shown = " ".join(command(*COMMANDS[verb].split(), "--help").stdout.split())
    flags = book().COMMANDS[verb].flags
    assert {field.name for field in _core.options(verb)} - set(flags) <= {"machine_file"}
    for field in _core.options(verb):
        if field.name in flags:
            assert flags[field.name] in shown
            assert field.help in shown and field.allowed in shown, f"{verb}: {field.name}"


@pytest.mark.parametrize("verb", CALLS)
def test_an_unknown_key_is_refused_and_the_nearest_is_named(verb: str) -> None:
    name = _core.options(verb)[0].name
    with pytest.raises(cw.RequestError, match=rf"{verb} has no such option.*did you mean `{name}`"):
        CALLS[verb]({f"{name}x": 1})


@pytest.mark.parametrize("verb", CALLS)
def test_wrong_words_types_and_ranges_are_refused_by_name(verb: str) -> None:
    for field in _core.options(verb):
        wrong: Any = {"flag": "yes", "whole": -1, "real": -1.0, "word": "nonsense", "text": True}[field.kind]
        if field.named:
            wrong = {"a": wrong}
        with pytest.raises(cw.RequestError, match=rf"^{field.name}: "):
            CALLS[verb]({field.name: wrong})


@pytest.mark.parametrize("wrong", [float("nan"), 10**400, "12", ...], ids=str)
def test_what_is_no_number_of_ours_is_refused(wrong: object) -> None:
    with pytest.raises(cw.RequestError):
        cw.plan(cw.Graph.daggen(tasks=3), on="qs22", seed=wrong)  # type: ignore[arg-type]


def test_numbers_of_numpy_are_numbers() -> None:
    import numpy as np

    plan = cw.plan(cw.Graph.daggen(tasks=5), on="qs22", moves=int(np.int64(10)), gap=np.float32(0.5), seed=np.uint8(3))
    assert plan.to_dict()["seed"] == 3


def test_a_misspelt_key_no_longer_plans_by_auto() -> None:
    with pytest.raises(cw.RequestError, match="did you mean `method`"):
        _core.plan(graph(), _core.Machine.load("qs22"), {"metod": "greedy"})
    with pytest.raises(cw.RequestError, match=r"buffering: .*shared, duplicated"):
        cw.plan(cw.Graph.daggen(tasks=3), on="qs22", buffering="nonsense")


def book() -> Any:
    """`ci/options.py`."""
    spec = importlib.util.spec_from_file_location("options", ROOT / "ci" / "options.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tables_of_the_book_are_what_the_core_says() -> None:
    writer = book()
    tables = set()
    for page in sorted((ROOT / "docs").glob("*.md")):
        text = page.read_text()
        assert writer.written(text) == text, f"{page.name}: run ci/options.py"
        tables |= {match[2] for match in writer.TABLE.finditer(text)}
    assert tables == set(_core.verbs())
