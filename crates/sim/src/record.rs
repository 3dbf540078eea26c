//! The record of a run: its counters, its digest, and its trace when one was asked for.

use crate::outcome::{Chip, SimCounters, SpeCounters};
use crate::trace::{Packet, Trace, TraceSpan};

pub(crate) struct Record {
    counters: SimCounters,
    digest: u64,
    trace: Option<Trace>,
}

impl Record {
    pub(crate) fn new(chips: usize, spes: usize) -> Self {
        Self { counters: nothing_counted(chips, spes), digest: 0, trace: None }
    }

    /// Whether to record a trace.
    pub(crate) fn keep_trace(&mut self, keep: bool) {
        self.trace = keep.then(Trace::default);
    }

    /// The counters of a chip.
    pub(crate) fn chip(&mut self, chip: usize) -> &mut Chip {
        &mut self.counters.chips[chip]
    }

    /// The counters of an SPE.
    #[inline]
    pub(crate) fn spe(&mut self, spe: usize) -> &mut SpeCounters {
        &mut self.counters.spes[spe]
    }

    /// Lines through the port of an SPE's local store so far.
    pub(crate) fn store_lines(&self, spe: usize) -> u64 {
        self.counters.spes[spe].store_lines
    }

    /// Something happened: `value` says what and when.
    #[inline]
    pub(crate) fn mix(&mut self, value: u64) {
        self.digest = (self.digest.rotate_left(5) ^ value).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    pub(crate) fn span(&mut self, span: TraceSpan) {
        if let Some(trace) = &mut self.trace {
            trace.span(span);
        }
    }

    /// A packet; what makes it is not called when there is no trace.
    #[inline]
    pub(crate) fn packet(&mut self, packet: impl FnOnce() -> Packet) {
        if let Some(trace) = &mut self.trace {
            trace.packet(packet());
        }
    }

    /// What is said of the whole run: lines over the link, and what the trace needs to name units.
    pub(crate) fn finish(&mut self, link_lines: [u64; 2], names: impl FnOnce(&mut Trace)) {
        self.counters.link_lines = link_lines;
        self.trace.as_mut().map(names);
    }

    /// Digest, counters and trace; counters and trace start anew.
    pub(crate) fn take(&mut self) -> (u64, SimCounters, Option<Trace>) {
        let nothing = nothing_counted(self.counters.chips.len(), self.counters.spes.len());
        let counters = std::mem::replace(&mut self.counters, nothing);
        (self.digest, counters, self.trace.as_mut().map(std::mem::take))
    }
}

fn nothing_counted(chips: usize, spes: usize) -> SimCounters {
    SimCounters {
        chips: vec![Chip::default(); chips],
        spes: vec![SpeCounters::default(); spes],
        link_lines: [0; 2],
    }
}
