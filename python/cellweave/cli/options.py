"""Options that several verbs share, worded once; and the options of a verb, as the core knows them."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cellweave import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence


def whole(text: str) -> int:
    """An integer; the error repeats what was written."""
    try:
        return int(str(text))
    except ValueError:
        raise typer.BadParameter(f"`{text}` is no whole number") from None


def real(text: str) -> float:
    """A number; the error repeats what was written."""
    try:
        return float(str(text))
    except ValueError:
        raise typer.BadParameter(f"`{text}` is no number") from None


def files(incomplete: str) -> list[str]:
    """For the Tab key: files and folders that begin so."""
    from glob import escape, glob

    found = sorted(glob(escape(incomplete) + "*"))
    return [f"{path}/" if Path(path).is_dir() else path for path in found]


def machines(incomplete: str) -> list[str]:
    """For the Tab key: the machines that are built in, and files."""
    names = [name for name, _ in _core.presets() if name.startswith(incomplete)]
    return names + files(incomplete)


App = Annotated[
    str,
    typer.Argument(metavar="APP", help="Application: TOML, JSON, GraphML, DOT or DagGen's text.", autocompletion=files),
]
On = Annotated[
    str,
    typer.Option(
        "--on",
        metavar="MACHINE",
        help="ps3, cell, qs20, qs22 (with options: qs22:spe=6), host, or a machine file.",
        autocompletion=machines,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout, for programs.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Nothing but errors.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite output that exists.")]
Out = Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write the result here, too.")]

_METAVARS = {"whole": "N", "real": "X", "word": "WORD", "text": "TEXT"}
_PARSERS: dict[str, Callable[[str], Any]] = {"whole": whole, "real": real}


def takes(
    verb: str,
    *,
    flags: Mapping[str, str] | None = None,
    metavars: Mapping[str, str] | None = None,
    aliases: Mapping[str, str] | None = None,
    without: Collection[str] = (),
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of a verb: flags, help, ranges and defaults are the core's.

    The command is called with what the user gave, checked, as keyword arguments; help shows these options before the
    command's own keyword-only ones.

    Parameters
    ----------
    verb : str
        As in ``_core.options``.
    flags : mapping of str to str, optional
        Option -> flag, where it is not the option's name.
    metavars : mapping of str to str, optional
        Option -> what help shows for its value.
    aliases : mapping of str to str, optional
        Option -> a second flag that means the same.
    without : collection of str
        Options that are no flags.
    """
    fields = {field.name: field for field in _core.options(verb) if field.name not in without}
    flag = {name: (flags or {}).get(name, field.flag) for name, field in fields.items()}
    metavar = {name: (metavars or {}).get(name) or _metavar(field) for name, field in fields.items()}

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        def call(**arguments: Any) -> None:
            given = {name: arguments.pop(name) for name in fields}
            for name, value in list(given.items()):
                if value is None or value is False or value == []:
                    del given[name]
                    continue
                if fields[name].named:
                    given[name] = _pairs(fields[name], value, flag[name], metavar[name])
                elif _in_one(fields[name]):
                    given[name] = [whole(part.strip()) for part in value.split(",") if value.strip()]
                fields[name].check(given[name], flag[name])
            command(**arguments, **given)

        own = [p for p in inspect.signature(command, eval_str=True).parameters.values() if p.kind is not p.VAR_KEYWORD]
        second = aliases or {}
        flag_names = {name: [flag[name], *([second[name]] if name in second else [])] for name in fields}
        made = [_parameter(field, flag_names[name], metavar[name]) for name, field in fields.items()]
        first = next((i for i, p in enumerate(own) if p.kind is p.KEYWORD_ONLY), len(own))
        ordered = [p.replace(kind=p.KEYWORD_ONLY) for p in [*own[:first], *made, *own[first:]]]
        call.__signature__ = inspect.Signature(ordered)  # type: ignore[attr-defined]
        call.flags = flag  # type: ignore[attr-defined]
        call.__name__, call.__doc__, call.__module__ = command.__name__, command.__doc__, command.__module__
        return call

    return decorate


def _in_one(field: _core.Field) -> bool:
    """Whether several values stand in one text: ``1,6``."""
    return field.many and not field.named and field.kind == "whole"


def _repeats(field: _core.Field) -> bool:
    return field.many and not _in_one(field)


def _metavar(field: _core.Field) -> str:
    return field.unit.upper() or _METAVARS.get(field.kind, "")


def _parameter(field: _core.Field, flag_names: Sequence[str], metavar: str) -> inspect.Parameter:
    """The option as typer takes it: absent is None, so that the core's default counts."""
    if field.kind == "flag":
        option = typer.Option(*flag_names, help=field.help)
        return inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Annotated[bool, option]
        )
    parser = None if field.named or _in_one(field) else _PARSERS.get(field.kind)
    words = field.allowed.split(", ") if field.kind == "word" else []
    option = typer.Option(
        *flag_names,
        metavar=metavar,
        parser=parser,
        help=_help(field),
        show_default=False,
        autocompletion=(lambda incomplete: [w for w in words if w.startswith(incomplete)]) if words else None,
    )
    one: Any = str if parser is None else {"whole": int, "real": float}[field.kind]
    kind: Any = list[one] | None if _repeats(field) else one | None
    return inspect.Parameter(
        field.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind, option]
    )


def _help(field: _core.Field) -> str:
    """What an option means, what is allowed, and the default."""
    notes = [field.allowed] if field.allowed else []
    if field.default not in (None, [], {}):
        notes.append(f"default: {field.default}")
    if _repeats(field):
        notes.append("may be repeated")
    return f"{field.help} [{'; '.join(notes)}]" if notes else field.help


def _pairs(field: _core.Field, texts: Sequence[str], flag: str, metavar: str) -> dict[str, Any]:
    """NAME=VALUE, once or several times."""
    pairs: dict[str, Any] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise _core.RequestError(f"{flag}: `{text}` is not {metavar}")
        known = _PARSERS.get(field.kind, str)(value)
        if pairs.setdefault(name, known) != known:
            raise _core.RequestError(f"{flag}: `{name}` is given as `{pairs[name]}` and as `{known}`")
    return pairs
