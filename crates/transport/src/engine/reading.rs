//! Data that is read from another rank's memory without a message of its own.

use super::Engine;
use crate::buffer::Span;
use crate::remote::{self, Access};

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
}
