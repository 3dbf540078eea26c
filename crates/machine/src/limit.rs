//! A named capacity over a set of directed (source, destination) pairs.

use crate::ElementId;

/// A capacity in bytes/s over directed pairs. Its contribution to a period is the sum of the bytes that move over its
/// pairs per period, divided by its capacity.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// Unique in its machine, e.g. `input of SPE3 (1)`.
    pub name: String,
    /// Bytes per second; more than 0.
    pub capacity_bytes_per_s: f64,
    /// The pairs, as a union of blocks. A pair in two blocks counts once.
    pub pairs: Vec<Block>,
    /// How well it predicts what it decides, where it was fitted: the mean of `|predicted / measured - 1|` over the
    /// measured patterns whose slowest limit it is.
    pub error: Option<f64>,
}

/// Every pair (source in `from`, destination in `to`) with source != destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Sources.
    pub from: Vec<ElementId>,
    /// Destinations (readers).
    pub to: Vec<ElementId>,
}

impl Limit {
    /// Whether bytes from `source` to `destination` count here.
    ///
    /// ```
    /// use machine::{Block, Limit};
    /// let port = Limit {
    ///     name: "input of 1".into(),
    ///     capacity_bytes_per_s: 25e9,
    ///     pairs: vec![Block { from: vec![0, 1, 2], to: vec![1] }],
    ///     error: None,
    /// };
    /// assert!(port.holds(0, 1) && !port.holds(1, 1) && !port.holds(1, 0));
    /// ```
    pub fn holds(&self, source: ElementId, destination: ElementId) -> bool {
        source != destination
            && self.pairs.iter().any(|b| b.from.contains(&source) && b.to.contains(&destination))
    }
}
