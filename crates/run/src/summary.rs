//! What the workers left behind, as one outcome.

use crate::kernel::ports::edge_name;
use crate::layout::RunLayout;
use crate::outcome::{ElementOutcome, Latency, RunOutcome, Stalls, TaskOutcome, WaitFor, WaitOutcome};
use crate::recorder::CostSample;
use crate::shared::Report;
use crate::waits::WaitSum;
use ground::Quantiles;
use host::stolen::Steal;
use machine::Machine;
use std::collections::BTreeMap;
use work::{Graph, Plan};

/// What the caller's thread measured.
pub(crate) struct Measured<'a> {
    pub stall_ns: u64,
    /// From when to when the process stood still, in ns of the clock.
    pub pauses: &'a [(u64, u64)],
    pub steal: Option<&'a Steal>,
}

/// The outcome of a run of which the slowest sink took `instances`.
pub(crate) fn summary(
    graph: &Graph,
    machine: &Machine,
    plan: &Plan,
    layout: &RunLayout,
    reports: &[Report],
    instances: u64,
    measured: &Measured<'_>,
) -> RunOutcome {
    let start_ns = reports.iter().map(|r| r.start_ns).min().unwrap_or(0);
    let end_ns = reports.iter().map(|r| r.end_ns).max().unwrap_or(0);
    let elapsed_s = (end_ns - start_ns) as f64 / 1e9;
    let slowest = reports.iter().filter(|r| r.accepted.is_some()).min_by_key(|r| r.accepted);
    let throughput_per_s = if elapsed_s > 0.0 { instances as f64 / elapsed_s } else { 0.0 };
    let (start_s, drain_s) = start_and_drain(reports, start_ns, end_ns);
    let not_pinned: Vec<String> = reports
        .iter()
        .filter_map(|r| Some(format!("{}: {}", layout.elements[r.index].name, r.unpinned.as_ref()?)))
        .collect();
    let (tasks, sampled) = costs(graph, reports, instances, measured.pauses);
    let mut outcome = RunOutcome {
        format: 1,
        application: graph.name.clone(),
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
        stalls: stalls(graph, layout, reports, measured.stall_ns),
        paused_ns: measured.pauses.iter().map(|(from, to)| to - from).sum(),
        grown_bytes: grown_bytes(reports),
        elements: reports.iter().map(|r| element(graph, machine, layout, r, measured)).collect(),
        latency_ns: Latency::of(reports.iter().flat_map(|r| r.latencies_ns.iter().copied()).collect()),
        pinned: not_pinned.is_empty(),
        not_pinned,
        sampled,
        tasks,
        samples_left_out: reports.iter().map(|r| r.recorder.disturbed).sum(),
        stolen_share: measured.steal.and_then(Steal::share),
        identity: identity(),
        ..RunOutcome::default()
    };
    outcome.steady_over(slowest.map_or(&[], |r| &r.marks));
    outcome
}

/// How long the worker that held up the stream had nothing to do yet, and how long nothing any more. It is the one that
/// was busy longest. While it works, the stream goes at its rate, though sources may have ended long ago: a deep ring
/// holds many instances.
fn start_and_drain(reports: &[Report], start_ns: u64, end_ns: u64) -> (f64, f64) {
    let Some(held_up) = reports.iter().max_by_key(|r| r.busy_ns) else { return (0.0, 0.0) };
    let before_ns = held_up.start_ns.saturating_sub(start_ns) + held_up.waits.start.total_ns;
    let after_ns = end_ns.saturating_sub(held_up.end_ns) + held_up.waits.end.total_ns;
    (before_ns as f64 / 1e9, after_ns as f64 / 1e9)
}

/// By how much the process grew between the first worker's first step and the last one's last.
fn grown_bytes(reports: &[Report]) -> u64 {
    let before = reports.iter().map(|r| r.resident_bytes.0).min().unwrap_or(0);
    reports.iter().map(|r| r.resident_bytes.1).max().unwrap_or(0).saturating_sub(before)
}

/// Per task, the quantiles of all its calls where every call was measured, and what a sample of them says.
fn costs(
    graph: &Graph,
    reports: &[Report],
    instances: u64,
    pauses: &[(u64, u64)],
) -> (BTreeMap<String, Quantiles>, BTreeMap<String, TaskOutcome>) {
    let (mut tasks, mut sampled) = (BTreeMap::new(), BTreeMap::new());
    for report in reports {
        for (task, samples) in &report.recorder.costs {
            let name = &graph.tasks[*task].name;
            let kept = samples.kept();
            if report.recorder.measuring
                && let Some(q) = Quantiles::of(kept.iter().map(|s| f64::from(s.ns)).collect())
            {
                tasks.insert(name.clone(), q);
            }
            let undisturbed = |s: &&CostSample| pauses.iter().all(|p| s.span_ns.1 < p.0 || p.1 < s.span_ns.0);
            let pairs: Vec<(u64, f64)> =
                kept.iter().filter(undisturbed).map(|s| (s.first, f64::from(s.ns))).collect();
            if let Some(outcome) = TaskOutcome::of(&pairs, instances) {
                sampled.insert(name.clone(), outcome);
            }
        }
    }
    (tasks, sampled)
}

