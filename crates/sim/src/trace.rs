//! The trace: what each unit did, and when.

use crate::layout::{self, RAMPS};

/// How many of each are kept; later ones are counted only.
const MOST: usize = 4_000_000;

/// One activity of a unit, from its start to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceSpan {
    /// SPEs first, then PPEs.
    pub unit: u8,
    /// `compute`, or what it waited for.
    pub what: &'static str,
    /// First cycle.
    pub start: u64,
    /// The cycle after the last one.
    pub end: u64,
}

/// A step of a program as its author names it: it holds the spans of its unit in that time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceStep {
    /// Index into [`Trace::units`].
    pub unit: usize,
    /// `fire mix x 4`
    pub name: String,
    /// What sort of step it is, for the viewer's colours.
    pub kind: &'static str,
    /// From when to when, in ps.
    pub ps: (u64, u64),
}

/// How full something is from a moment on, as a program says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceLevel {
    /// `queue 0 -> 1`
    pub name: String,
    /// From when on, in ps.
    pub ps: u64,
    /// How many there are.
    pub level: u64,
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

/// What each unit did, and when.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace {
    /// Units in index order: `SPE0` and what its program was called.
    pub units: Vec<(String, String)>,
    /// By chip and ramp: what programs call the unit there; hidden SPEs, memory and link ramps as the hardware does.
    pub ramps: Vec<[String; RAMPS]>,
    /// What units did.
    pub spans: Vec<TraceSpan>,
    /// What programs say that they did; whoever runs them adds it.
    pub steps: Vec<TraceStep>,
    /// How full what programs speak of is; whoever runs them adds it.
    pub levels: Vec<TraceLevel>,
    /// What rings carried.
    pub packets: Vec<Packet>,
    /// Spans, steps, levels and packets that were too many to keep.
    pub left_out: u64,
}

impl Trace {
    pub(crate) fn span(&mut self, span: TraceSpan) {
        if span.start == span.end {
            return;
        }
        if self.spans.len() < MOST {
            self.spans.push(span);
        } else {
            self.left_out += 1;
        }
    }

    /// Adds what a program says that it did.
    pub fn step(&mut self, step: TraceStep) {
        if self.steps.len() < MOST {
            self.steps.push(step);
        } else {
            self.left_out += 1;
        }
    }

    /// Adds how full something is from a moment on.
    pub fn level(&mut self, level: TraceLevel) {
        if self.levels.len() < MOST {
            self.levels.push(level);
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

    /// The names of the units at the ramps of each chip; they follow from the places of the SPEs.
    pub(crate) fn ramps(chips: usize, homes: &[(usize, usize)]) -> Vec<[String; RAMPS]> {
        let mut ramps: Vec<_> = (0..chips).map(|_| layout::NAMES.map(String::from)).collect();
        for (spe, &(chip, ramp)) in homes.iter().enumerate() {
            ramps[chip][ramp] = format!("SPE{spe}");
        }
        for (chip, names) in ramps.iter_mut().enumerate() {
            names[layout::PPE] = format!("PPE{chip}");
        }
        ramps
    }
}
