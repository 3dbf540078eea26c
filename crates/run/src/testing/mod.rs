//! Graphs, machines and plans for tests, examples and benches: what `plan` would make, for a mapping that is given.

pub mod mixed;

use ground::options::Word;
use machine::{Element, Machine, Place};
use std::collections::BTreeMap;
use work::schedule::schedule;
use work::{Buffering, Edge, Graph, Plan, Port, Task};

/// A machine of `elements` cores `CPU0`, .., on this computer's first usable cpus (and without a cpu beyond those).
pub fn cores(elements: usize) -> Machine {
    let cpus = host::Affinity::of_this_thread().map(|a| a.cpus()).unwrap_or_default();
    let element = |e: usize| Element {
        name: format!("CPU{e}"),
        kind: "core".into(),
        place: Place::default(),
        memory: None,
        incoming_max: None,
        outgoing_max: BTreeMap::new(),
        os_cpu: cpus.get(e).copied(),
    };
    let elements = (0..elements).map(element).collect();
    Machine { name: "cores".into(), elements, ..Machine::default() }
}

/// A task with a built-in kernel.
pub fn task(name: &str, kernel: &str) -> Task {
    Task { name: name.into(), kernel: Some(kernel.into()), ..Task::default() }
}

/// An edge from port `a` of task `from` to port `b` of task `to`.
pub fn edge(from: usize, a: &str, to: usize, b: &str, bytes: u64) -> Edge {
    let port = |task, name: &str| Port { task, name: name.into() };
    Edge { from: port(from, a), to: port(to, b), bytes, peek: 0, delay: 0 }
}

/// The plan of `graph` for a given mapping.
///
/// # Errors
/// When a cycle's delay is too short for it.
pub fn planned(graph: &Graph, machine: &Machine, mapping: &[usize], batch: u64) -> Result<Plan, String> {
    planned_as(graph, machine, mapping, batch, Buffering::Shared)
}

/// As [`planned`], with buffers by either rule.
///
/// # Errors
/// When a cycle's delay is too short for it.
pub fn planned_as(
    graph: &Graph,
    machine: &Machine,
    mapping: &[usize],
    batch: u64,
    buffering: Buffering,
) -> Result<Plan, String> {
    let elements = &machine.elements;
    let s = schedule(graph, mapping, elements.len(), buffering, batch).map_err(|e| e.to_string())?;
    let end = |p: &Port| format!("{}.{}", graph.tasks[p.task].name, p.name);
    let edges = graph
        .edges
        .iter()
        .zip(&s.slots)
        .map(|(e, slots)| work::plan::PlannedEdge {
            from: end(&e.from),
            to: end(&e.to),
            bytes: Some(e.bytes),
            slots_out: slots.out,
            slots_in: slots.r#in,
            first_period: s.first_period[e.to.task],
            depth_from: None,
        })
        .collect();
    let name = |t: &usize| graph.tasks[*t].name.clone();
    Ok(Plan {
        format: work::plan::FORMAT,
        application: graph.name.clone(),
        machine: machine.name.clone(),
        method: "given".into(),
        buffering: buffering.word().into(),
        feasible: true,
        measured: false,
        violations: vec![],
        period_ns: 0.0,
        bound_ns: 0.0,
        gap: 0.0,
        throughput_per_s: 0.0,
        bottleneck: String::new(),
        mapping: (0..graph.tasks.len()).map(|t| (name(&t), elements[mapping[t]].name.clone())).collect(),
        contributions: vec![],
        buffers_bytes: BTreeMap::new(),
        batch,
        order: (elements.iter().zip(&s.order))
            .map(|(e, o)| (e.name.clone(), o.iter().map(name).collect()))
            .collect(),
        first_period: (0..graph.tasks.len()).map(|t| (name(&t), s.first_period[t])).collect(),
        edges,
        costs: work::plan::CostBasis::default(),
        moves: 0,
        seed: 0,
        seconds: 0.0,
    })
}

/// A chain of `stages` tasks (`count`, copies, `discard`) over `elements` cores, cut into equal parts.
///
/// # Panics
/// When `stages` is less than 2.
pub fn chain(stages: usize, bytes: u64, batch: u64, elements: usize) -> (Graph, Machine, Plan) {
    assert!(stages >= 2, "a chain has two ends");
    let kernel = |i: usize| match i {
        0 => "cellweave:count",
        _ if i + 1 == stages => "cellweave:discard",
        _ => "cellweave:copy",
    };
    let graph = Graph {
        name: "chain".into(),
        tasks: (0..stages).map(|i| task(&format!("t{i}"), kernel(i))).collect(),
        edges: (1..stages).map(|i| edge(i - 1, "out", i, "in", bytes)).collect(),
        code_bytes: 0,
        profile: None,
    };
    let machine = cores(elements);
    let mapping: Vec<usize> = (0..stages).map(|i| i * elements / stages).collect();
    let plan =
        planned(&graph, &machine, &mapping, batch).unwrap_or_else(|why| panic!("a chain has a plan: {why}"));
    (graph, machine, plan)
}
