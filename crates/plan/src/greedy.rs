//! GREEDY: communication-unaware load balancing, Algorithm 1 of `streaming-schedule`.
//!
//! Settled: `LS - code` is what memory leaves to buffers; the second half moves a task only when the PPE stays strictly
//! below the SPE, and the printed second condition is always true; ties go to the lowest index; a task without cost on
//! the PPE has affinity 0 for it, and one with `wPPE = 0` infinite affinity to the PPE.
//!
//! On a machine without SPEs and PPEs the *fast* elements are those with hard memory, and where none has any, all
//! elements: then only the first half is left, which puts each task on the element that is done with it first.

use crate::{PlanError, Problem};
use work::{Mapping, TaskId};

/// Which elements play the SPEs, and which the PPEs.
pub(crate) struct Roles {
    /// Elements with limited memory that do most of the work.
    pub fast: Vec<usize>,
    /// Elements that take what does not fit.
    pub slow: Vec<usize>,
}

impl Roles {
    /// SPEs and PPEs by kind; on another machine by hard memory; without either, all are fast.
    pub fn of(problem: &Problem) -> Roles {
        let all = 0..problem.elements();
        let kind = |name: &str| -> Vec<usize> {
            all.clone().filter(|&e| problem.machine.elements[e].kind == name).collect()
        };
        let (fast, slow) = (kind("spe"), kind("ppe"));
        if !slow.is_empty() && fast.len() + slow.len() == problem.elements() {
            return Roles { fast, slow };
        }
        let (fast, slow): (Vec<_>, Vec<_>) = all.clone().partition(|&e| problem.room[e].is_some());
        if fast.is_empty() {
            return Roles { fast: all.collect(), slow: Vec::new() };
        }
        Roles { fast, slow }
    }
}

/// Maps by Algorithm 1.
///
/// # Errors
/// When a cycle's delay is too short for the batch, so that there are no buffers to weigh.
pub fn greedy(problem: &Problem, batch: u64) -> Result<Mapping, PlanError> {
    let buffers = problem.duplicated_bytes(batch)?;
    let roles = Roles::of(problem);
    let n = problem.elements();
    let mut load =
        Load { work: vec![0.0; n], memory: vec![0.0; n], mapping: vec![usize::MAX; problem.tasks()] };

    let mut order: Vec<TaskId> = (0..problem.tasks()).collect();
    let affinity: Vec<f64> = order.iter().map(|&t| affinity(problem, &roles, t)).collect();
    if roles.slow.is_empty() {
        // Nothing to prefer: the heaviest first, as Algorithm 2 does.
        order.sort_by(|&a, &b| problem.least_cost(b).total_cmp(&problem.least_cost(a)));
    } else {
        order.sort_by(|&a, &b| affinity[a].total_cmp(&affinity[b]));
    }
    let same_kind = roles.fast.iter().all(|&e| problem.kind_of[e] == problem.kind_of[roles.fast[0]]);
    for &task in &order {
        let fits = |e: &usize| {
            problem.cost_on(task, *e).is_finite()
                && problem.room[*e].is_none_or(|room| load.memory[*e] + buffers[task] <= room)
        };
        // Unequal fast elements (no Cell has them) are told apart by when they would be done.
        let done = |e: usize| load.work[e] + if same_kind { 0.0 } else { problem.cost_on(task, e) };
        let fast = least(roles.fast.iter().copied().filter(fits), done);
        let slow = || {
            least(roles.slow.iter().copied().filter(|&e| problem.cost_on(task, e).is_finite()), |e| {
                load.work[e]
            })
        };
        // Where nothing fits, the least loaded element that can run it takes it, and the plan is said to be infeasible.
        let any =
            || least((0..n).filter(|&e| problem.cost_on(task, e).is_finite()), |e| load.work[e]).unwrap_or(0);
        let on = fast.or_else(slow).unwrap_or_else(any);
        load.add(problem, &buffers, task, on);
    }
    fill_slow(problem, &roles, &buffers, &affinity, &mut load);
    Ok(load.mapping)
}

struct Load {
    work: Vec<f64>,
    memory: Vec<f64>,
    mapping: Mapping,
}

impl Load {
    fn add(&mut self, problem: &Problem, buffers: &[f64], task: TaskId, on: usize) {
        self.mapping[task] = on;
        self.work[on] += problem.cost_on(task, on);
        self.memory[on] += buffers[task];
    }
}

/// The second half: PPEs that are underused take tasks with affinity to them.
fn fill_slow(problem: &Problem, roles: &Roles, buffers: &[f64], affinity: &[f64], load: &mut Load) {
    if roles.slow.is_empty() || roles.fast.is_empty() {
        return;
    }
    loop {
        let most = |list: &[usize], work: &[f64]| list.iter().fold(0.0, |m: f64, &e| m.max(work[e]));
        if most(&roles.slow, &load.work) >= most(&roles.fast, &load.work) {
            return;
        }
        let Some(from) = least(roles.fast.iter().copied(), |e| -load.work[e]) else { return };
        let Some(to) = least(roles.slow.iter().copied(), |e| load.work[e]) else { return };
        let mut tasks: Vec<TaskId> = (0..problem.tasks()).filter(|&t| load.mapping[t] == from).collect();
        tasks.sort_by(|&a, &b| affinity[b].total_cmp(&affinity[a]));
        let moved = tasks.into_iter().find(|&t| load.work[to] + problem.cost_on(t, to) < load.work[from]);
        let Some(task) = moved else { return };
        load.work[from] -= problem.cost_on(task, from);
        load.memory[from] -= buffers[task];
        load.add(problem, buffers, task, to);
    }
}

/// `wSPE / wPPE`.
fn affinity(problem: &Problem, roles: &Roles, task: TaskId) -> f64 {
    let on = |list: &[usize]| list.iter().map(|&e| problem.cost_on(task, e)).fold(f64::INFINITY, f64::min);
    let (fast, slow) = (on(&roles.fast), on(&roles.slow));
    match (fast.is_finite(), slow.is_finite()) {
        (false, _) => f64::INFINITY,
        (true, false) => 0.0,
        (true, true) if slow == 0.0 => f64::INFINITY,
        (true, true) => fast / slow,
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
