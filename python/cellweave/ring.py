"""The ring of `ring-mapping`: SPE programs that pass packets around, under every mapping of tasks to SPEs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cellweave import _core
from cellweave.options import chosen

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from cellweave.report.table import Table

# Rows of the table: the fastest mappings.
_SHOWN = 10


class Ring:
    """Run times of a ring under many mappings, and figures of them.

    A mapping ``[a0 a1 ...]`` says that thread i executes task ``ai``. Wherever one is asked for, it is written out
    (``"[024531]"``) or a sequence of numbers.

    Attributes
    ----------
    options : dict
        The options of the call.
    mappings : list of tuple of int
        In the order in which they were run.
    runtimes_ns : numpy.ndarray
        Simulated ns, by run and then by mapping.
    averages_ns : numpy.ndarray
        By mapping, over the runs.
    """

    def __init__(self, ranking: _core.Ranking, options: dict[str, Any] | None = None) -> None:
        self._ranking = ranking
        self.options = dict(options or {})
        self.mappings: list[tuple[int, ...]] = [tuple(mapping) for mapping in ranking.mappings()]
        import numpy as np

        self.runtimes_ns: NDArray[np.float64] = np.array(ranking.runs())
        self.averages_ns: NDArray[np.float64] = np.array(ranking.averages())

    @classmethod
    def of(cls, mappings: Sequence[str | Sequence[int]], runtimes_ns: Sequence[Sequence[float]]) -> Ring:
        """Make a ring of given run times, by run and then by mapping.

        Raises
        ------
        cellweave.RequestError
            Where a run has not one positive time for each mapping.

        Examples
        --------
        >>> from cellweave.ring import Ring
        >>> ring = Ring.of(["[012]", "[021]"], [[3.0, 2.0], [5.0, 2.0]])
        >>> ring.worst_by_best, ring.rank("[012]")
        (2.0, 2)
        """
        tasks = [_tasks(mapping) for mapping in mappings]
        return cls(_core.Ranking.of(tasks, [[float(time) for time in run] for run in runtimes_ns]))

    def ranked(self) -> list[tuple[str, float]]:
        """Mappings with their average in ns, the fastest first.

        Examples
        --------
        >>> from cellweave.ring import Ring
        >>> Ring.of(["[012]", "[021]"], [[3.0, 2.0]]).ranked()
        [('[021]', 2.0), ('[012]', 3.0)]
        """
        return [(_core.ring_text(self.mappings[i]), float(self.averages_ns[i])) for i in self._ranking.order()]

    @property
    def worst_by_best(self) -> float:
        """The largest average divided by the smallest."""
        return self._ranking.worst_by_best()

    @property
    def run_worst_by_best(self) -> list[float]:
        """The largest time of each run divided by its smallest."""
        return self._ranking.run_worst_by_best()

    @property
    def mean_by_best(self) -> float:
        """The expected time of a random mapping, divided by the best."""
        return self._ranking.mean_by_best()

    @property
    def median_by_best(self) -> float:
        """The median of the averages divided by the smallest."""
        return self._ranking.median_by_best()

    def rank(self, mapping: str | Sequence[int]) -> int:
        """The place of a mapping by its average, from 1; equal ones share a place.

        Raises
        ------
        cellweave.RequestError
            Where the mapping was not run. :meth:`run_ranks` and :meth:`slowdown` raise the same.
        """
        return self._ranking.rank(_tasks(mapping))

    def run_ranks(self, mapping: str | Sequence[int]) -> list[int]:
        """The places of a mapping in the single runs."""
        return self._ranking.run_ranks(_tasks(mapping))

    def slowdown(self, mapping: str | Sequence[int]) -> float:
        """A mapping's average divided by the smallest."""
        return self._ranking.slowdown(_tasks(mapping))

    def correlation(self, other: Ring) -> float:
        """Rank correlation (Spearman's) of the averages with those of another ring under the same mappings.

        Raises
        ------
        cellweave.RequestError
            Where the mappings differ, or all times of a ring are equal.
        """
        return self._ranking.correlation(other._ranking)

    def tables(self) -> list[Table]:
        """The numbers and the fastest mappings, as ``str()`` prints them."""
        from cellweave.report.table import Table
        from cellweave.report.units import number, time_ns

        runs, count = self.runtimes_ns.shape
        numbers: list[Sequence[str]] = [
            ("worst by best, average", number(self.worst_by_best)),
            ("worst by best, each run", ", ".join(number(ratio) for ratio in self.run_worst_by_best)),
            ("random mapping by best, mean", number(self.mean_by_best)),
            ("random mapping by best, median", number(self.median_by_best)),
        ]
        best: list[Sequence[str]] = [
            [
                str(self.rank(self.mappings[i])),
                name,
                time_ns(time),
                ", ".join(map(str, self.run_ranks(self.mappings[i]))),
            ]
            for i, (name, time) in zip(self._ranking.order()[:_SHOWN], self.ranked(), strict=False)
        ]
        return [
            Table(self._title(), ["", ">"], numbers),
            Table(
                f"The fastest of {count}",
                [">rank", "mapping", ">average", ">ranks in the runs"],
                best,
                self._notes(runs),
            ),
        ]

    def plot(self) -> Figure:
        """Draw every run's times, the mappings in the order of their average, as in the paper's figures.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from cellweave.report.pictures import figure_of
        from cellweave.report.ranked import draw_ranked

        order = self._ranking.order()
        data = {
            "title": self._title(),
            "curves": {f"run {i + 1}": (run[order] / 1e3).tolist() for i, run in enumerate(self.runtimes_ns)},
            "average": (self.averages_ns[order] / 1e3).tolist(),
            "y_label": "simulated run time, us",
        }
        return figure_of(draw_ranked(data))

    def _title(self) -> str:
        o = self.options
        if not o:
            return f"A ring of {len(self.mappings[0])}"
        ways = "both ways" if o["bidirectional"] else "one way"
        return f"A ring of {len(self.mappings[0])} on {o['machine']}, {ways}, packets of {o['packet_bytes']} B"

    def _notes(self, runs: int) -> list[str]:
        o = self.options
        if not o:
            return [f"{runs} runs"]
        return [f"{runs} runs of {o['rounds']} rounds, threads {o['placement']}, seeds from {o['seed']} on"]

    def __repr__(self) -> str:
        runs, count = self.runtimes_ns.shape
        return f"Ring({count} mappings, {runs} runs, worst by best {self.worst_by_best:.3g})"

    def __str__(self) -> str:
        from cellweave.report.table import text

        return text(self.tables())

    def _repr_html_(self) -> str:
        from cellweave.report.table import html

        return html(self.tables())


def _tasks(mapping: str | Sequence[int]) -> list[int]:
    if isinstance(mapping, str):
        return _core.ring_mapping(mapping)
    numbers = [int(task) for task in mapping]
    if min(numbers, default=0) < 0:
        raise _core.RequestError(f"mapping {numbers}: {min(numbers)} is not a task; tasks are counted from 0")
    return numbers


def ring(
    machine: str = "ps3",
    packet_bytes: int = 1024,
    bidirectional: bool = True,
    rounds: int = 500,
    runs: int = 3,
    placement: str = "pinned",
    seed: int = 1,
    mappings: Sequence[str | Sequence[int]] | None = None,
    *,
    tasks: int | None = None,
    rules: str | None = None,
    hidden: Sequence[int] | None = None,
    any_first: bool = False,
    threads: int | None = None,
    progress: Callable[[dict[str, Any]], None] | None = None,
) -> Ring:
    """Run the ring of `ring-mapping` on a simulated Cell, under every mapping of its tasks.

    Each task makes two packets and sends one to each of its two neighbours; what it receives from one it sends on to
    the other. The programs use that paper's message library, and every packet is checked at every hop.

    Parameters
    ----------
    machine : {"ps3", "cell", "qs20", "qs22"}
        A simulated machine; threads have the SPEs of its first chip.
    packet_bytes : int
        Bytes of a packet, a multiple of 16.
    bidirectional : bool
        Packets go both ways around; else each task makes one packet.
    rounds : int
        Transmissions of each task in each direction.
    runs : int
        Runs of every mapping, from different start states: tasks start up to 1 us apart.
    placement : {"pinned", "default"}
        Thread i is on SPE i, or where the run's seed puts it.
    seed : int
        Seed of the first run; the others have the numbers after it.
    mappings : sequence, optional
        Only these mappings of tasks to threads. By default every mapping with task 0 on thread 0.
    tasks : int, optional
        Tasks of the ring; by default one to every SPE of a chip.
    rules : str, optional
        The rule set of the bus's arbiter.
    hidden : sequence of int, optional
        SPEs, as the hardware numbers them, that no thread gets.
    any_first : bool
        Thread 0 may execute another task than 0.
    threads : int, optional
        Threads of this computer; by default one to every processor. The result is the same.
    progress : callable, optional
        Called after every simulated ring with a dict (``done``, ``total``, ``share``).

    Returns
    -------
    Ring

    Raises
    ------
    cellweave.RequestError
        Where a name, number or mapping is wrong.

    Examples
    --------
    >>> import cellweave as cw
    >>> found = cw.ring("ps3", rounds=10, runs=2, mappings=["[012345]", "[024531]"])
    >>> found.runtimes_ns.shape, found.rank("[024531]") in (1, 2)
    ((2, 2), True)
    """
    options = chosen("ring", locals())
    options["mappings"] = None if mappings is None else [_tasks(mapping) for mapping in mappings]
    return Ring(_core.ring(options, progress), options)
