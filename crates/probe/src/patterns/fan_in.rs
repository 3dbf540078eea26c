//! Several read from one store: they share its output port.

use super::{Pattern, reads};

/// Every other worker reads from the first.
pub const PATTERN: Pattern = Pattern {
    name: "fan-in",
    about: "all others read from one element's store at once",
    sets: |shape| {
        let w = shape.workers_of_a_chip(PATTERN.name, 2)?;
        Ok(vec![w[1..].iter().map(|&reader| reads(reader, w[0])).collect()])
    },
};
