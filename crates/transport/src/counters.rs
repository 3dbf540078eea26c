//! The engine's counters, which any thread may read at any time.

use std::sync::atomic::{AtomicU64, Ordering};

/// A number that only one thread at a time changes, and any thread reads: no read-modify-write instruction is needed.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    const fn zero() -> Self {
        Self(AtomicU64::new(0))
    }

    /// The number now.
    #[inline]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Adds. Two threads that add at once may lose one of their numbers.
    #[inline]
    pub fn add(&self, more: u64) {
        self.0.store(self.get().wrapping_add(more), Ordering::Relaxed);
    }
}

/// All counters of one engine.
#[derive(Debug, Default)]
pub struct EngineCounters {
    /// Messages handed to the engine, those of collectives too.
    pub messages_sent: Counter,
    /// Their bytes.
    pub bytes_sent: Counter,
    /// Messages received whole.
    pub messages_received: Counter,
    /// Their bytes.
    pub bytes_received: Counter,
    /// Messages that went as a rendezvous, with the receiver's buffer known.
    pub rendezvous_sent: Counter,
    /// Messages that came before their receive.
    pub unexpected_received: Counter,
}

impl EngineCounters {
    /// All of them 0.
    pub const fn new() -> Self {
        Self {
            messages_sent: Counter::zero(),
            bytes_sent: Counter::zero(),
            messages_received: Counter::zero(),
            bytes_received: Counter::zero(),
            rendezvous_sent: Counter::zero(),
            unexpected_received: Counter::zero(),
        }
    }
}
