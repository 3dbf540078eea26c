//! Every mapping, those that a symmetry makes equal once.

use crate::{Objective, Symmetry};

/// Costs of all mappings.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Everything {
    /// The first of the best mappings.
    pub(crate) best: Vec<usize>,
    /// The first of the worst.
    pub(crate) worst: Vec<usize>,
    /// Costs, and for how many mappings each stands, in rising order.
    pub(crate) costs: Vec<(f64, f64)>,
}

/// Tries them all, or returns nothing when `go_on` says so, which is asked now and then with the number of mappings
/// tried.
pub(crate) fn exhaustive(
    objective: &mut dyn Objective,
    symmetry: &Symmetry,
    go_on: &mut dyn FnMut(u64) -> bool,
) -> Option<Everything> {
    let seats = objective.seats();
    let mut class_free = vec![0; seats];
    symmetry.class.iter().for_each(|&class| class_free[class] += 1);
    let mut walk = EveryMapping {
        parts: objective.parts(),
        objective,
        symmetry,
        go_on,
        mapping: Vec::new(),
        taken: vec![false; seats],
        class_free,
        best: (f64::INFINITY, Vec::new()),
        worst: (f64::NEG_INFINITY, Vec::new()),
        costs: Vec::new(),
    };
    if !walk.seat_next(1.0) {
        return None;
    }
    let EveryMapping { best, worst, mut costs, .. } = walk;
    costs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    Some(Everything { best: best.1, worst: worst.1, costs })
}

/// Mappings between two questions whether to go on.
const BETWEEN_QUESTIONS: usize = 4096;

struct EveryMapping<'a> {
    parts: usize,
    objective: &'a mut dyn Objective,
    symmetry: &'a Symmetry,
    go_on: &'a mut dyn FnMut(u64) -> bool,
    mapping: Vec<usize>,
    taken: Vec<bool>,
    /// Of the lowest seat of each class: how many of the class are free.
    class_free: Vec<usize>,
    best: (f64, Vec<usize>),
    worst: (f64, Vec<usize>),
    costs: Vec<(f64, f64)>,
}

impl EveryMapping<'_> {
    /// Seats the next part; `stands_for` mappings are equal to this one so far. False: stopped.
    fn seat_next(&mut self, stands_for: f64) -> bool {
        let part = self.mapping.len();
        if part == self.parts {
            let cost = self.objective.cost(&self.mapping);
            if cost < self.best.0 {
                self.best = (cost, self.mapping.clone());
            }
            if cost > self.worst.0 {
                self.worst = (cost, self.mapping.clone());
            }
            self.costs.push((cost, stands_for));
            return !self.costs.len().is_multiple_of(BETWEEN_QUESTIONS)
                || (self.go_on)(self.costs.len() as u64);
        }
        for seat in 0..self.taken.len() {
            if !self.symmetry.tries(part, seat, &self.taken) {
                continue;
            }
            let class = self.symmetry.class[seat];
            let equal = if part == 0 { self.symmetry.orbit_size(seat) } else { self.class_free[class] };
            self.taken[seat] = true;
            self.class_free[class] -= 1;
            self.mapping.push(seat);
            let goes_on = self.seat_next(stands_for * equal as f64);
            self.mapping.pop();
            self.class_free[class] += 1;
            self.taken[seat] = false;
            if !goes_on {
                return false;
            }
        }
        true
    }
}
