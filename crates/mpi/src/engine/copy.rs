//! Copies by instructions that fit who reads next.
//!
//! Lines that another core has in its cache are expensive to write by ordinary stores: each one first fetches the line that it is
//! going to overwrite. The cpu's own copy instruction knows that lines are written whole, and only takes them away. Between two
//! cores of an EPYC, writing 64 kB that the other one had read took 0.6 us instead of 1.6 (7 instead of 1.4 when the cores shared no
//! cache); storing past the caches was as fast to write, but took twice as long to read.

use std::sync::atomic::{AtomicU8, Ordering};

/// From so many bytes on, the copy instruction's start is paid back.
const LONG: usize = 512;

/// Copies data for another core to read.
///
/// # Safety
/// `bytes` readable at `from` and writable at `to`, apart from each other.
#[inline]
pub unsafe fn copy_out(from: *const u8, to: *mut u8, bytes: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if bytes >= LONG && has_fast_copy() {
        // SAFETY: copies `bytes` bytes forwards, as the caller promised; the direction flag is clear in Rust code.
        unsafe {
            std::arch::asm!(
                "rep movsb",
                inout("rcx") bytes => _, inout("rdi") to => _, inout("rsi") from => _,
                options(nostack, preserves_flags)
            );
        }
        return;
    }
    // SAFETY: as the caller promised.
    unsafe { std::ptr::copy_nonoverlapping(from, to, bytes) };
}

/// Whether the cpu says that its copy instruction is fast (ERMS).
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline]
fn has_fast_copy() -> bool {
    static KNOWN: AtomicU8 = AtomicU8::new(0);
    match KNOWN.load(Ordering::Relaxed) {
        0 => {
            let has = std::arch::is_x86_feature_detected!("ermsb");
            KNOWN.store(1 + u8::from(has), Ordering::Relaxed);
            has
        }
        known => known == 2,
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn copies_are_exact_whatever_the_alignment() {
        let from: Vec<u8> = (0..6000).map(|at| (at % 253) as u8).collect();
        for bytes in [0, 1, 63, 1023, 1024, 1100, 4096, 5000] {
            for (a, b) in [(0, 0), (1, 0), (0, 16), (7, 63)] {
                let mut to = vec![0u8; 6000];
                // SAFETY: both are long enough.
                unsafe { copy_out(from.as_ptr().add(a), to.as_mut_ptr().add(b), bytes) };
                assert!(to[b..b + bytes] == from[a..a + bytes]);
                assert!(to[..b].iter().chain(&to[b + bytes..]).all(|&byte| byte == 0));
            }
        }
    }
}
