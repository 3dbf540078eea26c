"""The published experiments, by paper; importing a file adds its experiments to the list."""

from cellweave.reproduce.experiments import (
    affinity_figures,
    affinity_model,
    buffered_mpi,
    dma_benchmark,
    particles,
    ring_choices,
    ring_mapping,
    scheduling,
    streaming_schedule,
)

__all__ = [
    "affinity_figures",
    "affinity_model",
    "buffered_mpi",
    "dma_benchmark",
    "particles",
    "ring_choices",
    "ring_mapping",
    "scheduling",
    "streaming_schedule",
]
