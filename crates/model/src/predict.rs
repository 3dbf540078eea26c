//! Contributions, period and violations of a mapped graph.

use crate::{Broadcast, Capacity, Limits, Prices, broadcasts, capacities, paces, prices};
use machine::{Element, Machine, Overhead};
use work::plan::{Contribution, ContributionKind, Violation, ViolationKind};
use work::{Graph, Schedule};

/// What the model says of a mapped graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// ns per instance: the largest contribution; 0 when nothing contributes.
    pub period_ns: f64,
    /// Largest first; equal ones in the order locks, elements, quota, capacities, limits, overflows.
    pub contributions: Vec<Contribution>,
    /// The hard limits that are broken; empty = feasible.
    pub violations: Vec<Violation>,
}

/// A task has no cost on the kind of element that it is mapped to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingCost {
    /// The task's name.
    pub task: String,
    /// The kind that its `cost_ns` does not give.
    pub kind: String,
}

impl std::fmt::Display for MissingCost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "task {} has no cost on an element of kind {:?}: give cost_ns.{} (or \"*\"), or profile the application",
            self.task, self.kind, self.kind
        )
    }
}

impl std::error::Error for MissingCost {}

/// What an element of kind `kind` spends on transfers: what a profile measured on this machine, else the machine's
/// figure, else another profile's, else nothing.
pub fn overhead(machine: &Machine, graph: &Graph, kind: &str) -> Overhead {
    let profile = prices::profile(machine, graph, machine.overheads.contains_key(kind));
    let profiled = profile.and_then(|p| p.overheads.get(kind));
    profiled.map_or_else(
        || machine.overhead(kind),
        |&(per_transfer_ns, per_byte_ns)| Overhead { per_transfer_ns, per_byte_ns },
    )
}

/// Predicts the period of `graph` on `machine` under `mapping`, with the buffers and the batch of `schedule`:
/// equations (1) to (9), (14) to (18) of `streaming-schedule`; prices of hand-overs and capacities of elements that
/// slow each other down, where the machine or the profile has them.
///
/// # Errors
/// [`MissingCost`] when a task is mapped to a kind that it has no cost for.
///
/// # Panics
/// When `mapping` or `schedule` is not of this graph and machine.
pub fn predict(
    machine: &Machine,
    graph: &Graph,
    mapping: &[usize],
    schedule: &Schedule,
) -> Result<Prediction, MissingCost> {
    predict_with((&Limits::new(machine), &broadcasts(graph)), machine, graph, mapping, schedule)
}

/// [`predict`] with limits and broadcasts that were prepared before: for many mappings of one graph on one machine.
///
/// # Errors
/// As [`predict`].
///
/// # Panics
/// As [`predict`].
pub fn predict_with(
    (limits, list): (&Limits, &[Broadcast]),
    machine: &Machine,
    graph: &Graph,
    mapping: &[usize],
    schedule: &Schedule,
) -> Result<Prediction, MissingCost> {
    let n = machine.elements.len();
    let mut compute = vec![0.0; n];
    let mut locks: Vec<(&str, f64)> = Vec::new();
    let paces = paces(machine, graph);
    for (task, &on) in graph.tasks.iter().zip(mapping) {
        let kind = &machine.elements[on].kind;
        let cost =
            task.cost_on(kind).ok_or_else(|| MissingCost { task: task.name.clone(), kind: kind.clone() })?;
        let cost = cost * paces[on];
        compute[on] += cost;
        if let Some(held) = task.held_lock() {
            match locks.iter_mut().find(|(lock, _)| *lock == held) {
                Some((_, ns)) => *ns += cost,
                None => locks.push((held, cost)),
            }
        }
    }

    let prices = Prices::new(machine, graph);
    let mut limit_bytes = vec![0.0; limits.len()];
    let mut transfers = Transfers { incoming: vec![0; n], outgoing: vec![Vec::new(); n] };
    for broadcast in list {
        let from = mapping[broadcast.from];
        for to in broadcast.destinations(mapping) {
            let bytes = broadcast.bytes as f64;
            for &id in limits.of(from, to) {
                limit_bytes[id as usize] += bytes;
            }
            let curve = prices.curve_of(machine, from, to);
            let moving_ns = curve.map_or(0.0, |c| prices.moving_ns(c, broadcast.bytes, schedule.batch));
            for end in [from, to] {
                let o = prices.overheads[end];
                compute[end] += o.per_transfer_ns / schedule.batch as f64 + o.per_byte_ns * bytes + moving_ns;
            }
            transfers.incoming[to] += 1;
            transfers.outgoing[from].push(to);
        }
    }

    let mut contributions: Vec<Contribution> = Vec::with_capacity(n + limits.len() + 1);
    let mut contribute = |kind, subject: &str, ns| {
        contributions.push(Contribution { kind, subject: subject.into(), ns });
    };
    for (lock, ns) in locks {
        contribute(ContributionKind::Lock, lock, ns);
    }
    for (element, &ns) in machine.elements.iter().zip(&compute) {
        contribute(ContributionKind::Compute, &element.name, ns);
    }
    if let Some(cpus) = machine.quota_cpus {
        let ns = compute.iter().sum::<f64>() / cpus;
        contribute(ContributionKind::Quota, &format!("{cpus} cpus"), ns);
    }
    for Capacity { name, elements, cpus } in capacities(machine, graph) {
        let ns = elements.iter().map(|&e| compute[e]).sum::<f64>() / cpus;
        contribute(ContributionKind::Capacity, &name, ns);
    }
    for (id, limit) in machine.limits.iter().enumerate() {
        let ns = limit_bytes[id] * limits.ns_per_byte(id as u32);
        contribute(ContributionKind::Limit, &limit.name, ns);
    }
    let touched = touched_bytes(graph, mapping, schedule, list, n);
    for (id, element) in machine.elements.iter().enumerate() {
        if let Some(ns) = overflow_ns(element, schedule.buffers_bytes[id], touched[id]) {
            contribute(ContributionKind::Overflow, &element.name, ns);
        }
    }
    contributions.sort_by(|a, b| b.ns.total_cmp(&a.ns));
    Ok(Prediction {
        period_ns: contributions.first().map_or(0.0, |c| c.ns),
        contributions,
        violations: violations(machine, graph, schedule, &transfers),
    })
}

