"""The published figures, and which of them the simulator may be fitted on: data, read by `cellweave.reproduce.facts`."""
