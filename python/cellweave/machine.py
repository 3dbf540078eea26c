"""A machine: elements that compute, limits on what moves between them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellweave import _core
from cellweave.files import write_whole

if TYPE_CHECKING:
    import os

    from matplotlib.figure import Figure

    from cellweave.report.table import Table


class Machine:
    """Elements, the limits on the bytes between them, and what was measured of it.

    Make one with :meth:`load`, :meth:`host` or :meth:`from_toml`.

    Attributes
    ----------
    name : str
        ``qs22``, ``host``, or what the machine file says.
    description : str
        The CPU's model, or where the numbers come from.
    measured : bool
        Whether the limits were measured; if not, a plan says so.
    elements : list of dict
        Per element: ``name``, ``kind``, ``place``, ``memory`` (``bytes``, ``hard``), ``os_cpu``.
    limits : list of dict
        Per limit: ``name`` and ``capacity_bytes_per_s``.

    Examples
    --------
    >>> import cellweave as cw
    >>> machine = cw.Machine.load("qs22:ppe=1,spe=6")
    >>> [e["name"] for e in machine.elements]
    ['PPE0', 'SPE0', 'SPE1', 'SPE2', 'SPE3', 'SPE4', 'SPE5']
    """

    def __init__(self, native: _core.Machine) -> None:
        self._native = native
        self._data: dict[str, Any] | None = None

    @classmethod
    def load(cls, spec: str | os.PathLike[str] | Machine) -> Machine:
        """Read a machine.

        Parameters
        ----------
        spec : str or path or Machine
            A preset (``ps3``, ``cell``, ``qs20``, ``qs22``) with or without options (``qs22:ppe=1,spe=6``), ``host``,
            or a machine file.

        Raises
        ------
        cellweave.RequestError
            Where there is no such preset or file, or the file is wrong; says where.
        """
        return spec if isinstance(spec, cls) else cls(_core.Machine.load(str(spec)))

    @classmethod
    def host(cls) -> Machine:
        """This computer: the cpus that this process may use.

        Examples
        --------
        >>> import cellweave as cw
        >>> len(cw.Machine.host().elements) >= 1
        True
        """
        return cls.load("host")

    @classmethod
    def from_toml(cls, text: str) -> Machine:
        """Read the text of a machine file.

        Examples
        --------
        >>> import cellweave as cw
        >>> ps3 = cw.Machine.load("ps3")
        >>> cw.Machine.from_toml(ps3.to_toml()) == ps3
        True
        """
        return cls(_core.Machine.parse(text))

    @classmethod
    def import_file(cls, path: str | os.PathLike[str]) -> tuple[Machine, list[str]]:
        """Read a file of another tool.

        Parameters
        ----------
        path : str or path
            A matrix of latencies in ns (CSV, as ``core-to-core-latency --csv`` writes it), hwloc's XML (as ``lstopo
            --of xml`` writes it, version 2 and later), or the text of ``likwid-topology``. The content tells which.

        Returns
        -------
        tuple of Machine and list of str
            The machine, without limits, and sentences about what the file did not have.

        Raises
        ------
        cellweave.RequestError
            Where the file is none of these or makes no sense; says in which line.
        """
        native, notes = _core.Machine.foreign(Path(path))
        return cls(native), notes

    def to_hwloc(self) -> str:
        """hwloc's XML, version 2, with the distances: what ``lstopo`` and ``hwloc-calc`` read.

        Raises
        ------
        cellweave.RequestError
            Where an element is no cpu of an operating system, as an SPE.

        Examples
        --------
        >>> import cellweave as cw
        >>> cw.Machine.host().to_hwloc().splitlines()[2]
        '<topology version="2.0">'
        """
        return self._native.to_hwloc()

    def native(self) -> _core.Machine:
        """The form that the core works on."""
        return self._native

    def to_toml(self) -> str:
        """The text of a machine file; :meth:`from_toml` gives an equal machine."""
        return self._native.to_toml()

    def save(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write the machine file; an existing one only with `force`."""
        write_whole(Path(path), self.to_toml(), force)

    def to_dict(self) -> dict[str, Any]:
        """Everything that is known of the machine, as plain lists and dictionaries."""
        if self._data is None:
            self._data = json.loads(self._native.to_json())
        return self._data

    @property
    def name(self) -> str:
        return str(self.to_dict()["name"])

    @property
    def description(self) -> str:
        return str(self.to_dict()["description"])

    @property
    def measured(self) -> bool:
        return bool(self.to_dict()["measured"])

    @property
    def elements(self) -> list[dict[str, Any]]:
        return list(self.to_dict()["elements"])

    @property
    def limits(self) -> list[dict[str, Any]]:
        return list(self.to_dict()["limits"])

    def element_names(self) -> list[str]:
        """In index order."""
        return [str(e["name"]) for e in self.elements]

    def tables(self) -> list[Table]:
        """What ``cellweave machine show`` prints."""
        from cellweave.report.tables import machine_tables

        return machine_tables(self.to_dict())

    def plot(self) -> Figure:
        """Draw it: the floorplan with its ring for a Cell; packages, caches and cores for a host.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from cellweave.report.machine import draw_machine

        return draw_machine(self.to_dict())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Machine) and self.to_toml() == other.to_toml()

    def __hash__(self) -> int:
        return hash(self.to_toml())

    def __repr__(self) -> str:
        return f"Machine({self.name!r}, {len(self.elements)} elements)"

    def __str__(self) -> str:
        from cellweave.report.table import text

        return text(self.tables())

    def _repr_html_(self) -> str:
        from cellweave.report.table import html

        return html(self.tables(), self.plot)
