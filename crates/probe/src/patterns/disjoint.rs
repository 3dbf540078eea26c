//! Pairs that share no element, one way: what a bus does when no port is asked for twice.

use super::{Pattern, reads};

/// Worker 0 reads from 1, 2 from 3 and so on.
pub const PATTERN: Pattern = Pattern {
    name: "disjoint",
    about: "pairs that share no element, one way: 0<-1, 2<-3 ..",
    sets: |shape| {
        let w = shape.workers_of_a_chip(PATTERN.name, 2)?;
        Ok(vec![w.chunks_exact(2).map(|two| reads(two[0], two[1])).collect()])
    },
};
