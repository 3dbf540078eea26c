//! Cycles whose delay is too short for a transfer: their tasks must be on one element.

use crate::greedy::least;
use crate::{PlanError, Problem};
use work::{Buffering, Mapping, TaskId};

/// `own`, or the shared rule where no mapping has a schedule under `own`: under the duplicated rule a cycle needs delay
/// for its transfers even on one element.
pub(crate) fn possible(problem: &Problem, own: Buffering, batch: u64) -> Buffering {
    let delayed = problem.graph.edges.iter().any(|e| e.delay > 0);
    let one = vec![0; problem.tasks()];
    if delayed && work::schedule::schedule(problem.graph, &one, 1, own, batch).is_err() {
        return Buffering::Shared;
    }
    own
}

/// Cycles that are put together one by one; then everything goes onto one element.
const MOST_CYCLES: usize = 64;

/// `mapping` with the tasks of every cycle that has too little delay for it put on one element.
///
/// # Errors
/// When that does not help: the cycle has no schedule at this batch, or no element can run all of it.
pub(crate) fn together(
    problem: &Problem,
    mut mapping: Mapping,
    buffering: Buffering,
    batch: u64,
) -> Result<Mapping, PlanError> {
    if problem.graph.edges.iter().all(|e| e.delay == 0) {
        return Ok(mapping);
    }
    let n = problem.elements();
    // The name of a task's group: tasks that cannot be apart.
    let mut group: Vec<TaskId> = (0..problem.tasks()).collect();
    for _ in 0..MOST_CYCLES {
        let Err(e) = work::schedule::schedule(problem.graph, &mapping, n, buffering, batch) else {
            return Ok(mapping);
        };
        let cycle: Vec<TaskId> = e.tasks.iter().filter_map(|name| problem.graph.task(name)).collect();
        let names: Vec<TaskId> = cycle.iter().map(|&t| group[t]).collect();
        if names.iter().all(|&name| name == names[0]) {
            return Err(e.into());
        }
        group.iter_mut().filter(|name| names.contains(name)).for_each(|name| *name = names[0]);
        let inside: Vec<TaskId> = (0..problem.tasks()).filter(|&t| group[t] == names[0]).collect();
        let mut load = vec![0.0; n];
        for t in (0..problem.tasks()).filter(|&t| group[t] != names[0]) {
            load[mapping[t]] += problem.cost_on(t, mapping[t]);
        }
        let with = |e: usize| load[e] + inside.iter().map(|&t| problem.cost_on(t, e)).sum::<f64>();
        let on = least((0..n).filter(|&e| with(e).is_finite()), with).ok_or(e)?;
        inside.iter().for_each(|&t| mapping[t] = on);
    }
    let all = |e: usize| (0..problem.tasks()).map(|t| problem.cost_on(t, e)).sum::<f64>();
    if let Some(on) = least((0..n).filter(|&e| all(e).is_finite()), all) {
        mapping.fill(on);
    }
    work::schedule::schedule(problem.graph, &mapping, n, buffering, batch)?;
    Ok(mapping)
}
