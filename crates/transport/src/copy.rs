//! Copies with the instructions that suit the next reader, or the one that wrote, and the addresses.
//!
//! Lines that another core has in its cache are expensive to write by ordinary stores: each one first fetches the line
//! that it is going to overwrite. The cpu's own copy instruction knows that lines are written whole, and only takes
//! them away. Between two cores of an EPYC, writing 64 kB that the other one had read took 0.6 us instead of 1.6 (7
//! instead of 1.4 when the cores shared no cache); storing past the caches was as fast to write, but took twice as long
//! to read.
//!
//! Where an address lies in its page matters, too: see [`is_aliased`].

#[cfg(all(target_arch = "x86_64", not(miri)))]
use std::sync::atomic::{AtomicU8, Ordering};

/// The most bytes of `copy_small`: a line of a ring holds no more.
pub(crate) const SMALL: usize = 48;
/// Addresses alias that differ by multiples of so many bytes.
const PAGE: usize = 4096;
/// Copies of at least so many bytes may use the copy instruction: here, or in the C library.
const LONG: usize = 512;

/// Copies data for another core to read.
///
/// # Safety
/// As for [`copy`].
#[inline]
pub(crate) unsafe fn copy_out(from: *const u8, to: *mut u8, bytes: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if bytes >= LONG && has_fast_copy() && !is_aliased(from, to) {
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
    unsafe { copy(from, to, bytes) };
}

/// Gets the lines of some bytes into this core's cache, to be read soon. Touches nothing but caches.
#[inline]
pub(crate) fn fetch_to_read(start: *const u8, bytes: usize) {
    for at in (0..bytes).step_by(64) {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        // SAFETY: a hint; it reads nothing.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(at).cast());
        }
        #[cfg(not(all(target_arch = "x86_64", not(miri))))]
        let _ = (start, at);
    }
}

/// The same, to be written soon. (Where a cpu has a line that it only may read, it may leave that undone, as an EPYC
/// does.)
#[inline]
pub(crate) fn fetch_to_write(start: *mut u8, bytes: usize) {
    for at in (0..bytes).step_by(64) {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        // SAFETY: touches nothing but caches.
        unsafe {
            let line = start.wrapping_add(at);
            std::arch::asm!("prefetchw [{}]", in(reg) line, options(nostack, preserves_flags, readonly));
        }
        #[cfg(not(all(target_arch = "x86_64", not(miri))))]
        let _ = (start, at);
    }
}

/// Moves lines that this core has written to the cache that all cores share, where the cpu can: another core gets them
/// sooner from there than from this core's own caches. (1 kB to and fro by hand: 0.22 us instead of 0.29, on a Xeon; 16
/// kB: 2.0 instead of 1.7.)
///
/// `data` starts with a line. Changes no byte.
#[inline]
pub(crate) fn demote(data: &[u8]) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if can_demote() {
        for line in data.chunks(64) {
            // SAFETY: reads and writes nothing that the program sees.
            unsafe {
                std::arch::asm!("cldemote [{}]", in(reg) line.as_ptr(), options(nostack, preserves_flags));
            }
        }
    }
    let _ = data;
}

/// Copies data to lines that another core looks at while they are written: each line at once, so that it is not taken
/// back half-written. (256 B to and fro by hand take 0.23 us when the C library copies them, which writes some lines
/// twice, and 0.20 so, on a Xeon.)
///
/// # Safety
/// As for [`copy`]; the target of any bytes starts with a line.
#[inline]
pub(crate) unsafe fn copy_by_lines(from: *const u8, to: *mut u8, bytes: usize) {
    type Line = [u128; 4];
    const LINE: usize = size_of::<Line>();
    debug_assert!(bytes == 0 || (to as usize).is_multiple_of(LINE));
    let end = bytes / LINE * LINE;
    for at in (0..end).step_by(LINE) {
        // SAFETY: the line ends in front of `bytes`, and the target is aligned to lines.
        unsafe { to.add(at).cast::<Line>().write(from.add(at).cast::<Line>().read_unaligned()) };
    }
    let small = end + (bytes - end).min(SMALL);
    // SAFETY: what is left of what the caller promised, less than a line, in two parts.
    unsafe {
        copy_small(from.add(end), to.add(end), small - end);
        copy_small(from.add(small), to.add(small), bytes - small);
    }
}

