//! Where the time of an element went, in ns per instance, beside what the plan counts.

use machine::Machine;
use run::{ElementOutcome, RunOutcome, TaskOutcome, WaitFor};
use std::collections::BTreeMap;
use work::plan::ContributionKind;
use work::{Graph, Plan, TaskId};

/// What a runtime does around kernels takes no more than this share of their time.
const AROUND: f64 = 0.25;

/// The time of one element, in ns per instance. `busy_ns + waits = elapsed`, but for the moments in which its thread
/// starts and ends.
#[derive(Debug, Clone)]
pub(super) struct Account<'a> {
    pub outcome: &'a ElementOutcome,
    /// What the plan counts for computing and hand-overs.
    pub predicted_ns: f64,
    /// The part of it that is for hand-overs.
    pub hand_over_ns: f64,
    pub tasks: Vec<TaskAccount<'a>>,
    /// Not waiting.
    pub busy_ns: f64,
    /// Of the busy time: another thread had its cpu.
    pub lost_ns: f64,
    /// Of the busy time: the process stood still.
    pub paused_ns: f64,
    /// Of the busy time of an element that moves data to or from others: in no kernel.
    pub outside_ns: f64,
    pub waits: Vec<WaitAccount<'a>>,
}

/// A task of the element.
#[derive(Debug, Clone)]
pub(super) struct TaskAccount<'a> {
    pub name: &'a str,
    /// What the plan counts for its kernel on this element.
    pub cost_ns: f64,
    /// What its calls took.
    pub measured_ns: f64,
    pub outcome: TaskOutcome,
    /// Bytes per instance that it reads from other elements or writes for them.
    pub crossing_bytes: u64,
    /// Bytes per instance of the smallest of these edges.
    pub least_bytes: u64,
}

/// Waits of the element for one thing.
#[derive(Debug, Clone, Copy)]
pub(super) struct WaitAccount<'a> {
    pub what: WaitFor,
    pub edge: Option<&'a str>,
    pub ns: f64,
}

impl Account<'_> {
    /// All of its waits.
    pub(super) fn waited_ns(&self) -> f64 {
        self.waits.iter().map(|w| w.ns).sum()
    }

    /// Its waits of one kind.
    pub(super) fn waited_for(&self, what: WaitFor) -> f64 {
        self.waits.iter().filter(|w| w.what == what).map(|w| w.ns).sum()
    }
}

/// One account per used element.
pub(super) fn accounts<'a>(
    graph: &'a Graph,
    machine: &Machine,
    plan: &Plan,
    factors: Option<&BTreeMap<String, f64>>,
    outcome: &'a RunOutcome,
) -> Vec<Account<'a>> {
    let planned = model::paces(machine, graph);
    let factor = |element: &ElementOutcome| {
        let id = machine.element(&element.name);
        let counted = factors.and_then(|factors| factors.get(&element.name)).copied();
        counted.or_else(|| planned.get(id?).copied()).unwrap_or(1.0)
    };
    outcome.elements.iter().map(|e| account(graph, machine, plan, factor(e), outcome, e)).collect()
}

fn account<'a>(
    graph: &'a Graph,
    machine: &Machine,
    plan: &Plan,
    factor: f64,
    outcome: &'a RunOutcome,
    element: &'a ElementOutcome,
) -> Account<'a> {
    let each = 1.0 / outcome.instances.max(1) as f64;
    let here = |t: TaskId| plan.mapping.get(&graph.tasks[t].name) == Some(&element.name);
    let kind = machine.elements.iter().find(|e| e.name == element.name).map_or("", |e| e.kind.as_str());
    let predicted_ns = plan
        .contributions
        .iter()
        .find(|c| c.kind == ContributionKind::Compute && c.subject == element.name)
        .map_or(0.0, |c| c.ns);
    let mut tasks: Vec<TaskAccount> = (0..graph.tasks.len())
        .filter(|&t| here(t))
        .filter_map(|t| {
            let task = &graph.tasks[t];
            let outcome = *outcome.sampled.get(&task.name)?;
            let crosses = |e: &&work::Edge| {
                (e.from.task == t || e.to.task == t) && here(e.from.task) != here(e.to.task)
            };
            Some(TaskAccount {
                name: &task.name,
                cost_ns: task.cost_on(kind).map_or(f64::NAN, |ns| ns * factor),
                measured_ns: outcome.mean_ns,
                outcome,
                crossing_bytes: graph.edges.iter().filter(crosses).map(|e| e.bytes).sum(),
                least_bytes: graph.edges.iter().filter(crosses).map(|e| e.bytes).min().unwrap_or(0),
            })
        })
        .collect();
    let in_kernels_ns: f64 = tasks.iter().map(|t| t.measured_ns).sum();
    // An application without costs beside a plan that has been made with costs: only the sum can be compared.
    if tasks.iter().any(|t| t.cost_ns.is_nan()) {
        let scale = if in_kernels_ns > 0.0 { predicted_ns / in_kernels_ns } else { 0.0 };
        tasks.iter_mut().for_each(|t| t.cost_ns = t.measured_ns * scale);
    }
    let costs_ns: f64 = tasks.iter().map(|t| t.cost_ns).sum();
    let busy_ns = element.busy_ns as f64 * each;
    // Samples during which the thread lost its cpu do not count: what was lost is beside the kernels.
    let beside_ns = (busy_ns - in_kernels_ns).max(0.0);
    let lost_ns = (element.lost_ns.unwrap_or(0) as f64 * each).min(beside_ns);
    let paused_ns = (outcome.paused_ns as f64 * each).min(busy_ns - lost_ns);
    let mut outside_ns = busy_ns - in_kernels_ns - lost_ns - paused_ns;
    if !tasks.iter().any(|t| t.crossing_bytes > 0) {
        // Costs include what the runtime does around the kernels; more than that has another reason.
        let scale = 1.0 + (outside_ns / in_kernels_ns.max(f64::MIN_POSITIVE)).clamp(-AROUND, AROUND);
        tasks.iter_mut().for_each(|t| t.measured_ns *= scale);
        outside_ns = 0.0;
    }
    let wait = |w: &'a run::WaitOutcome| WaitAccount {
        what: w.what,
        edge: w.edge.as_deref(),
        ns: w.total_ns as f64 * each,
    };
    Account {
        outcome: element,
        predicted_ns,
        hand_over_ns: (predicted_ns - costs_ns).max(0.0),
        tasks,
        busy_ns,
        lost_ns,
        paused_ns,
        outside_ns,
        waits: element.waits.iter().map(wait).collect(),
    }
}
