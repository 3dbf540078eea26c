//! A plan for tests that want one of some graph.

use work::plan::{CostBasis, FORMAT, PlannedEdge};
use work::{Buffering, Graph, Plan, schedule::schedule};

/// The plan of a mapping onto named elements; what a planner would say of it is made up.
pub(crate) fn plan(graph: &Graph, mapping: &[usize], elements: &[&str], batch: u64) -> Plan {
    let s = schedule(graph, mapping, elements.len(), Buffering::Shared, batch).unwrap();
    let name = |t: usize| graph.tasks[t].name.clone();
    let edges = graph.edges.iter().zip(&s.slots);
    Plan {
        format: FORMAT,
        application: graph.name.clone(),
        machine: "cell".into(),
        method: "given".into(),
        buffering: "shared".into(),
        feasible: true,
        measured: true,
        violations: vec![],
        period_ns: 100.5,
        bound_ns: 80.0,
        gap: 1.0 - 80.0 / 100.5,
        throughput_per_s: 1e9 / 100.5,
        bottleneck: "compute of SPE0".into(),
        mapping: mapping.iter().enumerate().map(|(t, &e)| (name(t), elements[e].into())).collect(),
        contributions: vec![],
        buffers_bytes: elements.iter().zip(&s.buffers_bytes).map(|(e, &b)| (e.to_string(), b)).collect(),
        batch: s.batch,
        order: elements
            .iter()
            .zip(&s.order)
            .map(|(e, o)| (e.to_string(), o.iter().map(|&t| name(t)).collect()))
            .collect(),
        first_period: s.first_period.iter().enumerate().map(|(t, &f)| (name(t), f)).collect(),
        edges: edges
            .map(|(e, slots)| PlannedEdge {
                from: graph.port_name(&e.from),
                to: graph.port_name(&e.to),
                bytes: Some(e.bytes),
                slots_out: slots.out,
                slots_in: slots.r#in,
                first_period: s.first_period[e.to.task],
                depth_from: None,
            })
            .collect(),
        costs: CostBasis::default(),
        moves: 12,
        seed: 3,
        seconds: 0.25,
    }
}
