//! DELEGATE: iterative refinement by moving neighbourhoods, Algorithms 6 and 7 of `streaming-schedule`.
//!
//! Settled: neighbourhoods are undirected balls of radius 0 .. dmax; CELLGREEDYSET runs on the whole task list of every
//! set that a move changes, also of one that loses tasks; scores are sorted lists of femtoseconds, compared as
//! integers; ties keep the first (task, radius, resource). On a machine without PPEs everything starts on the first
//! set.
//!
//! A move whose score would be no better even if its sets were balanced perfectly is not balanced at all: the result is
//! the same, and most moves are of this sort.

use crate::Problem;
use crate::cluster::spread;
use crate::sets::{Resource, Resources, Weights, greedy_set};
use work::{Mapping, TaskId};

/// Maps by Algorithms 6 and 7. Returns the mapping and the number of moves that were evaluated.
///
/// `dmax` is the largest radius; `read_back_bytes_per_s` replaces the capacity of the links from SPEs to their PPE.
/// `go_on` hears of the number of moves now and then; when it says no, the mapping so far is returned.
pub fn delegate(
    problem: &Problem,
    batch: u64,
    dmax: usize,
    read_back_bytes_per_s: Option<f64>,
    go_on: &mut dyn FnMut(u64) -> bool,
) -> (Mapping, u64) {
    let buffers = problem.duplicated_bytes(batch);
    let resources = Resources::new(problem, read_back_bytes_per_s);
    let weights = Weights::new(problem, &resources);
    let balls = balls(problem, dmax);
    let mut search = Delegation {
        problem,
        resources: &resources,
        weights: &weights,
        buffers: &buffers,
        resource_of: vec![0; problem.tasks()],
        compute: Vec::new(),
        bytes: vec![0.0; resources.list.len() * resources.list.len()],
    };
    let everything: Vec<usize> = (0..problem.broadcasts.len()).collect();
    search.compute = (0..resources.list.len()).map(|r| search.balance(r, &search.resource_of)).collect();
    search.count(&everything, 1.0);
    let mut evaluated = 0;
    let mut score = search.score(&search.compute, &search.bytes);
    loop {
        let mut best: Option<(Vec<u64>, usize, usize)> = None;
        for (id, ball) in balls.iter().enumerate() {
            if !go_on(evaluated) {
                break;
            }
            for to in 0..resources.list.len() {
                if ball.tasks.iter().all(|&t| search.resource_of[t] == to) {
                    continue;
                }
                evaluated += 1;
                let against = best.as_ref().map_or(&score, |b| &b.0);
                if let Some(new) = search.evaluate(ball, to, against) {
                    best = Some((new, id, to));
                }
            }
        }
        let Some((new, id, to)) = best.filter(|_| go_on(evaluated)) else { break };
        search.apply(&balls[id], to);
        score = new;
    }
    (spread(problem, &resources, &weights, &buffers, &search.resource_of), evaluated)
}

/// A neighbourhood, and the broadcasts that touch it.
struct Ball {
    tasks: Vec<TaskId>,
    broadcasts: Vec<usize>,
}

/// Balls of radius 0 .. dmax around every task; one that is no larger than the last is left out, for it cannot win.
fn balls(problem: &Problem, dmax: usize) -> Vec<Ball> {
    let n = problem.tasks();
    let mut near: Vec<Vec<TaskId>> = vec![Vec::new(); n];
    for edge in &problem.graph.edges {
        near[edge.from.task].push(edge.to.task);
        near[edge.to.task].push(edge.from.task);
    }
    let mut list = Vec::new();
    let mut seen = vec![usize::MAX; n];
    for centre in 0..n {
        let mut tasks = vec![centre];
        seen[centre] = centre;
        let mut edge_of_ball = 0;
        for radius in 0..=dmax {
            if radius > 0 {
                let end = tasks.len();
                for i in edge_of_ball..end {
                    for &other in &near[tasks[i]] {
                        if seen[other] != centre {
                            seen[other] = centre;
                            tasks.push(other);
                        }
                    }
                }
                edge_of_ball = end;
                if tasks.len() == end {
                    break;
                }
            }
            let mut touched: Vec<usize> = tasks
                .iter()
                .flat_map(|&t| problem.produces[t].iter().chain(&problem.consumes[t]))
                .copied()
                .collect();
            touched.sort_unstable();
            touched.dedup();
            list.push(Ball { tasks: tasks.clone(), broadcasts: touched });
        }
    }
    list
}

