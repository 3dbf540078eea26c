//! A planner that tries every mapping, written after the model's text and after nothing else: neither `work::schedule`
//! nor `model` is called. It is what the tests and `benches/planning` compare the planner with.

pub(crate) mod cases;
mod moving;

use machine::Machine;
use std::collections::BTreeMap;
use work::{Buffering, Graph};

/// A graph on a machine under one rule.
pub(crate) struct Oracle<'a> {
    machine: &'a Machine,
    graph: &'a Graph,
    rule: Buffering,
    batch: i64,
    /// Edges by output port, each with the port's bytes.
    ports: Vec<(f64, Vec<usize>)>,
    /// Limits of each ordered pair of elements.
    limits: Vec<Vec<usize>>,
}

impl<'a> Oracle<'a> {
    pub(crate) fn new(machine: &'a Machine, graph: &'a Graph, rule: Buffering, batch: u64) -> Oracle<'a> {
        let n = machine.elements.len();
        let mut ports: BTreeMap<(usize, &str), (f64, Vec<usize>)> = BTreeMap::new();
        for (id, edge) in graph.edges.iter().enumerate() {
            let port = ports.entry((edge.from.task, &edge.from.name)).or_default();
            port.0 = edge.bytes as f64;
            port.1.push(id);
        }
        let mut limits = vec![Vec::new(); n * n];
        for (id, limit) in machine.limits.iter().enumerate() {
            for block in &limit.pairs {
                for pair in block.from.iter().flat_map(|from| block.to.iter().map(move |to| from * n + to)) {
                    if !limits[pair].contains(&id) {
                        limits[pair].push(id);
                    }
                }
            }
        }
        Oracle { machine, graph, rule, batch: batch as i64, ports: ports.into_values().collect(), limits }
    }

    /// The least period of all mappings that break nothing, and such a mapping; `None` when all break something.
    pub(crate) fn best(&self) -> Option<(f64, Vec<usize>)> {
        let n = self.machine.elements.len();
        let mut mapping = vec![0; self.graph.tasks.len()];
        let mut best: Option<(f64, Vec<usize>)> = None;
        loop {
            if let Some(period) = self.period(&mapping)
                && best.as_ref().is_none_or(|b| period < b.0)
            {
                best = Some((period, mapping.clone()));
            }
            let Some(t) = mapping.iter().position(|&e| e + 1 < n) else { return best };
            mapping[..t].fill(0);
            mapping[t] += 1;
        }
    }

    /// The period of a mapping, `None` when it breaks something.
    pub(crate) fn period(&self, mapping: &[usize]) -> Option<f64> {
        let (machine, graph) = (self.machine, self.graph);
        let n = machine.elements.len();
        let mut compute = vec![0.0; n];
        let mut locks: BTreeMap<&str, f64> = BTreeMap::new();
        for (task, &on) in graph.tasks.iter().zip(mapping) {
            let kind = &machine.elements[on].kind;
            let cost = *task.cost_ns.get(kind).or(task.cost_ns.get("*"))?;
            compute[on] += cost;
            if let Some(lock) = &task.lock {
                *locks.entry(lock).or_default() += cost;
            }
        }
        let mut bytes_of_limit = vec![0.0; machine.limits.len()];
        let mut incoming = vec![0; n];
        let mut outgoing: BTreeMap<(usize, &str), u32> = BTreeMap::new();
        for (bytes, edges) in &self.ports {
            let from = mapping[graph.edges[edges[0]].from.task];
            let mut destinations: Vec<usize> =
                edges.iter().map(|&e| mapping[graph.edges[e].to.task]).collect();
            destinations.sort_unstable();
            destinations.dedup();
            for to in destinations.into_iter().filter(|&to| to != from) {
                self.limits[from * n + to].iter().for_each(|&l| bytes_of_limit[l] += bytes);
                let moving_ns = moving::ns(machine, from, to, *bytes as u64, self.batch as u64);
                for end in [from, to] {
                    compute[end] += moving_ns;
                    if let Some(o) = machine.overheads.get(&machine.elements[end].kind) {
                        compute[end] += o.per_transfer_ns / self.batch as f64 + o.per_byte_ns * bytes;
                    }
                }
                incoming[to] += 1;
                *outgoing.entry((from, &machine.elements[to].kind)).or_default() += 1;
            }
        }
        let too_many = |e: usize| {
            machine.elements[e].incoming_max.is_some_and(|most| incoming[e] > most)
                || machine.elements[e]
                    .outgoing_max
                    .iter()
                    .any(|(kind, most)| outgoing.get(&(e, kind.as_str())).is_some_and(|n| n > most))
        };
        if (0..n).any(too_many) {
            return None;
        }
        let (buffers, touched) = self.buffers(mapping)?;
        let mut period = compute.iter().copied().fold(0.0, f64::max);
        period = locks.values().copied().fold(period, f64::max);
        if let Some(cpus) = machine.quota_cpus {
            period = period.max(compute.iter().sum::<f64>() / cpus);
        }
        // Measurements differ by a twentieth: up to there elements do not slow each other down.
        for group in machine.together.iter().filter(|g| g.computing > 1.05) {
            let elements = group.elements.len() as f64;
            let cpus = (elements / group.computing).max(1.0);
            period = period.max(group.elements.iter().map(|&e| compute[e]).sum::<f64>() / cpus);
        }
        for (limit, bytes) in machine.limits.iter().zip(&bytes_of_limit) {
            period = period.max(bytes * 1e9 / limit.capacity_bytes_per_s);
        }
        for (e, element) in machine.elements.iter().enumerate() {
            let Some(memory) = &element.memory else { continue };
            let used = mapping.contains(&e);
            let code = if memory.holds_code { graph.code_bytes as f64 } else { 0.0 };
            if memory.hard && used && buffers[e] + code > memory.bytes as f64 {
                return None;
            }
            let excess = buffers[e] - memory.bytes as f64;
            if let Some(rate) = memory.overflow_bytes_per_s.filter(|_| !memory.hard && excess > 0.0) {
                period = period.max(excess / buffers[e] * touched[e] / rate * 1e9);
            }
        }
        Some(period)
    }

    fn local(&self, e: usize, mapping: &[usize]) -> bool {
        let edge = &self.graph.edges[e];
        self.rule == Buffering::Shared && mapping[edge.from.task] == mapping[edge.to.task]
    }

    /// What an edge adds to firstPeriod.
    fn step(&self, e: usize, mapping: &[usize]) -> i64 {
        let edge = &self.graph.edges[e];
        let peek = (edge.peek as i64 + self.batch - 1) / self.batch;
        peek - edge.delay as i64 / self.batch + if self.local(e, mapping) { 0 } else { 2 }
    }

    /// firstPeriod of every task: the least that keeps every edge, none below 0.
    fn first(&self, mapping: &[usize]) -> Option<Vec<i64>> {
        let tasks = mapping.len();
        let mut first = vec![0i64; tasks];
        for sweep in 0..=tasks {
            let mut grown = false;
            for (e, edge) in self.graph.edges.iter().enumerate() {
                let at = first[edge.from.task] + self.step(e, mapping);
                if at > first[edge.to.task] {
                    first[edge.to.task] = at;
                    grown = true;
                }
            }
            if !grown {
                break;
            }
            if sweep == tasks {
                return None; // a cycle that gains in every round
            }
        }
        if self.rule == Buffering::Duplicated || self.graph.edges.iter().all(|e| e.delay == 0) {
            return Some(first);
        }
        // A cycle on one element must lose in every round.
        let mut far = vec![i64::MIN / 4; tasks * tasks];
        for (e, edge) in self.graph.edges.iter().enumerate().filter(|(e, _)| self.local(*e, mapping)) {
            let at = &mut far[edge.from.task * tasks + edge.to.task];
            *at = (*at).max(self.step(e, mapping));
        }
        for k in 0..tasks {
            for i in 0..tasks {
                for j in 0..tasks {
                    far[i * tasks + j] = far[i * tasks + j].max(far[i * tasks + k] + far[k * tasks + j]);
                }
            }
        }
        (0..tasks).all(|t| far[t * tasks + t] < 0).then_some(first)
    }

    /// Bytes of buffers, and bytes touched per instance, of every element.
    fn buffers(&self, mapping: &[usize]) -> Option<(Vec<f64>, Vec<f64>)> {
        let n = self.machine.elements.len();
        let first = self.first(mapping)?;
        let (mut held, mut touched) = (vec![0.0; n], vec![0.0; n]);
        for (bytes, edges) in &self.ports {
            let home = mapping[self.graph.edges[edges[0]].from.task];
            let mut out = 0;
            let mut into = vec![0; n];
            touched[home] += bytes;
            for &e in edges {
                let edge = &self.graph.edges[e];
                let apart = (first[edge.to.task] - first[edge.from.task]).max(0);
                let peek = (edge.peek as i64 + self.batch - 1) / self.batch;
                let to = mapping[edge.to.task];
                let slots = if self.local(e, mapping) {
                    apart.max(peek) + 1
                } else {
                    out = out.max(self.batch * apart.max(1));
                    touched[to] += bytes;
                    apart.max(peek + 1)
                };
                into[to] = into[to].max(self.batch * slots + edge.delay as i64);
            }
            held[home] += bytes * out as f64;
            (0..n).for_each(|e| held[e] += bytes * into[e] as f64);
        }
        Some((held, touched))
    }
}
