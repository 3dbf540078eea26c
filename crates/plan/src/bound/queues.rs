//! A bound from DMA queues: how much work elements with queues can take from the others.
//!
//! Data that crosses between the [`TwoSides`] takes places in the queues, (17) and (18), and tasks on the workers take
//! hard memory. A few dozen prices are tried, each near the best so far.

use super::network::Network;
use super::sides::{SidePrices, TwoSides};
use crate::Problem;
use work::Buffering;

/// Graphs need this many times as many broadcasts as there are places in the queues: else these hardly bound anything.
const CROWDED: f64 = 2.0;
/// Arcs that all cuts together go over, about: it keeps the bound to a second or two.
const MOST_ARCS: usize = 2_000_000;

/// ns per instance that no feasible mapping can beat; 0 where the machine has no queues, or none that are short.
pub(crate) fn bound(problem: &Problem, batch: u64, buffering: Buffering) -> f64 {
    let sides = TwoSides::new(problem, batch, buffering);
    let broadcasts = problem.broadcasts.len() as f64;
    sides.filter(|sides| broadcasts >= CROWDED * sides.places()).map_or(0.0, |sides| best(&sides, problem))
}

/// [`bound`] where the queues are not short, too.
#[cfg(test)]
pub(crate) fn bound_of_all(problem: &Problem, batch: u64, buffering: Buffering) -> f64 {
    TwoSides::new(problem, batch, buffering).map_or(0.0, |sides| best(&sides, problem))
}

impl SidePrices {
    fn coordinate(&mut self, number: usize) -> &mut f64 {
        match number {
            0 => &mut self.computing,
            1 => &mut self.byte,
            2 => &mut self.into,
            _ => &mut self.out,
        }
    }
}

/// The best of the prices that are tried.
fn best(sides: &TwoSides, problem: &Problem) -> f64 {
    let mut graph = Network::new(problem, sides.ns_per_byte);
    let mut prices = SidePrices { computing: 0.02, byte: 1.0, into: 1.0, out: 1.0 };
    let mut best = sides.value(&prices, &mut graph);
    let mut left = (MOST_ARCS / graph.len().max(1)).clamp(4, 48);
    let mut step = 4.0;
    while left > 0 && step > 1.05 {
        let mut better = false;
        for coordinate in 0..4 {
            for factor in [step, 1.0 / step] {
                let mut tried = prices;
                *tried.coordinate(coordinate) *= factor;
                tried.computing = tried.computing.min(0.9);
                let value = sides.value(&tried, &mut graph);
                left = left.saturating_sub(1);
                if value > best {
                    (best, prices, better) = (value, tried, true);
                    break;
                }
            }
        }
        if !better {
            step = f64::sqrt(step);
        }
    }
    best.max(0.0)
}
