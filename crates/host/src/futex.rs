//! The kernel's futex: a thread sleeps on a word of memory until another thread, or another process, changes it.
//!
//! The kernel compares and goes to sleep as one step, so that a change made before the sleep is never missed. A thread
//! that changes the word wakes the sleepers afterwards. Neither function orders memory: that is the word's own
//! business.
//!
//! ```
//! use host::futex::{Reach, sleep, wake};
//! use std::sync::atomic::{AtomicU32, Ordering};
//! let word = AtomicU32::new(0);
//! std::thread::scope(|s| {
//!     s.spawn(|| {
//!         word.store(1, Ordering::Release);
//!         wake(&word, 1, Reach::Process);
//!     });
//!     while word.load(Ordering::Acquire) == 0 {
//!         sleep(&word, 0, None, Reach::Process);
//!     }
//! });
//! ```

use std::sync::atomic::AtomicU32;

/// Who can sleep on a word, and wake its sleepers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Threads of this process: the cheaper one.
    Process,
    /// Every process that maps the word's memory.
    Shared,
}

impl Reach {
    fn flag(self) -> libc::c_int {
        match self {
            Reach::Process => libc::FUTEX_PRIVATE_FLAG,
            Reach::Shared => 0,
        }
    }
}

/// Sleeps while `word` is `expected`, for at most `timeout_ns`. Returns on a wake, at the end of the time, on a signal,
/// and sometimes for no reason: look at the word again.
pub fn sleep(word: &AtomicU32, expected: u32, timeout_ns: Option<u64>, reach: Reach) {
    let timeout = timeout_ns.map(crate::clock::timespec);
    let timeout = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: `word` and `timeout` outlive the call; the kernel only reads them.
    unsafe {
        libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT | reach.flag(), expected, timeout)
    };
}

/// Wakes up to `sleepers` of those who sleep on `word`; `u32::MAX` wakes all of them. Returns how many woke.
pub fn wake(word: &AtomicU32, sleepers: u32, reach: Reach) -> u32 {
    let most = libc::c_int::try_from(sleepers).unwrap_or(libc::c_int::MAX);
    // SAFETY: the kernel uses the word's address as a key and does not touch the word.
    let woken =
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE | reach.flag(), most) };
    u32::try_from(woken).unwrap_or(0)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::clock::now_ns;
    use std::sync::atomic::Ordering;

    #[test]
    fn nobody_sleeps_on_a_word_that_has_changed() {
        sleep(&AtomicU32::new(1), 0, None, Reach::Process);
        sleep(&AtomicU32::new(1), 0, None, Reach::Shared);
    }

    #[test]
    fn a_sleep_ends_with_its_time() {
        let start_ns = now_ns();
        let word = AtomicU32::new(0);
        while now_ns() - start_ns < 2_000_000 {
            sleep(&word, 0, Some(1_000_000), Reach::Process);
        }
        assert_eq!(wake(&word, 1, Reach::Process), 0);
    }

    #[test]
    fn a_wake_reaches_every_sleeper() {
        for reach in [Reach::Process, Reach::Shared] {
            let (word, awake) = (AtomicU32::new(0), AtomicU32::new(0));
            std::thread::scope(|s| {
                for _ in 0..3 {
                    s.spawn(|| {
                        sleep(&word, 0, None, reach);
                        awake.fetch_add(1, Ordering::Relaxed);
                    });
                }
                // Without a change of the word: only the wake can end these sleeps.
                while awake.load(Ordering::Relaxed) < 3 {
                    wake(&word, u32::MAX, reach);
                    std::thread::yield_now();
                }
            });
        }
    }

    #[test]
    fn a_wake_crosses_from_process_to_process() {
        // SAFETY: a new page that belongs to nobody else.
        let page = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                4096,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        assert_ne!(page, libc::MAP_FAILED);
        // SAFETY: the page is aligned, zero, never unmapped, and touched through atomics alone.
        let word: &'static AtomicU32 = unsafe { AtomicU32::from_ptr(page.cast()) };
        // SAFETY: the child makes system calls alone, and leaves by `_exit`.
        let child = unsafe { libc::fork() };
        if child == 0 {
            word.store(1, Ordering::Release);
            wake(word, 1, Reach::Shared);
            // SAFETY: ends the child without running anything of the parent's.
            unsafe { libc::_exit(0) };
        }
        while word.load(Ordering::Acquire) == 0 {
            sleep(word, 0, None, Reach::Shared);
        }
        // SAFETY: waits for our own child, without asking for its status.
        assert_eq!(unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) }, child);
    }
}
