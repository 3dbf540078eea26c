//! Who did what when.

use crate::layout::{self, RAMPS};

/// Spans that are kept; later ones are counted only.
const MOST: usize = 4_000_000;

/// What a unit did for a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// SPEs first, then PPEs.
    pub unit: u8,
    /// `compute`, or what it waited for.
    pub what: &'static str,
    /// First cycle.
    pub start: u64,
    /// The cycle after the last one.
    pub end: u64,
}

/// A packet on a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// Which chip.
    pub chip: u8,
    /// Which of its rings, 0 to 3.
    pub ring: u8,
    /// Ramp that it left.
    pub from: u8,
    /// Ramp that it went to.
    pub to: u8,
    /// First cycle.
    pub start: u64,
    /// The cycle after its last beat arrived.
    pub end: u64,
}

/// Who did what when.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace {
    /// Units in index order: `SPE0` and what its program was called.
    pub units: Vec<(String, String)>,
    /// What units did.
    pub spans: Vec<Span>,
    /// What rings carried.
    pub packets: Vec<Packet>,
    /// Spans and packets that were too many to keep.
    pub left_out: u64,
}

impl Trace {
    pub(crate) fn span(&mut self, span: Span) {
        if span.start == span.end {
            return;
        }
        if self.spans.len() < MOST {
            self.spans.push(span);
        } else {
            self.left_out += 1;
        }
    }

    pub(crate) fn packet(&mut self, packet: Packet) {
        if self.packets.len() < MOST {
            self.packets.push(packet);
        } else {
            self.left_out += 1;
        }
    }

    /// A ramp's name.
    pub fn ramp(ramp: u8) -> &'static str {
        layout::NAMES[ramp as usize % RAMPS]
    }
}
