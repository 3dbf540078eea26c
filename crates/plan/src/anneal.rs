//! Annealing on the total overload against a target period.
//!
//! The search asks for a period, between the best found and the bound, and lowers the overload against it. When the
//! overload is gone, the mapping *is* a better one, and the next target is nearer to the bound; when a round ends
//! without that, the next target is nearer to the best. Rounds have lengths that depend on the graph and on nothing
//! else, so that a run of so many moves is the beginning of every longer one. A search that a clock stopped is repeated
//! by its number of moves.

use crate::best::Best;
use crate::branch::{MappingTree, Walked};
use crate::coarse::CoarseMachine;
use crate::flow::Flow;
use crate::state::SearchState;
use crate::{Budget, Method, Problem};
use ground::Draws;
use work::{Buffering, Mapping, TaskId};

/// What a search found.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub mapping: Mapping,
    /// Whether all mappings were tried, so that none is better.
    pub optimal: bool,
}

/// Searches from the best of `starts` (at least one) until the gap is proved or the budget is spent. Where there are
/// few tasks, and the method is not annealing alone, all mappings are enumerated beside.
pub(crate) fn anneal(
    problem: &Problem,
    flow: &Flow,
    buffering: Buffering,
    starts: &[Mapping],
    bound_ns: f64,
    budget: &mut Budget,
) -> Found {
    let tasks = problem.tasks();
    let mean_ns = (0..tasks).map(|t| problem.least_cost(t)).sum::<f64>() / tasks as f64;
    anneal_in_steps(problem, flow, buffering, starts, (bound_ns, mean_ns), budget)
}

/// [`anneal`], where a move changes the overload by about `step_ns`.
pub(crate) fn anneal_in_steps(
    problem: &Problem,
    flow: &Flow,
    buffering: Buffering,
    starts: &[Mapping],
    (bound_ns, step_ns): (f64, f64),
    budget: &mut Budget,
) -> Found {
    let (state, best) = best_of(problem, flow, buffering, starts, bound_ns);
    let draws = Draws::new(budget.options.seed);
    let form = (buffering, flow.batch);
    let mut found = Annealing { problem, form, state, best, bound_ns, step_ns, draws, coarse: None };
    let tree = match budget.options.method {
        Method::Anneal => None,
        _ => MappingTree::new(problem, buffering, flow.batch),
    };
    let optimal = problem.elements() == 1 || found.run(tree, budget);
    Found { mapping: found.best.mapping, optimal }
}

/// The best of `starts` (at least one), and a state to search on with.
pub(crate) fn best_of<'a>(
    problem: &'a Problem,
    flow: &'a Flow,
    buffering: Buffering,
    starts: &[Mapping],
    target_ns: f64,
) -> (SearchState<'a>, Best) {
    let target_ns = target_ns.max(f64::MIN_POSITIVE);
    let mut state = SearchState::new(problem, flow, buffering, starts[0].clone(), target_ns);
    let mut best = Best { mapping: Vec::new(), period: f64::INFINITY, violation: f64::INFINITY };
    for start in starts {
        state.reset(start);
        best.take(&state);
    }
    (state, best)
}

struct Annealing<'a> {
    problem: &'a Problem<'a>,
    /// The rule that sizes buffers, and instances per firing.
    form: (Buffering, u64),
    state: SearchState<'a>,
    best: Best,
    bound_ns: f64,
    /// What a move changes, about: the search is hottest at a part of that.
    step_ns: f64,
    draws: Draws,
    /// Made when it is used first.
    coarse: Option<Option<CoarseMachine>>,
}

/// Every so many rounds one starts from a search among groups of elements, which makes so many moves.
const COARSE_ROUNDS: u32 = 4;
/// Nearer to the bound, moves are better spent on single elements.
const COARSE_GAP: f64 = 0.01;
const COARSE_MOVES: u64 = 100_000;
/// A short search has no moves to spare for it: the first one comes after so many.
const COARSE_AFTER: u64 = 2 * COARSE_MOVES;

/// Moves between two rebuilds of the loads, against the drift of their sums.
const REBUILD: u64 = 1 << 18;

/// Steps of the tree before the first round of annealing.
const FIRST_STEPS: u64 = 50_000;

