//! The counters of a ring between one producer and one or more consumers. It holds no data: the owner of the slots
//! uses the counters to know which of them it may touch.
//!
//! Counters only rise, so instance `i` lives in slot `i % slots`. Between `produced()` and `produced() + free()` the
//! producer may write; between `consumed()` and `consumed() + available()` a consumer may read. Every consumer sees
//! every instance (a broadcast), in order; a slot is free again when all of them have released it.
//!
//! Nothing here allocates after [`ring()`], waits, or wakes: that is [`Event`](crate::wait::Event)'s work, after a
//! publish and after a release.
//!
//! # Memory ordering
//! `publish` and `finish` store with Release and consumers load with Acquire: what was written into a slot before the
//! publish is seen after `available` has counted it. `release` stores with Release and the producer loads with Acquire:
//! a consumer's reads of a slot are over before `free` counts it. Each side keeps a copy of the other's counter and
//! looks again only when the copy is not enough, so that a line moves between cores once per batch and not per firing.
//!
//! ```
//! let (mut producer, mut consumers) = host::ring(4, 1);
//! let consumer = &mut consumers[0];
//! assert_eq!((producer.free(), consumer.available()), (4, 0));
//! producer.publish(3);
//! assert_eq!((producer.free(), consumer.available()), (1, 3));
//! consumer.release(2);
//! producer.finish();
//! assert_eq!((producer.free(), consumer.end()), (3, Some(3)));
//! assert!(!consumer.drained());
//! consumer.release(1);
//! assert!(consumer.drained());
//! ```

use crate::sync::{Arc, AtomicU64, Ordering, Padded};

/// `end` before [`Producer::finish`].
const OPEN: u64 = u64::MAX;

#[derive(Debug)]
struct Positions {
    slots: u64,
    /// Instances published; written by the producer.
    produced: Padded<AtomicU64>,
    /// `produced` at the end of the stream, [`OPEN`] before; written by the producer, once.
    end: Padded<AtomicU64>,
    /// Instances released, per consumer; written by that consumer.
    consumed: Box<[Padded<AtomicU64>]>,
}

/// The writing side; one thread at a time owns it.
#[derive(Debug)]
pub struct Producer {
    counters: Arc<Positions>,
    produced: u64,
    /// The slowest consumer's position when last looked at: never more than it is now.
    consumed_seen: u64,
}

/// A reading side with a position of its own; one thread at a time owns it.
#[derive(Debug)]
pub struct Consumer {
    counters: Arc<Positions>,
    index: usize,
    consumed: u64,
    /// How much was published at the last look: never more than is published now.
    produced_seen: u64,
    end_seen: u64,
}

/// The counters of a ring of `slots` instances with `consumers` readers.
///
/// # Panics
/// When `slots` or `consumers` is 0: such a ring could never move anything.
pub fn ring(slots: u64, consumers: usize) -> (Producer, Vec<Consumer>) {
    assert!(slots > 0 && consumers > 0, "a ring needs a slot and a consumer");
    let counters = Arc::new(Positions {
        slots,
        produced: Padded(AtomicU64::new(0)),
        end: Padded(AtomicU64::new(OPEN)),
        consumed: (0..consumers).map(|_| Padded(AtomicU64::new(0))).collect(),
    });
    let readers = (0..consumers)
        .map(|index| Consumer {
            counters: counters.clone(),
            index,
            consumed: 0,
            produced_seen: 0,
            end_seen: OPEN,
        })
        .collect();
    (Producer { counters, produced: 0, consumed_seen: 0 }, readers)
}

impl Producer {
    /// Slots of the ring.
    pub fn slots(&self) -> u64 {
        self.counters.slots
    }

    /// Instances published so far; the next one goes into slot `produced() % slots()`.
    pub fn produced(&self) -> u64 {
        self.produced
    }

    /// Slots that may be written now. Looks at every consumer.
    pub fn free(&mut self) -> u64 {
        let slowest = self.counters.consumed.iter().map(|c| c.0.load(Ordering::Acquire)).min();
        self.consumed_seen = slowest.unwrap_or(self.consumed_seen);
        self.free_seen()
    }

    /// Whether `n` slots may be written now. Looks at the consumers only when the last look did not show enough.
    pub fn has_free(&mut self, n: u64) -> bool {
        n <= self.free_seen() || n <= self.free()
    }

    /// How many slots were free at the last look; does not touch shared memory.
    pub fn free_seen(&self) -> u64 {
        self.counters.slots - (self.produced - self.consumed_seen)
    }

    /// Lets the consumers see the next `n` slots, which were written.
    ///
    /// # Panics
    /// When `n` is more than [`free`](Self::free) or [`has_free`](Self::has_free) have seen: the slots would still be
    /// a consumer's. `unsafe` code that fills slots may rest on this.
    pub fn publish(&mut self, n: u64) {
        assert!(n <= self.free_seen(), "published {n} instances into {} free slots", self.free_seen());
        self.produced += n;
        self.counters.produced.0.store(self.produced, Ordering::Release);
    }

    /// Says that nothing more will be published.
    pub fn finish(&mut self) {
        self.counters.end.0.store(self.produced, Ordering::Release);
    }
}

impl Consumer {
    /// Slots of the ring.
    pub fn slots(&self) -> u64 {
        self.counters.slots
    }

    /// Instances released so far; the next one is in slot `consumed() % slots()`.
    pub fn consumed(&self) -> u64 {
        self.consumed
    }

    /// Instances that may be read now. Looks at the producer.
    pub fn available(&mut self) -> u64 {
        self.produced_seen = self.counters.produced.0.load(Ordering::Acquire);
        self.available_seen()
    }

    /// Whether `n` instances may be read now. Looks at the producer only when the last look did not show enough.
    pub fn has_available(&mut self, n: u64) -> bool {
        n <= self.available_seen() || n <= self.available()
    }

    /// How many instances were available at the last look; does not touch shared memory.
    pub fn available_seen(&self) -> u64 {
        self.produced_seen - self.consumed
    }

    /// Gives the next `n` slots back to the producer.
    ///
    /// # Panics
    /// When `n` is more than [`available`](Self::available) or [`has_available`](Self::has_available) have seen.
    pub fn release(&mut self, n: u64) {
        assert!(n <= self.available_seen(), "released {n} instances of {}", self.available_seen());
        self.consumed += n;
        self.counters.consumed[self.index].0.store(self.consumed, Ordering::Release);
    }

    /// How many instances the whole stream has, once the producer has said so. After `Some(n)`,
    /// [`available`](Self::available) counts everything up to `n`.
    pub fn end(&mut self) -> Option<u64> {
        if self.end_seen == OPEN {
            self.end_seen = self.counters.end.0.load(Ordering::Acquire);
            if self.end_seen != OPEN {
                self.available();
            }
        }
        (self.end_seen != OPEN).then_some(self.end_seen)
    }

    /// Whether the stream has ended and this consumer has released all of it.
    pub fn drained(&mut self) -> bool {
        self.end() == Some(self.consumed)
    }
}