/// Copies data that another core has written: by wide loads, because the cpu's own copy instruction has fewer lines on
/// the way. (Two ranks on an EPYC, the copies by hand alike, 64 kB to and fro: 2.24 us instead of 2.53; 1 MB: 44.6
/// instead of 46.8. Loads of 16 bytes gain nothing.)
///
/// # Safety
/// As for [`copy`].
#[inline]
pub unsafe fn copy_in(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: as the caller promised.
    if bytes < LONG || !unsafe { copy_by_wide_words(from, to, bytes) } {
        // SAFETY: as the caller promised.
        unsafe { copy_in_parts(from, to, bytes) };
    }
}

/// Whether this cpu can store past its caches.
pub(crate) fn can_copy_past() -> bool {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    return std::arch::is_x86_feature_detected!("avx2");
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    false
}

/// Copies data past the caches, where the cpu can, else as [`copy_in`]: see `landing`. All of it is there, for other
/// cpus too, before any later store.
///
/// # Safety
/// As for [`copy`].
pub(crate) unsafe fn copy_past(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: as the caller promised.
    unsafe { copy_past_unfenced(from, to, bytes) };
    fence_past();
}

/// As [`copy_past`], but other cpus may see later stores sooner, until [`fence_past`].
///
/// # Safety
/// As for [`copy`].
pub unsafe fn copy_past_unfenced(from: *const u8, to: *mut u8, bytes: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if bytes >= LONG && can_copy_past() {
        // SAFETY: the cpu has these instructions; the rest as the caller promised.
        unsafe { store_past(from, to, bytes) };
        return;
    }
    // SAFETY: as the caller promised.
    unsafe { copy_in(from, to, bytes) };
}

/// What this thread has stored past the caches is there, for other cpus too, before any later store. It waits until the
/// memory has it. (By hand on an EPYC, a gather of 4 MB between two ranks in pieces of 16 kB takes 304 us with one at
/// its end, and 333 with one behind each piece.)
pub fn fence_past() {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: every cpu of this sort has it.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

/// Copies whole lines past the caches, and what is before and behind them through the caches.
///
/// # Safety
/// As for [`copy`], and at least `LONG` bytes.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[target_feature(enable = "avx2")]
unsafe fn store_past(from: *const u8, to: *mut u8, bytes: usize) {
    use std::arch::x86_64::{__m256i, _mm256_loadu_si256, _mm256_stream_si256};
    const WORD: usize = size_of::<__m256i>();
    const LINE: usize = 2 * WORD;
    let first = to.align_offset(LINE);
    let end = first + (bytes - first) / LINE * LINE;
    // SAFETY: less than a line, which is less than `bytes`.
    unsafe { std::ptr::copy_nonoverlapping(from, to, first) };
    for at in (first..end).step_by(LINE) {
        // SAFETY: the line ends in front of `bytes`, and `first` is where the target is aligned to lines.
        unsafe {
            let one = _mm256_loadu_si256(from.add(at).cast());
            let other = _mm256_loadu_si256(from.add(at + WORD).cast());
            _mm256_stream_si256(to.add(at).cast(), one);
            _mm256_stream_si256(to.add(at + WORD).cast(), other);
        }
    }
    // SAFETY: what is left of what the caller promised.
    unsafe { std::ptr::copy_nonoverlapping(from.add(end), to.add(end), bytes - end) };
}

/// Copies data, whatever its addresses are.
///
/// # Safety
/// `bytes` readable at `from` and writable at `to`, apart from each other.
#[inline]
pub unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: as the caller promised.
    if bytes <= LONG || !is_aliased(from, to) || !unsafe { copy_by_wide_words(from, to, bytes) } {
        // SAFETY: as the caller promised.
        unsafe { copy_in_parts(from, to, bytes) };
    }
}

/// Copies as the C library does; where addresses alias, in parts that are too short for the copy instruction.
///
/// # Safety
/// As for [`copy`].
#[inline]
unsafe fn copy_in_parts(from: *const u8, to: *mut u8, bytes: usize) {
    let step = if bytes > LONG && is_aliased(from, to) { LONG } else { bytes };
    let mut at = 0;
    while at < bytes {
        let part = step.min(bytes - at);
        // SAFETY: a part of what the caller promised.
        unsafe { std::ptr::copy_nonoverlapping(from.add(at), to.add(at), part) };
        at += part;
    }
}

