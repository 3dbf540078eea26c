//! Random graphs after DagGen, the same for a seed for ever.
