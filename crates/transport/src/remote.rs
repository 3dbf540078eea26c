//! Copies between the memory of two processes, by the kernel (`process_vm_readv` and its opposite).
//!
//! Containers and security modules may forbid it. So it is tried before its first use, on a known word, for each pair
//! of ranks and each direction; where it fails, data goes through shared memory.

use crate::buffer::Span;
use crate::segment::Segment;
use std::sync::atomic::{AtomicU64, Ordering};

/// The most pieces of memory of one call.
pub(crate) const MOST_SPANS: usize = 512;

/// Whether a direction works.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum Access {
    /// Not tried yet.
    #[default]
    Unknown,
    /// It works, with this process id, which was read from shared memory once.
    Works(libc::pid_t),
    /// It does not work.
    Forbidden,
}

fn word_of(segment: &Segment) -> u64 {
    segment.header().identity.load(Ordering::Relaxed) ^ 0x6365_6c6c_7765_6176
}

/// A word that others read, and behind it one that they write, to find out whether they can.
#[derive(Default)]
pub(crate) struct Probe(Option<&'static [AtomicU64; 2]>);

impl Probe {
    /// Lets the other ranks copy from and to this process, once. Call it before announcing a message that they may
    /// copy.
    pub(crate) fn allow(&mut self, segment: &Segment, rank: usize) {
        if self.0.is_some() {
            return;
        }
        // Yama allows only ancestors, unless the process names others; ranks are siblings.
        if std::fs::read("/proc/sys/kernel/yama/ptrace_scope").is_ok_and(|scope| scope.starts_with(b"1")) {
            // SAFETY: sets an attribute of this process.
            unsafe { libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY, 0, 0, 0) };
        }
        // Never freed: another rank may write there at any time.
        let words: &'static [AtomicU64; 2] = Box::leak(Box::new([word_of(segment), 0].map(AtomicU64::new)));
        segment.rank(rank).probe.store(words.as_ptr() as u64, Ordering::Release);
        self.0 = Some(words);
    }
}

/// Tries to read the memory of a rank that has allowed it.
pub(crate) fn try_reading(segment: &Segment, rank: usize) -> Access {
    probe(segment, rank, |_, _| true)
}

/// Tries to write to the memory of a rank that has allowed it.
pub(crate) fn try_writing(segment: &Segment, rank: usize) -> Access {
    // A word that can be read proves the right place of the right process; the word behind it is for this write.
    probe(segment, rank, |pid, known| {
        let mut word = 1u64;
        // SAFETY: a word of our own.
        unsafe { write(pid, &[Span { address: (&raw mut word).cast(), bytes: 8 }], there(known + 8, 8)) }
    })
}

/// Reads a rank's known word, and tries something with its process and the word's address.
fn probe(segment: &Segment, rank: usize, works: impl FnOnce(libc::pid_t, u64) -> bool) -> Access {
    let page = segment.rank(rank);
    let known = page.probe.load(Ordering::Acquire);
    if known == 0 {
        // It has not allowed it yet.
        return Access::Unknown;
    }
    let pid = page.pid.load(Ordering::Relaxed) as libc::pid_t;
    let mut word = 0u64;
    // SAFETY: a word of our own.
    let read =
        unsafe { read(pid, &[Span { address: (&raw mut word).cast(), bytes: 8 }], &[there(known, 8)]) };
    if read && word == word_of(segment) && works(pid, known) { Access::Works(pid) } else { Access::Forbidden }
}

/// Bytes in a row in another process: of no use here but for the kernel.
pub(crate) fn there(address: u64, bytes: usize) -> Span {
    Span { address: std::ptr::without_provenance_mut(address as usize), bytes }
}

/// As the kernel wants them: `Span`'s fields in their order.
fn vectors(spans: &[Span]) -> Vec<libc::iovec> {
    spans.iter().map(|span| libc::iovec { iov_base: span.address.cast(), iov_len: span.bytes }).collect()
}

/// Reads from a process's memory into our own; false when not all bytes came.
///
/// # Safety
/// `own` may be written.
pub(crate) unsafe fn read(pid: libc::pid_t, own: &[Span], other: &[Span]) -> bool {
    let (local, remote) = (vectors(own), vectors(other));
    // SAFETY: our spans by the caller's promise; the kernel checks the other side's addresses.
    let moved = unsafe {
        libc::process_vm_readv(pid, local.as_ptr(), local.len() as _, remote.as_ptr(), remote.len() as _, 0)
    };
    moved == other.iter().map(|span| span.bytes as isize).sum()
}

/// Writes our own memory to a process's; false when not all bytes went.
///
/// # Safety
/// `own` may be read.
pub(crate) unsafe fn write(pid: libc::pid_t, own: &[Span], other: Span) -> bool {
    let (local, remote) = (vectors(own), vectors(&[other]));
    // SAFETY: as for `read`.
    let moved =
        unsafe { libc::process_vm_writev(pid, local.as_ptr(), local.len() as _, remote.as_ptr(), 1, 0) };
    moved == other.bytes as isize
}
