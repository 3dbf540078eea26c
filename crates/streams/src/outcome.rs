//! What a run has to say, in the words of a run on the host.

use crate::losses::explain;
use crate::spent::{END, PARTS, Spent, TimeSpent};
use crate::stream::{ElementState, StreamState};
use machine::Machine;
use run::{Bottleneck, Bottlenecks, ElementOutcome, RunOutcome, UntilSteady, WaitFor, WaitOutcome};
use sim::{Parameters, Simulated};
use std::collections::BTreeMap;
use work::Plan;

const PS_PER_S: f64 = 1e12;

/// The outcome of a run that is over.
pub(crate) fn outcome(
    stream: &StreamState,
    machine: &Machine,
    plan: &Plan,
    simulated: &Simulated,
    parameters: &Parameters,
) -> RunOutcome {
    let reports: Vec<_> = stream.elements.iter().map(|e| &e.report).collect();
    // Sinks take equally many in the end: the slowest is the last.
    let sinks = reports.iter().flat_map(|r| r.marks.values());
    let slowest = sinks.max_by_key(|marks| marks.last().map(|m| m.1));
    let instances = slowest.and_then(|marks| marks.last()).map_or(0, |m| m.0);
    let end_ps = (simulated.elapsed_ns() * 1e3) as u64;
    let elapsed_s = end_ps as f64 / PS_PER_S;
    let marks: Vec<(u64, u64)> =
        slowest.map_or(vec![], |marks| marks.iter().map(|&(n, ps)| (n, ps / 1000)).collect());
    let throughput_per_s = if elapsed_s > 0.0 { instances as f64 / elapsed_s } else { 0.0 };
    // Of equal ones the first.
    let busiest = (0..reports.len()).rev().max_by_key(|&e| reports[e].spent.occupied_ps());
    let start_s = busiest.map_or(0, |e| reports[e].spent.ps(Spent::Start)) as f64 / PS_PER_S;
    let drain_s = busiest.map_or(0, |e| reports[e].spent.end_ps(end_ps)) as f64 / PS_PER_S;
    let elements = stream.elements.iter().zip(&stream.made.layout.elements).map(|(e, used)| ElementOutcome {
        name: used.name.clone(),
        busy_ns: e.report.spent.occupied_ps() / 1000,
        idle_ns: end_ps.saturating_sub(e.report.spent.occupied_ps()) / 1000,
        spent_ns: spent_ns(&e.report.spent, end_ps),
        firings: e.report.firings,
        managing_ns: e.report.managing_ps.map(|ps| ps / 1000),
        waits: waits(stream, e),
        ..ElementOutcome::default()
    });
    let mut outcome = RunOutcome {
        format: 1,
        application: stream.graph.name.clone(),
        machine: machine.name.clone(),
        plan: plan.method.clone(),
        batch: plan.batch,
        instances,
        elapsed_s,
        throughput_per_s,
        predicted_per_s: plan.throughput_per_s,
        planned_per_s: plan.throughput_per_s,
        ratio: if plan.throughput_per_s > 0.0 { throughput_per_s / plan.throughput_per_s } else { 0.0 },
        start_s,
        drain_s,
        elements: elements.collect(),
        pinned: true,
        identity: BTreeMap::from([("machine".to_string(), format!("simulated {}", machine.name))]),
        ..RunOutcome::default()
    };
    outcome.steady_over(&marks);
    outcome.until_steady = stream.until.as_ref().and_then(UntilSteady::outcome);
    outcome.simulated = Some(simulated.to_json(parameters));
    if let Some(e) = busiest {
        let (name, spent) = (stream.made.layout.elements[e].name.as_str(), &reports[e].spent);
        explain(&mut outcome, plan, name, spent);
        let element = Bottleneck { name: name.into(), share: share(spent.occupied_ps(), end_ps) };
        outcome.bottlenecks = Some(bottlenecks(plan, element, simulated, parameters));
    }
    outcome
}

fn share(part: u64, whole: u64) -> f64 {
    if whole > 0 { part as f64 / whole as f64 } else { 0.0 }
}

fn bottlenecks(
    plan: &Plan,
    element: Bottleneck,
    simulated: &Simulated,
    parameters: &Parameters,
) -> Bottlenecks {
    let largest = plan.contributions.first().map_or(0.0, |c| c.ns);
    let planned_share = if plan.period_ns > 0.0 { largest / plan.period_ns } else { 0.0 };
    let loads = simulated.loads(parameters);
    let link = loads
        .first()
        .map_or_else(Bottleneck::default, |l| Bottleneck { name: l.name.clone(), share: l.share() });
    Bottlenecks {
        planned: Bottleneck { name: plan.bottleneck.clone(), share: planned_share },
        simulated: if link.share > element.share { link.clone() } else { element.clone() },
        element,
        link,
    }
}

/// What all of the time of an element went to, by name.
fn spent_ns(spent: &TimeSpent, end_ps: u64) -> BTreeMap<String, u64> {
    let parts = PARTS.iter().map(|&(part, name, _)| (name, spent.ps(part)));
    let parts = parts.chain([(END.0, spent.end_ps(end_ps))]);
    parts.map(|(name, ps)| (name.to_string(), ps / 1000)).collect()
}

/// What an element waited for, longest first.
fn waits(stream: &StreamState, element: &ElementState) -> Vec<WaitOutcome> {
    let edge = |ring: usize| {
        let e = &stream.graph.edges[stream.made.layout.rings[ring].consumers[0].edge?];
        let (from, to) = (&stream.graph.tasks[e.from.task].name, &stream.graph.tasks[e.to.task].name);
        Some(format!("{from}.{} -> {to}.{}", e.from.name, e.to.name))
    };
    let outcome = |(&(data, ring), &(n, total, longest)): (&(bool, usize), &(u64, u64, u64))| WaitOutcome {
        what: if data { WaitFor::Data } else { WaitFor::Room },
        edge: edge(ring),
        n,
        total_ns: total / 1000,
        longest_ns: longest / 1000,
    };
    let mut waits: Vec<WaitOutcome> = element.report.waits.iter().map(outcome).collect();
    waits.sort_by_key(|w| std::cmp::Reverse(w.total_ns));
    waits
}
