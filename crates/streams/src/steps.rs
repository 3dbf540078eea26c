//! What programs did, step by step, for the trace: the computation and the communication phase of `streaming-schedule`,
//! Figure 8.

use crate::memory::StreamCore;
use crate::stream::StreamState;
use sim::trace::{Trace, TraceStep};

/// Tasks or edges that a step names; of more, only how many there are.
const NAMED: usize = 4;

/// The steps of all elements.
#[derive(Debug)]
pub(crate) struct Steps {
    done: Vec<TraceStep>,
    /// By element, when its last firing began.
    fired_ps: Vec<u64>,
    /// By element, fetches that it has started since its last step.
    started: Vec<Vec<usize>>,
}

impl Steps {
    pub(crate) fn new(elements: usize) -> Self {
        Self { done: Vec::new(), fired_ps: vec![0; elements], started: vec![Vec::new(); elements] }
    }

    pub(crate) fn fires(&mut self, element: usize, now_ps: u64) {
        self.fired_ps[element] = now_ps;
    }

    pub(crate) fn starts(&mut self, element: usize, fetch: usize) {
        self.started[element].push(fetch);
    }

    /// Gives the steps to the trace, whose units are named as elements are. A PPE communicates on its second thread,
    /// whose place is that of the element's fetches.
    pub(crate) fn add_to(self, trace: &mut Trace, elements: &[&str]) {
        let threads = self.fired_ps.len();
        let unit = |element: usize| {
            let own = elements[element % threads];
            let name = if element < threads { own.to_string() } else { format!("{own}, second thread") };
            trace.units.iter().position(|(unit, _)| *unit == name)
        };
        let units: Vec<Option<usize>> = (0..2 * threads).map(unit).collect();
        for step in self.done {
            if let Some(unit) = units[step.unit] {
                trace.step(TraceStep { unit, ..step });
            }
        }
    }
}

impl StreamState {
    /// A firing that began with [`Steps::fires`] is over.
    pub(crate) fn computed(&mut self, element: usize, unit: usize, firings: u64, now_ps: u64) {
        let Some(steps) = &mut self.steps else { return };
        let layout = &self.made.layout;
        let tasks = &layout.units[layout.elements[element].units[unit]].tasks;
        let names = listed(tasks.iter().map(|&t| self.graph.tasks[t].name.clone()).collect());
        let times = if firings == 1 { String::new() } else { format!(" x {firings}") };
        let ps = (steps.fired_ps[element], now_ps);
        steps.done.push(TraceStep {
            unit: element,
            name: format!("compute {names}{times}"),
            kind: "computation",
            ps,
        });
    }

    /// From `turned_ps` until now the element started transfers and told others.
    pub(crate) fn communicated(&mut self, element: usize, turned_ps: u64, now_ps: u64) {
        let Some(steps) = &mut self.steps else { return };
        let started = std::mem::take(&mut steps.started[element]);
        let edge = |&fetch: &usize| {
            let fetch = &self.made.fetches[fetch];
            let edge = &self.graph.edges[fetch.edge];
            let (from, to) = (&self.graph.tasks[edge.from.task].name, &self.graph.tasks[edge.to.task].name);
            let verb = if fetch.pushed { "put" } else { "get" };
            format!("{verb} {from}.{} -> {to}.{}", edge.from.name, edge.to.name)
        };
        let name =
            if started.is_empty() { "tell".into() } else { listed(started.iter().map(edge).collect()) };
        let thread = match self.places.units[element] {
            StreamCore::Spe(_) => element,
            StreamCore::Ppe(_) => element + steps.fired_ps.len(),
        };
        if now_ps > turned_ps {
            let ps = (turned_ps, now_ps);
            steps.done.push(TraceStep { unit: thread, name, kind: "communication", ps });
        }
    }
}

fn listed(mut names: Vec<String>) -> String {
    let more = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    let text = names.join(", ");
    if more > 0 { format!("{text} and {more} more") } else { text }
}
