//! The link between two chips: `streaming-schedule` 3.1.2, limits (7) to (9).

use super::{Pattern, reads};

/// Three sets: chip 0 reads from chip 1, chip 1 from chip 0, both at once; worker i of one and worker i of the other.
pub const PATTERN: Pattern = Pattern {
    name: "cross-chip",
    about: "chip 0 reads from chip 1, chip 1 from chip 0, both at once",
    sets: |shape| {
        let (first, second) = shape.halves(PATTERN.name)?;
        let pairs = || first.iter().copied().zip(second.iter().copied());
        let there: Vec<_> = pairs().map(|(a, b)| reads(a, b)).collect();
        let back: Vec<_> = pairs().map(|(a, b)| reads(b, a)).collect();
        Ok(vec![there.clone(), back.clone(), there.into_iter().chain(back).collect()])
    },
};
