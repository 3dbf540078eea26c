//! Whether a graph makes sense.

use crate::error::{Invalid, Part};
use crate::{Edge, EdgeId, Graph, Port, TaskId, Value, sizes};
use ground::quoted;
use std::collections::HashMap;

impl Graph {
    /// Checks that the graph makes sense: names, numbers, ports, and no cycle without delay. The first thing that is
    /// wrong is returned. Linear in tasks and edges; sizes are limited as [`sizes`] says.
    ///
    /// A cycle whose delay is there but too short for its peeks is found by [`schedule`](crate::schedule::schedule),
    /// which knows mapping and batch.
    ///
    /// # Errors
    /// [`Invalid`]: the part, what is wrong there and what is allowed.
    pub fn validate(&self) -> Result<(), Invalid> {
        self.check_sizes()?;
        self.check_tasks()?;
        self.check_edges()?;
        self.check_ports()?;
        self.check_cycles()
    }

    /// `split.3`, as files name a port.
    pub fn port_name(&self, port: &Port) -> String {
        format!("{}.{}", self.tasks.get(port.task).map_or("?", |t| &t.name), port.name)
    }

    fn check_sizes(&self) -> Result<(), Invalid> {
        let wrong = |key: &str, message| Err(invalid(Part::Graph, key, message));
        if self.tasks.is_empty() {
            return wrong("task", "the graph has no task; it needs at least one".into());
        }
        if self.tasks.len() > sizes::TASKS {
            return wrong(
                "task",
                format!("{} tasks; at most {} are allowed", self.tasks.len(), sizes::TASKS),
            );
        }
        if self.edges.len() > sizes::EDGES {
            return wrong(
                "edge",
                format!("{} edges; at most {} are allowed", self.edges.len(), sizes::EDGES),
            );
        }
        if self.code_bytes > sizes::BYTES {
            return wrong("code_bytes", too_large(self.code_bytes, 0, sizes::BYTES));
        }
        text("the name", &self.name).or_else(|message| wrong("name", message))?;
        if let Some(profile) = &self.profile {
            text("the machine's name", &profile.machine)
                .or_else(|message| wrong("profile.machine", message))?;
            text("the version", &profile.cellweave).or_else(|message| wrong("profile.cellweave", message))?;
            for (kind, total) in &profile.totals_ns {
                let key = format!("profile.total_ns.{kind}");
                is_kind(kind).and_then(|()| is_ns(*total)).or_else(|message| wrong(&key, message))?;
            }
            for (kind, costs) in &profile.costs {
                for (task, cost) in costs {
                    let key = format!("profile.cost.{kind}.{task}");
                    is_kind(kind)
                        .and_then(|()| is_name("a task", task))
                        .and_then(|()| text("the date", &cost.measured))
                        .and_then(|()| is_rising(&[cost.ns.min, cost.ns.p10, cost.ns.p50, cost.ns.p90]))
                        .or_else(|message| wrong(&key, message))?;
                }
            }
            for (element, speed) in &profile.speeds {
                for (name, list) in [("alone_ns", &speed.alone_ns), ("together_ns", &speed.together_ns)] {
                    let key = format!("profile.speed.{element}.{name}");
                    is_kind(element)
                        .and_then(|()| list.iter().try_for_each(|ns| is_ns(*ns)))
                        .and_then(|()| is_speed(list))
                        .or_else(|message| wrong(&key, message))?;
                }
            }
            for (kind, (per_transfer, per_byte)) in &profile.overheads {
                for (key, ns) in [("per_transfer_ns", per_transfer), ("per_byte_ns", per_byte)] {
                    let key = format!("profile.overhead.{kind}.{key}");
                    is_kind(kind).and_then(|()| is_ns(*ns)).or_else(|message| wrong(&key, message))?;
                }
            }
            for (shares, points) in &profile.handovers {
                let key = format!("profile.handover.{shares}");
                let all = points.iter().flatten().try_for_each(|ns| is_ns(*ns));
                is_kind(shares).and(all).or_else(|message| wrong(&key, message))?;
            }
            for (element, &pace) in &profile.paces {
                let key = format!("profile.pace.{element}");
                is_kind(element).and_then(|()| is_pace(pace)).or_else(|message| wrong(&key, message))?;
            }
            for (elements, slower) in &profile.together {
                let key = format!("profile.together.{elements}");
                let all = slower.iter().try_for_each(|times| is_ns(*times));
                text("the elements", elements).and(all).or_else(|message| wrong(&key, message))?;
            }
        }
        Ok(())
    }

