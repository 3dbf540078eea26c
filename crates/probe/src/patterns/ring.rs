//! A ring one way.

use super::{Pattern, reads};

/// Worker i + 1 reads from worker i, the first from the last.
pub const PATTERN: Pattern = Pattern {
    name: "ring",
    about: "each reads from the one before it, the first from the last",
    sets: |shape| {
        let w = shape.workers_of_a_chip(PATTERN.name, 2)?;
        Ok(vec![(0..w.len()).map(|i| reads(w[(i + 1) % w.len()], w[i])).collect()])
    },
};
