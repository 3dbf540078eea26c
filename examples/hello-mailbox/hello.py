"""The PPE sends a word to each SPE; each SPE answers with the word's square, and with its own number."""

from cellweave import sim

cell = sim.Cell("ps3")


def main(ppe):
    """Ask everybody, then listen to everybody: the SPEs work side by side."""
    for spe in range(cell.spes):
        yield ppe.write_mailbox(spe, 10 + spe)
    for spe in range(cell.spes):
        square = yield ppe.read_mailbox(spe)
        who = yield ppe.read_interrupt_mailbox(spe)
        print(f"SPE{who} says {square}")


def worker(spe):
    """Wait for a word, compute, answer."""
    word = yield spe.read_mailbox()
    yield spe.compute(ns=50)
    yield spe.write_mailbox(word * word)
    yield spe.write_interrupt_mailbox(spe.number)


cell.ppe(0, main)
for i in range(cell.spes):
    cell.spe(i, worker)
outcome = cell.run()
print(f"{outcome.elapsed_ns / 1000:.2f} us, {outcome.counters['packets']} packets")
