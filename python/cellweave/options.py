"""Options by name: the core knows what each verb takes, with its range, its default and what it means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cellweave import _core

if TYPE_CHECKING:
    from collections.abc import Mapping


def chosen(verb: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What of a function's arguments are options of a verb.

    Examples
    --------
    >>> from cellweave.options import chosen
    >>> chosen("profile", {"graph": "app.toml", "instances": 100, "again": False})
    {'instances': 100, 'again': False}
    """
    return {field.name: arguments[field.name] for field in _core.options(verb) if field.name in arguments}
