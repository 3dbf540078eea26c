//! What a worker records when it is asked to: costs per task, and events for a trace. All memory is there before the
//! first firing; what does not fit is left out and said to be.

use crate::samples::Samples;

/// One call of a kernel, a wait, or the fill of a ring.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TraceEvent {
    pub start_ns: u64,
    pub end_ns: u64,
    /// First instance of a call; fill of a ring, in instances.
    pub first: u64,
    pub firings: u32,
    /// Task, ring, or nothing.
    pub of: u32,
    pub kind: EventKind,
}

/// What a [`TraceEvent`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventKind {
    Call,
    Wait,
    Fill,
}

/// A worker's recorder.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    /// Whether a clock is read around every call.
    pub timed: bool,
    pub measuring: bool,
    pub tracing: bool,
    pub events: Vec<TraceEvent>,
    /// Events for which there was no room.
    pub left_out: u64,
    /// When the last call or wait ended: the next one starts there.
    pub last_ns: u64,
    clock_ns: f64,
    /// Per task of the worker: its index in the graph, and ns per firing of its calls.
    pub costs: Vec<(usize, Samples<f32>)>,
    /// Costs of one firing of a unit, not yet known to be undisturbed.
    pending: Vec<(usize, f32)>,
    /// Costs that do not count, because this thread lost its cpu meanwhile.
    pub disturbed: u64,
}

/// Cost samples kept per task.
const KEPT: usize = 2048;

impl Recorder {
    /// Records `events` events at most, and costs of `tasks` if asked to.
    pub(crate) fn new(events: usize, measuring: bool, tasks: impl Iterator<Item = usize>) -> Recorder {
        let costs: Vec<_> =
            if measuring { tasks.map(|t| (t, Samples::new(KEPT))).collect() } else { Vec::new() };
        Recorder {
            timed: events > 0 || measuring,
            measuring,
            tracing: events > 0,
            events: Vec::with_capacity(events),
            clock_ns: if measuring { host::overhead_ns() } else { 0.0 },
            pending: Vec::with_capacity(costs.len()),
            costs,
            ..Recorder::default()
        }
    }

    /// Touches the memory for events on the thread that will fill it, so that no page fault comes later.
    pub(crate) fn touch(&mut self) {
        let nothing =
            TraceEvent { start_ns: 0, end_ns: 0, first: 0, firings: 0, of: 0, kind: EventKind::Wait };
        self.events.resize(self.events.capacity(), nothing);
        self.events.clear();
    }

    /// A kernel was called, and returned just now.
    #[inline]
    pub(crate) fn call(&mut self, cost: usize, end_ns: u64, task: usize, firings: u64, first: u64) {
        let start_ns = std::mem::replace(&mut self.last_ns, end_ns);
        if self.measuring && firings > 0 {
            let ns = ((end_ns - start_ns) as f64 - self.clock_ns).max(0.0) / firings as f64;
            self.pending.push((cost, ns as f32));
        }
        if self.tracing {
            let (of, firings) = (task as u32, firings as u32);
            self.event(TraceEvent { start_ns, end_ns, first, firings, of, kind: EventKind::Call });
        }
    }

    /// The costs since the last time count, unless this thread lost its cpu meanwhile.
    pub(crate) fn settle(&mut self, disturbed: bool) {
        if disturbed {
            self.disturbed += self.pending.len() as u64;
            self.pending.clear();
        }
        for (cost, ns) in self.pending.drain(..) {
            if let Some((_, samples)) = self.costs.get_mut(cost) {
                samples.push(ns);
            }
        }
    }

    /// The worker waited until now.
    pub(crate) fn waited(&mut self, start_ns: u64, end_ns: u64) {
        self.last_ns = end_ns;
        if self.tracing {
            self.event(TraceEvent { start_ns, end_ns, first: 0, firings: 0, of: 0, kind: EventKind::Wait });
        }
    }

    /// A ring holds `fill` instances, as far as its producer knows.
    #[inline]
    pub(crate) fn fill(&mut self, ring: usize, fill: u64) {
        let (start_ns, end_ns) = (self.last_ns, self.last_ns);
        self.event(TraceEvent {
            start_ns,
            end_ns,
            first: fill,
            firings: 0,
            of: ring as u32,
            kind: EventKind::Fill,
        });
    }

    #[inline]
    fn event(&mut self, event: TraceEvent) {
        if self.events.len() < self.events.capacity() {
            self.events.push(event);
        } else {
            self.left_out += 1;
        }
    }
}
