"""The stub `_core.pyi` says what the binary has, no more and no less; the front uses all of it."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import re
from pathlib import Path
from types import ModuleType

import cellweave
from cellweave import _core, sim

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path(cellweave.__file__).parent
STUB = ast.parse((PACKAGE / "_core.pyi").read_text())

# Names that the front need not use, each with its reason.
UNUSED: dict[str, str] = {
    "verbs": "for the tables of the book and their test",
    "Operation": "what the calls of programs on the simulated Cell return",
    "Field.choices": "for the test that the documentation lists them",
}

# Classes that a public class inherits from, with all of their members.
INHERITED = {base.__name__ for handle in (sim.Spe, sim.Ppe) for base in handle.__mro__ if hasattr(_core, base.__name__)}


def writer() -> ModuleType:
    """`ci/calls.py`."""
    spec = importlib.util.spec_from_file_location("calls", ROOT / "ci" / "calls.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def arguments(function: ast.FunctionDef) -> list[str]:
    """Argument names, without self."""
    names = [a.arg for a in function.args.args]
    return names[1:] if names[:1] == ["self"] else names


def stub_functions(body: list[ast.stmt]) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in body if isinstance(node, ast.FunctionDef)}


def stub_classes() -> dict[str, ast.ClassDef]:
    return {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}


def public(thing: ModuleType | type) -> set[str]:
    return {name for name in vars(thing) if not name.startswith("_")}


def signature(thing: object) -> list[str]:
    return [name for name in inspect.signature(thing).parameters if name != "self"]  # type: ignore[arg-type]


def test_the_stub_names_everything_in_the_binary_and_nothing_else() -> None:
    assert public(_core) == set(stub_functions(STUB.body)) | set(stub_classes())


def test_functions_take_the_arguments_that_the_stub_says() -> None:
    for name, node in stub_functions(STUB.body).items():
        assert signature(getattr(_core, name)) == arguments(node), name


def test_classes_have_the_members_and_arguments_that_the_stub_says() -> None:
    for name, node in stub_classes().items():
        found = getattr(_core, name)
        if issubclass(found, Exception):
            bases = [base.id for base in node.bases if isinstance(base, ast.Name)]
            assert [b.__name__ for b in found.__bases__] == bases, name
            continue
        members = {k: v for k, v in stub_functions(node.body).items() if not k.startswith("_")}
        assert public(found) == set(members), name
        for member, function in members.items():
            properties = [d.id for d in function.decorator_list if isinstance(d, ast.Name)]
            if "property" not in properties:
                assert signature(getattr(found, member)) == arguments(function), f"{name}.{member}"


def test_the_calls_of_the_simulated_cell_are_those_of_its_table() -> None:
    table, text = writer(), (PACKAGE / "_core.pyi").read_text()
    assert table.written(text) == text, "run ci/calls.py"
    for handle in (sim.Spe, sim.Ppe):
        rows = table.calls()[handle.__name__]
        assert {name for name, _ in rows} == public(handle.__base__), handle
        for name, given in rows:
            assert inspect.getdoc(getattr(handle, name)), name
            found = inspect.signature(getattr(handle, name)).parameters.values()
            defaults = [f"{p.name} = {p.default}" if p.default is not p.empty else p.name for p in found]
            expected = [table.argument(text) for text in given if text]
            assert defaults[1:] == [re.sub(r": [^=]*?(?= =|$)", "", text) for text in expected], name


def test_the_front_uses_everything_that_the_core_exposes() -> None:
    front = "\n".join(p.read_text() for p in PACKAGE.rglob("*.py"))
    for name in public(_core) - INHERITED:
        assert f"_core.{name}" in front or f"import {name}" in front or name in UNUSED or name in cellweave.__all__, (
            f"the core has {name}; the front does not use it"
        )
    for name in set(stub_classes()) - INHERITED:
        for member in public(getattr(_core, name)):
            if not issubclass(getattr(_core, name), Exception):
                assert f".{member}" in front or f"{name}.{member}" in UNUSED, f"the front does not use {name}.{member}"


def test_every_public_name_has_a_docstring() -> None:
    for name in cellweave.__all__:
        thing = getattr(cellweave, name)
        if name == "__version__":
            continue
        assert inspect.getdoc(thing), name
        if inspect.isclass(thing) and not issubclass(thing, Exception):
            for member, value in vars(thing).items():
                if not member.startswith("_") and callable(getattr(thing, member)):
                    assert inspect.getdoc(getattr(thing, member)), f"{name}.{member}"
                    assert value is not None
