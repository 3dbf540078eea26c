"""Eight SPEs pass packets around a ring: the same program as in src/main.rs, in the same time."""

import json

from cellweave import sim

SPES = 8
ROUNDS = 24
BYTES = 2048
READY, TAKEN = 1, 2  # signal registers: a packet is there; the buffer that it was in is free


def ring(spe, seen):
    """Take the packet of the one before, count oneself in, offer it to the one after."""
    me = spe.number
    before, after = (me + SPES - 1) % SPES, (me + 1) % SPES
    packet = yield spe.alloc(BYTES, 128)  # at the same offset on every SPE
    inbox = yield spe.alloc(BYTES, 128)
    word = (yield spe.alloc(16, 16)) + 12  # a signal's word sits in the last quarter of its quadword
    yield spe.write_u32(word, 1)
    yield spe.write_u32(packet, 1000 * me)
    for _ in range(ROUNDS):
        yield spe.send_signal(word, after, READY, tag=0)
        yield spe.read_signal(READY)
        yield spe.get(inbox, spe.local_store_of(before) + packet, BYTES, tag=1)
        yield spe.tags_all(1 << 1)
        yield spe.send_signal(word, before, TAKEN, tag=0)
        yield spe.read_signal(TAKEN)
        value = yield spe.read_u32(inbox)
        yield spe.write_u32(packet, value + 1)
        yield spe.compute(ns=100)
    seen[me] = yield spe.read_u32(packet)


cell = sim.Cell("qs22")
seen = {}
for i in range(SPES):
    cell.spe(i, ring, seen)
outcome = cell.run()
# After three times around, every packet is back where it began, and has been counted up at every stop.
assert seen == {i: 1000 * i + ROUNDS for i in range(SPES)}, seen
print(json.dumps({"cycles": outcome.cycles, "hash": outcome.hash, "packets": outcome.counters["packets"]}))
