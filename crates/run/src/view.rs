//! The world as a worker's scheduler sees it: the ends of the rings between elements that this worker holds.

use crate::scheduler::{CounterId, CounterIds, Scheduler, World};
use crate::shared::SharedState;
use std::collections::HashMap;
use std::sync::atomic::Ordering;

/// A worker's ends of rings.
pub(crate) struct RingView<'a> {
    shared: &'a SharedState,
    pub producers: Vec<host::Producer>,
    pub consumers: Vec<host::Consumer>,
    watched: Vec<Watched>,
    /// Ring -> producer here.
    pub producer_of: HashMap<usize, usize>,
    /// (Ring, number of its consumer) -> consumer here.
    pub consumer_of: HashMap<(usize, usize), usize>,
}

enum Watched {
    /// A head, through this consumer.
    Head(usize),
    /// A tail, through this producer: the slowest of all consumers, which is what room depends on.
    Tail(usize),
}

/// The ends that a worker is given.
#[derive(Default)]
pub(crate) struct RingEnds {
    /// With their rings.
    pub producers: Vec<(usize, host::Producer)>,
    /// With their rings and numbers.
    pub consumers: Vec<((usize, usize), host::Consumer)>,
}

impl<'a> RingView<'a> {
    pub(crate) fn new(
        shared: &'a SharedState,
        scheduler: &Scheduler,
        counters: &CounterIds,
        ends: RingEnds,
    ) -> RingView<'a> {
        let producer_of: HashMap<usize, usize> =
            ends.producers.iter().enumerate().map(|(p, (ring, _))| (*ring, p)).collect();
        let consumer_of: HashMap<(usize, usize), usize> =
            ends.consumers.iter().enumerate().map(|(c, (of, _))| (*of, c)).collect();
        // A remote head is watched through any of this worker's consumers of it, a remote tail through the producer.
        let mut by_id: HashMap<CounterId, Watched> = HashMap::new();
        for (&(ring, _), &c) in &consumer_of {
            by_id.insert(counters.head(ring), Watched::Head(c));
        }
        for (&ring, &p) in &producer_of {
            for id in counters.tails(ring) {
                by_id.insert(id, Watched::Tail(p));
            }
        }
        let watched = scheduler.watched().iter().filter_map(|id| by_id.remove(id)).collect();
        RingView {
            shared,
            watched,
            producers: ends.producers.into_iter().map(|(_, p)| p).collect(),
            consumers: ends.consumers.into_iter().map(|(_, c)| c).collect(),
            producer_of,
            consumer_of,
        }
    }

    /// Lets the consumers of producer `p` see `n` more instances.
    #[inline]
    pub(crate) fn publish(&mut self, p: usize, n: u64) {
        // The scheduler may have learnt of the room from its own consumers; the ring wants to have seen it itself.
        self.producers[p].has_free(n);
        self.producers[p].publish(n);
    }

    /// Gives `n` slots of consumer `c` back.
    #[inline]
    pub(crate) fn release(&mut self, c: usize, n: u64) {
        self.consumers[c].has_available(n);
        self.consumers[c].release(n);
    }
}

impl World for RingView<'_> {
    #[inline]
    fn seen(&mut self, watched: usize) -> u64 {
        match self.watched[watched] {
            Watched::Head(c) => {
                let consumer = &mut self.consumers[c];
                consumer.consumed() + consumer.available()
            }
            Watched::Tail(p) => {
                let producer = &mut self.producers[p];
                producer.produced() + producer.free() - producer.slots()
            }
        }
    }

    #[inline]
    fn instances(&mut self) -> u64 {
        self.shared.instances.load(Ordering::Acquire)
    }
}
