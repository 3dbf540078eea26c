"""The same conversation with an SPE that never answers: everybody waits, and the error says who waits for what."""

from cellweave import RunError, sim

cell = sim.Cell("ps3")


def main(ppe):
    """Ask, and wait for an answer."""
    yield ppe.write_mailbox(0, 1)
    answer = yield ppe.read_mailbox(0)
    print("never printed", answer)


def silent(spe):
    """Listen for two words, of which only one comes."""
    yield spe.read_mailbox()
    yield spe.read_mailbox()


cell.ppe(0, main)
cell.spe(0, silent)
try:
    cell.run()
except RunError as error:
    print(error)
