//! Each element reads from each other, one pair at a time: the matrices of `streaming-schedule`, appendix A.

use super::{Pattern, reads};

/// All ordered pairs, reader by reader.
pub const PATTERN: Pattern = Pattern {
    name: "all-pairs",
    about: "each element reads from each other, one pair after the other",
    sets: |shape| {
        let w = shape.workers(PATTERN.name, 2)?;
        let of = |&reader: &usize| {
            w.iter().filter(move |&&source| source != reader).map(move |&source| vec![reads(reader, source)])
        };
        Ok(w.iter().flat_map(of).collect())
    },
};