    fn check_tasks(&self) -> Result<(), Invalid> {
        let mut seen: HashMap<&str, TaskId> = HashMap::with_capacity(self.tasks.len());
        for (id, task) in self.tasks.iter().enumerate() {
            let wrong =
                |key: &str, m| Err(invalid(Part::Task(id), &format!("task {}{key}", quoted(&task.name)), m));
            is_name("a task", &task.name).or_else(|message| wrong(", name", message))?;
            if let Some(first) = seen.insert(&task.name, id) {
                let message =
                    format!("tasks {} and {} have the same name; names must differ", first + 1, id + 1);
                return wrong(", name", message);
            }
            if let Some(kernel) = &task.kernel {
                let filled =
                    if kernel.is_empty() { Err("an empty text; leave it out".into()) } else { Ok(()) };
                filled.and(text("the kernel", kernel)).or_else(|message| wrong(", kernel", message))?;
            }
            if let Some(lock) = &task.lock {
                is_name("a lock", lock).or_else(|message| wrong(", lock", message))?;
            }
            for (kind, &ns) in &task.cost_ns {
                is_kind(kind)
                    .and_then(|()| is_ns(ns))
                    .or_else(|message| wrong(&format!(", cost_ns.{kind}"), message))?;
            }
            for (key, value) in &task.params {
                is_param(key, value).or_else(|message| wrong(&format!(", params.{key}"), message))?;
            }
        }
        Ok(())
    }

    fn check_edges(&self) -> Result<(), Invalid> {
        for (id, edge) in self.edges.iter().enumerate() {
            for (key, port) in [("from", &edge.from), ("to", &edge.to)] {
                if port.task >= self.tasks.len() {
                    let message = format!("task index {} of {} tasks", port.task, self.tasks.len());
                    return Err(invalid(Part::Edge(id), &format!("edge {}, {key}", id + 1), message));
                }
                is_name("a port", &port.name).or_else(|message| self.wrong_edge(id, key, message))?;
            }
            let Edge { bytes, peek, delay, .. } = *edge;
            let ranges = [
                ("bytes", bytes, 1, sizes::BYTES),
                ("peek", peek, 0, sizes::PEEK),
                ("delay", delay, 0, sizes::DELAY),
            ];
            for (key, value, least, most) in ranges {
                if value < least || value > most {
                    return self.wrong_edge(id, key, too_large(value, least, most));
                }
            }
            if bytes.saturating_mul(peek + delay + 1) > sizes::WINDOW_BYTES {
                let message = format!(
                    "bytes * (peek + delay + 1) is {bytes} * {}; at most {} (2^60) are allowed",
                    peek + delay + 1,
                    sizes::WINDOW_BYTES
                );
                return self.wrong_edge(id, "bytes", message);
            }
            if edge.from.task == edge.to.task && delay == 0 {
                let message = format!(
                    "the task {} feeds itself without delay and could never fire; give the edge a delay of at least 1",
                    quoted(&self.tasks[edge.from.task].name)
                );
                return self.wrong_edge(id, "delay", message);
            }
        }
        Ok(())
    }

