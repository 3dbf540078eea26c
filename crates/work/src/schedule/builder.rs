//! Schedules of one graph under many mappings.

use super::{Buffering, NoSchedule, Schedule, Slots};
use crate::{EdgeId, Graph, Port, TaskId};
use std::collections::HashMap;

/// Schedules one graph under many mappings: what does not depend on the mapping is worked out once, and no call
/// allocates after the first of its size.
#[derive(Debug, Clone)]
pub struct ScheduleBuilder<'g> {
    graph: &'g Graph,
    /// Edges by producer: those of task t are `outgoing[starts[t]..starts[t + 1]]`, in file order.
    outgoing: Vec<EdgeId>,
    starts: Vec<usize>,
    /// Output ports with more than one edge.
    broadcasts: Vec<Vec<EdgeId>>,
    /// Whether the edge is in one of `broadcasts`.
    is_broadcast: Vec<bool>,
    delayed: bool,
    /// The batch that `order` and `place` hold for; 0 = none yet.
    batch: u64,
    /// Tasks in topological order of the edges that do not reach back to an earlier batch, and each task's place in it.
    order: Vec<TaskId>,
    place: Vec<usize>,
    /// firstPeriod while it grows, and the edge that set it last.
    first: Vec<u64>,
    parent: Vec<Option<EdgeId>>,
}

impl<'g> ScheduleBuilder<'g> {
    /// Prepares `graph`. Linear in tasks and edges.
    pub fn new(graph: &'g Graph) -> Self {
        let tasks = graph.tasks.len();
        let mut starts = vec![0; tasks + 1];
        for edge in &graph.edges {
            starts[edge.from.task + 1] += 1;
        }
        for t in 0..tasks {
            starts[t + 1] += starts[t];
        }
        let mut next = starts.clone();
        let mut outgoing = vec![0; graph.edges.len()];
        for (e, edge) in graph.edges.iter().enumerate() {
            outgoing[next[edge.from.task]] = e;
            next[edge.from.task] += 1;
        }
        let mut ports: HashMap<&Port, Vec<EdgeId>> = HashMap::with_capacity(graph.edges.len());
        for (e, edge) in graph.edges.iter().enumerate() {
            ports.entry(&edge.from).or_default().push(e);
        }
        let mut broadcasts: Vec<Vec<EdgeId>> = ports.into_values().filter(|edges| edges.len() > 1).collect();
        broadcasts.sort_unstable();
        let mut is_broadcast = vec![false; graph.edges.len()];
        broadcasts.iter().flatten().for_each(|&e| is_broadcast[e] = true);
        ScheduleBuilder {
            graph,
            outgoing,
            starts,
            broadcasts,
            is_broadcast,
            delayed: graph.edges.iter().any(|e| e.delay > 0),
            batch: 0,
            order: Vec::with_capacity(tasks),
            place: vec![0; tasks],
            first: vec![0; tasks],
            parent: vec![None; tasks],
        }
    }

    /// The edges that task `task` writes.
    pub fn outgoing(&self, task: TaskId) -> &[EdgeId] {
        &self.outgoing[self.starts[task]..self.starts[task + 1]]
    }

    /// Output ports with more than one edge, each as its edges in file order.
    pub fn broadcasts(&self) -> &[Vec<EdgeId>] {
        &self.broadcasts
    }

    /// As [`schedule`](super::schedule), into `out`, whose memory it reuses; after an error, `out` holds nothing of
    /// use.
    ///
    /// # Errors
    /// [`NoSchedule`] when a cycle's delay is too short for the mapping and the batch.
    ///
    /// # Panics
    /// When `mapping` does not give each task an element below `elements`.
    pub fn run(
        &mut self,
        mapping: &[usize],
        elements: usize,
        buffering: Buffering,
        batch: u64,
        out: &mut Schedule,
    ) -> Result<(), NoSchedule> {
        let batch = batch.max(1);
        assert_eq!(mapping.len(), self.graph.tasks.len(), "a mapping gives each task an element");
        if self.batch == 0 || (self.delayed && self.batch != batch) {
            self.batch = 0;
            self.sort(batch).map_err(|cycle| self.no_schedule(&cycle, mapping, buffering, batch))?;
            self.batch = batch;
        }
        self.first_periods(mapping, buffering, batch)
            .map_err(|cycle| self.no_schedule(&cycle, mapping, buffering, batch))?;
        out.batch = batch;
        out.first_period.clone_from(&self.first);
        self.fill_slots(mapping, elements, buffering, batch, out);
        out.order.iter_mut().for_each(Vec::clear);
        out.order.resize_with(elements, Vec::new);
        for &task in &self.order {
            out.order[mapping[task]].push(task);
        }
        for order in &mut out.order {
            order.sort_by_key(|&t| self.first[t]); // stable: keeps topological places among equals
        }
        Ok(())
    }

    /// Batches of the producer that edge `e`'s consumer needs beyond its own: `p - d`.
    fn lead(&self, e: EdgeId, batch: u64) -> i64 {
        let edge = &self.graph.edges[e];
        edge.peek.div_ceil(batch) as i64 - (edge.delay / batch) as i64
    }

