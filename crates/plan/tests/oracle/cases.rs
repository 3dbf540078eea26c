//! Small random graphs on every sort of machine, by number: the same number is the same case on every computer.

use ground::Draws;
use machine::presets::{Preset, PresetOptions};
use machine::{
    Block, Element, HandoverCurve, HandoverPoint, Limit, Machine, Memory, Nearness, Overhead, Place, Together,
};
use std::collections::BTreeMap;
use std::path::Path;
use work::{Buffering, Edge, Graph, Port, Task};

/// A graph on a machine, the rule that sizes buffers and the instances per firing.
pub(crate) struct Case {
    pub(crate) sort: &'static str,
    pub(crate) machine: Machine,
    pub(crate) graph: Graph,
    pub(crate) rule: Buffering,
    pub(crate) batch: u64,
    pub(crate) feedback: bool,
}

/// Mappings that the oracle tries at most.
const MOST_MAPPINGS: usize = 120_000;

/// Case `number`; `most` bounds how many mappings the oracle has to try.
pub(crate) fn case(number: u64, most: usize) -> Case {
    let mut draws = Draws::new(0x0c0f_fee0 + number);
    let (sort, mut machine) = machine(&mut draws);
    if sort == "host" {
        // Draws of their own: all else in a case is as it was before machines had curves.
        measure(&mut Draws::new(0x5ca1_ab1e + number), &mut machine);
    }
    let n = machine.elements.len();
    let mut tasks = 1 + draws.below(7);
    while tasks > 1 && n.checked_pow(tasks as u32).is_none_or(|all| all > most.min(MOST_MAPPINGS)) {
        tasks -= 1;
    }
    let feedback = draws.below(3) == 0;
    let graph = graph(&mut draws, &machine, tasks, feedback);
    let rule = if draws.below(2) == 0 { Buffering::Shared } else { Buffering::Duplicated };
    let batch = if draws.below(3) == 0 { 1 << draws.below(4) } else { 1 };
    Case { sort, machine, graph, rule, batch, feedback }
}

fn machine(draws: &mut Draws) -> (&'static str, Machine) {
    let file = |path: &str| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../machine/tests");
        machine::file::read(&folder.join(path)).unwrap()
    };
    match draws.below(10) {
        0 => ("cell", preset("cell", 1, 1 + draws.below(4) as u32)),
        1 => ("ps3", preset("ps3", 1, draws.below(5) as u32)),
        2 => ("qs20", preset("qs20", 1 + draws.below(2) as u32, 9 + draws.below(2) as u32)),
        3 => ("qs22", preset("qs22", 1 + draws.below(2) as u32, 2 + draws.below(4) as u32)),
        4 => ("mesh", file("machines/mesh.toml")),
        5 => ("many-core", file("machines/many-core.toml")),
        6 => ("recorded host", file("recorded/board-biglittle/machine.toml")),
        _ => ("host", host(draws)),
    }
}

fn preset(name: &str, ppe: u32, spe: u32) -> Machine {
    let preset = Preset::named(name).unwrap();
    preset.machine(PresetOptions { ppe, spe, ..preset.all() })
}

/// Cores of one or two kinds with caches, overheads and limits as a probe finds them, some of each left out.
fn host(draws: &mut Draws) -> Machine {
    let cores = 2 + draws.below(4);
    let small = draws.below(cores);
    let two_kinds = draws.below(2) == 0;
    let overflow_bytes_per_s = (draws.below(2) == 0).then_some(2e9 + draws.below(20) as f64 * 1e9);
    let bytes = 1 << (12 + draws.below(9));
    let element = |i: usize| Element {
        name: format!("CPU{i}"),
        kind: if two_kinds && i >= small { "small" } else { "core" }.into(),
        place: Place { l3: Some(i as u32 / 2), ..Place::default() },
        memory: Some(Memory {
            bytes,
            hard: false,
            holds_code: true,
            l1_bytes: Some(bytes),
            overflow_bytes_per_s,
        }),
        incoming_max: None,
        outgoing_max: BTreeMap::new(),
        os_cpu: Some(i as u32),
    };
    let all: Vec<usize> = (0..cores).collect();
    let into = |i: usize, rate: usize| Limit {
        name: format!("into pair {i}"),
        capacity_bytes_per_s: 1e9 * (1 + rate) as f64,
        pairs: vec![Block { from: all.clone(), to: vec![i, i + 1] }],
        error: None,
    };
    let limits = if draws.below(2) == 0 { cores - 1 } else { 0 };
    let mut overhead = || Overhead {
        per_transfer_ns: draws.below(200) as f64,
        per_byte_ns: draws.below(50) as f64 / 1000.0,
    };
    let overheads = [("core", overhead()), ("small", overhead())].map(|(kind, o)| (kind.to_string(), o));
    let mut machine = Machine {
        name: "host".into(),
        elements: (0..cores).map(element).collect(),
        limits: (0..limits).step_by(2).map(|i| into(i, draws.below(8))).collect(),
        overheads: if draws.below(4) == 0 { BTreeMap::new() } else { overheads.into() },
        quota_cpus: (draws.below(5) == 0).then_some(1.5),
        ..Machine::default()
    };
    let used = |kind: &String| machine.elements.iter().any(|e| e.kind == *kind);
    machine.overheads =
        std::mem::take(&mut machine.overheads).into_iter().filter(|(kind, _)| used(kind)).collect();
    machine
}

