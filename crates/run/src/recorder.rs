//! What a worker records: sampled costs of its tasks always, the cost of every call and events for a trace when it is
//! asked to. All memory is there before the first firing; what does not fit is left out and said to be.

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

/// A call of a kernel, for [`Recorder::call`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Called {
    /// Index of the recorder's costs.
    pub cost: usize,
    pub task: usize,
    pub firings: u64,
    pub first: u64,
}

/// A worker's recorder.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    /// Whether every call is measured.
    pub measuring: bool,
    pub tracing: bool,
    pub events: Vec<TraceEvent>,
    /// Events for which there was no room.
    pub left_out: u64,
    /// When the last call or wait ended: the next one starts there.
    pub last_ns: u64,
    clock_ns: f64,
    /// Per task of the worker: its index in the graph, and its sampled calls.
    pub costs: Vec<(usize, Samples<CostSample>)>,
    /// Costs of one firing of a unit, not yet known to be undisturbed.
    pending: Vec<(usize, CostSample)>,
    /// Costs that do not count, because this thread lost its cpu meanwhile.
    pub disturbed: u64,
}

/// A call whose time was taken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CostSample {
    /// The first instance of the call.
    pub first: u64,
    /// ns per firing.
    pub ns: f32,
    /// From when to when, in ns of the clock.
    pub span_ns: (u64, u64),
}

/// Cost samples kept per task when every call is measured, and when only some are.
const KEPT: usize = 2048;
const KEPT_SAMPLED: usize = 256;
/// Sampled firings of a unit that come closer than this double their distance: the clock, and the question whether the
/// thread lost its cpu, then take less than a hundredth of the time.
const APART_NS: u64 = 200_000;

/// Which firings of a unit are sampled: spread evenly over the stream, at odd distances, so that a pattern in the data
/// is not always met at the same place.
#[derive(Debug)]
pub(crate) struct Sampling {
    next: u64,
    apart: u64,
    last_ns: u64,
    draw: u64,
}

impl Sampling {
    pub(crate) fn new(batch: u64) -> Sampling {
        Sampling { next: 0, apart: batch.max(1), last_ns: 0, draw: 1 }
    }

    /// Whether the firing that starts with instance `first` is a sample.
    #[inline]
    pub(crate) fn due(&self, first: u64) -> bool {
        first >= self.next
    }

    /// It was, and began at `now_ns`.
    pub(crate) fn sampled(&mut self, first: u64, now_ns: u64) {
        if now_ns.saturating_sub(self.last_ns) < APART_NS {
            self.apart = self.apart.saturating_mul(2);
        }
        self.last_ns = now_ns;
        // Knuth's MMIX generator; its high bits are the good ones.
        self.draw = self.draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.next = first.saturating_add(self.apart / 2).saturating_add((self.draw >> 33) % self.apart + 1);
    }
}

impl Recorder {
    /// Records `events` events at most, and costs of `tasks`: of every call (`measuring`), or of samples.
    pub(crate) fn new(events: usize, measuring: bool, tasks: impl Iterator<Item = usize>) -> Recorder {
        let kept = if measuring { KEPT } else { KEPT_SAMPLED };
        let costs: Vec<_> = tasks.map(|t| (t, Samples::new(kept))).collect();
        Recorder {
            measuring,
            tracing: events > 0,
            events: Vec::with_capacity(events),
            clock_ns: if cfg!(miri) { 0.0 } else { host::overhead_ns() },
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

    /// A kernel was called, and returned just now; `sampled`: its cost counts.
    #[inline]
    pub(crate) fn call(&mut self, call: Called, end_ns: u64, sampled: bool) {
        let Called { cost, task, firings, first } = call;
        let start_ns = std::mem::replace(&mut self.last_ns, end_ns);
        if sampled && firings > 0 {
            let ns = ((end_ns - start_ns) as f64 - self.clock_ns).max(0.0) / firings as f64;
            self.pending.push((cost, CostSample { first, ns: ns as f32, span_ns: (start_ns, end_ns) }));
        }
        if self.tracing {
            let (of, firings) = (task as u32, firings as u32);
            self.event(TraceEvent { start_ns, end_ns, first, firings, of, kind: EventKind::Call });
        }
    }

    /// The costs since the last time count. `had_cpu` is the part of the time in which this thread had its cpu, where
    /// it did not always: then they do not count if every call is measured. Of samples, that part counts: calls so long
    /// that they always lose the cpu would otherwise be missing.
    pub(crate) fn settle(&mut self, had_cpu: Option<f64>) {
        if had_cpu.is_some() && self.measuring {
            self.disturbed += self.pending.len() as u64;
            self.pending.clear();
        }
        let part = had_cpu.unwrap_or(1.0) as f32;
        for (cost, sample) in self.pending.drain(..) {
            if let Some((_, samples)) = self.costs.get_mut(cost) {
                samples.push(CostSample { ns: sample.ns * part, ..sample });
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
