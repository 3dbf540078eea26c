//! Slots beyond those of the plan. A plan counts a period for each transfer and none for the flags before and behind
//! it: one more batch of slots at each end of an edge lets both ends go on meanwhile. Local stores give what they have
//! left, to the edges with the smallest instances first.

use crate::memory::{LINE, StreamCore, StreamPlaces};
use machine::Machine;
use run::FetchLayout;
use run::fetches::quadword_stride;
use run::layout::RingLayout;
use run::scheduler::Scheduler;
use sim::LOCAL_STORE_BYTES;
use work::{Edge, Graph, Plan};

/// Bytes that a length before an instance takes at most.
const LENGTH_BYTES: u64 = 16;

/// Bytes from one instance of an edge to the next, at most: kernels say whether their length varies.
fn longest_stride(edge: &Edge) -> u64 {
    edge.bytes + LENGTH_BYTES
}

/// Where everything is at most, kernels unseen; none where that does not fit.
fn places(graph: &Graph, machine: &Machine, made: &FetchLayout) -> Option<StreamPlaces> {
    let layout = &made.layout;
    let schedulers: Vec<Scheduler> =
        (0..layout.elements.len()).map(|element| Scheduler::new(layout, element)).collect();
    let edge = |ring: &RingLayout| ring.consumers.first().and_then(|reader| reader.edge);
    let stride = |ring: &RingLayout| edge(ring).map_or(0, |e| longest_stride(&graph.edges[e]));
    let strides: Vec<u64> = layout.rings.iter().map(stride).collect();
    StreamPlaces::new(graph, machine, made, &schedulers, &strides).ok()
}

/// `plan` with one more batch of slots at both ends of each edge between elements, where there is room for them beside
/// `made`, which is made from the plan.
pub(crate) fn deepened(graph: &Graph, machine: &Machine, plan: &Plan, made: &FetchLayout) -> Plan {
    let mut deeper = plan.clone();
    let Some(places) = places(graph, machine, made) else { return deeper };
    let edges = &graph.edges;
    let mut spare: Vec<u64> = (places.units.iter().zip(&places.bytes))
        .map(|(unit, &used)| match unit {
            StreamCore::Spe(_) => u64::from(LOCAL_STORE_BYTES).saturating_sub(used),
            StreamCore::Ppe(_) => u64::MAX,
        })
        .collect();
    let mut fetches: Vec<_> = made.fetches.iter().collect();
    fetches.sort_by_key(|f| edges[f.edge].bytes);
    for fetch in fetches {
        let stride = quadword_stride(longest_stride(&edges[fetch.edge]));
        // A ring is made of whole quadwords, and starts at a line.
        let more = (stride * plan.batch).next_multiple_of(16) + 16 * plan.batch + LINE;
        let from = made.stands_for(made.layout.units[made.layout.rings[fetch.from].producer].element);
        if spare[from] < more || spare[fetch.into] < more {
            continue;
        }
        for element in [from, fetch.into] {
            spare[element] = spare[element].saturating_sub(more);
        }
        // All edges that this fetch serves read the same ring.
        for reader in &made.layout.rings[fetch.to].consumers {
            if let Some(e) = reader.edge {
                deeper.edges[e].slots_out += plan.batch;
                deeper.edges[e].slots_in += plan.batch;
            }
        }
    }
    deeper
}

/// Slots of all edges between elements.
pub(crate) fn between(plan: &Plan, made: &FetchLayout) -> u64 {
    made.fetches.iter().map(|f| plan.edges[f.edge].slots_out + plan.edges[f.edge].slots_in).sum()
}
