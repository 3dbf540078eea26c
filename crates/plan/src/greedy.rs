//! GREEDY: communication-unaware load balancing, Algorithm 1 of `streaming-schedule`.
//!
//! Its PPEs are the elements whose role is general, its SPEs all others. Without general elements only the first half
//! is left, which puts each task on the element that is done with it first.
//!
//! Settled: `LS - code` is what memory leaves to buffers; the second half moves a task only when the general element
//! stays strictly below the other, and the printed second condition is always true; ties go to the lowest index; a task
//! without cost on general elements has affinity 0 to them, and one that costs nothing there has infinite affinity.

use crate::Problem;
use machine::Role;
use work::{Mapping, TaskId};

/// The elements on both sides of the algorithm.
struct Sides {
    /// The algorithm's SPEs: they do most of the work.
    workers: Vec<usize>,
    /// The algorithm's PPEs: they take what does not fit.
    general: Vec<usize>,
}

impl Sides {
    fn of(problem: &Problem) -> Sides {
        let (general, workers) = (0..problem.elements()).partition(|&e| problem.role_of[e] == Role::General);
        Sides { workers, general }
    }
}

/// Maps by Algorithm 1.
pub fn greedy(problem: &Problem, batch: u64) -> Mapping {
    let buffers = problem.duplicated_bytes(batch);
    let sides = Sides::of(problem);
    let n = problem.elements();
    let mut load =
        Loads { work: vec![0.0; n], memory: vec![0.0; n], mapping: vec![usize::MAX; problem.tasks()] };

    let mut order: Vec<TaskId> = (0..problem.tasks()).collect();
    let affinity: Vec<f64> = order.iter().map(|&t| affinity(problem, &sides, t)).collect();
    if sides.general.is_empty() {
        // Nothing to prefer: the heaviest first, as Algorithm 2 does.
        order.sort_by(|&a, &b| problem.least_cost(b).total_cmp(&problem.least_cost(a)));
    } else {
        order.sort_by(|&a, &b| affinity[a].total_cmp(&affinity[b]));
    }
    let same_kind = sides.workers.iter().all(|&e| problem.kind_of[e] == problem.kind_of[sides.workers[0]]);
    for &task in &order {
        let fits = |e: &usize| {
            problem.cost_on(task, *e).is_finite()
                && problem.room[*e].is_none_or(|room| load.memory[*e] + buffers[task] <= room)
        };
        // Workers of different kinds are compared by when they would be done.
        let done = |e: usize| load.work[e] + if same_kind { 0.0 } else { problem.cost_on(task, e) };
        let worker = least(sides.workers.iter().copied().filter(fits), done);
        let general = || {
            least(sides.general.iter().copied().filter(|&e| problem.cost_on(task, e).is_finite()), |e| {
                load.work[e]
            })
        };
        // Where nothing fits, the least loaded element that can run it takes it, and the plan is said to be infeasible.
        let any =
            || least((0..n).filter(|&e| problem.cost_on(task, e).is_finite()), |e| load.work[e]).unwrap_or(0);
        let on = worker.or_else(general).unwrap_or_else(any);
        load.add(problem, &buffers, task, on);
    }
    fill_general(problem, &sides, &buffers, &affinity, &mut load);
    load.mapping
}

struct Loads {
    work: Vec<f64>,
    memory: Vec<f64>,
    mapping: Mapping,
}

impl Loads {
    fn add(&mut self, problem: &Problem, buffers: &[f64], task: TaskId, on: usize) {
        self.mapping[task] = on;
        self.work[on] += problem.cost_on(task, on);
        self.memory[on] += buffers[task];
    }
}

/// The second half: general elements that are underused take tasks with affinity to them.
fn fill_general(problem: &Problem, sides: &Sides, buffers: &[f64], affinity: &[f64], load: &mut Loads) {
    if sides.general.is_empty() || sides.workers.is_empty() {
        return;
    }
    loop {
        let most = |list: &[usize], work: &[f64]| list.iter().fold(0.0, |m: f64, &e| m.max(work[e]));
        if most(&sides.general, &load.work) >= most(&sides.workers, &load.work) {
            return;
        }
        let Some(from) = least(sides.workers.iter().copied(), |e| -load.work[e]) else { return };
        let Some(to) = least(sides.general.iter().copied(), |e| load.work[e]) else { return };
        let mut tasks: Vec<TaskId> = (0..problem.tasks()).filter(|&t| load.mapping[t] == from).collect();
        tasks.sort_by(|&a, &b| affinity[b].total_cmp(&affinity[a]));
        let moved = tasks.into_iter().find(|&t| load.work[to] + problem.cost_on(t, to) < load.work[from]);
        let Some(task) = moved else { return };
        load.work[from] -= problem.cost_on(task, from);
        load.memory[from] -= buffers[task];
        load.add(problem, buffers, task, to);
    }
}

/// The least cost on a worker by that on a general element: `wSPE / wPPE`.
fn affinity(problem: &Problem, sides: &Sides, task: TaskId) -> f64 {
    let on = |list: &[usize]| list.iter().map(|&e| problem.cost_on(task, e)).fold(f64::INFINITY, f64::min);
    let (worker, general) = (on(&sides.workers), on(&sides.general));
    match (worker.is_finite(), general.is_finite()) {
        (false, _) => f64::INFINITY,
        (true, false) => 0.0,
        (true, true) if general == 0.0 => f64::INFINITY,
        (true, true) => worker / general,
    }
}

/// The item with the least `key`; of equal ones the first.
pub(crate) fn least(items: impl Iterator<Item = usize>, key: impl Fn(usize) -> f64) -> Option<usize> {
    let mut best: Option<(f64, usize)> = None;
    for item in items {
        let k = key(item);
        if best.is_none_or(|(b, _)| k < b) {
            best = Some((k, item));
        }
    }
    best.map(|(_, item)| item)
}
