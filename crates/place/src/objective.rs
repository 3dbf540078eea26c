//! What a mapping costs: the trait that every search asks.
//!
//! Searches know seats, the elements that parts may get, counted from 0. A mapping gives each part a seat of its own;
//! an order gives every seat to somebody: its first entries are the mapping, the others are seats left empty.

/// What a mapping costs. The smaller the better.
pub trait Objective {
    /// Parts that are placed.
    fn parts(&self) -> usize;

    /// Seats that there are; at least as many.
    fn seats(&self) -> usize;

    /// What costs are counted in.
    fn unit(&self) -> &'static str;

    /// The cost of a mapping of all parts.
    fn cost(&mut self, mapping: &[usize]) -> f64;

    /// What every mapping that begins like this costs at least.
    fn at_least(&mut self, first: &[usize]) -> f64 {
        let _ = first;
        0.0
    }

    /// What the order costs, which costs `now`, after its entries `a` and `b` have been swapped. The order stays as it
    /// is.
    fn swapped(&mut self, order: &mut [usize], a: usize, b: usize, now: f64) -> f64 {
        let _ = now;
        order.swap(a, b);
        let cost = self.cost(&order[..self.parts()]);
        order.swap(a, b);
        cost
    }

    /// Flows that `swapped` looks at, roughly: searches make fewer moves where each is much work.
    fn flows_of_a_move(&self) -> f64 {
        self.partners().iter().map(Vec::len).sum::<usize>() as f64
    }

    /// Whether every mapping costs the same after seat i of each part has become seat `permutation[i]`. False where
    /// that is not certain.
    fn keeps(&self, permutation: &[usize]) -> bool;

    /// Permutations of the seats that may keep costs, beside the swaps of two seats; each is tested.
    fn likely_symmetries(&self) -> Vec<Vec<usize>> {
        Vec::new()
    }

    /// Of each part, the others that it exchanges bytes with.
    fn partners(&self) -> &[Vec<(usize, f64)>];

    /// How far apart two seats are, in any unit: where a search looks first.
    fn steps(&self, a: usize, b: usize) -> f64;
}
