//! The result of a simulation.

use crate::layout::RAMPS;
use crate::sizes::{BANKS, CYCLE_PS, RINGS};
use crate::trace::Trace;

/// The result of a simulation.
#[derive(Debug, Clone)]
pub struct Simulated {
    /// Bus cycles until the last program was done.
    pub cycles: u64,
    /// A digest of what every program and every packet did when (not of the bytes): equal programs on equal machines
    /// have equal ones.
    pub hash: u64,
    /// The counters.
    pub counters: SimCounters,
    /// What each unit did and when, if a trace was asked for.
    pub trace: Option<Trace>,
}

impl Simulated {
    /// The time until the last program was done.
    pub fn elapsed_ns(&self) -> f64 {
        (self.cycles * CYCLE_PS) as f64 / 1e3
    }
}

/// The counters of a simulation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SimCounters {
    /// By chip.
    pub chips: Vec<Chip>,
    /// By SPE.
    pub spes: Vec<SpeCounters>,
    /// Lines that crossed to chip 0, and to chip 1.
    pub link_lines: [u64; 2],
}

impl SimCounters {
    /// Packets that all rings carried.
    pub fn packets(&self) -> u64 {
        self.chips.iter().flat_map(|c| c.ring_packets).sum::<u64>()
    }
}

/// The counters of a chip.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chip {
    /// Packets by ring.
    pub ring_packets: [u64; RINGS],
    /// Packets times segments by ring: one packet on one segment is eight beats.
    pub ring_hops: [u64; RINGS],
    /// Packets over each segment: clockwise, counter-clockwise.
    pub segment_packets: [[u64; RAMPS]; 2],
    /// Packets that each ramp sent.
    pub sent: [u64; RAMPS],
    /// Packets that each ramp received.
    pub received: [u64; RAMPS],
    /// Lines read from each bank, and written to it.
    pub bank_lines: [[u64; 2]; BANKS],
    /// Commands on the command bus.
    pub commands: u64,
}

/// The counters of an SPE.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpeCounters {
    /// Bus cycles that its program computed, lost cycles included.
    pub compute_cycles: u64,
    /// Bus cycles that its program waited.
    pub wait_cycles: u64,
    /// DMA commands, elements of lists counted as one.
    pub commands: u64,
    /// Bytes that its gets brought.
    pub got_bytes: u64,
    /// Bytes that its puts took.
    pub put_bytes: u64,
    /// Lines through the local store's port, its own and others'.
    pub store_lines: u64,
}
