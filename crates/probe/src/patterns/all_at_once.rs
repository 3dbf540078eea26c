//! Each element reads from each other, all at the same time: the most that a machine can be asked for.

use super::{Pattern, reads};
use crate::TargetError;
use machine::target::TRANSFERS_MAX;

/// More elements have more pairs than an experiment has transfers.
pub(crate) const ALL_AT_ONCE_MAX: usize = 64;

/// All ordered pairs; each reader takes its sources in turn, and begins with the one after it.
pub const PATTERN: Pattern = Pattern {
    name: "all-at-once",
    about: "each element reads from each other, all at the same time",
    sets: |shape| {
        let w = shape.workers(PATTERN.name, 2)?;
        let n = w.len();
        if n * (n - 1) > TRANSFERS_MAX {
            return Err(TargetError::Request(format!(
                "{}: {n} elements have {} pairs, and at most {TRANSFERS_MAX} are measured at once: choose up to \
                 {ALL_AT_ONCE_MAX} elements with --spes",
                PATTERN.name,
                n * (n - 1)
            )));
        }
        let w = &w;
        let of = |reader: usize| (1..n).map(move |step| reads(w[reader], w[(reader + step) % n]));
        Ok(vec![(0..n).flat_map(of).collect()])
    },
};
