//! Whether a plan makes sense, and whether it fits a graph and a machine.

use super::{FORMAT, Plan};
use crate::schedule::minimum_slots;
use crate::{Buffering, Graph, Mapping, Schedule, Slots, sizes};
use ground::options::Word;
use ground::{did_you_mean, quoted};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

/// What is wrong with a plan, each problem in a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadPlan {
    /// At least one.
    pub problems: Vec<String>,
}

impl fmt::Display for BadPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 10;
        let shown = &self.problems[..self.problems.len().min(SHOWN)];
        f.write_str(&shown.join("; "))?;
        if self.problems.len() > SHOWN {
            write!(f, "; and {} more", self.problems.len() - SHOWN)?;
        }
        Ok(())
    }
}

impl std::error::Error for BadPlan {}

fn all_well(problems: Vec<String>) -> Result<(), BadPlan> {
    if problems.is_empty() { Ok(()) } else { Err(BadPlan { problems }) }
}

impl Plan {
    /// Whether the plan fits `graph` and a machine of `elements`: every task has an element that is there, the edges
    /// are the graph's, the slots are enough for liveness, firstPeriod and order are those of a schedule.
    ///
    /// # Errors
    /// [`BadPlan`] with every problem found, task by task and edge by edge.
    pub fn check(&self, graph: &Graph, elements: &[&str]) -> Result<(), BadPlan> {
        self.check_itself()?;
        let mut problems = Vec::new();
        if self.application != graph.name {
            problems
                .push(format!("it is for the application {:?}, not for {:?}", self.application, graph.name));
        }
        let tasks: BTreeSet<&str> = graph.tasks.iter().map(|t| t.name.as_str()).collect();
        for task in tasks.iter().filter(|t| !self.mapping.contains_key(**t)) {
            problems.push(format!("the task {} has no element", quoted(task)));
        }
        for task in self.mapping.keys().filter(|t| !tasks.contains(t.as_str())) {
            let hint = did_you_mean(task, tasks.iter().copied());
            problems.push(format!(
                "it maps the task {}, which the application does not have{hint}",
                quoted(task)
            ));
        }
        let mut unknown: BTreeMap<&str, usize> = BTreeMap::new();
        for element in self.mapping.values().filter(|e| !elements.contains(&e.as_str())) {
            *unknown.entry(element).or_default() += 1;
        }
        for (element, count) in unknown {
            let hint = did_you_mean(element, elements.iter().copied());
            problems.push(format!(
                "{count} tasks are on {}, which the machine does not have{hint}",
                quoted(element)
            ));
        }
        if self.edges.len() != graph.edges.len() {
            let (here, there) = (self.edges.len(), graph.edges.len());
            problems.push(format!("it has {here} edges, the application {there}"));
        } else if problems.is_empty() {
            self.check_edges(graph, &mut problems);
        }
        all_well(problems)
    }

