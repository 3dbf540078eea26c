"""The published figures, and which of them the simulator may be fitted on; `cellweave.reproduce.facts` reads them."""
