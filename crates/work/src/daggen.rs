//! Random graphs after DagGen, the same for a seed for ever.

/// Operations per ns.
pub const OPERATIONS_PER_NS: f64 = 1.0;
