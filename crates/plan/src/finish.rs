//! From a mapping to a plan. No number here is a method's own: the schedule is `work`'s and the prediction `model`'s.

use crate::{PlanError, Problem};
use ground::options::Word;
use std::collections::BTreeMap;
use work::plan::{CostBasis, Plan, PlannedEdge};
use work::{Buffering, Mapping, Port};

/// What a method says of its mapping.
pub(crate) struct Mapped {
    pub method: &'static str,
    pub mapping: Mapping,
    pub buffering: Buffering,
    pub batch: u64,
    /// A bound that the method proved itself, beside the closed form.
    pub bound_ns: f64,
    pub moves: u64,
    pub seed: u64,
    pub seconds: f64,
}

/// Schedules, predicts and bounds a mapping.
///
/// # Errors
/// When the mapping is not one of this graph on this machine, or has no schedule.
pub(crate) fn finish(problem: &Problem, mapped: Mapped) -> Result<Plan, PlanError> {
    let (machine, graph) = (problem.machine, problem.graph);
    check(problem, &mapped.mapping)?;
    let mapping = &mapped.mapping;
    let n = problem.elements();
    let mut schedule = work::schedule::schedule(graph, mapping, n, mapped.buffering, mapped.batch)?;
    let prediction =
        model::predict_with((&problem.limits, &problem.broadcasts), machine, graph, mapping, &schedule)?;
    let depths = crate::depth::deepen(problem, mapping, &mut schedule, prediction.period_ns);
    let period_ns = prediction.period_ns;
    let mut bound_ns =
        crate::bound::bound(problem, schedule.batch, mapped.buffering).max(mapped.bound_ns).min(period_ns);
    if bound_ns >= period_ns * (1.0 - 2.0 * crate::bound::ROUNDING) {
        bound_ns = period_ns; // all that lies between them is rounding
    }
    let element = |id: usize| machine.elements[id].name.clone();
    let task = |id: usize| graph.tasks[id].name.clone();
    let port = |port: &Port| format!("{}.{}", graph.tasks[port.task].name, port.name);
    let on = mapping.iter().enumerate().map(|(t, &e)| (t, machine.elements[e].kind.as_str()));
    Ok(Plan {
        format: work::plan::FORMAT,
        application: graph.name.clone(),
        machine: machine.name.clone(),
        method: mapped.method.into(),
        buffering: mapped.buffering.word().into(),
        feasible: prediction.violations.is_empty(),
        measured: machine.measured,
        violations: prediction.violations,
        period_ns,
        bound_ns,
        gap: if period_ns > 0.0 { 1.0 - bound_ns / period_ns } else { 0.0 },
        throughput_per_s: if period_ns > 0.0 { 1e9 / period_ns } else { f64::MAX },
        bottleneck: prediction.contributions.first().map_or_else(String::new, |c| c.to_string()),
        mapping: mapping.iter().enumerate().map(|(t, &e)| (task(t), element(e))).collect(),
        contributions: prediction.contributions,
        buffers_bytes: (0..n).map(|e| (element(e), schedule.buffers_bytes[e])).collect(),
        batch: schedule.batch,
        order: (0..n)
            .filter(|&e| !schedule.order[e].is_empty())
            .map(|e| (element(e), schedule.order[e].iter().map(|&t| task(t)).collect()))
            .collect(),
        first_period: schedule
            .first_period
            .iter()
            .enumerate()
            .map(|(t, &f)| (task(t), f))
            .collect::<BTreeMap<_, _>>(),
        edges: graph
            .edges
            .iter()
            .zip(&schedule.slots)
            .zip(depths)
            .map(|((edge, slots), depth_from)| PlannedEdge {
                from: port(&edge.from),
                to: port(&edge.to),
                bytes: Some(edge.bytes),
                slots_out: slots.out,
                slots_in: slots.r#in,
                first_period: schedule.first_period[edge.to.task],
                depth_from,
            })
            .collect(),
        costs: CostBasis::of(graph, on),
        moves: mapped.moves,
        seed: mapped.seed,
        seconds: mapped.seconds,
    })
}

/// Whether `mapping` gives every task an element that can run it.
pub(crate) fn check(problem: &Problem, mapping: &[usize]) -> Result<(), PlanError> {
    if mapping.len() != problem.tasks() {
        return Err(PlanError::BadMapping(format!(
            "it has {} entries, and application {:?} has {} tasks",
            mapping.len(),
            problem.graph.name,
            problem.tasks()
        )));
    }
    for (task, &on) in mapping.iter().enumerate() {
        let name = &problem.graph.tasks[task].name;
        let Some(element) = problem.machine.elements.get(on) else {
            let (machine, n) = (&problem.machine.name, problem.elements());
            return Err(PlanError::BadMapping(format!(
                "task {name} is on element {on}, and machine {machine:?} has elements 0 to {}",
                n - 1
            )));
        };
        if problem.cost_on(task, on).is_infinite() {
            return Err(model::MissingCost { task: name.clone(), kind: element.kind.clone() }.into());
        }
    }
    Ok(())
}
