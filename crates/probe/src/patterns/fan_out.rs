//! One element reads from several stores: the transfers share its input port.

use super::{Pattern, reads};

/// The first worker reads from every other.
pub const PATTERN: Pattern = Pattern {
    name: "fan-out",
    about: "one element reads from the stores of all others at once",
    sets: |shape| {
        let w = shape.workers_of_a_chip(PATTERN.name, 2)?;
        Ok(vec![w[1..].iter().map(|&source| reads(w[0], source)).collect()])
    },
};
