//! How deep a ring between two caches should be.
//!
//! The schedule's slots make a plan live; they need not make it fast. In a ring of a few batches each line that the
//! reader takes has to be fetched from the writer's nearest cache, and each line that is written again is still in the
//! reader's. How deep a ring must be for that to end is the computer's own: its curve of hand-overs says so
//! ([`machine::HandoverCurve`]). Where it was not measured, the sizes of the caches do: the lines of a ring as
//! large as the caches of both ends together have left them when they are needed again.

use crate::Problem;
use machine::HandoverCurve;
use work::Schedule;
use work::plan::DepthSource;

/// A deeper ring must gain at least this part of the period, else it only makes the stream longer.
const WORTH: f64 = 0.01;

/// Deepens the rings between elements with soft memories where moving their data takes a part of `period_ns`.
/// Per edge, what its greater depth comes from.
pub(crate) fn deepen(
    problem: &Problem,
    mapping: &[usize],
    schedule: &mut Schedule,
    period_ns: f64,
) -> Vec<Option<DepthSource>> {
    let mut sources = vec![None; problem.graph.edges.len()];
    let rings: Vec<Option<DeepRing>> = (0..problem.graph.edges.len())
        .map(|id| DeepRing::of(problem, mapping, schedule, id, period_ns))
        .collect();
    let mut at = vec![0u64; problem.elements()];
    for ring in rings.iter().flatten() {
        at[ring.from] += 1;
        at[ring.to] += 1;
    }
    for (id, ring) in rings.iter().enumerate() {
        let Some(ring) = ring else { continue };
        // Rings that are gone around in turn pass the caches as one ring of their sum does.
        let share = ring.bytes / at[ring.from].max(at[ring.to]);
        let bytes = problem.graph.edges[id].bytes.max(1);
        let slots = &mut schedule.slots[id];
        let batch = schedule.batch.max(1);
        let more = (share / bytes).saturating_sub(slots.out + slots.r#in) / (2 * batch) * batch;
        sources[id] = (more > 0).then_some(ring.source);
        slots.out += more;
        slots.r#in += more;
        schedule.buffers_bytes[ring.from] += more * bytes;
        schedule.buffers_bytes[ring.to] += more * bytes;
    }
    sources
}

/// A ring between two elements that is worth its depth.
struct DeepRing {
    from: usize,
    to: usize,
    /// What it should hold if it were the only one at its elements.
    bytes: u64,
    source: DepthSource,
}

impl DeepRing {
    fn of(
        problem: &Problem,
        mapping: &[usize],
        schedule: &Schedule,
        id: usize,
        period_ns: f64,
    ) -> Option<DeepRing> {
        let edge = &problem.graph.edges[id];
        let (from, to) = (mapping[edge.from.task], mapping[edge.to.task]);
        let cache =
            |e: usize| problem.machine.elements[e].memory.as_ref().filter(|m| !m.hard).map(|m| m.bytes);
        let (near, far) = (cache(from)?, cache(to)?);
        if from == to {
            return None;
        }
        let batch = schedule.batch.max(1);
        let Some(curve) = problem.prices.curve_of(problem.machine, from, to) else {
            let per_byte_ns = |e: usize| problem.prices.overheads[e].per_byte_ns;
            let moving_ns = edge.bytes as f64 * per_byte_ns(from).max(per_byte_ns(to));
            let source = DepthSource::Caches;
            let ring = DeepRing { from, to, bytes: near + far, source };
            return (moving_ns >= WORTH * period_ns).then_some(ring);
        };
        let curve: &HandoverCurve = &problem.prices.curves[curve];
        let both =
            problem.graph.edges.iter().any(|e| (mapping[e.from.task], mapping[e.to.task]) == (to, from));
        let at_once = edge.bytes.saturating_mul(batch);
        let have = (schedule.slots[id].out + schedule.slots[id].r#in).saturating_mul(edge.bytes);
        let bytes = curve.best_ring_bytes(at_once, both);
        let price_ns = |ring: u64| curve.price_ns(at_once, ring, both) / batch as f64;
        let gained_ns = price_ns(have) - price_ns(bytes);
        (gained_ns >= WORTH * period_ns).then_some(DeepRing { from, to, bytes, source: DepthSource::Curve })
    }
}

#[cfg(test)]
mod tests {
    use crate::{PlanOptions, evaluate};
    use machine::{Element, HandoverCurve, HandoverPoint, Machine, Memory, Nearness, Overhead, Place};
    use std::collections::BTreeMap;
    use work::{Edge, Graph, Port, Task};

    fn two_cores(curve: bool) -> Machine {
        let memory = Memory {
            bytes: 2 << 20,
            hard: false,
            holds_code: true,
            l1_bytes: Some(48 << 10),
            overflow_bytes_per_s: None,
        };
        let core = |i: u32| Element {
            name: format!("CPU{i}"),
            kind: "core".into(),
            place: Place::default(),
            memory: Some(memory.clone()),
            incoming_max: None,
            outgoing_max: BTreeMap::new(),
            os_cpu: Some(i),
        };
        let overhead = Overhead { per_transfer_ns: 400.0, per_byte_ns: if curve { 0.0 } else { 0.03 } };
        Machine {
            name: "two".into(),
            elements: vec![core(0), core(1)],
            overheads: [("core".to_string(), overhead)].into(),
            handovers: if curve { vec![measured()] } else { Vec::new() },
            ..Machine::default()
        }
    }

    /// One way, lines are best in rings of 1 MiB; both ways in rings of 4 MiB.
    fn measured() -> HandoverCurve {
        let point = |(ring_bytes, alone_line_ns, both_line_ns)| HandoverPoint {
            bytes: 1024,
            ring_bytes,
            near_line_ns: 1.0,
            alone_line_ns,
            both_line_ns,
        };
        let rings = [(65536, 8.0, 16.0), (1 << 20, 2.0, 12.0), (4 << 20, 3.0, 4.0)];
        HandoverCurve { shares: Nearness::Chip, points: rings.into_iter().map(point).collect() }
    }

    /// Bytes of the ring of each edge of a pair that is cut between two cores; `both` adds an edge back.
    fn rings(machine: &Machine, cost_ns: f64, bytes: u64, both: bool) -> Vec<u64> {
        let task = |name: &str| Task {
            name: name.into(),
            cost_ns: [("*".to_string(), cost_ns)].into(),
            ..Task::default()
        };
        let port = |task: usize| Port { task, name: "0".into() };
        let edge = |from, to| Edge { from: port(from), to: port(to), bytes, peek: 0, delay: 0 };
        let mut graph = Graph {
            name: "pair".into(),
            tasks: vec![task("a"), task("b")],
            edges: vec![edge(0, 1)],
            ..Graph::default()
        };
        let mut mapping = vec![0, 1];
        if both {
            graph.tasks.extend([task("c"), task("d")]);
            graph.edges.push(edge(2, 3));
            mapping.extend([1, 0]);
        }
        let options = PlanOptions { batch: Some(16), ..PlanOptions::default() };
        let plan = evaluate(machine, &graph, mapping, &options).unwrap();
        let held: Vec<u64> = plan.edges.iter().map(|e| (e.slots_out + e.slots_in) * bytes).collect();
        assert_eq!(plan.buffers_bytes.values().sum::<u64>(), held.iter().sum::<u64>());
        held
    }

    #[test]
    fn a_ring_has_the_depth_at_which_lines_were_fastest() {
        assert_eq!(rings(&two_cores(true), 5.0, 64, false), [1 << 20]);
        assert_eq!(rings(&two_cores(true), 500.0, 4096, false), [1 << 20]);
    }

    #[test]
    fn rings_in_both_directions_have_the_depth_that_is_best_both_ways_and_share_it() {
        assert_eq!(rings(&two_cores(true), 5.0, 64, true), [2 << 20, 2 << 20]);
    }

    #[test]
    fn without_a_curve_a_ring_is_as_large_as_the_caches_of_both_ends() {
        assert_eq!(rings(&two_cores(false), 5.0, 64, false), [4 << 20]);
    }

    #[test]
    fn a_ring_stays_short_where_moving_the_data_hardly_counts() {
        for curve in [false, true] {
            assert_eq!(rings(&two_cores(curve), 10_000.0, 64, false), [2 * 2 * 16 * 64]);
        }
    }

    #[test]
    fn an_instance_larger_than_the_best_ring_keeps_the_slots_of_the_schedule() {
        assert_eq!(rings(&two_cores(true), 5.0, 1 << 20, false), [(2 * 2 * 16) << 20]);
    }

    #[test]
    fn the_period_holds_the_price_of_the_best_ring_at_both_ends() {
        let mut machine = two_cores(true);
        machine.overheads.clear();
        let task = |name: &str| Task {
            name: name.into(),
            cost_ns: [("*".to_string(), 100.0)].into(),
            ..Task::default()
        };
        let port = |task: usize| Port { task, name: "0".into() };
        let graph = Graph {
            name: "pair".into(),
            tasks: vec![task("a"), task("b")],
            edges: vec![Edge { from: port(0), to: port(1), bytes: 64, peek: 0, delay: 0 }],
            ..Graph::default()
        };
        let options = PlanOptions { batch: Some(16), ..PlanOptions::default() };
        let plan = evaluate(&machine, &graph, vec![0, 1], &options).unwrap();
        assert_eq!(plan.period_ns, 100.0 + 2.0 - 0.5, "a line of 2 ns, less half of the one core's 1 ns");
    }
}
