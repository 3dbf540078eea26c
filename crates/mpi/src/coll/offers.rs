//! Large data of a collective, read by its receiver from the sender's memory.
//!
//! All ranks of a collective come, so a sender of much data need not copy it anywhere: it sends an *offer*, which says
//! where the data lies and fits into one line of a ring. The receiver expects the data itself and finds the offer in
//! its buffer. It reads the data over it with one copy, and answers that it has taken it; or, where it can't read, that
//! it refuses. What is refused comes as a message. Only the sender decides, so ranks need not agree on what is large.
//!
//! The kernel copies, and may forbid it: see `Engine::read_memory`.

use super::schedule::Large;
use crate::profile;
use crate::runtime::COUNTERS;
use crate::settings;
use std::sync::atomic::Ordering;
use transport::segment::{Segment, hook};
use transport::{Buffer, COPY_FROM, Engine, MOST_EAGER};

/// The kernel's copy takes as long as so many copies through the pool. A rank with a cpu of its own that sends large
/// data to so many others offers it, and they read it at the same time. (2 ranks, alltoall and allgather of 4 MB: 640
/// and 480 us with offers, 505 and 375 us without.)
const SEVERAL: u32 = 5;
/// A rank that shares its cpu, and receives large data, too, offers when all that it sends is more than so many bytes.
const CROWDED_ABOVE: usize = 1536 * 1024;
/// Other ranks that share their cpu offer from so many bytes on. (4 ranks on 2 cpus, bcast of 64 kB, 256 kB and 1 MB:
/// 18, 50 and 188 us with offers, 6, 24 and 98 us without.)
const CROWDED_FROM: usize = COPY_FROM;

/// Says where data lies.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Offer {
    /// What makes it an offer of this job.
    mark: u64,
    bytes: u64,
    address: u64,
}

/// Bytes of an offer.
pub(super) const OFFER_BYTES: usize = size_of::<Offer>();

fn mark_of(segment: &Segment) -> u64 {
    segment.header().identity.load(Ordering::Relaxed) ^ u64::from_be_bytes(*b"an offer")
}

/// Whether to offer data of this rank: it is large, and nobody counts or simulates what messages carry.
pub(super) fn is_worth_it(engine: &Engine<'_>, buffer: &Buffer, large: Large) -> bool {
    let bytes = buffer.bytes();
    let pays = match (engine.room().crowded(), large) {
        (true, Large { sends, receives: 1.. }) => bytes * sends as usize > CROWDED_ABOVE,
        (true, _) => bytes >= CROWDED_FROM,
        (false, Large { sends, .. }) => sends >= SEVERAL && bytes > MOST_EAGER,
    };
    pays && !engine.is_carried()
        && settings::COPY_FROM.load(Ordering::Relaxed) != usize::MAX
        && !profile::sees(hook::PROFILE)
}

impl Offer {
    /// The offer of a buffer in a process whose memory others may read.
    pub(super) fn of(segment: &Segment, buffer: &Buffer) -> Self {
        COUNTERS.bytes_sent.add((buffer.bytes() - OFFER_BYTES) as u64);
        Self { mark: mark_of(segment), bytes: buffer.bytes() as u64, address: buffer.address() as u64 }
    }

    /// The offer that was received in place of data. As many bytes as an offer has were received.
    pub(super) fn found(segment: &Segment, buffer: &Buffer) -> Option<Self> {
        let mut words = [0u64; OFFER_BYTES / 8];
        // SAFETY: the buffer holds the bytes that were received, and so does the array.
        unsafe { Buffer::new(words.as_mut_ptr().cast(), OFFER_BYTES).copy_from(buffer) };
        let [mark, bytes, address] = words;
        (mark == mark_of(segment)).then_some(Self { mark, bytes, address })
    }

    /// The data, in the process that offers it.
    #[cfg(test)]
    pub(super) fn buffer(&self) -> Buffer {
        // SAFETY: it describes the buffer that `of` got.
        unsafe { Buffer::new(self.address as *mut u8, self.bytes()) }
    }

    /// Bytes that the sender has.
    pub(super) fn bytes(&self) -> usize {
        self.bytes as usize
    }

    /// Reads the data, as far as the buffer has room; false: it can't be read from here.
    pub(super) fn read(&self, engine: &mut Engine<'_>, rank: usize, buffer: &Buffer) -> bool {
        let bytes = self.bytes().min(buffer.bytes());
        // SAFETY: the buffer holds as many bytes in a row and is lent until the collective is over.
        buffer.is_contiguous() && unsafe { engine.read_memory(rank, self.address, buffer.address(), bytes) }
    }
}