    /// The plan in indices of `graph` and `elements`: what a runtime works with. Elements without tasks have no order.
    ///
    /// # Errors
    /// As [`Plan::check`].
    pub fn resolve(&self, graph: &Graph, elements: &[&str]) -> Result<(Mapping, Schedule), BadPlan> {
        self.check(graph, elements)?;
        let place: HashMap<&str, usize> = elements.iter().enumerate().map(|(i, e)| (*e, i)).collect();
        let ids: HashMap<&str, usize> =
            graph.tasks.iter().enumerate().map(|(i, t)| (t.name.as_str(), i)).collect();
        let mapping = graph.tasks.iter().map(|t| place[self.mapping[&t.name].as_str()]).collect();
        let of_element = |name: &&str| self.order.get(*name).map(Vec::as_slice).unwrap_or_default();
        let schedule = Schedule {
            batch: self.batch,
            first_period: graph.tasks.iter().map(|t| self.first_period[&t.name]).collect(),
            slots: self.edges.iter().map(|e| Slots { out: e.slots_out, r#in: e.slots_in }).collect(),
            buffers_bytes: elements
                .iter()
                .map(|e| self.buffers_bytes.get(*e).copied().unwrap_or(0))
                .collect(),
            order: elements.iter().map(|e| of_element(e).iter().map(|t| ids[t.as_str()]).collect()).collect(),
        };
        Ok((mapping, schedule))
    }

    /// Whether the parts of the plan agree with each other.
    pub(super) fn check_itself(&self) -> Result<(), BadPlan> {
        let mut problems = Vec::new();
        if self.format != FORMAT {
            problems.push(format!("format {}; this version knows {FORMAT}", self.format));
        }
        if let Err(why) = Buffering::of_word(&self.buffering) {
            problems.push(format!("buffering: {why}"));
        }
        if self.batch == 0 || self.batch > sizes::BATCH {
            problems.push(format!("a batch of {}; 1 to {} is allowed", self.batch, sizes::BATCH));
        }
        let numbers = [
            ("period_ns", self.period_ns),
            ("bound_ns", self.bound_ns),
            ("throughput_per_s", self.throughput_per_s),
            ("seconds", self.seconds),
        ];
        for (key, number) in numbers {
            if !(number.is_finite() && number >= 0.0) {
                problems.push(format!("{key} is {number}; a finite number from 0 is allowed"));
            }
        }
        if !(self.gap <= 1.0 && self.gap.is_finite()) {
            problems.push(format!("gap is {}; a finite number up to 1 is allowed", self.gap));
        }
        for part in self.contributions.iter().filter(|c| !(c.ns.is_finite() && c.ns >= 0.0)) {
            problems.push(format!("the contribution {} is {} ns", quoted(&part.to_string()), part.ns));
        }
        self.check_period(&mut problems);
        self.check_order(&mut problems);
        all_well(problems)
    }

    /// Period, throughput and gap say the same as the contributions.
    fn check_period(&self, problems: &mut Vec<String>) {
        // Numbers that are none are told already.
        if !(self.period_ns.is_finite() && self.period_ns >= 0.0 && self.throughput_per_s.is_finite()) {
            return;
        }
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * a.abs().max(b.abs());
        let largest = self.contributions.iter().map(|c| c.ns).fold(0.0, f64::max);
        if !self.contributions.is_empty() && !near(self.period_ns, largest) {
            problems.push(format!(
                "period_ns is {}, and the largest contribution {largest} ns: they must be equal",
                self.period_ns
            ));
        }
        if self.period_ns > 0.0 && !near(self.throughput_per_s, 1e9 / self.period_ns) {
            problems.push(format!(
                "throughput_per_s is {}, and the period gives {}",
                self.throughput_per_s,
                1e9 / self.period_ns
            ));
        }
    }

    /// Order and firstPeriod have the mapping's tasks, each once, on its element, by firstPeriod.
    fn check_order(&self, problems: &mut Vec<String>) {
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        for (element, order) in &self.order {
            for task in order {
                match self.mapping.get(task) {
                    Some(mapped) if mapped == element => {}
                    Some(mapped) => problems.push(format!(
                        "the order of {} has the task {}, which is mapped to {}",
                        quoted(element),
                        quoted(task),
                        quoted(mapped)
                    )),
                    None => problems.push(format!(
                        "the order of {} has the task {}, which is not mapped",
                        quoted(element),
                        quoted(task)
                    )),
                }
                if !seen.insert(task) {
                    problems.push(format!("the task {} is twice in the order", quoted(task)));
                }
            }
            let first = |task: &String| self.first_period.get(task).copied().unwrap_or(0);
            if let Some(pair) = order.windows(2).find(|pair| first(&pair[0]) > first(&pair[1])) {
                let (late, early) = (quoted(&pair[0]), quoted(&pair[1]));
                problems.push(format!("{late} starts later than {early}, but stands before it in the order"));
            }
        }
        for task in self.mapping.keys() {
            if !seen.contains(task.as_str()) {
                problems.push(format!("the task {} is in no element's order", quoted(task)));
            }
            if !self.first_period.contains_key(task) {
                problems.push(format!("the task {} has no first_period", quoted(task)));
            }
        }
        let most = sizes::TASKS as u64 * (sizes::PEEK + 2);
        for (task, &first) in &self.first_period {
            if !self.mapping.contains_key(task) {
                problems.push(format!("first_period has the task {}, which is not mapped", quoted(task)));
            }
            if first > most {
                problems.push(format!(
                    "the first_period of {} is {first}; at most {most} is allowed",
                    quoted(task)
                ));
            }
        }
    }

    /// All tasks are mapped to known elements by now, and edges are as many as the graph's.
    fn check_edges(&self, graph: &Graph, problems: &mut Vec<String>) {
        let places: HashMap<&str, usize> = self
            .order
            .values()
            .flat_map(|order| order.iter().enumerate().map(|(at, t)| (t.as_str(), at)))
            .collect();
        // No path through the graph is longer, whichever edges cross.
        let longest: u64 = graph.edges.iter().map(|e| e.peek.div_ceil(self.batch) + 2).sum();
        if let Some((task, first)) = self.first_period.iter().find(|(_, first)| **first > longest) {
            problems.push(format!(
                "the first_period of {} is {first}; at most {longest} is allowed here",
                quoted(task)
            ));
        }
        let shared = self.buffering == Buffering::Shared.word();
        for (edge, planned) in graph.edges.iter().zip(&self.edges) {
            let (from, to) = (graph.port_name(&edge.from), graph.port_name(&edge.to));
            if (&planned.from, &planned.to) != (&from, &to) {
                problems.push(format!(
                    "it has the edge {} where the application has {}",
                    quoted(&format!("{} -> {}", planned.from, planned.to)),
                    quoted(&format!("{from} -> {to}"))
                ));
                continue;
            }
            if let Some(bytes) = planned.bytes.filter(|&bytes| bytes != edge.bytes) {
                problems.push(format!(
                    "it is for {bytes} bytes on the edge {}, which has {}: plan again",
                    quoted(&format!("{from} -> {to}")),
                    edge.bytes
                ));
                continue;
            }
            let [k, l] = [&edge.from, &edge.to].map(|port| graph.tasks[port.task].name.as_str());
            let first = (self.first_period[k], self.first_period[l]);
            let local = shared && self.mapping[k] == self.mapping[l];
            let name = quoted(&format!("{from} -> {to}"));
            if planned.first_period != first.1 {
                let (here, there) = (planned.first_period, first.1);
                problems.push(format!("the edge {name} has first_period {here}, its consumer {there}"));
            }
            let (p, d) = (edge.peek.div_ceil(self.batch), edge.delay / self.batch);
            let needed = first.0 + p + if local { 0 } else { 2 };
            if first.1 + d < needed {
                let least = needed - d;
                problems.push(format!(
                    "the edge {name}: first_period is {}; at least {least} is needed",
                    first.1
                ));
            }
            if local && first.0 == first.1 && p >= d && places[k] >= places[l] {
                problems.push(format!("{} must stand after {} in the order", quoted(l), quoted(k)));
            }
            let (both, window, out) = minimum_slots(edge, first, local, self.batch);
            let (has_out, has_in) = (planned.slots_out, planned.slots_in);
            let together = has_out.saturating_add(has_in);
            for (what, has, least) in [
                ("slots_out", has_out, out),
                ("slots_in", has_in, window),
                ("slots_out + slots_in", together, both),
            ] {
                if has < least {
                    problems.push(format!("the edge {name}: {what} is {has}; at least {least} is needed"));
                }
            }
            if local && has_out != 0 {
                problems.push(format!(
                    "the edge {name}: slots_out is {has_out}; both ends share one buffer, so 0 is right"
                ));
            }
            if together.saturating_mul(edge.bytes) > sizes::WINDOW_BYTES {
                problems
                    .push(format!("the edge {name}: {together} slots of {} bytes are absurd", edge.bytes));
            }
        }
    }
}
