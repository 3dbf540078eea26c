"""`affinity-model`, figures 2 and 3: patterns under the affinities that the paper names, its model's choice and ours.

The figures were drawn, not printed. Neither they nor the text say how long a message is or how many messages an SPE has
under way, and the text does not write the affinities out. So messages of 1 to 64 kB are measured, one at a time and
several, the affinities are those of `cellweave place`, and no row votes.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from statistics import mean
from typing import TYPE_CHECKING

from cellweave.place import place
from cellweave.reproduce.bench import LARGE_BUFFERS, LARGE_BYTES
from cellweave.reproduce.experiment import experiment
from cellweave.reproduce.facts import facts
from cellweave.reproduce.patterns import Pairs, ring_reads

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cellweave.reproduce.bench import Bench, Stream
    from cellweave.reproduce.experiment import Found

_SPES = 8
_BLADE = 2 * _SPES
# What stands beside the affinities that the paper names.
_DEFAULT = "Default, mean"
_EITHER = "Default on either Cell, mean"
_MODEL = "Model's"
_OURS = "place, simulated"
# Messages that an SPE has under way.
_UNDER_WAY = {"one at a time": 1, f"{LARGE_BUFFERS} at a time": LARGE_BUFFERS}
# Where every SPE moves the same amount: its bytes, its fewest messages, and ns in which all of them are started.
_AMOUNT = 1 << 19
_FEWEST = 16
_LONG_NS = 10**9


@dataclass(frozen=True)
class _Pattern:
    """A pattern by its name and phase in `cellweave place`, and its pairs when part i is on SPE ``spes[i]``."""

    name: str
    phase: int | None
    reads: Callable[[Sequence[int]], Pairs]


_RING = _Pattern("ring", None, lambda spes: ring_reads(spes, both_ways=False))
_DOUBLING = _Pattern("recursive-doubling", 0, lambda spes: [(spes[i], spes[i ^ 1]) for i in range(len(spes))])


def _until_last(bench: Bench, streams: Sequence[Stream], buffers: int) -> float:
    """GB/s of streams that each have the same number of messages: all bytes until the last message is there."""
    times = max(_FEWEST, _AMOUNT // max(size for *_, size in streams))
    each = bench.streams("qs20", streams, buffers, times, _LONG_NS).each()
    last = max(size / gbs for (*_, size), gbs in zip(streams, each, strict=True))
    return sum(size for *_, size in streams) / last


class _Affinities:
    """Affinities of a pattern and their bandwidths: by messages under way, bytes of a message and name."""

    def __init__(self, bench: Bench, pattern: _Pattern, parts: int) -> None:
        self._bench, self._pattern = bench, pattern
        on, runs = "cell" if parts == _SPES else "qs20", bench.fewer(300, 12)
        placed = place(
            pattern.name, on, "simulated", parts=parts, phase=pattern.phase, runs=runs, bytes=LARGE_BYTES
        ).to_dict()
        moves = None if parts == _SPES else bench.fewer(1_000_000, 2_000)
        model = place(pattern.name, on, "rings", parts=parts, phase=pattern.phase, moves=moves)
        self.chosen: dict[str, list[int]] = {a["name"]: a["permutation"] for a in placed["affinities"]}
        del self.chosen["Default"]
        self.named = list(self.chosen)
        self.chosen |= {_MODEL: model.permutation, _OURS: placed["permutation"]}
        random, count = Random(bench.seeds["ring_default"]), bench.fewer(100, 4)
        seats = {_DEFAULT: range(parts)} | ({_EITHER: range(_BLADE)} if parts < _BLADE else {})
        self.drawn = {name: [random.sample(spes, parts) for _ in range(count)] for name, spes in seats.items()}
        self.sizes = [4 * LARGE_BYTES] if bench.quick else [2**i for i in (10, 12, 14, 16)]
        self.gbs: dict[tuple[str, int], dict[str, float]] = {}
        self.until_last: dict[tuple[str, int], dict[str, float]] = {}
        # Of the model's choice: the share of the Default mappings that have less bandwidth.
        self.model_beats: list[float] = []
        for under_way in _UNDER_WAY:
            for size in self.sizes:
                self._measure(under_way, size)

    def _measure(self, under_way: str, size: int) -> None:
        def streams(spes: Sequence[int]) -> list[Stream]:
            return [(reader, source, size) for reader, source in self._pattern.reads(spes)]

        def together(spes: Sequence[int]) -> float:
            return self._bench.streams("qs20", streams(spes), _UNDER_WAY[under_way]).gbs()

        def until_last(spes: Sequence[int]) -> float:
            return _until_last(self._bench, streams(spes), _UNDER_WAY[under_way])

        chosen = self.chosen.values()
        gbs = dict(zip(self.chosen, self._bench.map(together, chosen), strict=True))
        self.until_last[under_way, size] = dict(zip(self.chosen, self._bench.map(until_last, chosen), strict=True))
        for name, mappings in self.drawn.items():
            drawn = self._bench.map(together, mappings)
            gbs[name] = mean(drawn)
            if name == _DEFAULT:
                self.model_beats.append(mean(value < gbs[_MODEL] for value in drawn))
        self.gbs[under_way, size] = gbs

    def by_best_named(self, name: str, last: bool = False) -> dict[tuple[str, int], float]:
        """Bandwidth under an affinity by that under the best one that the paper names, for every kind of message."""
        every = self.until_last if last else self.gbs
        return {kind: gbs[name] / max(gbs[named] for named in self.named) for kind, gbs in every.items()}

    def by_mean(self, name: str) -> dict[tuple[str, int], float]:
        """Bandwidth under our choice by the mean of mappings drawn at random, for every kind of message."""
        return {kind: gbs[_OURS] / gbs[name] for kind, gbs in self.gbs.items()}


def _show(found: Found, figure: str, affinities: _Affinities, title: str) -> None:
    """Rows for every affinity at the largest messages, how ours and the model's compare, and a picture."""
    where = f"affinity-model/{figure}"
    under_way, size = next(iter(_UNDER_WAY)), affinities.sizes[-1]
    gbs = affinities.gbs[under_way, size]
    for name, value in gbs.items():
        told = "" if name not in affinities.chosen else f"part i on SPE {affinities.chosen[name]}"
        what = f"bandwidth, messages of {size // 1024} kB {under_way}"
        found.rows.shown(f"{where}:{name}", where, what, name, value, "GB/s", told)

    def ratios(name: str, what: str, values: dict[tuple[str, int], float]) -> None:
        told = "; ".join(
            f"{way}: " + ", ".join(f"{size // 1024} kB {values[way, size]:.2f}" for size in affinities.sizes)
            for way in _UNDER_WAY
        )
        least = min(values.values())
        found.rows.shown(
            f"{where}:{what}, {name}", where, what, f"{name}; the least of all sizes", least, "ratio", told
        )

    for name in (_OURS, _MODEL):
        ratios(name, "by the best named affinity", affinities.by_best_named(name))
        ratios(name, "by the best named affinity, until the last message", affinities.by_best_named(name, last=True))
    published = facts()["affinity-model-004"]
    for name in affinities.drawn:
        values = affinities.by_mean(name)
        told = f"{values[under_way, size]:.2f} at {size // 1024} kB {under_way}, the most {max(values.values()):.2f}; "
        told += f"the text: {published.note.removeprefix('read: ')}"
        what = f"{_OURS} by {name}"
        found.rows.shown(f"{where}:{what}", where, what, "the largest messages", values[under_way, size], "ratio", told)
    beats = affinities.model_beats
    what = "Default mappings that have less bandwidth than the model's choice"
    found.rows.shown(
        f"{where}:{what}",
        where,
        what,
        "mean over all sizes",
        mean(beats),
        "share",
        f"{min(beats):.0%} .. {max(beats):.0%}",
    )
    drawn = len(affinities.drawn[_DEFAULT])
    found.notes.append(f"Default: {drawn} random mappings; the named affinities are our reading of their names")
    for way in _UNDER_WAY:
        found.pictures[f"{figure}-{_UNDER_WAY[way]}"] = {
            "kind": "curves",
            "title": f"{title}, messages {way}",
            "x": affinities.sizes,
            "lines": {
                name: [affinities.gbs[way, size][name] for size in affinities.sizes]
                for name in sorted(gbs, key=lambda name: name not in (_OURS, _MODEL))
            },
            "x_label": "bytes of a message",
            "y_label": "GB/s",
            "linear_y": True,
        }


