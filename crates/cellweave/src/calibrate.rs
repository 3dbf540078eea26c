//! What a hand-over between two elements costs each of them: a short measurement on this computer.

use crate::{Error, fit};
use machine::{ElementId, Machine, Overhead};
use plan::PlanOptions;
use run::Standard;
use std::collections::BTreeMap;
use work::{Edge, Graph, Port, Task};

/// (bytes per instance, instances per hand-over) that are measured. A user's application has others, and the fit must
/// hold there too: from small instances in large batches, where the bytes hide little of a hand-over, to large ones
/// that are handed over one by one, where they hide much of it.
const POINTS: [(u64, u64); 10] = [
    (192, 16),
    (192, 64),
    (192, 256),
    (768, 16),
    (768, 64),
    (3072, 1),
    (3072, 4),
    (3072, 16),
    (12288, 1),
    (12288, 4),
];
/// How often each point is measured, where the time allows; the value at a quarter of the sorted ones counts, as for a
/// profile's totals.
const ROUNDS: usize = 7;
const QUARTER: usize = 4;
/// How long each measurement should take.
const RUN_NS: f64 = 6e6;
/// Once a kind of element has taken so long, no further round begins: on a slow or busy computer a few rounds must do.
const KIND_NS: u64 = 3_000_000_000;
/// Instances of a run that only tells how many take [`RUN_NS`].
const FIRST_INSTANCES: u64 = 4096;

/// Measures, for each kind of element of `machine` that has a cpu of this computer, what a hand-over to another element
/// costs beyond moving its lines, which the machine's curve tells: ns per transfer and ns per byte, at each end.
///
/// A chain `count -> copy -> copy -> discard` runs on one element, and then on two, cut in its middle. The time that a
/// side takes beyond its own tasks and the price of the curve is the overhead of the cut. A kind without a second
/// element to talk to is left out.
///
/// # Errors
/// When the chain cannot run; [`Error::Stopped`] when `progress` returns false.
pub fn calibrate(
    machine: &Machine,
    progress: &mut dyn FnMut(f64) -> bool,
) -> Result<BTreeMap<String, Overhead>, Error> {
    let prices = model::Prices::new(machine, &Graph::default());
    let mut overheads = BTreeMap::new();
    let kinds = machine.kinds();
    for (done, kind) in kinds.iter().enumerate() {
        let Some((near, far)) = pair(machine, kind) else { continue };
        let begin_ns = host::now_ns();
        let mut instances = [None; POINTS.len()];
        let mut values = vec![Vec::with_capacity(ROUNDS); POINTS.len()];
        for round in 0..ROUNDS {
            if round > 0 && host::now_ns() - begin_ns > KIND_NS {
                break;
            }
            for (i, &(bytes, batch)) in POINTS.iter().enumerate() {
                let share = (round * POINTS.len() + i) as f64 / (ROUNDS * POINTS.len()) as f64;
                if !progress((done as f64 + share) / kinds.len() as f64) {
                    return Err(Error::Stopped);
                }
                values[i].push(cut_overhead_ns(machine, [near, far], bytes, batch, &mut instances[i])?);
            }
        }
        let curve = prices.curve_of(machine, near, far);
        let mut points = Vec::new();
        for (&(bytes, batch), mut values) in POINTS.iter().zip(values) {
            values.sort_by(f64::total_cmp);
            let moving_ns = curve.map_or(0.0, |curve| prices.moving_ns(curve, bytes, batch));
            let value = (values[values.len() / QUARTER] - moving_ns).max(0.0);
            points.push(fit::Point { x: 1.0 / batch as f64, y: bytes as f64, value });
        }
        let floor = points.iter().map(|p| p.value).fold(0.0, f64::max) * 0.01;
        let (per_transfer_ns, per_byte_ns) = fit::two(&points, |p| p.value.max(floor));
        overheads.insert(kind.to_string(), Overhead { per_transfer_ns, per_byte_ns });
    }
    Ok(overheads)
}

/// An element of `kind`, and another to talk to: of its own kind if there is one.
fn pair(machine: &Machine, kind: &str) -> Option<(ElementId, ElementId)> {
    let real = |e: &&ElementId| machine.elements[**e].os_cpu.is_some();
    let all: Vec<ElementId> = (0..machine.elements.len()).collect();
    let mut same = all.iter().filter(real).filter(|e| machine.elements[**e].kind == kind);
    let near = *same.next()?;
    let far = same.next().or_else(|| all.iter().filter(real).find(|e| **e != near))?;
    Some((near, *far))
}

/// ns per instance that the slower side of a cut chain takes beyond its tasks. `instances`: how many take [`RUN_NS`],
/// found by the first call.
fn cut_overhead_ns(
    machine: &Machine,
    [near, far]: [ElementId; 2],
    bytes: u64,
    batch: u64,
    instances: &mut Option<u64>,
) -> Result<f64, Error> {
    let graph = chain(bytes);
    let instances = match *instances {
        Some(instances) => instances,
        None => {
            let first_ns = period_ns(machine, &graph, [near, far], batch, FIRST_INSTANCES)?;
            *instances.insert(((RUN_NS / first_ns.max(0.1)) as u64).max(batch))
        }
    };
    let whole_ns = period_ns(machine, &graph, [near, near], batch, instances)?;
    let cut_ns = period_ns(machine, &graph, [near, far], batch, instances)?;
    // The chain is symmetrical: each side has one copy and one trivial task.
    Ok((cut_ns - whole_ns / 2.0).max(0.0))
}

fn period_ns(
    machine: &Machine,
    graph: &Graph,
    halves: [ElementId; 2],
    batch: u64,
    instances: u64,
) -> Result<f64, Error> {
    let mapping = vec![halves[0], halves[0], halves[1], halves[1]];
    let options = PlanOptions { batch: Some(batch), ..PlanOptions::default() };
    let plan = plan::evaluate(machine, graph, mapping, &options)?;
    let options = run::RunOptions { instances: Some(instances), ..run::RunOptions::default() };
    let outcome = run::run(graph, machine, &plan, &Standard::default(), options)?;
    Ok(1e9 / outcome.rate_per_s())
}

fn chain(bytes: u64) -> Graph {
    let names = ["count", "copy", "copy", "discard"];
    let task = |(i, kernel): (usize, &&str)| Task {
        name: format!("{kernel}{i}"),
        kernel: Some(format!("cellweave:{kernel}")),
        cost_ns: [("*".to_string(), 1.0)].into(),
        ..Task::default()
    };
    let edge = |i: usize| Edge {
        from: Port { task: i, name: "0".into() },
        to: Port { task: i + 1, name: "0".into() },
        bytes,
        peek: 0,
        delay: 0,
    };
    Graph {
        name: "calibration".into(),
        tasks: names.iter().enumerate().map(task).collect(),
        edges: (0..3).map(edge).collect(),
        ..Graph::default()
    }
}