fn element(
    graph: &Graph,
    machine: &Machine,
    layout: &RunLayout,
    report: &Report,
    measured: &Measured<'_>,
) -> ElementOutcome {
    let used = &layout.elements[report.index];
    let cpu = machine.elements[used.element].os_cpu;
    ElementOutcome {
        name: used.name.clone(),
        busy_ns: report.busy_ns,
        idle_ns: report.idle_ns,
        firings: report.firings,
        lost_ns: report.queued_ns,
        preempted: report.preempted,
        stolen_share: measured.steal.zip(cpu).and_then(|(steal, cpu)| steal.share_on(cpu)),
        waits: waits(graph, layout, report).into_iter().map(|(outcome, _)| outcome).collect(),
        spent_ns: BTreeMap::new(),
        managing_ns: None,
    }
}

/// A worker's waits, longest first.
fn waits(graph: &Graph, layout: &RunLayout, report: &Report) -> Vec<(WaitOutcome, WaitSum)> {
    let edge = |ring: usize| layout.rings[ring].consumers[0].edge.map(|e| edge_name(graph, e));
    let log = &report.waits;
    let mut all = vec![
        (WaitFor::Start, None, log.start),
        (WaitFor::Source, None, log.source),
        (WaitFor::End, None, log.end),
    ];
    for (ring, &(data, room)) in log.rings.iter().enumerate() {
        all.push((WaitFor::Data, Some(ring), data));
        all.push((WaitFor::Room, Some(ring), room));
    }
    all.retain(|(_, _, sum)| sum.n > 0);
    all.sort_by_key(|(_, _, sum)| std::cmp::Reverse(sum.total_ns));
    all.into_iter()
        .map(|(what, ring, sum)| {
            let WaitSum { n, total_ns, longest_ns, .. } = sum;
            (WaitOutcome { what, edge: ring.and_then(edge), n, total_ns, longest_ns }, sum)
        })
        .collect()
}

fn stalls(graph: &Graph, layout: &RunLayout, reports: &[Report], least_ns: u64) -> Stalls {
    let mut stalls = Stalls { least_ns, ..Stalls::default() };
    for report in reports {
        for (wait, sum) in waits(graph, layout, report) {
            stalls.n += sum.stalls;
            stalls.total_ns += sum.stalled_ns;
            if sum.stalls > 0 && sum.longest_ns > stalls.longest_ns {
                stalls.longest_ns = sum.longest_ns;
                let name = &layout.elements[report.index].name;
                stalls.longest = Some(match (wait.what, &wait.edge) {
                    (WaitFor::Data, Some(edge)) => format!("{name} waited for data on {edge}"),
                    (WaitFor::Room, Some(edge)) => format!("{name} waited for room on {edge}"),
                    (WaitFor::Source, _) => format!("{name} waited for a source that had nothing"),
                    _ => format!("{name} waited"),
                });
            }
        }
    }
    stalls
}

/// What computer this is. Under Miri, reading that would take most of a test's time.
fn identity() -> BTreeMap<String, String> {
    if cfg!(miri) {
        return BTreeMap::new();
    }
    host::identity().to_pairs().into_iter().map(|(k, v)| (k.to_string(), v)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::waits::{WaitEnd, WaitLog};

    const MS: u64 = 1_000_000;

    /// A worker that waits, is busy and waits again, from `start_ms` on.
    fn report(start_ms: u64, before_ms: u64, busy_ms: u64, after_ms: u64) -> Report {
        let mut waits = WaitLog::new(0, u64::MAX);
        waits.add(before_ms * MS, WaitEnd::Ready(None), true);
        waits.add(after_ms * MS, WaitEnd::Over, false);
        Report {
            start_ns: start_ms * MS,
            end_ns: (start_ms + before_ms + busy_ms + after_ms) * MS,
            busy_ns: busy_ms * MS,
            waits,
            ..Report::default()
        }
    }

    #[test]
    fn a_source_that_ends_early_into_a_deep_ring_is_no_drain() {
        // The source makes everything within 10 ms; the other worker computes for 90 ms, from the first batch on.
        let reports = [report(0, 0, 10, 0), report(0, 1, 90, 0)];
        assert_eq!(start_and_drain(&reports, 0, 91 * MS), (0.001, 0.0));
    }

    #[test]
    fn start_and_drain_are_when_the_busiest_worker_has_nothing_yet_and_nothing_any_more() {
        // A pipeline of three: the second is the slowest, and starts its thread 2 ms late.
        let reports = [report(0, 0, 40, 20), report(2, 3, 90, 1), report(0, 8, 50, 0)];
        assert_eq!(start_and_drain(&reports, 0, 105 * MS), (0.005, 0.01));
        assert_eq!(start_and_drain(&[], 0, 0), (0.0, 0.0));
    }
}
