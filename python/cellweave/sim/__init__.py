"""A simulated Cell Broadband Engine on which Python programs run: real bytes move, only time is simulated.

A program is a generator function that gets a handle of its SPE (:class:`Spe`) or PPE (:class:`Ppe`). Every call on the
handle makes an operation. `yield` hands it to the machine, which carries it out and returns the answer.

>>> from cellweave import sim
>>> cell = sim.Cell("qs22")
>>> buffer = cell.allocate(0, 16, 16)
>>> cell.memory(buffer, 16)[:] = b"real bytes move."
>>> def reader(spe):
...     ls = yield spe.alloc(16, 16)
...     yield spe.get(ls, buffer, 16, tag=0)
...     yield spe.tags_all(1)
...     data = yield spe.read(ls, 16)
...     print(data)
>>> cell.spe(3, reader)
>>> outcome = cell.run()
b'real bytes move.'
>>> outcome.elapsed_ns > 90
True

Simulations are deterministic: the same program on the same machine takes the same cycles and has the same hash, in
Python and in Rust. Times are ns, us or bus cycles of 625 ps, as the names say; sizes are bytes.
"""

from __future__ import annotations

from cellweave.sim.cell import Cell, machines, parameters, rule_sets
from cellweave.sim.memory import Memory
from cellweave.sim.one_get import plot_get
from cellweave.sim.outcome import Outcome
from cellweave.sim.ppe import Ppe
from cellweave.sim.spe import Spe

__all__ = ["Cell", "Memory", "Outcome", "Ppe", "Spe", "machines", "parameters", "plot_get", "rule_sets"]