@experiment("affinity-model/fig-2", "qs20")
def fig_2(bench: Bench, found: Found) -> None:
    """Figure 2: a ring of 8 under the affinities that the paper names, its model's choice and ours.

    The bandwidth of all SPEs of a Cell while all run; `until the last message` is all bytes, the same for every SPE, by
    the time of the slowest. *Model's* is the choice of `cellweave place ring --objective rings`, the published model;
    *place, simulated* that of `--objective simulated`. Default is the mean over random mappings, to the Cell and to
    the 16 SPEs of the blade, where a runtime may put eight threads that nobody pins. `place` simulates under the
    default rule set, whatever rule set the bandwidths are measured under.
    """
    _show(found, "fig-2", _Affinities(bench, _RING, _SPES), "Figure 2: a ring of 8 on one Cell")


@experiment("affinity-model/fig-3", "qs20")
def fig_3(bench: Bench, found: Found) -> None:
    """Figure 3: the first phase of recursive doubling of 8 under the affinities that the paper names, and ours.

    Parts 2i and 2i + 1 read from each other. Else as figure 2.
    """
    _show(found, "fig-3", _Affinities(bench, _DOUBLING, _SPES), "Figure 3: recursive doubling's first phase, one Cell")


@experiment("affinity-model/blade-ring", "qs20")
def blade_ring(bench: Bench, found: Found) -> None:
    """A ring of 16 on both Cells of a blade: partition and affinity together.

    As figure 2, with a named affinity within each Cell, parts 0 to 7 on Cell 0.
    """
    _show(found, "blade-ring", _Affinities(bench, _RING, _BLADE), "A ring of 16 on both Cells of a blade")


