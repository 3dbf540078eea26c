//! How many instances a firing takes.
//!
//! Larger batches spread the cost of a hand-over, smaller ones keep what an element touches in its caches and the
//! stream short. With nothing spent on transfers and no caches (a Cell) the batch is 1.

use crate::Problem;
use work::schedule::ScheduleBuilder;
use work::{Buffering, Schedule};

/// Share of the period that the batch may leave on the table for being small.
const SLACK: f64 = 0.01;

/// What a hand-over is taken to cost where nothing was measured, for the batch alone: one cache line between two cores,
/// about what all hosts have.
const UNKNOWN_HAND_OVER_NS: f64 = 150.0;
/// Share of the period that is given up for live buffers that fit L1.
const L1_WORTH: f64 = 0.1;

/// The batch for `mapping`: among the powers of two up to `max_batch` for which every element's live buffers fit its L1
/// (its whole soft memory, where that gains more than 10 %; else 1), the least whose period is within 1 % of the best,
/// and whose firings cost no more than 1 % of the period, where a firing's own bookkeeping is taken to be what a
/// hand-over costs. Costs hold for data in L1: a batch that leaves it also pays per byte that stays on its element, at
/// the price of a transfer's.
pub(crate) fn choose(problem: &Problem, mapping: &[usize], buffering: Buffering, max_batch: u64) -> u64 {
    let cached = |e: &machine::Element| e.os_cpu.is_some() || e.memory.as_ref().is_some_and(|m| !m.hard);
    if !problem.spends_on_transfers() && !problem.machine.elements.iter().any(cached) {
        return 1;
    }
    let n = problem.elements();
    let mut tried: Vec<(u64, f64, bool, bool)> = Vec::new();
    let mut batch = 1u64;
    let mut builder = ScheduleBuilder::new(problem.graph);
    let mut schedule = Schedule::default();
    while batch <= max_batch.max(1) {
        if builder.run(mapping, n, buffering, batch, &mut schedule).is_err() {
            break;
        }
        let limits = &problem.limits;
        let predicted = model::predict_with(
            (limits, &problem.broadcasts),
            problem.machine,
            problem.graph,
            mapping,
            &schedule,
        );
        let Ok(prediction) = predicted else { break };
        let live = live_bytes(problem, mapping, &schedule);
        let soft = |e: usize| problem.machine.elements[e].memory.as_ref().filter(|m| !m.hard);
        let fits_l1 = (0..n).all(|e| soft(e).and_then(|m| m.l1_bytes).is_none_or(|l1| live[e] <= l1));
        let fits_all = (0..n).all(|e| soft(e).is_none_or(|m| live[e] <= m.bytes));
        if batch > 1 && !prediction.violations.is_empty() {
            break;
        }
        let slower_ns = if fits_l1 { 0.0 } else { outside_l1_ns(problem, mapping) };
        tried.push((batch, prediction.period_ns + slower_ns, fits_l1, fits_all));
        if !fits_all || batch > u64::MAX / 2 {
            break;
        }
        batch *= 2;
    }
    // Live data in L1 is worth more than a little of hand-overs, and less than a lot.
    let least = |l1: bool| {
        let list = tried.iter().filter(|t| if l1 { t.2 } else { t.3 });
        list.map(|t| t.1).min_by(f64::total_cmp)
    };
    let l1_fits = least(true).is_some_and(|l1| least(false).is_none_or(|all| l1 <= all * (1.0 + L1_WORTH)));
    let allowed: Vec<_> = tried.iter().filter(|t| if l1_fits { t.2 } else { t.3 }).collect();
    let Some(best) = allowed.iter().map(|t| t.1).min_by(f64::total_cmp) else { return 1 };
    let most = allowed.iter().map(|t| t.0).max().unwrap_or(1);
    let known = problem.spends_on_transfers();
    let mut firings = vec![0.0; n];
    for &on in mapping {
        firings[on] += if known { problem.prices.hand_over_ns(on) } else { UNKNOWN_HAND_OVER_NS };
    }
    let firing = firings.into_iter().fold(0.0, f64::max);
    allowed
        .iter()
        .find(|t| t.1 <= best * (1.0 + SLACK) && firing / t.0 as f64 <= SLACK * t.1)
        .map_or(most, |t| t.0)
}

/// What the busiest element pays per instance for data between its own tasks that its L1 cannot hold.
fn outside_l1_ns(problem: &Problem, mapping: &[usize]) -> f64 {
    let mut ns = vec![0.0; problem.elements()];
    for broadcast in &problem.broadcasts {
        let home = mapping[broadcast.from];
        if broadcast.edges.iter().any(|&id| mapping[problem.graph.edges[id].to.task] == home) {
            ns[home] += broadcast.bytes as f64 * problem.prices.overheads[home].per_byte_ns;
        }
    }
    ns.into_iter().fold(0.0, f64::max)
}

/// Per element, the bytes that are alive at once while it fires its tasks one after the other: data between tasks of
/// one unit from its producer's firing to its last consumer's, and beside it what the firing task reads from and writes
/// to elsewhere.
pub(crate) fn live_bytes(problem: &Problem, mapping: &[usize], schedule: &Schedule) -> Vec<u64> {
    let graph = problem.graph;
    let first = &schedule.first_period;
    let mut place = vec![0usize; problem.tasks()];
    for order in &schedule.order {
        for (at, &task) in order.iter().enumerate() {
            place[task] = at;
        }
    }
    // change[element][place]: bytes that come alive before, and die after, the firing there.
    let mut born: Vec<Vec<u64>> = schedule.order.iter().map(|o| vec![0; o.len()]).collect();
    let mut dies = born.clone();
    let mut beside = born.clone();
    for broadcast in &problem.broadcasts {
        let home = mapping[broadcast.from];
        let bytes = broadcast.bytes.saturating_mul(schedule.batch);
        let at = place[broadcast.from];
        let mut last = None;
        let mut leaves = false;
        for &id in &broadcast.edges {
            let edge = &graph.edges[id];
            let to = edge.to.task;
            if mapping[to] == home && first[to] == first[broadcast.from] && place[to] >= at {
                last = last.max(Some(place[to]));
            } else {
                leaves = true;
                let window = broadcast.bytes.saturating_mul(edge.peek);
                let read = &mut beside[mapping[to]][place[to]];
                *read = read.saturating_add(bytes).saturating_add(window);
            }
        }
        if let Some(last) = last {
            born[home][at] = born[home][at].saturating_add(bytes);
            dies[home][last] = dies[home][last].saturating_add(bytes);
        } else if leaves {
            beside[home][at] = beside[home][at].saturating_add(bytes);
        }
    }
    (0..schedule.order.len())
        .map(|e| {
            let (mut alive, mut most) = (0u64, 0u64);
            for at in 0..schedule.order[e].len() {
                alive = alive.saturating_add(born[e][at]);
                most = most.max(alive.saturating_add(beside[e][at]));
                alive = alive.saturating_sub(dies[e][at]);
            }
            most
        })
        .collect()
}
