//! Data that is read from another rank's memory, or where it shows it to all, without a message of its own.

use super::Engine;
use crate::buffer::{Buffer, Span};
use crate::copy::copy_out;
use crate::remote::{self, Access};
use crate::ring::LINE;
use crate::segment::{Segment, pool_room};

/// What this rank shows: data one behind the other, until all of it was read.
#[derive(Default)]
pub(crate) struct Shown {
    bytes: usize,
    readers: usize,
}

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
            // SAFETY: as the caller promised.
            Access::Works(pid) => unsafe {
                remote::read(pid, &[Span { address: into, bytes }], address, bytes)
            },
            Access::Unknown | Access::Forbidden => false,
        }
    }

    /// Shows a copy of contiguous data, to one reader so far; where. Nothing: there is no room.
    pub fn show(&mut self, data: &Buffer) -> Option<usize> {
        let at = self.shown.bytes;
        let to = place(&self.segment(), self.rank, at, data.bytes).filter(|_| data.is_contiguous())?;
        // SAFETY: the data is lent, and nobody reads this part of the room before it is told of it.
        unsafe { copy_out(data.address, to, data.bytes) };
        self.shown.bytes = (at + data.bytes).next_multiple_of(LINE);
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
        // SAFETY: inside the room; the rank leaves it alone, as the caller promised.
        into.write(0, unsafe { std::slice::from_raw_parts(from, bytes) });
        true
    }
}
