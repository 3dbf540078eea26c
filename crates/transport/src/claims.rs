//! Pieces of a message that two processes move together: the process that claims a piece moves it.
//!
//! A place for claims is used for one message after the other. A process that comes late, with the generation of a
//! finished message, gets nothing.

#[cfg(loom)]
use loom::sync::atomic::{AtomicU64, Ordering};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU64, Ordering};

/// The place, alone on its line.
#[repr(C, align(64))]
#[derive(Default)]
pub struct Claims {
    /// Generation (high half), and the next piece that nobody has claimed.
    next: AtomicU64,
}

impl Claims {
    /// Opens the place for the pieces of a message. Only its owner does, and only when all pieces of the last one are
    /// claimed.
    pub fn open(&self, generation: u32) {
        self.next.store(u64::from(generation) << 32, Ordering::Release);
    }

    /// Claims a piece of `pieces`; nothing when all are claimed, or the message is over.
    pub fn claim(&self, generation: u32, pieces: u32) -> Option<u32> {
        let mut seen = self.next.load(Ordering::Acquire);
        loop {
            if (seen >> 32) as u32 != generation || seen as u32 >= pieces {
                return None;
            }
            match self.next.compare_exchange_weak(seen, seen + 1, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some(seen as u32),
                Err(now) => seen = now,
            }
        }
    }

    /// Whether the place of a message of so many pieces has a value that no process writes.
    pub fn is_corrupt(&self, generation: u32, pieces: u32) -> bool {
        let next = self.next.load(Ordering::Relaxed);
        (next >> 32) as u32 != generation || next as u32 > pieces
    }
}
