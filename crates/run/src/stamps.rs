//! When sampled batches left the source and reached a sink: end-to-end latency and throughput over time, at the cost of
//! a comparison per batch.

use crate::samples::Samples;
use std::sync::atomic::{AtomicU64, Ordering};

/// Stamps that are kept at once. More in flight than this: the oldest are lost, not wrong.
const STAMPS: usize = 1024;
/// Samples closer together than this double their distance: two clock reads are then less than a thousandth of it.
const APART_NS: u64 = 50_000;
/// Samples that a sink keeps.
const KEPT: usize = 4096;

/// Written by the first source, read by every sink.
#[derive(Debug)]
pub(crate) struct Stamps {
    slots: Box<[(AtomicU64, AtomicU64)]>,
    count: AtomicU64,
}

impl Stamps {
    pub(crate) fn new() -> Stamps {
        Stamps {
            slots: (0..STAMPS).map(|_| (AtomicU64::new(0), AtomicU64::new(0))).collect(),
            count: AtomicU64::new(0),
        }
    }

    /// Stamp number `number`, unless it is not there yet or was overwritten.
    fn get(&self, number: u64) -> Option<(u64, u64)> {
        let slot = &self.slots[number as usize % STAMPS];
        let stamp = (slot.0.load(Ordering::Acquire), slot.1.load(Ordering::Acquire));
        // The writer raises the count before it overwrites, so a stamp that was read whole is still counted as kept.
        let count = self.count.load(Ordering::Acquire);
        (number < count && count - number < STAMPS as u64).then_some(stamp)
    }
}

/// The source's side.
#[derive(Debug)]
pub(crate) struct Stamper {
    next: u64,
    apart: u64,
    last_ns: u64,
    number: u64,
}

impl Stamper {
    pub(crate) fn new(batch: u64) -> Stamper {
        Stamper { next: 0, apart: batch.max(1), last_ns: 0, number: 0 }
    }

    /// Whether the batch that starts with instance `first` is to be stamped.
    #[inline]
    pub(crate) fn due(&self, first: u64) -> bool {
        first >= self.next
    }

    /// Stamps it.
    pub(crate) fn stamp(&mut self, stamps: &Stamps, first: u64, now_ns: u64) {
        let slot = &stamps.slots[self.number as usize % STAMPS];
        slot.0.store(first, Ordering::Release);
        slot.1.store(now_ns, Ordering::Release);
        self.number += 1;
        stamps.count.store(self.number, Ordering::Release);
        if now_ns.saturating_sub(self.last_ns) < APART_NS {
            self.apart = self.apart.saturating_mul(2);
        }
        self.last_ns = now_ns;
        self.next = first + self.apart;
    }
}

/// A sink's side.
#[derive(Debug)]
pub(crate) struct Watcher {
    number: u64,
    awaited: Option<(u64, u64)>,
    latencies_ns: Samples<u64>,
    next_mark: u64,
    apart: u64,
    last_ns: u64,
    marks: Samples<(u64, u64)>,
}

impl Watcher {
    pub(crate) fn new(batch: u64) -> Watcher {
        Watcher {
            number: 0,
            awaited: None,
            latencies_ns: Samples::new(KEPT),
            next_mark: 1,
            apart: batch.max(1),
            last_ns: 0,
            marks: Samples::new(KEPT),
        }
    }

    /// The sink has now taken `fired` instances.
    #[inline]
    pub(crate) fn took(&mut self, stamps: &Stamps, fired: u64, now_ns: impl Fn() -> u64) {
        if self.awaited.is_none() {
            self.awaited = self.find(stamps);
        }
        if self.awaited.is_some_and(|(instance, _)| instance < fired) {
            let now_ns = now_ns();
            while let Some((instance, stamped_ns)) = self.awaited
                && instance < fired
            {
                self.latencies_ns.push(now_ns.saturating_sub(stamped_ns));
                self.number += 1;
                self.awaited = self.find(stamps);
            }
        }
        if fired >= self.next_mark {
            self.mark(fired, now_ns());
        }
    }

    fn find(&mut self, stamps: &Stamps) -> Option<(u64, u64)> {
        let stamp = stamps.get(self.number);
        if stamp.is_none() {
            // Overtaken: go on with what is still there.
            let count = stamps.count.load(Ordering::Acquire);
            if count > self.number {
                self.number = count - 1;
            }
        }
        stamp
    }

    fn mark(&mut self, fired: u64, now_ns: u64) {
        self.marks.push((fired, now_ns));
        if now_ns.saturating_sub(self.last_ns) < APART_NS {
            self.apart = self.apart.saturating_mul(2);
        }
        self.last_ns = now_ns;
        self.next_mark = fired + self.apart;
    }

    pub(crate) fn latencies_ns(&self) -> &[u64] {
        self.latencies_ns.kept()
    }

    pub(crate) fn marks(&self) -> &[(u64, u64)] {
        self.marks.kept()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_latency_is_from_the_stamp_to_the_batch_that_holds_its_instance() {
        let (stamps, mut source, mut sink) = (Stamps::new(), Stamper::new(10), Watcher::new(10));
        assert!(source.due(0));
        source.stamp(&stamps, 0, 1_000_000);
        assert!(!source.due(5));
        sink.took(&stamps, 0, || unreachable!("nothing arrived"));
        sink.took(&stamps, 10, || 1_000_700);
        assert_eq!(sink.latencies_ns(), [700]);
        assert_eq!(sink.marks(), [(10, 1_000_700)]);
    }

    #[test]
    fn stamps_that_were_overwritten_are_skipped() {
        let (stamps, mut source, mut sink) = (Stamps::new(), Stamper::new(1), Watcher::new(1));
        let mut first = 0;
        for i in 0..5000u64 {
            first = source.next;
            source.stamp(&stamps, first, i * 1_000_000);
        }
        sink.took(&stamps, 0, || 0);
        sink.took(&stamps, first + 1, || 5_000_000_000);
        assert!(!sink.latencies_ns().is_empty());
        assert!(sink.latencies_ns().iter().all(|&ns| ns <= 1_100_000_000), "{:?}", sink.latencies_ns());
    }
}