    /// What edge `e` adds to firstPeriod.
    fn step(&self, e: EdgeId, mapping: &[usize], buffering: Buffering, batch: u64) -> i64 {
        self.lead(e, batch) + if self.is_local(e, mapping, buffering) { 0 } else { 2 }
    }

    /// Whether both ends of edge `e` share one buffer.
    fn is_local(&self, e: EdgeId, mapping: &[usize], buffering: Buffering) -> bool {
        let edge = &self.graph.edges[e];
        buffering == Buffering::Shared && mapping[edge.from.task] == mapping[edge.to.task]
    }

    /// Topological order over the edges whose consumer needs the producer's same batch or a later one. Depth first, so
    /// that what a task writes is read soon; ties go to the lower index. `Err` = the edges of a cycle.
    fn sort(&mut self, batch: u64) -> Result<(), Vec<EdgeId>> {
        let tasks = self.graph.tasks.len();
        let mut missing = vec![0usize; tasks];
        for (e, edge) in self.graph.edges.iter().enumerate() {
            if self.lead(e, batch) >= 0 {
                missing[edge.to.task] += 1;
            }
        }
        let mut ready: Vec<TaskId> = (0..tasks).rev().filter(|&t| missing[t] == 0).collect();
        self.order.clear();
        while let Some(task) = ready.pop() {
            self.place[task] = self.order.len();
            self.order.push(task);
            let first_new = ready.len();
            for &e in &self.outgoing[self.starts[task]..self.starts[task + 1]] {
                if self.lead(e, batch) >= 0 {
                    let to = self.graph.edges[e].to.task;
                    missing[to] -= 1;
                    if missing[to] == 0 {
                        ready.push(to);
                    }
                }
            }
            ready[first_new..].sort_unstable_by(|a, b| b.cmp(a));
        }
        if self.order.len() == tasks {
            return Ok(());
        }
        // Every task that is left has a producer that is left: walking backwards must meet itself.
        let mut from = vec![None; tasks];
        for (e, edge) in self.graph.edges.iter().enumerate() {
            if self.lead(e, batch) >= 0 && missing[edge.from.task] > 0 && missing[edge.to.task] > 0 {
                from[edge.to.task].get_or_insert(e);
            }
        }
        let start = (0..tasks).find(|&t| missing[t] > 0).unwrap_or(0);
        Err(self.cycle_behind(start, &from).unwrap_or_default())
    }

    /// Longest path by sweeps in topological order: one sweep without delays, at most one more per delayed edge on a
    /// path.
    fn first_periods(
        &mut self,
        mapping: &[usize],
        buffering: Buffering,
        batch: u64,
    ) -> Result<(), Vec<EdgeId>> {
        self.first.fill(0);
        self.parent.fill(None);
        let mut sweeps = 0usize;
        loop {
            let mut again = false;
            for place in 0..self.order.len() {
                let task = self.order[place];
                for i in self.starts[task]..self.starts[task + 1] {
                    let e = self.outgoing[i];
                    let to = self.graph.edges[e].to.task;
                    let at = self.first[task] as i64 + self.step(e, mapping, buffering, batch);
                    if at > self.first[to] as i64 {
                        self.first[to] = at as u64;
                        self.parent[to] = Some(e);
                        again |= self.place[to] <= place;
                    }
                }
            }
            if !again {
                break;
            }
            sweeps += 1;
            // A cycle among the parents is a cycle that grows for ever. Looking costs a sweep: look at powers of two.
            if sweeps.is_power_of_two()
                && let Some(cycle) = self.cycle_of_parents()
            {
                return Err(cycle);
            }
        }
        if self.delayed { self.waiting_cycle(mapping, buffering, batch).map_or(Ok(()), Err) } else { Ok(()) }
    }

    /// The edges of a cycle among `parent`, if there is one.
    fn cycle_of_parents(&self) -> Option<Vec<EdgeId>> {
        const NEW: usize = usize::MAX;
        let mut seen_from = vec![NEW; self.first.len()];
        for start in 0..self.first.len() {
            let mut task = start;
            while seen_from[task] == NEW {
                seen_from[task] = start;
                match self.parent[task] {
                    Some(e) => task = self.graph.edges[e].from.task,
                    None => break,
                }
            }
            if seen_from[task] == start
                && let Some(cycle) = self.cycle_behind(task, &self.parent)
            {
                return Some(cycle);
            }
        }
        None
    }

    /// Walks from `start` against the edges in `into` until a task repeats; the cycle's edges in flow order.
    fn cycle_behind(&self, start: TaskId, into: &[Option<EdgeId>]) -> Option<Vec<EdgeId>> {
        let mut walked = vec![false; into.len()];
        let mut task = start;
        while !walked[task] {
            walked[task] = true;
            task = self.graph.edges[into[task]?].from.task;
        }
        let mut cycle = Vec::new();
        let end = task;
        loop {
            let e = into[task]?;
            cycle.push(e);
            task = self.graph.edges[e].from.task;
            if task == end {
                cycle.reverse();
                return Some(cycle);
            }
        }
    }

