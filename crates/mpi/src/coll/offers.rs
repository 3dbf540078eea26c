//! Large data of a collective, read by its receiver from the sender's memory.
//!
//! All ranks of a collective come, so a sender of much data need not copy it anywhere: it sends an *offer*, which says
//! where the data lies and fits into one line of a ring. The receiver expects the data itself and finds the offer in
//! its buffer. It reads the data over it with one copy, and answers that it has taken it; or, where it can't read, that
//! it refuses. What is refused comes as a message. Only the sender decides, so ranks need not agree on what is large.
//!
//! The kernel copies, and may forbid it. So a rank tries to read a known word of each other rank first.

use crate::profile;
use crate::runtime::COUNTERS;
use crate::settings;
use std::sync::Once;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use transport::segment::{MOST_RANKS, Segment, hook};
use transport::{Buffer, Engine, MOST_EAGER};

/// Data of more bytes is offered. Smaller messages leave at once, and their sender does not wait for the receiver; that
/// is worth more than the spared copy, most of all where ranks share cpus.
const ABOVE: usize = MOST_EAGER;

/// Says where data lies.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Offer {
    /// What makes it an offer of this job.
    mark: u64,
    bytes: u64,
    address: u64,
    /// Where the sender's known word lies.
    word: u64,
}

/// Bytes of an offer.
pub(super) const OFFER_BYTES: usize = size_of::<Offer>();

/// The word that other ranks read to find out whether they can.
static WORD: AtomicU64 = AtomicU64::new(0);
/// The process of each rank of the job whose memory this one can read.
static PROCESSES: [AtomicI32; MOST_RANKS] = [const { AtomicI32::new(UNKNOWN) }; MOST_RANKS];
/// Not tried yet.
const UNKNOWN: i32 = 0;
/// It can't be read.
const FORBIDDEN: i32 = -1;

fn mark_of(segment: &Segment) -> u64 {
    segment.header().identity.load(Ordering::Relaxed) ^ u64::from_be_bytes(*b"an offer")
}

fn word_of(segment: &Segment) -> u64 {
    segment.header().identity.load(Ordering::Relaxed) ^ u64::from_be_bytes(*b"readable")
}

/// Whether data may be offered: it is large, and nobody counts or simulates what messages carry.
pub(super) fn is_worth_it(engine: &Engine<'_>, buffer: &Buffer) -> bool {
    buffer.bytes() > ABOVE
        && !engine.is_carried()
        && settings::COPY_FROM.load(Ordering::Relaxed) != usize::MAX
        && !profile::sees(hook::PROFILE)
}

impl Offer {
    /// The offer of a buffer.
    pub(super) fn of(segment: &Segment, buffer: &Buffer) -> Self {
        static ALLOWED: Once = Once::new();
        ALLOWED.call_once(|| allow(segment));
        COUNTERS.bytes_sent.add((buffer.bytes() - OFFER_BYTES) as u64);
        Self {
            mark: mark_of(segment),
            bytes: buffer.bytes() as u64,
            address: buffer.address() as u64,
            word: (&raw const WORD) as u64,
        }
    }

    /// The offer that was received in place of data. As many bytes as an offer has were received.
    pub(super) fn found(segment: &Segment, buffer: &Buffer) -> Option<Self> {
        let mut words = [0u64; OFFER_BYTES / 8];
        // SAFETY: the buffer holds the bytes that were received, and so does the array.
        unsafe { Buffer::new(words.as_mut_ptr().cast(), OFFER_BYTES).copy_from(buffer) };
        let [mark, bytes, address, word] = words;
        (mark == mark_of(segment)).then_some(Self { mark, bytes, address, word })
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
    pub(super) fn read(&self, segment: &Segment, rank: usize, buffer: &Buffer) -> bool {
        if !buffer.is_contiguous() {
            return false;
        }
        if PROCESSES[rank].load(Ordering::Relaxed) == UNKNOWN {
            let process = segment.rank(rank).pid.load(Ordering::Relaxed) as i32;
            let mut word = 0u64;
            // SAFETY: a word of our own.
            let works = unsafe { copy_in(process, self.word, (&raw mut word).cast(), size_of::<u64>()) };
            let found = if works && word == word_of(segment) { process } else { FORBIDDEN };
            PROCESSES[rank].store(found, Ordering::Relaxed);
        }
        let process = PROCESSES[rank].load(Ordering::Relaxed);
        let bytes = self.bytes().min(buffer.bytes());
        // SAFETY: the buffer holds as many bytes and is lent until the collective is over.
        process != FORBIDDEN && unsafe { copy_in(process, self.address, buffer.address(), bytes) }
    }
}

/// Lets the other ranks read this process's memory.
fn allow(segment: &Segment) {
    WORD.store(word_of(segment), Ordering::Relaxed);
    // Yama allows only ancestors, unless the process names others; ranks are siblings.
    if std::fs::read("/proc/sys/kernel/yama/ptrace_scope").is_ok_and(|scope| scope.starts_with(b"1")) {
        // SAFETY: sets an attribute of this process.
        unsafe { libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY, 0, 0, 0) };
    }
}

/// Copies from a process's memory; false when not all of it came.
///
/// # Safety
/// `bytes` bytes may be written at `into`.
unsafe fn copy_in(process: i32, from: u64, into: *mut u8, bytes: usize) -> bool {
    let own = libc::iovec { iov_base: into.cast(), iov_len: bytes };
    let other = libc::iovec { iov_base: from as *mut _, iov_len: bytes };
    // SAFETY: room for that many bytes by the caller's promise; the kernel checks the other side's addresses.
    let moved = unsafe { libc::process_vm_readv(process, &own, 1, &other, 1, 0) };
    moved == bytes as isize
}
