//! Small machines and graphs for the tests, and what all methods must keep.

mod bounds;
mod exact;
mod heuristics;
mod machines;
mod search;

use ground::Draws;
use machine::{Block, Element, Limit, Machine, Memory, Overhead, Place, Together, presets::Preset};
use std::collections::BTreeMap;
use work::{Edge, Graph, Port, Task};

/// A preset with so many PPEs and SPEs.
pub(crate) fn preset(name: &str, ppe: u32, spe: u32) -> Machine {
    let preset = Preset::named(name).unwrap();
    preset.machine(machine::presets::PresetOptions { ppe, spe, ..preset.all() })
}

/// A host of cores in pairs, each pair with a limit of its own, with overheads and caches.
pub(crate) fn host(cores: usize, per_transfer_ns: f64) -> Machine {
    let element = |i: usize| Element {
        name: format!("CPU{i}"),
        kind: "core".into(),
        place: Place { l3: Some(i as u32 / 2), ..Place::default() },
        memory: Some(Memory {
            bytes: 1 << 20,
            hard: false,
            holds_code: true,
            l1_bytes: Some(32 << 10),
            overflow_bytes_per_s: Some(10e9),
        }),
        incoming_max: None,
        outgoing_max: BTreeMap::new(),
        os_cpu: Some(i as u32),
    };
    let all: Vec<usize> = (0..cores).collect();
    let pair = |i: usize| Limit {
        name: format!("pair {i}"),
        capacity_bytes_per_s: 8e9,
        pairs: vec![Block { from: all.clone(), to: vec![i, i + 1] }],
        error: None,
    };
    Machine {
        name: "host".into(),
        elements: (0..cores).map(element).collect(),
        limits: (0..cores - 1).step_by(2).map(pair).collect(),
        overheads: BTreeMap::from([("core".into(), Overhead { per_transfer_ns, per_byte_ns: 0.01 })]),
        ..Machine::default()
    }
}

/// A task by its costs on a PPE and an SPE; `"*"` is the PPE's.
pub(crate) fn task(name: &str, ppe: f64, spe: f64) -> Task {
    let cost_ns = [("ppe", ppe), ("spe", spe), ("*", ppe)].map(|(k, c)| (k.to_string(), c));
    Task { name: name.into(), cost_ns: BTreeMap::from(cost_ns), ..Task::default() }
}

/// Edges `(from, to, bytes, peek)`, each from a port of its own.
pub(crate) fn graph(tasks: Vec<Task>, edges: &[(usize, usize, u64, u64)]) -> Graph {
    let edges = edges.iter().enumerate().map(|(i, &(from, to, bytes, peek))| Edge {
        from: Port { task: from, name: i.to_string() },
        to: Port { task: to, name: i.to_string() },
        bytes,
        peek,
        delay: 0,
    });
    Graph { name: "test".into(), tasks, edges: edges.collect(), code_bytes: 64 << 10, ..Graph::default() }
}

/// A random DAG: some edges share a port, some peek; costs differ by kind.
pub(crate) fn random_graph(draws: &mut Draws, tasks: usize, bytes: usize) -> Graph {
    let list = (0..tasks)
        .map(|t| {
            let ppe = 100.0 + draws.below(4_000) as f64;
            task(&format!("t{t}"), ppe, ppe * (0.3 + draws.below(100) as f64 / 50.0))
        })
        .collect();
    let mut edges = Vec::new();
    for to in 1..tasks {
        for _ in 0..1 + draws.below(2) {
            let from = to - 1 - draws.below(to.min(4));
            if !edges.iter().any(|e: &(usize, usize, u64, u64)| (e.0, e.1) == (from, to))
                && draws.below(8) > 0
            {
                edges.push((from, to, 1 + draws.below(bytes) as u64, draws.below(3) as u64));
            }
        }
    }
    let mut graph = graph(list, &edges);
    for i in 1..graph.edges.len() {
        // Now and then a broadcast.
        let from = graph.edges[i].from.task;
        let other = (0..i).find(|&j| graph.edges[j].from.task == from);
        if let Some(j) = other.filter(|_| draws.below(3) == 0) {
            graph.edges[i].from = graph.edges[j].from.clone();
            graph.edges[i].bytes = graph.edges[j].bytes;
        }
    }
    graph
}

/// Machines of every sort, small enough for brute force.
pub(crate) fn machines() -> Vec<Machine> {
    let mut two_kinds = host(4, 30.0);
    two_kinds.elements[3].kind = "ppe".into();
    let mut quota = host(3, 20.0);
    quota.quota_cpus = Some(1.5);
    let mut siblings = host(4, 20.0);
    siblings.together = vec![together(&[0, 1], 1.7), together(&[2, 3], 1.7)];
    let mut uneven = host(3, 20.0);
    uneven.together = vec![together(&[0, 1], 1.6), together(&[0, 1, 2], 1.9)];
    uneven.paces = vec![1.0, 1.3, 1.0];
    let presets = [preset("qs22", 2, 2), preset("cell", 1, 2), preset("ps3", 1, 0)];
    presets.into_iter().chain([host(3, 50.0), two_kinds, quota, siblings, uneven]).collect()
}

/// Elements that slow each other's computing down.
pub(crate) fn together(elements: &[usize], computing: f64) -> Together {
    Together { elements: elements.to_vec(), computing, memory: 1.0 }
}

/// The period of the best feasible mapping, by trying all.
pub(crate) fn brute_force(
    machine: &Machine,
    graph: &Graph,
    buffering: work::Buffering,
    batch: u64,
) -> Option<(f64, Vec<usize>)> {
    let n = machine.elements.len();
    let limits = model::Limits::new(machine);
    let broadcasts = model::broadcasts(graph);
    let paces = model::paces(machine, graph);
    let cost = |t: usize, e: usize| graph.tasks[t].cost_on(&machine.elements[e].kind).unwrap() * paces[e];
    let mut mapping = vec![0; graph.tasks.len()];
    let mut best: Option<(f64, Vec<usize>)> = None;
    loop {
        // No period is below what an element computes: most mappings need not be predicted.
        let computes =
            |e: usize| mapping.iter().enumerate().filter(|x| *x.1 == e).map(|x| cost(x.0, e)).sum();
        let most: f64 = (0..n).map(computes).fold(0.0, f64::max);
        if best.as_ref().is_some_and(|b| most > b.0) {
            let Some(t) = mapping.iter().position(|&e| e + 1 < n) else { return best };
            mapping[..t].fill(0);
            mapping[t] += 1;
            continue;
        }
        let schedule = work::schedule::schedule(graph, &mapping, n, buffering, batch).unwrap();
        let prediction =
            model::predict_with((&limits, &broadcasts), machine, graph, &mapping, &schedule).unwrap();
        let better = best.as_ref().is_none_or(|b| prediction.period_ns < b.0);
        if prediction.violations.is_empty() && better {
            best = Some((prediction.period_ns, mapping.clone()));
        }
        let Some(t) = mapping.iter().position(|&e| e + 1 < n) else { return best };
        mapping[..t].fill(0);
        mapping[t] += 1;
    }
}
