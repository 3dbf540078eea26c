//! How a sender writes the cells of its pool: through the caches or past them.
//!
//! Written through the caches, each line is first taken from where it was, which costs the time of a line. Where sender
//! and receiver share a cache, that is little; where they do not, it is most of the message's time. Written past the
//! caches, lines go to memory, whoever had them. Between two cpus of an EPYC, 4 kB take 0.15 us and 0.34 us while the
//! two share a cache, and 1.5 us and 0.34 us while they do not; reading costs less than writing past the caches in each
//! case. The cpus of a virtual machine move, so both ways are timed now and then, for each receiver.

use crate::copy::{copy_out, copy_past};
use crate::pool::CELL;
use std::sync::atomic::{Ordering, fence};

/// One of so many pieces is timed.
const TIMED: u32 = 32;
/// One of so many timed pieces is written in the way that costs more, to see whether it still does.
const TRIED: u32 = 32;

/// What writing a cell cost lately in one way, in ns: two samples, because an interrupted one says nothing.
type Samples = [u64; 2];

/// The two ways of writing, and what they cost.
#[derive(Clone, Copy, Default)]
struct Ways {
    count: u32,
    through: Samples,
    past: Samples,
    goes_past: bool,
}

/// What writing to one receiver costs: pieces that fill a cell, and smaller ones.
#[derive(Clone, Copy, Default)]
pub(crate) struct Writing {
    ways: [Ways; 2],
}

impl Writing {
    /// Whether pieces that fill a cell go past the caches now.
    #[inline]
    pub(crate) fn goes_past(&self) -> bool {
        self.ways[1].goes_past
    }

    /// Copies data into the first bytes of a cell.
    ///
    /// # Safety
    /// `cell.len()` bytes readable at `from`; the cell starts at a line.
    #[inline]
    pub(crate) unsafe fn write(&mut self, from: *const u8, cell: &mut [u8]) {
        let ways = &mut self.ways[usize::from(cell.len() == CELL)];
        ways.count = ways.count.wrapping_add(1);
        // SAFETY: as the caller promised.
        unsafe {
            if ways.count.is_multiple_of(TIMED) {
                ways.write_timed(from, cell);
            } else {
                copy(ways.goes_past, from, cell);
            }
        }
    }
}

/// Copies in one of the ways.
///
/// # Safety
/// As for `Writing::write`.
#[inline(always)]
unsafe fn copy(past: bool, from: *const u8, cell: &mut [u8]) {
    // SAFETY: as the caller promised.
    unsafe {
        if past {
            copy_past(from, cell.as_mut_ptr(), cell.len());
        } else {
            copy_out(from, cell.as_mut_ptr(), cell.len());
        }
    }
}

impl Ways {
    /// As `Writing::write`, and takes the time until the data has left this cpu.
    ///
    /// # Safety
    /// As for `Writing::write`.
    #[cold]
    unsafe fn write_timed(&mut self, from: *const u8, cell: &mut [u8]) {
        let other = if self.goes_past { &self.through } else { &self.past };
        let tries = known(*other).is_none() || (self.count / TIMED).is_multiple_of(TRIED);
        let past = self.goes_past != tries;
        fence(Ordering::SeqCst);
        let start_ns = host::clock::kernel_ns();
        // SAFETY: as the caller promised.
        unsafe { copy(past, from, cell) };
        fence(Ordering::SeqCst);
        self.learn(past, host::clock::kernel_ns() - start_ns, cell.len());
    }

    /// What one piece took in one way.
    fn learn(&mut self, past: bool, ns: u64, bytes: usize) {
        let samples = if past { &mut self.past } else { &mut self.through };
        *samples = [samples[1], (ns * CELL as u64 / bytes.max(1) as u64).max(1)];
        if let (Some(through), Some(past)) = (known(self.through), known(self.past)) {
            // What is read from memory costs as much again at most.
            self.goes_past = through > 2 * past;
        }
    }
}

/// What writing a cell costs by these samples; nothing as long as there are too few.
fn known(samples: Samples) -> Option<u64> {
    (samples[0] != 0).then(|| samples[0].min(samples[1]))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Ways that have seen `count` samples of each.
    fn seen(through_ns: &[u64], past_ns: &[u64]) -> Ways {
        let mut ways = Ways::default();
        through_ns.iter().for_each(|&ns| ways.learn(false, ns, CELL));
        past_ns.iter().for_each(|&ns| ways.learn(true, ns, CELL));
        ways
    }

    #[test]
    fn the_way_that_costs_less_is_taken_and_one_interruption_changes_nothing() {
        assert!(!seen(&[], &[]).goes_past);
        assert!(!seen(&[2000, 2000], &[340]).goes_past, "one sample is too few");
        assert!(seen(&[2000, 2000], &[340, 340]).goes_past);
        assert!(!seen(&[150, 150], &[340, 340]).goes_past);
        assert!(!seen(&[150, 90_000], &[340, 340]).goes_past);
        let mut ways = seen(&[2000, 2000], &[340, 340]);
        ways.learn(false, 150, CELL);
        assert!(!ways.goes_past, "the cpus share a cache again");
    }

    #[test]
    fn cells_hold_what_was_written_whichever_way_and_whenever_it_is_timed() {
        let from: Vec<u8> = (0..CELL).map(|at| (at % 251) as u8).collect();
        let mut writing = Writing::default();
        for turn in 0..3 * TIMED as usize {
            for bytes in [CELL, 700, 513] {
                writing.ways.iter_mut().for_each(|ways| ways.goes_past = turn % 2 == 1);
                let mut cell = vec![0u64; CELL / 8 + 8];
                // SAFETY: a cell's bytes, aligned to a line as cells are.
                let cell = unsafe {
                    let start = cell.as_mut_ptr().cast::<u8>();
                    std::slice::from_raw_parts_mut(start.add(start.align_offset(64)), bytes)
                };
                // SAFETY: `from` has a cell's bytes.
                unsafe { writing.write(from.as_ptr(), cell) };
                assert!(*cell == from[..bytes]);
            }
        }
    }
}