    /// A cycle on one element that gains nothing in a round: each of its tasks waits for the others' same batch. At the
    /// fixed point all its edges are tight, so that a search along tight local edges finds it.
    fn waiting_cycle(&self, mapping: &[usize], buffering: Buffering, batch: u64) -> Option<Vec<EdgeId>> {
        if buffering == Buffering::Duplicated {
            return None;
        }
        let tight = |e: EdgeId| {
            let edge = &self.graph.edges[e];
            self.is_local(e, mapping, buffering)
                && self.first[edge.to.task] as i64 - self.first[edge.from.task] as i64 == self.lead(e, batch)
        };
        let tasks = self.graph.tasks.len();
        let mut missing = vec![0usize; tasks];
        for (e, edge) in self.graph.edges.iter().enumerate() {
            missing[edge.to.task] += usize::from(tight(e));
        }
        let mut ready: Vec<TaskId> = (0..tasks).filter(|&t| missing[t] == 0).collect();
        let mut done = 0;
        while let Some(task) = ready.pop() {
            done += 1;
            for &e in self.outgoing(task).iter().filter(|&&e| tight(e)) {
                let to = self.graph.edges[e].to.task;
                missing[to] -= 1;
                if missing[to] == 0 {
                    ready.push(to);
                }
            }
        }
        if done == tasks {
            return None;
        }
        let mut from = vec![None; tasks];
        for (e, edge) in self.graph.edges.iter().enumerate() {
            if tight(e) && missing[edge.from.task] > 0 && missing[edge.to.task] > 0 {
                from[edge.to.task].get_or_insert(e);
            }
        }
        self.cycle_behind((0..tasks).find(|&t| missing[t] > 0)?, &from)
    }

    fn no_schedule(
        &self,
        cycle: &[EdgeId],
        mapping: &[usize],
        buffering: Buffering,
        batch: u64,
    ) -> NoSchedule {
        let edges = || cycle.iter().map(|&e| &self.graph.edges[e]);
        let mut tasks: Vec<String> = edges().map(|e| self.graph.tasks[e.from.task].name.clone()).collect();
        tasks.extend(tasks.first().cloned());
        let peeks: u64 = edges().map(|e| e.peek.div_ceil(batch)).sum();
        let apart = cycle.iter().filter(|&&e| !self.is_local(e, mapping, buffering)).count() as u64;
        NoSchedule {
            tasks,
            needed: peeks + if apart == 0 { 1 } else { 2 * apart },
            delay: edges().map(|e| e.delay / batch).sum(),
            edge: cycle.first().copied().unwrap_or(0),
        }
    }

    fn fill_slots(
        &self,
        mapping: &[usize],
        elements: usize,
        buffering: Buffering,
        batch: u64,
        out: &mut Schedule,
    ) {
        out.slots.clear();
        out.buffers_bytes.clear();
        out.buffers_bytes.resize(elements, 0);
        let mut take = |element: usize, bytes: u64, slots: u64| {
            let total = &mut out.buffers_bytes[element];
            *total = total.saturating_add(bytes.saturating_mul(slots));
        };
        for (e, edge) in self.graph.edges.iter().enumerate() {
            let apart = self.first[edge.to.task].saturating_sub(self.first[edge.from.task]);
            let window = edge.peek.div_ceil(batch);
            let slots = if self.is_local(e, mapping, buffering) {
                let kept = batch.saturating_mul(apart.max(window) + 1);
                Slots { out: 0, r#in: kept.saturating_add(edge.delay) }
            } else {
                let kept = batch.saturating_mul(apart.max(window + 1));
                Slots { out: batch.saturating_mul(apart.max(1)), r#in: kept.saturating_add(edge.delay) }
            };
            out.slots.push(slots);
            if !self.is_broadcast[e] {
                take(mapping[edge.from.task], edge.bytes, slots.out);
                take(mapping[edge.to.task], edge.bytes, slots.r#in);
            }
        }
        let mut by_element: Vec<EdgeId> = Vec::new();
        for edges in &self.broadcasts {
            let element = |&e: &EdgeId| mapping[self.graph.edges[e].to.task];
            let from = mapping[self.graph.edges[edges[0]].from.task];
            let bytes = self.graph.edges[edges[0]].bytes;
            let most = edges.iter().map(|&e| out.slots[e].out).max().unwrap_or(0);
            take(from, bytes, most);
            for &e in edges {
                if out.slots[e].out > 0 {
                    out.slots[e].out = most;
                }
            }
            by_element.clone_from(edges);
            by_element.sort_by_key(element);
            for together in by_element.chunk_by(|a, b| element(a) == element(b)) {
                let most = together.iter().map(|&e| out.slots[e].r#in).max().unwrap_or(0);
                take(element(&together[0]), bytes, most);
                together.iter().for_each(|&e| out.slots[e].r#in = most);
            }
        }
    }
}
