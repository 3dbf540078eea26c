//! What `anneal` and `auto` do: starts, a batch, then the search from the best start.

use crate::anneal::{anneal, best_of};
use crate::budget::Budget;
use crate::finish::Mapped;
use crate::flow::Flow;
use crate::{Method, PlanError, PlanOptions, Problem, batch, bound, cycles, delegate, greedy, start};
use ground::options::Word;
use machine::Role;
use work::{Buffering, Mapping};

/// Above this many tasks `auto` leaves DELEGATE out: its moves grow with the square of the tasks.
const DELEGATE_TASKS: usize = 250;
/// After this many moves `auto` takes what DELEGATE has.
const DELEGATE_MOVES: u64 = 400_000;
/// Above this many tasks contiguous cuts are not all tried.
const CUT_TASKS: usize = 20_000;
/// Above this many tasks not every start is tried with every batch: it would take seconds.
const ALL_STARTS_TASKS: usize = 2_000;
/// Searches at most, where a better mapping asks for another batch.
const MOST_SEARCHES: usize = 8;

/// Searches until the gap is proved or the budget is spent.
///
/// # Errors
/// When no mapping has a schedule.
pub(crate) fn search(
    problem: &Problem,
    buffering: Buffering,
    options: &PlanOptions,
    budget: &mut Budget,
) -> Result<Mapped, PlanError> {
    let mut starts = starts(problem, buffering, options)?;
    let mut batch = options.batch.unwrap_or_else(|| working_batch(problem, &starts, buffering, options));
    let mut best: Option<(bool, f64, Mapped)> = None;
    let mut tried = Vec::new();
    let delayed = problem.graph.edges.iter().any(|e| e.delay > 0);
    while !tried.contains(&batch) && tried.len() < MOST_SEARCHES {
        tried.push(batch);
        let flow = Flow::new(problem.graph, &problem.broadcasts, batch);
        let bound_ns = bound(problem, batch, buffering).max(bound::queues::bound(problem, batch, buffering));
        budget.reserve();
        let found = anneal(problem, &flow, buffering, &starts, bound_ns, budget);
        let chosen = options
            .batch
            .unwrap_or_else(|| batch::choose(problem, &found.mapping, buffering, options.max_batch));
        let (feasible, period_ns) = quality(problem, &found.mapping, buffering, chosen);
        if best.as_ref().is_none_or(|b| (!feasible, period_ns) < (!b.0, b.1)) {
            let mapped = Mapped {
                method: options.method.word(),
                mapping: found.mapping.clone(),
                buffering,
                batch: chosen,
                bound_ns: match chosen == batch {
                    true if found.optimal && feasible => period_ns,
                    true => bound_ns,
                    false => 0.0,
                },
                moves: 0,
                seed: options.seed,
                seconds: 0.0,
            };
            best = Some((feasible, period_ns, mapped));
        }
        // Where another batch suits the mapping better, another mapping may suit that batch better still.
        if !found.optimal {
            break;
        }
        starts.push(found.mapping);
        // With delays a small batch lets a cycle go over several elements, and a large one does not.
        batch = if tried.contains(&chosen) && delayed { batch.min(chosen) / 2 } else { chosen }.max(1);
    }
    let (_, _, mapped) = best.ok_or_else(|| PlanError::NothingToPlan("no start".into()))?;
    Ok(Mapped { moves: budget.moves, ..mapped })
}

/// Mappings to start from that have a schedule at the least batch.
fn starts(problem: &Problem, buffering: Buffering, options: &PlanOptions) -> Result<Vec<Mapping>, PlanError> {
    let first_batch = options.batch.unwrap_or(1);
    let mut starts = start::singles(problem);
    let plain = Flow::new(problem.graph, &problem.broadcasts, 1);
    if problem.tasks() <= CUT_TASKS {
        starts.extend(start::cuts(problem, &plain));
    }
    starts.push(greedy(problem, first_batch));
    let has_accelerators = problem.role_of.contains(&Role::Accelerator);
    if options.method == Method::Auto && has_accelerators && problem.tasks() <= DELEGATE_TASKS {
        // Ended by a count, not by the clock: a plan must repeat.
        let mut go_on = |evaluated: u64| evaluated < DELEGATE_MOVES;
        let read_back = options.read_back_bytes_per_s();
        starts.push(delegate(problem, first_batch, options.dmax, read_back, &mut go_on).0);
    }
    let mut kept = Vec::with_capacity(starts.len());
    let mut refused = None;
    for mapping in starts {
        match cycles::together(problem, mapping, buffering, first_batch) {
            Ok(mapping) => kept.push(mapping),
            Err(e) => refused = Some(e),
        }
    }
    match refused {
        Some(e) if kept.is_empty() => Err(e),
        _ => Ok(kept),
    }
}

/// Whether the model has the mapping feasible at this batch, and its period.
pub(crate) fn quality(problem: &Problem, mapping: &[usize], buffering: Buffering, batch: u64) -> (bool, f64) {
    let n = problem.elements();
    let Ok(schedule) = work::schedule::schedule(problem.graph, mapping, n, buffering, batch) else {
        return (false, f64::INFINITY);
    };
    let predicted = model::predict_with(
        (&problem.limits, &problem.broadcasts),
        problem.machine,
        problem.graph,
        mapping,
        &schedule,
    );
    predicted.map_or((false, f64::INFINITY), |p| (p.violations.is_empty(), p.period_ns))
}

/// The batch to search with: that of the start which is best with its own batch, of a large graph that of the start
/// which is best with a batch of 1.
fn working_batch(problem: &Problem, starts: &[Mapping], buffering: Buffering, options: &PlanOptions) -> u64 {
    if problem.tasks() > ALL_STARTS_TASKS {
        let flow = Flow::new(problem.graph, &problem.broadcasts, 1);
        let (_, best) = best_of(problem, &flow, buffering, starts, 1.0);
        return batch::choose(problem, &best.mapping, buffering, options.max_batch);
    }
    let mut best = (f64::INFINITY, 1);
    for mapping in starts {
        let batch = batch::choose(problem, mapping, buffering, options.max_batch);
        let (_, period_ns) = quality(problem, mapping, buffering, batch);
        if period_ns < best.0 {
            best = (period_ns, batch);
        }
    }
    best.1
}