    fn check_ports(&self) -> Result<(), Invalid> {
        let mut inputs: HashMap<&Port, EdgeId> = HashMap::with_capacity(self.edges.len());
        let mut outputs: HashMap<&Port, EdgeId> = HashMap::with_capacity(self.edges.len());
        for (id, edge) in self.edges.iter().enumerate() {
            if let Some(first) = inputs.insert(&edge.to, id) {
                let message = if self.edges[first].from == edge.from {
                    format!("the same edge twice: edges {} and {}", first + 1, id + 1)
                } else {
                    let port = self.port_name(&edge.to);
                    format!(
                        "the input port {port:?} has two edges, {} and {}; one is allowed",
                        first + 1,
                        id + 1
                    )
                };
                return self.wrong_edge(id, "to", message);
            }
            let first = *outputs.entry(&edge.from).or_insert(id);
            if self.edges[first].bytes != edge.bytes {
                let message = format!(
                    "{} bytes, but edge {} from the same port {:?} has {}; a broadcast's edges carry the same data",
                    edge.bytes,
                    first + 1,
                    self.port_name(&edge.from),
                    self.edges[first].bytes
                );
                return self.wrong_edge(id, "bytes", message);
            }
        }
        Ok(())
    }

    fn check_cycles(&self) -> Result<(), Invalid> {
        let mut missing = vec![0usize; self.tasks.len()];
        let mut starts = vec![0usize; self.tasks.len() + 1];
        for edge in self.edges.iter().filter(|e| e.delay == 0) {
            missing[edge.to.task] += 1;
            starts[edge.from.task + 1] += 1;
        }
        for t in 0..self.tasks.len() {
            starts[t + 1] += starts[t];
        }
        let mut next = starts.clone();
        let mut consumers = vec![0; starts[self.tasks.len()]];
        for edge in self.edges.iter().filter(|e| e.delay == 0) {
            consumers[next[edge.from.task]] = edge.to.task;
            next[edge.from.task] += 1;
        }
        let mut ready: Vec<TaskId> = (0..self.tasks.len()).filter(|&t| missing[t] == 0).collect();
        let mut done = 0;
        while let Some(task) = ready.pop() {
            done += 1;
            for &to in &consumers[starts[task]..starts[task + 1]] {
                missing[to] -= 1;
                if missing[to] == 0 {
                    ready.push(to);
                }
            }
        }
        if done == self.tasks.len() { Ok(()) } else { Err(self.name_cycle(&missing)) }
    }

    /// Every task that still misses an input has a producer that does: walking backwards must meet itself.
    fn name_cycle(&self, missing: &[usize]) -> Invalid {
        let mut into: Vec<Option<EdgeId>> = vec![None; self.tasks.len()];
        for (id, edge) in self.edges.iter().enumerate() {
            if edge.delay == 0 && missing[edge.from.task] > 0 && missing[edge.to.task] > 0 {
                into[edge.to.task].get_or_insert(id);
            }
        }
        let producer = |task: TaskId| into[task].map(|e| self.edges[e].from.task);
        let mut task = missing.iter().position(|&m| m > 0).unwrap_or(0);
        let mut walked = vec![false; self.tasks.len()];
        while !std::mem::replace(&mut walked[task], true) {
            task = producer(task).unwrap_or(task);
        }
        let mut cycle = vec![task];
        let mut at = producer(task).unwrap_or(task);
        while at != task {
            cycle.push(at);
            at = producer(at).unwrap_or(task);
        }
        cycle.push(task);
        cycle.reverse();
        let mut names: Vec<&str> = cycle.iter().map(|&t| self.tasks[t].name.as_str()).collect();
        if names.len() > 12 {
            names.splice(6..names.len() - 5, [".."]);
        }
        let message = format!(
            "the cycle {} of {} tasks has no delay and could never start; give one of its edges a delay of at least 1",
            names.join(" -> "),
            cycle.len() - 1
        );
        let edge = into[task].unwrap_or(0);
        invalid(Part::Edge(edge), &self.edge_key(edge, "delay"), message)
    }