struct Delegation<'a> {
    problem: &'a Problem<'a>,
    resources: &'a Resources,
    weights: &'a Weights,
    buffers: &'a [f64],
    resource_of: Vec<usize>,
    /// Per resource, femtoseconds; `u64::MAX` = CELLGREEDYSET failed.
    compute: Vec<u64>,
    /// `bytes[from * resources + to]`; whole numbers, so that adding and taking away is exact.
    bytes: Vec<f64>,
}

impl Delegation<'_> {
    /// Computation time of resource `r`.
    fn balance(&self, r: usize, resource_of: &[usize]) -> u64 {
        let tasks = self.weights.heaviest[r].iter().copied().filter(|&t| resource_of[t] == r);
        match &self.resources.list[r] {
            Resource::Single(_) => tasks.fold(0u64, |s, t| s.saturating_add(self.weights.fs[r][t])),
            Resource::Set(set) => {
                greedy_set(&self.weights.fs[r], self.buffers, &self.problem.room, set, tasks, |_, _| ())
                    .unwrap_or(u64::MAX)
            }
        }
    }

    /// What [`Delegation::balance`] is at least.
    fn at_least(&self, r: usize, resource_of: &[usize]) -> u64 {
        let (mut sum, mut most) = (0u64, 0u64);
        for t in (0..resource_of.len()).filter(|&t| resource_of[t] == r) {
            sum = sum.saturating_add(self.weights.fs[r][t]);
            most = most.max(self.weights.fs[r][t]);
        }
        match &self.resources.list[r] {
            Resource::Single(_) => sum,
            Resource::Set(set) => most.max(sum.div_ceil(set.len() as u64)),
        }
    }

    /// Adds (`sign` 1) or takes away (-1) the bytes of broadcasts.
    fn count(&mut self, broadcasts: &[usize], sign: f64) {
        let n = self.resources.list.len();
        for &id in broadcasts {
            let broadcast = &self.problem.broadcasts[id];
            let from = self.resource_of[broadcast.from];
            for (i, &task) in broadcast.to.iter().enumerate() {
                let to = self.resource_of[task];
                let first = broadcast.to[..i].iter().all(|&other| self.resource_of[other] != to);
                if to != from && first {
                    self.bytes[from * n + to] += sign * broadcast.bytes as f64;
                }
            }
        }
    }

    /// Algorithm 6: contributions, largest first.
    fn score(&self, compute: &[u64], bytes: &[f64]) -> Vec<u64> {
        let mut score = compute.to_vec();
        for link in &self.resources.links {
            let sum: f64 = link.uses.iter().map(|&pair| bytes[pair]).sum();
            score.push((sum * link.fs_per_byte).round() as u64);
        }
        score.sort_unstable_by(|a, b| b.cmp(a));
        score
    }

    /// The score of moving `ball` to resource `to`, if it is less than `against`.
    fn evaluate(&mut self, ball: &Ball, to: usize, against: &[u64]) -> Option<Vec<u64>> {
        let before: Vec<usize> = ball.tasks.iter().map(|&t| self.resource_of[t]).collect();
        let changed: Vec<usize> =
            (0..self.resources.list.len()).filter(|r| *r == to || before.contains(r)).collect();
        self.count(&ball.broadcasts, -1.0);
        ball.tasks.iter().for_each(|&t| self.resource_of[t] = to);
        self.count(&ball.broadcasts, 1.0);

        let mut compute = self.compute.clone();
        for &r in &changed {
            compute[r] = self.at_least(r, &self.resource_of);
        }
        let mut better = None;
        if self.score(&compute, &self.bytes).as_slice() < against {
            for &r in &changed {
                compute[r] = self.balance(r, &self.resource_of);
            }
            let score = self.score(&compute, &self.bytes);
            better = Some(score).filter(|s| s.as_slice() < against);
        }

        self.count(&ball.broadcasts, -1.0);
        ball.tasks.iter().zip(&before).for_each(|(&t, &r)| self.resource_of[t] = r);
        self.count(&ball.broadcasts, 1.0);
        better
    }

    fn apply(&mut self, ball: &Ball, to: usize) {
        self.count(&ball.broadcasts, -1.0);
        ball.tasks.iter().for_each(|&t| self.resource_of[t] = to);
        self.count(&ball.broadcasts, 1.0);
        self.compute = (0..self.resources.list.len()).map(|r| self.balance(r, &self.resource_of)).collect();
    }
}
