//! Branch and bound: the tree of all mappings, without the branches that cannot hold a better one.

use crate::{Objective, Symmetry};

/// What a search through the tree found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Branched {
    /// The best mapping, and its cost.
    pub(crate) best: (f64, Vec<usize>),
    /// No mapping costs less. As much as the best costs when the tree was searched to its end.
    pub(crate) bound: f64,
    /// Mappings and beginnings of mappings that were looked at.
    pub(crate) evaluated: u64,
}

/// Searches the tree from a mapping that is known, through at most `nodes` nodes. `go_on` is asked now and then with
/// the number of nodes.
pub(crate) fn branch(
    objective: &mut dyn Objective,
    symmetry: &Symmetry,
    known: Vec<usize>,
    nodes: u64,
    go_on: &mut dyn FnMut(u64) -> bool,
) -> Branched {
    let cost = objective.cost(&known);
    let root = objective.at_least(&[]);
    let (parts, seats) = (objective.parts(), objective.seats());
    let mut tree = Tree {
        parts,
        objective,
        symmetry,
        go_on,
        mapping: Vec::new(),
        taken: vec![false; seats],
        best: (cost, known),
        evaluated: 0,
        nodes,
    };
    let left = tree.go_down(root);
    let Tree { best, evaluated, .. } = tree;
    let bound = left.min(best.0).max(root.min(best.0));
    Branched { best, bound, evaluated }
}

/// Nodes between two questions whether to go on.
const BETWEEN_QUESTIONS: u64 = 4096;

struct Tree<'a> {
    parts: usize,
    objective: &'a mut dyn Objective,
    symmetry: &'a Symmetry,
    go_on: &'a mut dyn FnMut(u64) -> bool,
    mapping: Vec<usize>,
    taken: Vec<bool>,
    best: (f64, Vec<usize>),
    evaluated: u64,
    /// Nodes that may be looked at.
    nodes: u64,
}

impl Tree<'_> {
    /// Searches below a beginning that costs at least `bound`. Gives the least bound of the branches that it had no
    /// time for; infinite when there are none.
    fn go_down(&mut self, bound: f64) -> f64 {
        if !self.is_better(bound) {
            return f64::INFINITY;
        }
        if self.mapping.len() == self.parts {
            self.best = (bound, self.mapping.clone());
            return f64::INFINITY;
        }
        let part = self.mapping.len();
        let mut children: Vec<(f64, usize)> = Vec::new();
        for seat in 0..self.taken.len() {
            if self.symmetry.tries(part, seat, &self.taken) {
                self.mapping.push(seat);
                let whole = self.mapping.len() == self.parts;
                let cost = if whole {
                    self.objective.cost(&self.mapping)
                } else {
                    self.objective.at_least(&self.mapping)
                };
                self.mapping.pop();
                children.push((cost, seat));
                self.evaluated += 1;
            }
        }
        if self.evaluated / BETWEEN_QUESTIONS != (self.evaluated - children.len() as u64) / BETWEEN_QUESTIONS
            && !(self.go_on)(self.evaluated)
        {
            self.nodes = 0;
        }
        // The most promising first: a good mapping early cuts more.
        children.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut left = f64::INFINITY;
        for (bound, seat) in children {
            if !self.is_better(bound) {
                break;
            }
            if self.evaluated >= self.nodes {
                return left.min(bound);
            }
            self.taken[seat] = true;
            self.mapping.push(seat);
            left = left.min(self.go_down(bound));
            self.mapping.pop();
            self.taken[seat] = false;
        }
        left
    }

    /// Whether a cost is below the best one by more than rounding.
    fn is_better(&self, cost: f64) -> bool {
        cost < self.best.0 - self.best.0.abs() * 1e-12
    }
}
