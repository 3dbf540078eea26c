"""The published experiments, a file per paper; importing one adds its experiments to the list."""

from cellweave.reproduce.experiments import (
    affinity_figures,
    affinity_model,
    dma_benchmark,
    ring_mapping,
    streaming_schedule,
)

__all__ = ["affinity_figures", "affinity_model", "dma_benchmark", "ring_mapping", "streaming_schedule"]