/// Curves of hand-overs and elements that slow each other down, as a probe finds them, some of each left out.
fn measure(draws: &mut Draws, machine: &mut Machine) {
    let tenths = |draws: &mut Draws, below: usize| draws.below(below) as f64 / 10.0;
    for shares in [Nearness::L3, Nearness::Chip] {
        if draws.below(2) == 0 {
            continue;
        }
        let sizes = [64, 1024, 16384];
        let rings = [32 << 10, 256 << 10, 2 << 20];
        let grid = sizes.into_iter().flat_map(|bytes| rings.map(|ring_bytes| (bytes, ring_bytes)));
        let points = grid.map(|(bytes, ring_bytes)| HandoverPoint {
            bytes,
            ring_bytes,
            near_line_ns: 0.5 + tenths(draws, 20),
            alone_line_ns: 0.5 + tenths(draws, 150),
            both_line_ns: 0.5 + tenths(draws, 150),
        });
        machine.handovers.push(HandoverCurve { shares, points: points.collect() });
    }
    let n = machine.elements.len();
    let mut group = |elements: Vec<usize>| {
        let (computing, memory) = (0.9 + tenths(draws, 15), 1.0);
        machine.together.push(Together { elements, computing, memory });
    };
    if n > 2 && n.is_multiple_of(2) {
        (0..n).step_by(2).for_each(|i| group(vec![i, i + 1]));
    }
    group((0..n).collect());
}

/// Edges that go forward, and with `feedback` some that go back with a delay; costs by kind, locks and broadcasts.
fn graph(draws: &mut Draws, machine: &Machine, tasks: usize, feedback: bool) -> Graph {
    let coarse = draws.below(2) == 0;
    let list = (0..tasks).map(|t| {
        let ns = if coarse { 500.0 + draws.below(4000) as f64 } else { 10.0 + draws.below(300) as f64 };
        let mut cost_ns = BTreeMap::from([("*".to_string(), ns)]);
        for kind in machine.kinds() {
            if draws.below(3) > 0 {
                cost_ns.insert(kind.into(), (ns * (0.3 + draws.below(100) as f64 / 50.0)).round());
            }
        }
        let lock = (draws.below(12) == 0).then(|| "device".to_string());
        Task { name: format!("t{t}"), cost_ns, lock, ..Task::default() }
    });
    let list: Vec<Task> = list.collect();
    let most_bytes = [64, 2_000, 30_000, 120_000][draws.below(4)];
    let mut edges: Vec<Edge> = Vec::new();
    let mut add = |draws: &mut Draws, from: usize, to: usize, delay: u64| {
        let bytes = 1 + draws.below(most_bytes) as u64;
        let peek = if draws.below(4) == 0 { 1 + draws.below(2) as u64 } else { 0 };
        let port = |task| Port { task, name: edges.len().to_string() };
        let mut edge = Edge { from: port(from), to: port(to), bytes, peek, delay };
        if let Some(other) = edges.iter().find(|e| e.from.task == from).filter(|_| draws.below(3) == 0) {
            (edge.from, edge.bytes) = (other.from.clone(), other.bytes); // a broadcast
        }
        edges.push(edge);
    };
    for to in 1..tasks {
        for from in 0..to {
            if draws.below(2 * to) < 2 {
                let delay = u64::from(draws.below(20) == 0);
                add(draws, from, to, delay);
            }
        }
    }
    if feedback {
        for _ in 0..1 + draws.below(2) {
            let to = draws.below(tasks);
            let from = to + draws.below(tasks - to);
            let delay = 1 + draws.below(9) as u64;
            add(draws, from, to, delay);
        }
    }
    let code_bytes = [0, 16 << 10, 64 << 10][draws.below(3)];
    Graph { name: "case".into(), tasks: list, edges, code_bytes, ..Graph::default() }
}
