"""The data of an element that pictures of a machine need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass
class Element:
    """Where it sits and what it holds, from the machine's dictionary."""

    name: str
    kind: str
    chip: int
    numa: int | None
    l3: int | None
    l2: int | None
    core: int | None
    tile: tuple[int, int] | None
    bytes: int | None
    l1_bytes: int | None

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Element:
        place = data.get("place") or {}
        memory = data.get("memory") or {}
        return cls(
            name=str(data["name"]),
            kind=str(data.get("kind", "core")),
            chip=int(place.get("chip") or 0),
            numa=place.get("numa"),
            l3=place.get("l3"),
            l2=place.get("l2"),
            core=place.get("core"),
            tile=(int(tile[0]), int(tile[1])) if (tile := place.get("tile")) else None,
            bytes=memory.get("bytes"),
            l1_bytes=memory.get("l1_bytes"),
        )


def size_text(n_bytes: int) -> str:
    """`524288` as ``512 KiB``: caches and local stores come in powers of two."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if n_bytes >= unit:
            return f"{n_bytes / unit:.4g} {name}"
    return f"{n_bytes} B"