/// Copies by loads and stores of 32 bytes; false where the cpu has none, and nothing is copied.
///
/// # Safety
/// As for [`copy`], and at least `LONG` bytes.
#[inline]
unsafe fn copy_by_wide_words(from: *const u8, to: *mut u8, bytes: usize) -> bool {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the cpu has these instructions; the rest as the caller promised.
        unsafe { copy_wide(from, to, bytes) };
        return true;
    }
    let _ = (from, to, bytes);
    false
}

/// Copies by loads and stores of 32 bytes. All stores but the first are aligned: on an EPYC, others take twice as long.
/// (16 kB in the first cache, to a target 16 bytes behind a line: 0.17 us instead of 0.34.)
///
/// # Safety
/// As for [`copy`], and at least 32 bytes.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[target_feature(enable = "avx2")]
unsafe fn copy_wide(from: *const u8, to: *mut u8, bytes: usize) {
    use std::arch::x86_64::__m256i;
    /// Two lines at a time.
    type Lines = [__m256i; 4];
    debug_assert!(bytes >= size_of::<__m256i>());
    // SAFETY: the first word.
    unsafe { to.cast::<__m256i>().write_unaligned(from.cast::<__m256i>().read_unaligned()) };
    let first = to.align_offset(size_of::<__m256i>());
    let end = first + (bytes - first) / size_of::<Lines>() * size_of::<Lines>();
    for at in (first..end).step_by(size_of::<Lines>()) {
        // SAFETY: the two lines end in front of `bytes`, and `first` is where the target is aligned.
        unsafe { to.add(at).cast::<Lines>().write(from.add(at).cast::<Lines>().read_unaligned()) };
    }
    if end < bytes {
        // SAFETY: what is left of what the caller promised.
        unsafe { std::ptr::copy_nonoverlapping(from.add(end), to.add(end), bytes - end) };
    }
}

/// Whether a copy's target lies up to 31 bytes further into its page than the source. Then the copy instruction, which
/// the C library uses for long copies, is very slow on some cpus: it takes each of its loads for one of what it has
/// just stored. (An EPYC, 16 kB: 0.2 to 0.4 us, and 5 to 10 us when aliased, which is 0.45 us in short parts and 0.17
/// by wide words.) Large arrays of `malloc` start 16 bytes into a page, and what they are copied from often starts with
/// one.
#[inline]
fn is_aliased(from: *const u8, to: *const u8) -> bool {
    (1..32).contains(&((to as usize).wrapping_sub(from as usize) % PAGE))
}

/// Whether the cpu says that its copy instruction is fast (ERMS).
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline]
fn has_fast_copy() -> bool {
    static KNOWN: AtomicU8 = AtomicU8::new(0);
    known(&KNOWN, || std::arch::is_x86_feature_detected!("ermsb"))
}

/// Whether the cpu says that it can move lines to the shared cache (CLDEMOTE).
#[inline]
pub(crate) fn can_demote() -> bool {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{__cpuid, __cpuid_count};
        static KNOWN: AtomicU8 = AtomicU8::new(0);
        known(&KNOWN, || __cpuid(0).eax >= 7 && __cpuid_count(7, 0).ecx >> 25 & 1 == 1)
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    false
}

/// What a cpu has, found out once.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline]
fn known(known: &AtomicU8, find_out: impl FnOnce() -> bool) -> bool {
    match known.load(Ordering::Relaxed) {
        0 => {
            let has = find_out();
            known.store(1 + u8::from(has), Ordering::Relaxed);
            has
        }
        known => known == 2,
    }
}

