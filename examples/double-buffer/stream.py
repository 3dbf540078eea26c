"""An SPE streams a signal out of main memory and sums it up, with 1, 2 and 4 buffers.

While the program computes on one buffer, the next ones are on their way. The samples are real: the sum is checked.
"""

import sys

import numpy as np
from cellweave import sim

BLOCK = 2048  # bytes of one DMA command
BLOCKS = 512
COMPUTE_NS = 130  # what summing up a block takes


def stream(spe, source, buffers, sums):
    """Sum up BLOCKS blocks of 32-bit samples; buffer i is filled under tag i."""
    ls = yield spe.alloc(buffers * BLOCK)
    for i in range(buffers):
        yield spe.get(ls + i * BLOCK, source + i * BLOCK, BLOCK, tag=i)
    total = 0
    for block in range(BLOCKS):
        i = block % buffers
        yield spe.tags_all(1 << i)
        samples = yield spe.read(ls + i * BLOCK, BLOCK)
        total += int(np.frombuffer(samples, "<u4").sum())
        yield spe.compute(COMPUTE_NS)
        if block + buffers < BLOCKS:
            yield spe.get(ls + i * BLOCK, source + (block + buffers) * BLOCK, BLOCK, tag=i)
    sums.append(total)


samples = np.random.default_rng(7).integers(0, 1000, BLOCKS * BLOCK // 4).astype("<u4")
for buffers in (1, 2, 4):
    cell = sim.Cell("qs22")
    source = cell.allocate(0, samples.nbytes)
    cell.memory(source, samples.nbytes)[:] = samples
    sums = []
    cell.spe(0, stream, source, buffers, sums)
    outcome = cell.run(trace=True)
    right = "right" if sums == [int(samples.sum())] else "WRONG"
    spe = outcome.counters["spes"][0]
    busy = 100 * spe["compute_cycles"] / outcome.cycles
    print(
        f"buffers {buffers}: {samples.nbytes / outcome.elapsed_ns:.2f} GB/s, "
        f"computing {busy:.0f} % of the time, sum {right}"
    )
    if len(sys.argv) > 1:
        outcome.save_trace(f"{sys.argv[1]}-{buffers}.json", force=True)
