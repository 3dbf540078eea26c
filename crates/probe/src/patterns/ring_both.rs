//! A ring both ways.

use super::{Pattern, both};

/// Each worker reads from both of its neighbours. Two workers have one neighbour each.
pub const PATTERN: Pattern = Pattern {
    name: "ring-both",
    about: "each reads from both of its neighbours in a ring",
    sets: |shape| {
        let w = shape.workers_of_a_chip(PATTERN.name, 2)?;
        let links = if w.len() == 2 { 1 } else { w.len() };
        Ok(vec![(0..links).flat_map(|i| both(w[i], w[(i + 1) % w.len()])).collect()])
    },
};