impl Annealing<'_> {
    /// Says whether all mappings were tried.
    fn run(&mut self, mut tree: Option<MappingTree>, budget: &mut Budget) -> bool {
        let tasks = self.problem.tasks();
        let mut length = 20_000 + 100 * tasks as u64;
        let mut steps = FIRST_STEPS;
        let mut reach = 0.5;
        let mut round = 0u32;
        loop {
            if let Some(walked) = tree.as_mut().filter(|_| !self.is_best()) {
                match self.walk(walked, steps, budget) {
                    Walked::Complete => return true,
                    Walked::Open if !walked.is_small() => tree = None,
                    Walked::Open => steps = length,
                }
            }
            if self.proved(budget) || self.bound_ns <= 0.0 || self.spent(budget) {
                return false;
            }
            let far = self.best.period * (1.0 - COARSE_GAP) > self.bound_ns;
            let coarse = far && budget.moves >= COARSE_AFTER && round % COARSE_ROUNDS == COARSE_ROUNDS - 1;
            let start = if coarse { self.coarse_start(budget) } else { None };
            let start = start.unwrap_or_else(|| self.best.mapping.clone());
            if budget.due() && self.spent(budget) {
                return false;
            }
            self.state.reset(&start);
            self.aim(reach);
            // Every third round shakes harder.
            let hot = self.step_ns * if round % 3 == 2 { 0.5 } else { 0.1 };
            let before = self.best.period;
            if !self.round(length, hot, reach, budget) {
                continue; // proved or spent
            }
            reach = if self.best.period < before { (reach * 1.5).min(0.7) } else { (reach * 0.6).max(0.002) };
            if reach <= 0.002 {
                reach = 0.5;
            }
            length += length / 8;
            round += 1;
        }
    }

    /// A mapping from a search among groups of elements; none, where there are no groups.
    fn coarse_start(&mut self, budget: &mut Budget) -> Option<Mapping> {
        let coarse = self.coarse.get_or_insert_with(|| CoarseMachine::new(self.problem)).as_ref()?;
        let left = budget.options.moves.map_or(u64::MAX, |most| most.saturating_sub(budget.moves));
        let moves = COARSE_MOVES.min(left);
        budget.moves += moves;
        coarse.start(self.form, self.bound_ns, (self.draws.bits(), moves), budget)
    }

    /// `steps` steps of the tree, or fewer when the budget is spent.
    fn walk(&mut self, tree: &mut MappingTree, steps: u64, budget: &mut Budget) -> Walked {
        for _ in 0..steps {
            if budget.due() && self.spent(budget) {
                break;
            }
            budget.moves += 1;
            if tree.step(&mut self.state, &mut self.best) == Walked::Complete {
                return Walked::Complete;
            }
        }
        Walked::Open
    }

    fn spent(&self, budget: &mut Budget) -> bool {
        budget.spent(self.best.period, self.bound_ns)
    }

    /// Whether nothing can be better.
    fn is_best(&self) -> bool {
        self.best.violation <= 0.0 && self.best.period <= self.bound_ns * (1.0 + 1e-9)
    }

    fn proved(&self, budget: &Budget) -> bool {
        self.best.violation <= 0.0 && budget.proved(self.best.period, self.bound_ns)
    }

    /// Sets the target `reach` of the way from the best period to the bound.
    fn aim(&mut self, reach: f64) {
        let best = self.best.period;
        let target = if self.best.violation > 0.0 { best } else { best - (best - self.bound_ns) * reach };
        self.state.set_target(target.max(f64::MIN_POSITIVE));
    }

    /// `length` moves, cooling from `hot` ns to nothing; false when the budget is spent before the end.
    fn round(&mut self, length: u64, hot: f64, reach: f64, budget: &mut Budget) -> bool {
        let mut least = self.state.overload;
        let mut step = 0;
        while step < length {
            let end = length.min(step + 64);
            let left = 1.0 - step as f64 / length as f64;
            let temperature = hot * left * left * left;
            while step < end {
                step += 1;
                budget.moves += 1;
                let threshold = temperature * self.draws.exponential();
                let kept = self.propose(threshold);
                if kept && self.state.overload < least {
                    least = self.state.overload;
                    if self.best.take(&self.state) {
                        if self.proved(budget) {
                            return false;
                        }
                        if self.state.overload <= 1e-9 * self.best.period {
                            self.aim(reach);
                            least = self.state.overload;
                        }
                    }
                }
                if budget.moves.is_multiple_of(REBUILD) {
                    self.state.rebuild();
                }
                if budget.due() && self.spent(budget) {
                    return false;
                }
            }
        }
        true
    }

    /// One move: a task to a random element, to a neighbour's, or from a loaded element to a less loaded one; or two
    /// tasks change places.
    fn propose(&mut self, threshold: f64) -> bool {
        let problem = self.problem;
        let (tasks, elements) = (problem.tasks(), problem.elements());
        let sort = self.draws.below(8);
        let task = if sort < 4 { self.draws.below(tasks) } else { self.loaded_task() };
        match sort {
            0 | 4 => {
                let to = self.draws.below(elements);
                self.state.try_move(&[(task, to)], threshold)
            }
            1 | 5 => match self.neighbour(task) {
                Some(other) => {
                    let to = self.state.mapping[other];
                    self.state.try_move(&[(task, to)], threshold)
                }
                None => false,
            },
            2 | 6 => {
                let (a, b) = (self.draws.below(elements), self.draws.below(elements));
                let to = if self.state.compute(a) <= self.state.compute(b) { a } else { b };
                self.state.try_move(&[(task, to)], threshold)
            }
            _ => {
                let other = self.draws.below(tasks);
                let (a, b) = (self.state.mapping[task], self.state.mapping[other]);
                a != b && self.state.try_move(&[(task, b), (other, a)], threshold)
            }
        }
    }

    /// Of two random tasks the one on the more loaded element.
    fn loaded_task(&mut self) -> TaskId {
        let (a, b) = (self.draws.below(self.problem.tasks()), self.draws.below(self.problem.tasks()));
        let load = |t: TaskId| self.state.compute(self.state.mapping[t]);
        if load(a) >= load(b) { a } else { b }
    }

    /// A random task that shares a broadcast with `task`.
    fn neighbour(&mut self, task: TaskId) -> Option<TaskId> {
        let (out, into) = (&self.problem.produces[task], &self.problem.consumes[task]);
        if out.len() + into.len() == 0 {
            return None;
        }
        let i = self.draws.below(out.len() + into.len());
        if i < out.len() {
            let to = &self.problem.broadcasts[out[i]].to;
            Some(to[self.draws.below(to.len())])
        } else {
            Some(self.problem.broadcasts[into[i - out.len()]].from)
        }
    }
}