/// Transfers per period: how many come to an element, and the readers of those that leave it.
struct Transfers {
    incoming: Vec<u64>,
    outgoing: Vec<Vec<usize>>,
}

/// Bytes of stream buffers that each element touches per instance, at its end of every edge: once where both ends
/// share a buffer.
fn touched_bytes(
    graph: &Graph,
    mapping: &[usize],
    schedule: &Schedule,
    list: &[Broadcast],
    n: usize,
) -> Vec<f64> {
    let mut touched = vec![0.0; n];
    for broadcast in list {
        touched[mapping[broadcast.from]] += broadcast.bytes as f64;
        for &id in &broadcast.edges {
            let own_end =
                schedule.slots[id].out > 0 || mapping[graph.edges[id].to.task] != mapping[broadcast.from];
            if own_end {
                touched[mapping[graph.edges[id].to.task]] += broadcast.bytes as f64;
            }
        }
    }
    touched
}

/// What a soft memory adds when its buffers exceed it: buffers are used round and round, so the share of the touched
/// bytes that exceeds the budget moves at the overflow rate. `None` where it fits, is hard, or was not measured.
fn overflow_ns(element: &Element, buffers_bytes: u64, touched: f64) -> Option<f64> {
    let memory = element.memory.as_ref()?;
    let rate = memory.overflow_bytes_per_s?;
    if memory.hard || buffers_bytes <= memory.bytes {
        return None;
    }
    let share = (buffers_bytes - memory.bytes) as f64 / buffers_bytes as f64;
    Some(share * touched * 1e9 / rate)
}

/// What breaks (16), (17) and (18).
fn violations(
    machine: &Machine,
    graph: &Graph,
    schedule: &Schedule,
    transfers: &Transfers,
) -> Vec<Violation> {
    let mut list = Vec::new();
    for (id, element) in machine.elements.iter().enumerate() {
        let mut check = |kind, used: u64, allowed: u64| {
            if used > allowed {
                list.push(Violation { kind, subject: element.name.clone(), used, allowed });
            }
        };
        if let Some(memory) = element.memory.as_ref().filter(|m| m.hard) {
            let code_bytes = if memory.holds_code { graph.code_bytes } else { 0 };
            let buffers = schedule.buffers_bytes[id];
            match memory.bytes.checked_sub(code_bytes) {
                Some(left) => check(ViolationKind::Buffers { code_bytes }, buffers, left),
                // An element without tasks needs no code.
                None if schedule.order[id].is_empty() && buffers == 0 => {}
                None => check(ViolationKind::Code, code_bytes, memory.bytes),
            }
        }
        if let Some(most) = element.incoming_max {
            check(ViolationKind::Incoming, transfers.incoming[id], most.into());
        }
        for (kind, &most) in &element.outgoing_max {
            let readers = transfers.outgoing[id].iter().filter(|&&to| machine.elements[to].kind == *kind);
            check(ViolationKind::Outgoing { reader_kind: kind.clone() }, readers.count() as u64, most.into());
        }
    }
    list
}