    fn edge_key(&self, id: EdgeId, key: &str) -> String {
        let edge = &self.edges[id];
        let names = format!("{} -> {}", self.port_name(&edge.from), self.port_name(&edge.to));
        format!("edge {} {}, {key}", id + 1, quoted(&names))
    }

    fn wrong_edge<T>(&self, id: EdgeId, key: &str, message: String) -> Result<T, Invalid> {
        Err(invalid(Part::Edge(id), &self.edge_key(id, key), message))
    }
}

fn invalid(part: Part, key: &str, message: String) -> Invalid {
    Invalid { part, key: key.into(), message }
}

fn too_large(value: u64, least: u64, most: u64) -> String {
    format!("{value} is not allowed; from {least} to {most} is")
}

fn is_ns(ns: f64) -> Result<(), String> {
    if (0.0..=sizes::NS).contains(&ns) {
        Ok(())
    } else {
        Err(format!("{ns} ns is not allowed; from 0 to {:e} is", sizes::NS))
    }
}

/// One number per fixed kernel, or none.
fn is_speed(list: &[f64]) -> Result<(), String> {
    match list.len() {
        0 | 3 => Ok(()),
        n => Err(format!("{n} numbers; three are allowed (integer, floating, memory), or none")),
    }
}

fn is_rising(ns: &[f64]) -> Result<(), String> {
    ns.iter().try_for_each(|&ns| is_ns(ns))?;
    let rising = ns.windows(2).all(|pair| pair[0] <= pair[1]);
    if rising { Ok(()) } else { Err(format!("{ns:?}; min, p10, p50 and p90 must not fall")) }
}

/// More than nothing: a task takes some time on every element.
fn is_pace(pace: f64) -> Result<(), String> {
    match pace.is_finite() && pace > 0.0 {
        true => Ok(()),
        false => Err(format!("{pace} times as long; it must be more than 0, and finite")),
    }
}

fn text(what: &str, text: &str) -> Result<(), String> {
    if text.len() > sizes::TEXT_BYTES {
        return Err(format!("{what} has {} bytes; at most {} are allowed", text.len(), sizes::TEXT_BYTES));
    }
    match text.chars().find(|c| c.is_control()) {
        Some(c) => Err(format!("{what} has a control character, {c:?}")),
        None => Ok(()),
    }
}

/// Names of tasks and ports: `split.3` must be unambiguous.
fn is_name(what: &str, name: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err(format!("{what} needs a name"));
    }
    if name.len() > sizes::NAME_BYTES {
        return Err(format!(
            "{what}'s name has {} bytes; at most {} are allowed",
            name.len(),
            sizes::NAME_BYTES
        ));
    }
    match name.chars().find(|&c| c == '.' || c.is_whitespace() || c.is_control()) {
        Some('.') => Err(format!("{what}'s name {} has a dot, which separates task and port", quoted(name))),
        Some(c) => Err(format!("{what}'s name {} has {c:?}; blanks are not allowed", quoted(name))),
        None => Ok(()),
    }
}

fn is_kind(kind: &str) -> Result<(), String> {
    if kind == "*" { Ok(()) } else { is_name("a kind of element", kind) }
}

fn is_param(key: &str, value: &Value) -> Result<(), String> {
    if key.is_empty() {
        return Err("a parameter needs a name".into());
    }
    text("the parameter's name", key)?;
    let finite = |n: &f64| {
        if n.is_finite() { Ok(()) } else { Err(format!("{n} is not allowed; numbers must be finite")) }
    };
    match value {
        Value::Number(n) => finite(n),
        Value::Numbers(list) => list.iter().try_for_each(finite),
        Value::Text(t) if t.len() > sizes::TEXT_BYTES => {
            Err(format!("a text of {} bytes; at most {} are allowed", t.len(), sizes::TEXT_BYTES))
        }
        Value::Text(_) | Value::Bool(_) => Ok(()),
    }
}
