//! Data that is read from another rank's memory, or where it shows it to all, without a message of its own.

use super::Engine;
use crate::buffer::{Buffer, Span};
use crate::copy::copy_out;
use crate::costs::Sort;
use crate::remote::{self, Access};
use crate::ring::LINE;
use crate::segment::{Segment, pool_room};
use host::clock::kernel_ns;

/// What this rank shows: data one behind the other, until all of it was read.
#[derive(Default)]
pub(crate) struct Shown {
    bytes: usize,
    readers: usize,
    /// Bytes of the room that have memory.
    touched: usize,
    /// Answers that were given of what costs less.
    asked: u32,
}

/// Of so many answers, so many are the other one, so that what costs more is measured again. They follow one another,
/// because the first copies of a sort take longer.
const ANSWERS: u32 = 256;
const OTHERS: u32 = 16;

/// Where a rank shows something.
fn place(segment: &Segment, rank: usize, at: usize, bytes: usize) -> Option<*mut u8> {
    let room = pool_room(segment.ranks());
    // SAFETY: inside the rank's room, as just checked.
    (at <= room && bytes <= room - at).then(|| unsafe { segment.shown(rank).add(at) })
}

impl Engine<'_> {
    /// Lets the other ranks read this process's memory. Call it before telling one of them an address.
    pub fn allow_reading(&mut self) {
        let segment = self.segment();
        self.sharing.probe.allow(&segment, self.rank);
    }

    /// Reads from an address in the process of a rank that has allowed it; false where the kernel does not let this
    /// process, or not all bytes came.
    ///
    /// # Safety
    /// `bytes` bytes may be written at `into`.
    pub unsafe fn read_memory(&mut self, rank: usize, address: u64, into: *mut u8, bytes: usize) -> bool {
        match self.sharing.readable(&self.segment(), rank) {
            Access::Works(pid) => {
                let start_ns = kernel_ns();
                // SAFETY: as the caller promised.
                let read = unsafe { remote::read(pid, &[Span { address: into, bytes }], address, bytes) };
                self.segment().header().costs.learn(Sort::ByKernel, bytes, bytes, kernel_ns() - start_ns);
                read
            }
            Access::Unknown | Access::Forbidden => {
                self.segment().header().costs.learn_failure(Sort::ByKernel, bytes);
                false
            }
        }
    }

    /// Whether it costs the job less when another rank reads data of so many bytes from this rank's memory than when it
    /// is shown (where ranks share cpus) or sent. Now and then the other answer, so that both are measured again.
    ///
    /// `alone`: no other rank sends at the same time.
    pub fn reading_is_cheaper(&mut self, bytes: usize, alone: bool) -> bool {
        let crowded = self.room.crowded();
        let than = if crowded { [Sort::Shown, Sort::ReadShown] } else { [Sort::Pooled, Sort::ReadPooled] };
        let page = self.segment().header();
        let known = page.costs.kernel_is_cheaper(than, bytes, alone.then_some(page.cpus));
        known.map_or_else(
            |measure| measure,
            |cheaper| {
                self.shown.asked = self.shown.asked.wrapping_add(1);
                cheaper != (self.shown.asked % ANSWERS < OTHERS)
            },
        )
    }

    /// Shows a copy of contiguous data, to one reader so far; where. Nothing: there is no room.
    pub fn show(&mut self, data: &Buffer) -> Option<usize> {
        let at = self.shown.bytes;
        let to = place(&self.segment(), self.rank, at, data.bytes).filter(|_| data.is_contiguous())?;
        let start_ns = kernel_ns();
        // SAFETY: the data is lent, and nobody reads this part of the room before it is told of it.
        unsafe { copy_out(data.address, to, data.bytes) };
        let took_ns = kernel_ns() - start_ns;
        self.shown.bytes = (at + data.bytes).next_multiple_of(LINE);
        if self.shown.bytes <= self.shown.touched {
            self.segment().header().costs.learn(Sort::Shown, data.bytes, data.bytes, took_ns);
        }
        self.shown.touched = self.shown.touched.max(self.shown.bytes);
        self.shown.readers += 1;
        Some(at)
    }

    /// One more reader is told of what is shown.
    pub fn show_again(&mut self) {
        self.shown.readers += 1;
    }

    /// A reader has what it was told of.
    pub fn was_read(&mut self) {
        self.shown.readers -= 1;
        if self.shown.readers == 0 {
            self.shown.bytes = 0;
        }
    }

    /// Reads so many bytes that a rank shows, as far as the buffer has room; false outside of where ranks show data.
    ///
    /// # Safety
    /// The rank has told this one of these bytes, and has not yet heard that they were read.
    pub unsafe fn read_shown(&self, rank: usize, at: usize, bytes: usize, into: &Buffer) -> bool {
        let Some(from) = place(&self.segment(), rank, at, bytes) else { return false };
        let start_ns = kernel_ns();
        // SAFETY: inside the room; the rank leaves it alone, as the caller promised.
        into.write(0, unsafe { std::slice::from_raw_parts(from, bytes) });
        self.segment().header().costs.learn(Sort::ReadShown, bytes, bytes, kernel_ns() - start_ns);
        true
    }
}
