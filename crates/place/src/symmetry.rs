//! Symmetries of the seats, tested and not assumed.
//!
//! Two seats are interchangeable when swapping them changes no mapping's cost. Seats that any tested symmetry turns
//! into one another form an orbit: for the first part, one seat of each orbit is enough.

use crate::Objective;

/// Beyond so many seats nothing is tested: no search goes through all mappings of them.
const TESTED_SEATS_MAX: usize = 40;

/// What is known of the seats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symmetry {
    /// Of each seat: the lowest seat that it can be swapped with.
    pub class: Vec<usize>,
    /// Of each seat: the lowest seat of its orbit.
    pub orbit: Vec<usize>,
}

impl Symmetry {
    /// None: every seat is different from every other.
    pub fn none(seats: usize) -> Self {
        let own: Vec<usize> = (0..seats).collect();
        Self { class: own.clone(), orbit: own }
    }

    /// Any seat is as good as any other for the first part: the assumption of `affinity-model`, by which it tries 7!
    /// affinities of the 8!. Tested nowhere.
    pub fn rotation(seats: usize) -> Self {
        Self { orbit: vec![0; seats], ..Self::none(seats) }
    }

    /// What the objective keeps to: swaps of any two seats, and the symmetries that it thinks likely.
    pub fn tested(objective: &dyn Objective) -> Self {
        let seats = objective.seats();
        let mut found = Self::none(seats);
        if seats > TESTED_SEATS_MAX {
            return found;
        }
        let mut permutation: Vec<usize> = (0..seats).collect();
        for seat in 0..seats {
            let lowest = (0..seat).filter(|&other| found.class[other] == other).find(|&other| {
                permutation.swap(seat, other);
                let keeps = objective.keeps(&permutation);
                permutation.swap(seat, other);
                keeps
            });
            found.class[seat] = lowest.unwrap_or(seat);
        }
        found.orbit = found.class.clone();
        for permutation in objective.likely_symmetries() {
            if objective.keeps(&permutation) {
                found.join(&permutation);
            }
        }
        found
    }

    /// Unites the orbits that a symmetry turns into one another.
    fn join(&mut self, permutation: &[usize]) {
        for (seat, &other) in permutation.iter().enumerate() {
            let (a, b) = (self.orbit[seat], self.orbit[other]);
            self.orbit.iter_mut().filter(|orbit| **orbit == a.max(b)).for_each(|orbit| *orbit = a.min(b));
        }
    }

    /// Whether a search tries the seat for a part, given the seats that the parts before it have taken: of equal seats
    /// the lowest stands for the others.
    pub(crate) fn tries(&self, part: usize, seat: usize, taken: &[bool]) -> bool {
        let class = self.class[seat];
        !taken[seat]
            && (part > 0 || self.orbit[seat] == seat)
            && !(class..seat).any(|other| self.class[other] == class && !taken[other])
    }

    /// Seats in the orbit of a seat.
    pub(crate) fn orbit_size(&self, seat: usize) -> usize {
        self.orbit.iter().filter(|&&orbit| orbit == self.orbit[seat]).count()
    }

    /// How many mappings of so many parts are left when those that are equal by symmetry are tried once.
    pub fn mappings(&self, parts: usize) -> f64 {
        // Words of `parts` letters over the classes, each at most as often as it has seats: the coefficients of the
        // product of truncated exponential series.
        let seats = self.class.len();
        let sizes = |class: usize| self.class.iter().filter(|&&c| c == class).count();
        let classes: Vec<usize> = (0..seats).filter(|&seat| self.class[seat] == seat).map(sizes).collect();
        let mut series = vec![0.0; parts + 1];
        series[0] = 1.0;
        for &size in &classes {
            let mut next = vec![0.0; parts + 1];
            for (at, value) in series.iter().enumerate() {
                let mut term = *value;
                for used in 0..=size.min(parts - at) {
                    term /= (used as f64).max(1.0);
                    next[at + used] += term;
                }
            }
            series = next;
        }
        let words = (1..=parts).fold(series[parts], |product, i| product * i as f64);
        let orbits = (0..seats).filter(|&seat| self.orbit[seat] == seat).count();
        words * orbits as f64 / classes.len().max(1) as f64
    }
}
