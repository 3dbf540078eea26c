//! Search by swaps: descent for a quick answer, annealing for a good one.

use crate::Objective;
use ground::Draws;

/// Rounds of a descent; each goes through all pairs.
const ROUNDS_MAX: usize = 20;
/// Swaps that are drawn to learn how much a swap changes.
const SCOUTS: usize = 200;
/// The last temperature, as a part of the first.
const COOLED: f64 = 1e-3;
/// Moves between two questions whether to go on.
const BETWEEN_QUESTIONS: u64 = 16_384;
/// How many of the seats around a partner are tried.
const NEAR_SEATS: usize = 8;

/// Swaps two entries of an order as long as that makes it better. Gives its cost.
pub(crate) fn descend(objective: &mut dyn Objective, order: &mut [usize]) -> f64 {
    let parts = objective.parts();
    let mut cost = objective.cost(&order[..parts]);
    for _ in 0..ROUNDS_MAX {
        let before = cost;
        for a in 0..parts {
            for b in a + 1..order.len() {
                let after = objective.swapped(order, a, b, cost);
                if is_less(after, cost) {
                    order.swap(a, b);
                    cost = after;
                }
            }
        }
        if !is_less(cost, before) {
            break;
        }
    }
    objective.cost(&order[..parts])
}

/// How to anneal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Annealing {
    /// Swaps that are tried.
    pub(crate) moves: u64,
    /// Of the draws.
    pub(crate) seed: u64,
    /// The first temperature, as a part of what a random swap changes.
    pub(crate) heat: f64,
}

/// Anneals an order; leaves the best one found, and gives its cost. `go_on` is asked now and then with the number of
/// moves made.
pub(crate) fn anneal(
    objective: &mut dyn Objective,
    order: &mut Vec<usize>,
    annealing: Annealing,
    go_on: &mut dyn FnMut(u64) -> bool,
) -> f64 {
    let (parts, seats) = (objective.parts(), order.len());
    let mut cost = objective.cost(&order[..parts]);
    let mut best = (cost, order.clone());
    let mut draws = Draws::new(annealing.seed);
    let busy: Vec<usize> = (0..parts).filter(|&part| !objective.partners()[part].is_empty()).collect();
    if seats < 2 || busy.is_empty() {
        return cost;
    }
    let near = near_seats(objective);
    let mut holder = vec![0; seats];
    order.iter().enumerate().for_each(|(at, &seat)| holder[seat] = at);
    let mut heat = 0.0;
    for _ in 0..SCOUTS {
        let (a, b) = (busy[draws.below(busy.len())], draws.below(seats));
        if a != b {
            heat += (objective.swapped(order, a, b, cost) - cost).abs() / SCOUTS as f64;
        }
    }
    let first = (heat * annealing.heat).max(f64::MIN_POSITIVE);
    let cooling =
        COOLED.powf(BETWEEN_QUESTIONS.min(annealing.moves.max(1)) as f64 / annealing.moves.max(1) as f64);
    let mut temperature = first;
    for made in 0..annealing.moves {
        if made % BETWEEN_QUESTIONS == 0 && made > 0 {
            temperature *= cooling;
            // Sums of differences drift.
            cost = objective.cost(&order[..parts]);
            if !go_on(made) {
                break;
            }
        }
        let a = busy[draws.below(busy.len())];
        // Every second move goes near a partner: elsewhere most moves are refused.
        let b = if draws.bits() & 1 == 0 {
            draws.below(seats)
        } else {
            let partners = &objective.partners()[a];
            let partner = order[partners[draws.below(partners.len())].0];
            holder[near[partner][draws.below(near[partner].len())]]
        };
        if a == b {
            continue;
        }
        let after = objective.swapped(order, a, b, cost);
        if after <= cost || after - cost < temperature * draws.exponential() {
            holder.swap(order[a], order[b]);
            order.swap(a, b);
            cost = after;
            if is_less(cost, best.0) {
                best.0 = cost;
                best.1.copy_from_slice(order);
            }
        }
    }
    *order = best.1;
    descend(objective, order)
}

/// Of each seat, those that are nearest to it.
fn near_seats(objective: &dyn Objective) -> Vec<Vec<usize>> {
    let seats = objective.seats();
    let near = |seat: usize| {
        let mut others: Vec<usize> = (0..seats).filter(|&other| other != seat).collect();
        others.sort_by(|&a, &b| objective.steps(seat, a).total_cmp(&objective.steps(seat, b)));
        others.truncate(NEAR_SEATS);
        others
    };
    (0..seats).map(near).collect()
}

/// Whether a cost is less by more than rounding.
fn is_less(a: f64, b: f64) -> bool {
    a < b - b.abs() * 1e-12
}
