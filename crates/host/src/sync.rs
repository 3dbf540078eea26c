//! Atomics and a word to sleep on: the real ones, or loom's when all interleavings are explored (`--cfg loom`).

#[cfg(not(loom))]
pub(crate) use std::sync::{
    Arc,
    atomic::{AtomicU32, AtomicU64, Ordering, fence},
};

#[cfg(loom)]
pub(crate) use loom::sync::{
    Arc,
    atomic::{AtomicU32, AtomicU64, Ordering, fence},
};

/// A cache line pair of its own: two, because the prefetcher fetches lines in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Padded<T>(pub(crate) T);

/// A word that a thread can sleep on until another changes it.
#[derive(Debug)]
pub(crate) struct Futex {
    word: Padded<AtomicU32>,
    /// Loom knows no futex: the same contract (compare and sleep are one step) from a lock and a condition.
    #[cfg(loom)]
    model: (loom::sync::Mutex<()>, loom::sync::Condvar),
}

impl Futex {
    pub(crate) fn new(value: u32) -> Self {
        Self {
            word: Padded(AtomicU32::new(value)),
            #[cfg(loom)]
            model: (loom::sync::Mutex::new(()), loom::sync::Condvar::new()),
        }
    }

    pub(crate) fn word(&self) -> &AtomicU32 {
        &self.word.0
    }

    /// Sleeps while the word is `expected`; returns on a wake, a timeout, a signal, or for no reason at all.
    #[cfg(not(loom))]
    pub(crate) fn sleep(&self, expected: u32, timeout_ns: Option<u64>) {
        crate::futex::sleep(&self.word.0, expected, timeout_ns, crate::futex::Reach::Process);
    }

    /// Wakes the sleeper, if there is one.
    #[cfg(not(loom))]
    pub(crate) fn wake(&self) {
        crate::futex::wake(&self.word.0, 1, crate::futex::Reach::Process);
    }

    #[cfg(loom)]
    pub(crate) fn sleep(&self, expected: u32, _timeout_ns: Option<u64>) {
        let guard = self.model.0.lock().unwrap();
        if self.word.0.load(Ordering::Relaxed) == expected {
            drop(self.model.1.wait(guard).unwrap());
        }
    }

    #[cfg(loom)]
    pub(crate) fn wake(&self) {
        drop(self.model.0.lock().unwrap());
        self.model.1.notify_one();
    }
}
