//! How deep a ring between two caches should be.
//!
//! The schedule's slots make a plan live; they need not make it fast. A ring of a few batches stays in the writer's L1,
//! and each line that the reader takes has to be fetched from there. With some hundred kB between the two, what the
//! reader asks for has left the writer's L1 for its L2, and a stream of lines goes through about twice as fast
//! (`benches/stream-overhead` measures rings by their size).

use crate::Problem;
use work::Schedule;

/// Bytes of a ring between two caches that make a stream of lines fast: best from 256 to 512 kB on a core with 48 kB of
/// L1 and 2 MB of L2.
const RING_BYTES: u64 = 512 << 10;
/// All rings of an element together take at most this part of its budget.
const SHARE: u64 = 4;
/// Moving the data must take at least this part of the period, else a deeper ring only makes the stream longer.
const WORTH: f64 = 0.01;

/// Deepens the rings between elements with soft memories where moving their data takes a part of `period_ns`.
pub(crate) fn deepen(problem: &Problem, mapping: &[usize], schedule: &mut Schedule, period_ns: f64) {
    let elements = &problem.machine.elements;
    let soft = |e: usize| elements[e].memory.as_ref().filter(|m| !m.hard).map(|m| m.bytes);
    let crosses = |id: usize| {
        let edge = &problem.graph.edges[id];
        let (from, to) = (mapping[edge.from.task], mapping[edge.to.task]);
        let moving_ns =
            edge.bytes as f64 * problem.overheads[from].per_byte_ns.max(problem.overheads[to].per_byte_ns);
        let worth = from != to && moving_ns >= WORTH * period_ns;
        (worth && soft(from).is_some() && soft(to).is_some()).then_some((from, to))
    };
    let mut rings = vec![0u64; elements.len()];
    for (from, to) in (0..problem.graph.edges.len()).filter_map(crosses) {
        rings[from] += 1;
        rings[to] += 1;
    }
    for (id, edge) in problem.graph.edges.iter().enumerate() {
        let Some((from, to)) = crosses(id) else { continue };
        let share = |e: usize| soft(e).map_or(0, |bytes| bytes / SHARE / rings[e].max(1));
        let wanted = RING_BYTES.min(share(from)).min(share(to)) / edge.bytes;
        let slots = &mut schedule.slots[id];
        let have = slots.out + slots.r#in;
        let batch = schedule.batch.max(1);
        let more = wanted.saturating_sub(have) / (2 * batch) * batch;
        slots.out += more;
        slots.r#in += more;
        schedule.buffers_bytes[from] += more * edge.bytes;
        schedule.buffers_bytes[to] += more * edge.bytes;
    }
}

#[cfg(test)]
mod tests {
    use crate::{PlanOptions, evaluate};
    use machine::{Element, Machine, Memory, Overhead, Place};
    use std::collections::BTreeMap;
    use work::{Edge, Graph, Port, Task};

    fn two_cores() -> Machine {
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
        let overhead = Overhead { per_transfer_ns: 400.0, per_byte_ns: 0.03 };
        Machine {
            name: "two".into(),
            elements: vec![core(0), core(1)],
            overheads: [("core".to_string(), overhead)].into(),
            ..Machine::default()
        }
    }

    /// Slots of the one edge of a pair that is cut between two cores.
    fn slots(cost_ns: f64, bytes: u64) -> u64 {
        let task = |name: &str| Task {
            name: name.into(),
            cost_ns: [("*".to_string(), cost_ns)].into(),
            ..Task::default()
        };
        let port = |task: usize| Port { task, name: "0".into() };
        let graph = Graph {
            name: "pair".into(),
            tasks: vec![task("a"), task("b")],
            edges: vec![Edge { from: port(0), to: port(1), bytes, peek: 0, delay: 0 }],
            ..Graph::default()
        };
        let options = PlanOptions { batch: Some(16), ..PlanOptions::default() };
        let plan = evaluate(&two_cores(), &graph, vec![0, 1], &options).unwrap();
        let held = plan.edges[0].slots_out + plan.edges[0].slots_in;
        assert_eq!(plan.buffers_bytes.values().sum::<u64>(), held * bytes);
        held
    }

    #[test]
    fn a_stream_of_lines_gets_a_ring_that_leaves_the_writers_l1() {
        assert_eq!(slots(5.0, 64) * 64, 512 << 10);
        assert_eq!(slots(500.0, 4096) * 4096, 512 << 10);
    }

    #[test]
    fn a_ring_stays_short_where_moving_the_data_hardly_counts() {
        assert_eq!(slots(1000.0, 64), 2 * 2 * 16);
    }

    #[test]
    fn an_instance_larger_than_the_share_keeps_the_slots_of_the_schedule() {
        assert_eq!(slots(5.0, 1 << 20), 2 * 2 * 16);
    }
}
