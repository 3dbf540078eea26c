//! The first with the last, the second with the last but one: `streaming-schedule` 3.1.2, where everything overlaps.

use super::{Pattern, both};

/// On each chip that takes part, worker i and worker n - 1 - i.
pub const PATTERN: Pattern = Pattern {
    name: "far",
    about: "pairs far apart, each reads from the other: 0<-7, 7<-0, 1<-6 ..",
    sets: |shape| {
        let w = shape.workers_of_a_chip(PATTERN.name, 2)?;
        let chip = |e: &usize| shape.machine.elements[*e].place.chip;
        let of_chip = |on: &[usize]| {
            let n = on.len();
            (0..n / 2).flat_map(|i| both(on[i], on[n - 1 - i])).collect::<Vec<_>>()
        };
        Ok(vec![w.chunk_by(|a, b| chip(a) == chip(b)).flat_map(of_chip).collect()])
    },
};
