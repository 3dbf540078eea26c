//! Each element reads from another one, drawn at random such that each is read once: a derangement.

use super::{Pattern, reads};
use ground::Draws;
use std::iter::repeat_with;

/// As many derangements as are drawn, from the seed's stream: the first ones are the same however many are drawn, and
/// the same on every computer.
pub const PATTERN: Pattern = Pattern {
    name: "random",
    about: "each reads from another one, drawn at random (--seed, --draws)",
    sets: |shape| {
        let w = shape.workers_of_a_chip(PATTERN.name, 2)?;
        let mut draws = Draws::new(shape.seed);
        let draw =
            |order: Vec<usize>| order.iter().zip(&w).map(|(&i, &reader)| reads(reader, w[i])).collect();
        Ok(repeat_with(|| derangement(w.len(), &mut draws)).take(shape.draws).map(draw).collect())
    },
};

/// An order of 0 .. n in which no number is in its own place, each as likely as any other; n is at least 2.
pub fn derangement(n: usize, draws: &mut Draws) -> Vec<usize> {
    loop {
        let mut order: Vec<usize> = (0..n).collect();
        draws.shuffle(&mut order);
        if order.iter().enumerate().all(|(i, &o)| i != o) {
            return order;
        }
    }
}