/// Copies up to `SMALL` bytes: by words of 16 and 8 that may overlap, without a call.
///
/// # Safety
/// `bytes` readable at `from` and writable at `to`, apart from each other, at most `SMALL`.
#[inline]
pub(crate) unsafe fn copy_small(from: *const u8, to: *mut u8, bytes: usize) {
    debug_assert!(bytes <= SMALL);
    /// Copies the first and the last word; together they cover all bytes.
    ///
    /// # Safety
    /// As for `copy_small`, and `bytes` at least one word.
    #[inline(always)]
    unsafe fn ends<T>(from: *const u8, to: *mut u8, bytes: usize) {
        let last = bytes - size_of::<T>();
        // SAFETY: `bytes` is at least a word, by the caller's match.
        unsafe {
            let (a, b) = (from.cast::<T>().read_unaligned(), from.add(last).cast::<T>().read_unaligned());
            to.cast::<T>().write_unaligned(a);
            to.add(last).cast::<T>().write_unaligned(b);
        }
    }
    // SAFETY: each branch reads and writes inside `bytes`.
    unsafe {
        match bytes {
            8 => to.cast::<u64>().write_unaligned(from.cast::<u64>().read_unaligned()),
            33.. => {
                to.cast::<u128>().write_unaligned(from.cast::<u128>().read_unaligned());
                ends::<u128>(from.add(16), to.add(16), bytes - 16);
            }
            16..=32 => ends::<u128>(from, to, bytes),
            9..=15 => ends::<u64>(from, to, bytes),
            4..=7 => ends::<u32>(from, to, bytes),
            2..=3 => ends::<u16>(from, to, bytes),
            1 => *to = *from,
            0 => {}
        }
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
                for copies in [copy_out, copy_in, copy_past] {
                    let mut to = vec![0u8; 6000];
                    // SAFETY: both are long enough.
                    unsafe { copies(from.as_ptr().add(a), to.as_mut_ptr().add(b), bytes) };
                    assert!(to[b..b + bytes] == from[a..a + bytes]);
                    assert!(to[..b].iter().chain(&to[b + bytes..]).all(|&byte| byte == 0));
                }
            }
        }
    }

    #[test]
    fn copies_whose_target_lies_a_little_further_into_its_page_are_exact() {
        let from: Vec<u8> = (0..3 * PAGE).map(|at| (at % 251) as u8).collect();
        for (further, aliased) in [(0, false), (1, true), (16, true), (31, true), (32, false)] {
            for bytes in [0, 1, LONG - 1, LONG, LONG + 1, 2 * LONG, PAGE + 77] {
                for copies in [copy, copy_out, copy_in, copy_past] {
                    let mut to = vec![0u8; 4 * PAGE];
                    let start = to.as_ptr().align_offset(PAGE) + from.as_ptr() as usize % PAGE + further;
                    assert_eq!(is_aliased(from.as_ptr(), to[start..].as_ptr()), aliased);
                    // SAFETY: both are long enough.
                    unsafe { copies(from.as_ptr(), to.as_mut_ptr().add(start), bytes) };
                    assert!(to[start..start + bytes] == from[..bytes]);
                    assert!(to[..start].iter().chain(&to[start + bytes..]).all(|&byte| byte == 0));
                }
            }
        }
    }

    #[test]
    fn copies_by_lines_copy_exactly_their_bytes() {
        let from: Vec<u8> = (0..512).map(|at| (at % 251) as u8).collect();
        for bytes in 0..400 {
            let mut to = vec![0u8; 512];
            let start = to.as_ptr().align_offset(64);
            // SAFETY: both are long enough, and the target starts with a line.
            unsafe { copy_by_lines(from.as_ptr().add(bytes % 7), to.as_mut_ptr().add(start), bytes) };
            assert_eq!(to[start..start + bytes], from[bytes % 7..][..bytes]);
            assert!(to[..start].iter().chain(&to[start + bytes..]).all(|&byte| byte == 0));
        }
    }

    #[test]
    fn lines_that_are_moved_to_the_shared_cache_stay_what_they_are() {
        let data: Vec<u8> = (0..1000).map(|at| (at % 251) as u8).collect();
        for bytes in [0, 1, 64, 65, 1000] {
            demote(&data[..bytes]);
            assert!(data.iter().enumerate().all(|(at, &byte)| byte == (at % 251) as u8));
        }
    }

    #[test]
    fn lines_that_are_fetched_stay_what_they_are_and_need_not_be_memory() {
        let mut data: Vec<u8> = (0..1000).map(|at| (at % 251) as u8).collect();
        fetch_to_read(data.as_ptr(), 1000);
        fetch_to_write(data.as_mut_ptr(), 1000);
        fetch_to_read(std::ptr::null(), 100);
        fetch_to_write(std::ptr::null_mut(), 100);
        assert!(data.iter().enumerate().all(|(at, &byte)| byte == (at % 251) as u8));
    }

    #[test]
    fn small_copies_copy_exactly_their_bytes() {
        let from: Vec<u8> = (1..=48).collect();
        for bytes in 0..=48 {
            let mut to = [0u8; 49];
            // SAFETY: both have 48 bytes.
            unsafe { copy_small(from.as_ptr(), to.as_mut_ptr(), bytes) };
            assert_eq!(to[..bytes], from[..bytes]);
            assert!(to[bytes..].iter().all(|&byte| byte == 0));
        }
    }
}
