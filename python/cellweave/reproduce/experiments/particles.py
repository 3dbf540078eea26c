"""`affinity-model`, figures 4 and 5: the Monte Carlo transport of particles under the affinities that the paper names.

The program is `examples/mpi/monte-carlo`, as it runs on this computer. The paper gives neither its own program nor its
traffic: `programs/transport.toml` fixes particles, ranks, mappings and the part of communication, and was written
before the first run.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from random import Random
from statistics import mean
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from cellweave import _core
from cellweave.place import place
from cellweave.reproduce.experiment import experiment
from cellweave.reproduce.ranks import Ranks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cellweave.reproduce.bench import Bench
    from cellweave.reproduce.experiment import Found
    from cellweave.reproduce.ranks import Ran

# The Cell on which all ranks are.
_CELL = "cell"
_MODEL = "Model's"
_OURS = "place, simulated"
_MEASURED = "the measured choice"
_DEFAULT = "Default, mean"
# Operations of a flight from where on the time of a run grows with them alone.
_PROBED = (60, 120)


def fixed() -> dict[str, Any]:
    """What was fixed before the first run."""
    text = (files("cellweave.reproduce") / "programs" / "transport.toml").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(_core.read_toml(text))
    return found


@dataclass(frozen=True)
class _Particles:
    """The program, the mappings it runs under, and its times without computing.

    Attributes
    ----------
    program : Ranks
        Transports particles.
    born : int
        How many of them.
    chosen : dict of str to list of int
        The SPE of each rank, by who chose it.
    us : dict of str to float
        Under each choice; Default is the mean over the random mappings.
    stores : dict of str to float
        us of the same traffic from local store to local store, as the simulator of `place` runs it.
    """

    program: Ranks
    born: int
    chosen: dict[str, list[int]]
    us: dict[str, float]
    stores: dict[str, float]


def _run(program: Ranks, born: int, operations: float, spes: Sequence[int], profile: Path | None = None) -> Ran:
    return program.run((born, operations), len(spes), place=spes, profile=profile)


def _measured(bench: Bench) -> _Particles:
    about = fixed()
    program, ranks = Ranks(bench, about["machine"], "transport"), about["ranks"]
    born = bench.fewer(about["born"], about["born"] // 10)
    with TemporaryDirectory() as folder:
        traffic = Path(folder) / "traffic.json"
        printed = _run(program, born, 0, range(ranks), traffic).lines
        placed = place(traffic, _CELL, "simulated", runs=bench.fewer(300, 8))
        model = place(traffic, _CELL, "rings")
    data = placed.to_dict()
    named = {entry["name"]: entry for entry in data["affinities"]}
    chosen: dict[str, list[int]] = {name: named[name]["permutation"] for name in about["named"]}
    chosen |= {_MODEL: model.permutation, _OURS: placed.permutation}
    random, count = Random(bench.seeds["ring_default"]), bench.fewer(about["random_mappings"], 2)
    drawn = [random.sample(range(ranks), ranks) for _ in range(count)]
    every = [*chosen.values(), *drawn]
    runs = bench.map(lambda spes: _run(program, born, 0, spes), every)
    # What particles do does not depend on where they are; the last line is a time.
    assert all(ran.lines[:-1] == printed[:-1] for ran in runs)
    times = [ran.us for ran in runs]
    us = dict(zip(chosen, times, strict=False)) | {_DEFAULT: mean(times[len(chosen) :])}
    best = min(range(len(every)), key=lambda i: times[i])
    us[_MEASURED], chosen[_MEASURED] = times[best], list(every[best])
    stores = {name: named[name]["cost"] / 1e3 for name in about["named"]} | {_OURS: placed.cost / 1e3}
    return _Particles(program, born, chosen, us, stores)


def _particles(bench: Bench) -> _Particles:
    return bench.once("particles", lambda: _measured(bench))


def _show(found: Found, figure: str, what: str, us: Mapping[str, float], chosen: Mapping[str, list[int]]) -> None:
    where = f"affinity-model/{figure}"
    for name, value in us.items():
        told = f"rank i on SPE {chosen[name]}" if name in chosen else "random mappings"
        found.rows.shown(f"{where}:{name}", where, what, name, value, "us", told)
    found.pictures[figure] = {
        "kind": "curves",
        "title": f"{what}, by affinity",
        "x": list(range(len(us))),
        "x_names": [name.replace(" ", "\n", 1) for name in us],
        "lines": {what: list(us.values())},
        "x_label": "",
        "y_label": "us",
        "linear": True,
    }


def _spread(us: Mapping[str, float]) -> tuple[float, str]:
    """Worst by best of the choices, and both."""
    choices = {name: value for name, value in us.items() if name != _DEFAULT}
    worst, best = max(choices, key=lambda name: choices[name]), min(choices, key=lambda name: choices[name])
    told = f"{worst} {choices[worst]:.1f} us, {best} {choices[best]:.1f} us"
    return choices[worst] / choices[best], told


@experiment("affinity-model/fig-4", "qs20", ["particles-communication"])
def fig_4(bench: Bench, found: Found) -> None:
    """Figure 4: communication time of the particles under the named affinities, the model's choice and ours.

    The time of a run for which no computing is charged, 8 ranks on one Cell. "A factor of two" is worst by best of all
    choices. *The measured choice* is the best of these and of random mappings by that time. The data of ranks is in
    main memory, as in `buffered-mpi`: no message goes from SPE to SPE. What the same traffic takes from local store to
    local store stands beside it, as `place` simulates it, all of it at once and without MPI.
    """
    particles = _particles(bench)
    ratio, told = _spread(particles.us)
    stores, stores_told = _spread(particles.stores)
    found.rows.number("affinity-model-007", ratio, f"{told}; between local stores {stores:.2f}", pivot=1.0)
    _show(found, "fig-4", "communication time", particles.us, particles.chosen)
    where = "affinity-model/fig-4"
    for name, value in particles.stores.items():
        what = "the same traffic between local stores"
        found.rows.shown(f"{where}:stores, {name}", where, what, name, value, "us")
    found.rows.shown(f"{where}:stores", where, "worst by best between local stores", "", stores, "ratio", stores_told)
    drawn = bench.fewer(fixed()["random_mappings"], 2)
    found.notes.append(f"{particles.born} particles, {fixed()['ranks']} ranks, {drawn} random mappings")


@experiment("affinity-model/fig-5", "qs20", ["particles-total"])
def fig_5(bench: Bench, found: Found) -> None:
    """Figure 5: the whole time of the particles under the same affinities.

    The operations of a flight are such that communication is the part of the time under Identity that was fixed before
    the first run. "10 to 12 %" is how much longer the worst choice takes than the best. Beside it: the part that
    communication has when the operations of a flight are counted.
    """
    particles, about = _particles(bench), fixed()

    def us_of(operations: float, name: str) -> float:
        return _run(particles.program, particles.born, operations, particles.chosen[name]).us

    few, many = (us_of(operations, "Identity") for operations in _PROBED)
    each = (many - few) / (_PROBED[1] - _PROBED[0])
    communication = particles.us["Identity"]
    # Computing with no operations still moves the particles through the local store.
    whole = communication / about["share"]
    operations = _PROBED[0] + (whole - few) / each
    names = [name for name in particles.us if name != _DEFAULT]
    runs = bench.map(lambda name: us_of(operations, name), names)
    us = dict(zip(names, runs, strict=True))
    ratio, told = _spread(us)
    share = communication / us["Identity"]
    told += f"; {operations:.1f} operations of a flight: communication is {share:.1%} under Identity"
    found.rows.number("affinity-model-006", (ratio - 1) * 100, told, pivot=0.0)
    _show(found, "fig-5", "total time", us, particles.chosen)
    counted = about["counted_operations"]
    natural = communication / us_of(counted, "Identity")
    where, what = "affinity-model/fig-5", "part of communication, operations counted"
    found.rows.shown(f"{where}:share", where, what, f"{counted} operations of a flight", natural, "share")
