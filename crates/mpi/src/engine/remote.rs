//! Copies between the memory of two processes, by the kernel (`process_vm_readv` and its opposite).
//!
//! Containers and security modules may forbid it. Whether it works is tried before it is first used, for each pair of ranks and each
//! direction, on a word that is known; where it doesn't, data goes through shared memory.

use crate::datatype::Span;
use crate::segment::Segment;
use std::sync::Once;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Messages from so many bytes on are copied between the processes; below, through the pool. Measured on an EPYC (1 MB of L2 per core):
/// what stays in the caches is faster through shared memory, that is, up to about half the size of L2.
pub static COPY_FROM: AtomicUsize = AtomicUsize::new(DEFAULT_COPY_FROM);
const DEFAULT_COPY_FROM: usize = 2 * 1024 * 1024;
/// The most pieces of memory of one call.
pub const MOST_SPANS: usize = 512;

/// What others read to see whether they can.
static KNOWN: AtomicU64 = AtomicU64::new(0);
/// Where others write to see whether they can.
static SCRATCH: AtomicU64 = AtomicU64::new(0);

/// Whether a direction works.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Access {
    /// Not tried yet.
    #[default]
    Unknown,
    /// It does.
    Works,
    /// It doesn't.
    Forbidden,
}

fn word_of(segment: &Segment) -> u64 {
    segment.header().identity.load(Ordering::Relaxed) ^ 0x6365_6c6c_7765_6176
}

/// Lets the other ranks copy from and to this process, once. Before a message is announced that they may copy.
pub fn allow(segment: &Segment, rank: usize) {
    static ALLOWED: Once = Once::new();
    ALLOWED.call_once(|| {
        // Yama lets only ancestors in, unless the process names whom it lets; ranks are siblings.
        if std::fs::read("/proc/sys/kernel/yama/ptrace_scope").is_ok_and(|scope| scope.starts_with(b"1")) {
            // SAFETY: sets an attribute of this process.
            unsafe { libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY, 0, 0, 0) };
        }
    });
    let page = segment.rank(rank);
    if page.probe[0].load(Ordering::Relaxed) == 0 {
        KNOWN.store(word_of(segment), Ordering::Relaxed);
        page.probe[1].store((&raw const SCRATCH) as u64, Ordering::Relaxed);
        page.probe[0].store((&raw const KNOWN) as u64, Ordering::Release);
    }
}

/// Tries to read the memory of a rank that has allowed it.
pub fn try_reading(segment: &Segment, rank: usize) -> Access {
    let mut word = 0u64;
    let own = Span { address: (&raw mut word).cast(), bytes: 8 };
    let known = segment.rank(rank).probe[0].load(Ordering::Acquire);
    let read = read(segment, rank, &[own], known, 8);
    if read && word == word_of(segment) { Access::Works } else { Access::Forbidden }
}

/// Tries to write to the memory of a rank that has allowed it.
pub fn try_writing(segment: &Segment, rank: usize) -> Access {
    let mut word = 1u64;
    let own = Span { address: (&raw mut word).cast(), bytes: 8 };
    let page = segment.rank(rank);
    // What can be read is the right process; what is written then goes to its scratch word.
    let works = try_reading(segment, rank) == Access::Works
        && write(segment, rank, &[own], page.probe[1].load(Ordering::Relaxed), 8);
    if works { Access::Works } else { Access::Forbidden }
}

fn pid(segment: &Segment, rank: usize) -> libc::pid_t {
    segment.rank(rank).pid.load(Ordering::Relaxed) as libc::pid_t
}

/// As the kernel wants them: `Span`'s fields in their order.
fn vectors(spans: &[Span]) -> Vec<libc::iovec> {
    spans.iter().map(|span| libc::iovec { iov_base: span.address.cast(), iov_len: span.bytes }).collect()
}

/// Reads `bytes` bytes from a rank's memory into our own; false when not all of them came.
pub fn read(segment: &Segment, rank: usize, own: &[Span], other: u64, bytes: usize) -> bool {
    let remote = libc::iovec { iov_base: other as *mut _, iov_len: bytes };
    let local = vectors(own);
    // SAFETY: our spans are lent by their transfer until it is complete; the kernel checks all addresses.
    let moved = unsafe {
        libc::process_vm_readv(pid(segment, rank), local.as_ptr(), local.len() as _, &remote, 1, 0)
    };
    moved == bytes as isize
}

/// Writes `bytes` bytes of our own memory to a rank's; false when not all of them went.
pub fn write(segment: &Segment, rank: usize, own: &[Span], other: u64, bytes: usize) -> bool {
    let remote = libc::iovec { iov_base: other as *mut _, iov_len: bytes };
    let local = vectors(own);
    // SAFETY: as for `read`.
    let moved = unsafe {
        libc::process_vm_writev(pid(segment, rank), local.as_ptr(), local.len() as _, &remote, 1, 0)
    };
    moved == bytes as isize
}
