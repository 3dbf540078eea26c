//! Which edges move together.

use std::collections::HashMap;
use work::{EdgeId, Graph, Port, TaskId};

/// All edges from one output port. Their data moves once to every element, other than the producer's, that holds at
/// least one of the consumers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broadcast {
    /// The producer.
    pub from: TaskId,
    /// Bytes per instance: the largest of the port's edges.
    pub bytes: u64,
    /// The port's edges, in the graph's order.
    pub edges: Vec<EdgeId>,
    /// The consumers, each once, ascending.
    pub to: Vec<TaskId>,
}

/// The broadcasts of `graph`, one per output port that has edges, in order of their first edges. An ordinary edge is a
/// broadcast to one consumer.
pub fn broadcasts(graph: &Graph) -> Vec<Broadcast> {
    let mut place: HashMap<&Port, usize> = HashMap::new();
    let mut list: Vec<Broadcast> = Vec::new();
    for (id, edge) in graph.edges.iter().enumerate() {
        let at = *place.entry(&edge.from).or_insert_with(|| {
            list.push(Broadcast { from: edge.from.task, bytes: 0, edges: Vec::new(), to: Vec::new() });
            list.len() - 1
        });
        list[at].bytes = list[at].bytes.max(edge.bytes);
        list[at].edges.push(id);
        list[at].to.push(edge.to.task);
    }
    for broadcast in &mut list {
        broadcast.to.sort_unstable();
        broadcast.to.dedup();
    }
    list
}

impl Broadcast {
    /// The elements that the data moves to under `mapping`, each once, in order of the consumers.
    ///
    /// Does not allocate when every consumer is on the producer's element.
    pub fn destinations(&self, mapping: &[usize]) -> Vec<usize> {
        let home = mapping[self.from];
        let mut list = Vec::new();
        for &task in &self.to {
            let element = mapping[task];
            if element != home && !list.contains(&element) {
                list.push(element);
            }
        }
        list
    }
}