@experiment("affinity-model/blade-doubling", "qs20")
def blade_doubling(bench: Bench, found: Found) -> None:
    """The first phase of recursive doubling of 16 on both Cells of a blade.

    As figure 2, with a named affinity within each Cell, parts 0 to 7 on Cell 0.
    """
    _show(found, "blade-doubling", _Affinities(bench, _DOUBLING, _BLADE), "Recursive doubling's first phase, a blade")


# Bytes of most messages, and of the answers to those that go from one half to the other.
_SENT, _ANSWERED = 16384, 1024


@experiment("affinity-model/blade-sides", "qs20")
def blade_sides(bench: Bench, found: Found) -> None:
    """The half of a pattern that sends more, on Cell 0 or on Cell 1.

    Each half is a ring of eight with messages of 16 kB both ways. Parts 0 and 4 send 16 kB to parts 8 and 12, which
    answer with 1 kB. The text has the faster link from Cell 0 to Cell 1, and its model puts the half that sends more on
    Cell 0. In `streaming-schedule`, on whose figures the simulated link rests, Cell 0 reads faster than Cell 1 does.
    """
    flows = [(i, i + _SPES, _SENT) for i in (0, _SPES // 2)] + [(i + _SPES, i, _ANSWERED) for i in (0, _SPES // 2)]
    for half in (0, _SPES):
        around = [half + i for i in range(_SPES)]
        flows += [(source, reader, _SENT) for reader, source in ring_reads(around, both_ways=True)]
    matrix = [[0] * _BLADE for _ in range(_BLADE)]
    for source, reader, size in flows:
        matrix[source][reader] = size
    moves, runs = bench.fewer(1_000_000, 2_000), bench.fewer(300, 12)
    chosen = {
        "the half that sends more on Cell 0": list(range(_BLADE)),
        "the half that sends more on Cell 1": [*range(_SPES, _BLADE), *range(_SPES)],
        "Model's, with sizes": place(matrix, "qs20", "rings", sizes=True, moves=moves).permutation,
        "place, model": place(matrix, "qs20", "model").permutation,
        _OURS: place(matrix, "qs20", "simulated", runs=runs).permutation,
    }
    where = "affinity-model/blade-sides"

    def until_last(spes: Sequence[int]) -> float:
        return _until_last(bench, [(spes[reader], spes[source], size) for source, reader, size in flows], 1)

    for name, value in zip(chosen, bench.map(until_last, chosen.values()), strict=True):
        first = sum(spe < _SPES for spe in chosen[name][:_SPES])
        told = f"{first} of the {_SPES} parts of the half that sends more are on Cell 0: part i on SPE {chosen[name]}"
        found.rows.shown(f"{where}:{name}", where, "bandwidth until the last message", name, value, "GB/s", told)
