//! Where an experiment's bytes are: in local stores, and in main memory.

use super::{End, Line};
use crate::{Address, LINE_BYTES, LOCAL_STORE_BYTES, SimError, Simulation};
use machine::target::{Direction, Experiment, Walk};
use std::collections::BTreeMap;

/// Main memory that an initiator's transfers go through, as in `dma-benchmark`: half of a local store.
const MEMORY_BYTES: u32 = 128 * 1024;
/// Main memory that a walk with a stride goes through.
const STRIDED_BYTES: u32 = 8 << 20;
/// A program and its stack.
pub(super) const PROGRAM_BYTES: u32 = 48 * 1024;
/// The bytes of a local store beside the buffers.
pub(super) const STORE_BYTES: u32 = LOCAL_STORE_BYTES - PROGRAM_BYTES;

/// The layout of an element's local store: its own buffers, a place that others read, a place that others write.
pub(super) fn needed(experiment: &Experiment, initiates: bool) -> u64 {
    let own = if initiates { u64::from(experiment.buffers) } else { 0 };
    (own + 2) * u64::from(stride(experiment))
}

/// From one buffer to the next: on a line of its own.
pub(super) fn stride(experiment: &Experiment) -> u32 {
    experiment.size_bytes.next_multiple_of(LINE_BYTES)
}

/// Where in a local store others read and write: at its end, the same place again and again.
pub(super) fn offset(stride: u32, puts: bool) -> u32 {
    LOCAL_STORE_BYTES - stride * if puts { 2 } else { 1 }
}

/// Main memory that was taken for an experiment.
#[derive(Debug, Default)]
pub(super) struct Arena {
    /// All initiators that read memory share a buffer: Algorithm 1.
    shared: BTreeMap<usize, Address>,
}

impl Arena {
    /// The other ends of an initiator's lines; an initiator that writes memory has a buffer of its own for it.
    pub(super) fn ends(
        &mut self,
        sim: &mut Simulation,
        lines: &[Line],
        e: &Experiment,
    ) -> Result<Vec<Ends>, SimError> {
        let (step, round) = match e.walk {
            Walk::Next | Walk::Cached => (e.size_bytes, (MEMORY_BYTES / e.size_bytes).max(1)),
            Walk::Stride(bytes) => (bytes, e.repeats.min(STRIDED_BYTES / bytes).max(1)),
        };
        let bytes = u64::from(MEMORY_BYTES.max(stride(e))).max(u64::from(step) * u64::from(round));
        let mut take = |chip| {
            let at = sim.allocate(chip, bytes, u64::from(LINE_BYTES))?;
            if e.walk == Walk::Cached {
                sim.cache_in_ppe(at, bytes);
            }
            Ok::<_, SimError>(at)
        };
        let mut ends = Vec::with_capacity(lines.len());
        for line in lines {
            ends.push(match line.end {
                End::Store(spe) => {
                    let at = |puts| Address::local_store(spe) + u64::from(offset(stride(e), puts));
                    Ends { read: at(false), written: at(true), step: 0, round: 1 }
                }
                End::Memory(chip) => {
                    let read = match self.shared.get(&chip) {
                        Some(&read) => read,
                        None => *self.shared.entry(chip).or_insert(take(chip)?),
                    };
                    let written = if line.direction == Direction::Get { read } else { take(chip)? };
                    Ends { read, written, step, round }
                }
            });
        }
        Ok(ends)
    }
}

/// The other end of a line: one place of a local store, or a buffer in main memory from its start to its end and again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ends {
    read: Address,
    written: Address,
    /// Bytes from one repeat's place to the next one's.
    step: u32,
    /// Repeats until the first place comes again.
    round: u32,
}

impl Ends {
    /// Of repeat number `repeat`.
    pub(super) fn at(&self, repeat: u32, puts: bool) -> Address {
        let start = if puts { self.written } else { self.read };
        start + u64::from(repeat % self.round) * u64::from(self.step)
    }
}
