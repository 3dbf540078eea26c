//! One element reads from another: the time of an undisturbed transfer.

use super::{Pattern, reads};

/// The second worker reads from the first.
pub const PATTERN: Pattern = Pattern {
    name: "pair",
    about: "one element reads from another, alone",
    sets: |shape| {
        let w = shape.workers(PATTERN.name, 2)?;
        Ok(vec![vec![reads(w[0], w[1])]])
    },
};
