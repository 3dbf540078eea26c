//! The order of a graph's tasks and what each edge adds to firstPeriod, prepared for one batch.

use model::Broadcast;
use work::{Graph, TaskId};

/// One edge, seen from one of its ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EdgeEnd {
    /// The task at the other end.
    pub task: u32,
    /// Further batches that the consumer needs.
    pub peek: u64,
}

/// A consumer of a broadcast.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Member {
    pub task: u32,
    /// Further batches that it needs.
    pub peek: u64,
}

/// A graph without delays, prepared for the search. With delays firstPeriod is not a longest path of a DAG, and `work`
/// computes it anew for every move.
#[derive(Debug, Clone)]
pub(crate) struct Flow {
    pub batch: u64,
    /// Whether an edge has a delay: then only `batch` is filled in.
    pub delayed: bool,
    /// Tasks in topological order, and the place of each.
    pub order: Vec<u32>,
    pub place: Vec<u32>,
    into: Vec<EdgeEnd>,
    into_start: Vec<u32>,
    out: Vec<EdgeEnd>,
    out_start: Vec<u32>,
    /// Consumers, one per edge of a broadcast; broadcast b's start at `member_start[b]`.
    pub members: Vec<Member>,
    pub member_start: Vec<u32>,
}

impl Flow {
    /// Prepares `graph` for `batch` instances per firing.
    pub(crate) fn new(graph: &Graph, broadcasts: &[Broadcast], batch: u64) -> Flow {
        let batch = batch.max(1);
        let n = graph.tasks.len();
        let mut flow = Flow {
            batch,
            delayed: graph.edges.iter().any(|e| e.delay > 0),
            order: Vec::new(),
            place: vec![0; n],
            into: Vec::new(),
            into_start: vec![0; n + 1],
            out: Vec::new(),
            out_start: vec![0; n + 1],
            members: Vec::new(),
            member_start: vec![0],
        };
        let mut into = vec![Vec::new(); n];
        let mut out = vec![Vec::new(); n];
        for edge in &graph.edges {
            let peek = edge.peek.div_ceil(batch);
            into[edge.to.task].push(EdgeEnd { task: edge.from.task as u32, peek });
            out[edge.from.task].push(EdgeEnd { task: edge.to.task as u32, peek });
        }
        for broadcast in broadcasts {
            for &id in &broadcast.edges {
                let edge = &graph.edges[id];
                flow.members.push(Member { task: edge.to.task as u32, peek: edge.peek.div_ceil(batch) });
            }
            flow.member_start.push(flow.members.len() as u32);
        }
        let mut waiting: Vec<usize> = into.iter().map(Vec::len).collect();
        flow.order = (0..n as u32).filter(|&t| waiting[t as usize] == 0).collect();
        let mut next = 0;
        while next < flow.order.len() {
            let task = flow.order[next];
            flow.place[task as usize] = next as u32;
            for step in &out[task as usize] {
                waiting[step.task as usize] -= 1;
                if waiting[step.task as usize] == 0 {
                    flow.order.push(step.task);
                }
            }
            next += 1;
        }
        for t in 0..n {
            flow.into.extend_from_slice(&into[t]);
            flow.into_start[t + 1] = flow.into.len() as u32;
            flow.out.extend_from_slice(&out[t]);
            flow.out_start[t + 1] = flow.out.len() as u32;
        }
        flow
    }

    /// Edges into `task`.
    #[inline]
    pub(crate) fn into(&self, task: TaskId) -> &[EdgeEnd] {
        &self.into[self.into_start[task] as usize..self.into_start[task + 1] as usize]
    }

    /// Edges out of `task`.
    #[inline]
    pub(crate) fn out_of(&self, task: TaskId) -> &[EdgeEnd] {
        &self.out[self.out_start[task] as usize..self.out_start[task + 1] as usize]
    }
}
