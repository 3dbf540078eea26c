//! What the programs of all elements share, and the steps that take no time: they ask the schedulers, fire kernels, and
//! say which transfers and notices are due. The programs turn these into calls of the machine.

use crate::memory::{CounterNotice, StreamCore, StreamPlaces};
use crate::spent::{Idle, Spent, TimeSpent};
use crate::{StreamCosts, StreamError};
use run::fetches::FetchLayout;
use run::scheduler::{CounterId, CounterIds, Lack, NextStep, Scheduler, World};
use run::{ByHand, HandFired, RUN, STOP};
use sim::Address;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use work::Graph;

/// What another thread may see of a run.
#[derive(Debug, Default)]
pub(crate) struct StreamSeen {
    /// Instances that the slowest sink has taken.
    pub instances: AtomicU64,
    /// Simulated ps.
    pub now_ps: AtomicU64,
    /// By element, ps that it was occupied.
    pub occupied_ps: Vec<AtomicU64>,
}

/// The state of a run.
pub(crate) struct StreamState {
    pub graph: Graph,
    pub made: FetchLayout,
    pub ids: CounterIds,
    pub kernels: ByHand,
    pub places: StreamPlaces,
    pub costs: StreamCosts,
    pub elements: Vec<ElementState>,
    /// How often every task fires at most.
    pub instances: u64,
    pub failure: Option<StreamError>,
    pub stop: Arc<AtomicU32>,
    pub seen: Arc<StreamSeen>,
    /// By task, ns per firing on the element that it is mapped to.
    pub cost_ns: Vec<f64>,
}

/// What an element knows and does.
pub(crate) struct ElementState {
    compute: Scheduler,
    fetch: Scheduler,
    /// Counters as this element knows them; those that it owns are right.
    known: Vec<u64>,
    /// By element, where its sources ended, as far as known here.
    ends: Vec<u64>,
    /// Notices of this element that are due.
    pub outbox: Vec<NoticeDue>,
    /// Flags of this element: counter, offset.
    pub inbox: Vec<(CounterId, u64)>,
    flights: Vec<VecDeque<FetchFlight>>,
    drained: bool,
    /// Since when nothing could fire.
    idle_since_ps: Option<u64>,
    /// What it was doing last, for messages.
    pub doing: Option<usize>,
    /// Whether a transfer that may start has to wait for room in a DMA queue.
    pub queue_is_full: bool,
    /// By fetch and instances, ps of the quickest transfer.
    quickest_ps: BTreeMap<(usize, u64), u64>,
    pub report: ElementReport,
}

/// What an element did, in ps.
#[derive(Debug, Default)]
pub(crate) struct ElementReport {
    pub spent: TimeSpent,
    pub firings: u64,
    /// By unit with a sink: (instances that it had taken, ps).
    pub marks: BTreeMap<usize, Vec<(u64, u64)>>,
    /// By what it lacked when it had nothing to fire, data or room of a ring: how often, and ps in all and at most.
    pub waits: BTreeMap<(bool, usize), (u64, u64, u64)>,
}

/// A notice that is to be sent, or is under way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NoticeDue {
    pub notice: CounterNotice,
    pub due: bool,
    /// The tag of the transfer that carries it.
    pub tag: Option<u32>,
}

/// Instances on their way to this element.
#[derive(Debug, Clone, Copy)]
struct FetchFlight {
    tag: u32,
    slot: u64,
    instances: u64,
    started_ps: u64,
    arrived: bool,
}

/// A transfer to start: `bytes` from `from` to `to`, which is an offset in the element's own memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FetchMove {
    /// The element whose memory it comes from, and the offset there.
    pub from: usize,
    pub offset: u64,
    pub address: Address,
    pub to: u64,
    pub bytes: u64,
}

/// A fetch to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FetchStart {
    pub fetch: usize,
    unit: usize,
    slot: u64,
    instances: u64,
    pub moved: FetchMove,
}

/// What is to be done after a firing.
pub(crate) struct Produced {
    pub fired: HandFired,
    pub ns: f64,
    /// Bytes to be put into the element's memory: offset, bytes.
    pub writes: Vec<(u64, Vec<u8>)>,
}

struct KnownCounters<'a> {
    watched: &'a [CounterId],
    known: &'a [u64],
    instances: u64,
}

impl World for KnownCounters<'_> {
    fn seen(&mut self, watched: usize) -> u64 {
        self.known[self.watched[watched]]
    }

    fn instances(&mut self) -> u64 {
        self.instances
    }
}

impl ElementState {
    pub(crate) fn new(
        element: usize,
        compute: Scheduler,
        fetch: Scheduler,
        initial: &[u64],
        places: &StreamPlaces,
        fetches: usize,
    ) -> ElementState {
        let mine = |n: &&CounterNotice| n.from == element;
        let outbox =
            places.notices.iter().filter(mine).map(|&notice| NoticeDue { notice, due: false, tag: None });
        let inbox = places.notices.iter().filter(|n| n.to == element).map(|n| (n.counter, n.flag));
        ElementState {
            compute,
            fetch,
            known: initial.to_vec(),
            ends: vec![u64::MAX; places.units.len()],
            outbox: outbox.collect(),
            inbox: inbox.collect(),
            flights: vec![VecDeque::new(); fetches],
            drained: false,
            idle_since_ps: None,
            doing: None,
            queue_is_full: false,
            quickest_ps: BTreeMap::new(),
            report: ElementReport::default(),
        }
    }

    /// The element now owns `value` of `counter`: whoever watches it is to be told.
    fn publish(&mut self, counter: CounterId, value: u64) {
        self.known[counter] = value;
        for out in self.outbox.iter_mut().filter(|o| o.notice.counter == counter) {
            out.due = true;
        }
    }

    /// The word that tells a counter.
    pub(crate) fn word(&self, counter: CounterId) -> u32 {
        match counter.checked_sub(self.known.len()) {
            None => self.known[counter] as u32,
            // 0 is "not known yet".
            Some(element) => self.ends[element].saturating_add(1).min(u64::from(u32::MAX)) as u32,
        }
    }

    /// A flag says `word`.
    pub(crate) fn told(&mut self, counter: CounterId, word: u32) {
        match counter.checked_sub(self.known.len()) {
            None => {
                // Counters only rise; before the first notice a flag is older than what is known from the start.
                let known = &mut self.known[counter];
                let ahead = word.wrapping_sub(*known as u32);
                *known += u64::from(if ahead < 1 << 31 { ahead } else { 0 });
            }
            Some(element) if word > 0 => self.ends[element] = u64::from(word) - 1,
            Some(_) => {}
        }
    }

    fn instances(&self, most: u64) -> u64 {
        self.ends.iter().copied().fold(most, u64::min)
    }

    /// Whether transfers that it asked for are under way.
    pub(crate) fn waits_for_transfers(&self) -> bool {
        self.flights.iter().any(|f| f.iter().any(|f| !f.arrived))
            || self.outbox.iter().any(|o| o.tag.is_some())
    }

    /// Tags of fetches that are under way, with the fetch.
    pub(crate) fn tags(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        let flying = |(fetch, flights): (usize, &VecDeque<FetchFlight>)| {
            flights.iter().filter(|f| !f.arrived).map(move |f| (fetch, f.tag)).collect::<Vec<_>>()
        };
        self.flights.iter().enumerate().flat_map(flying)
    }
}

impl StreamState {
    /// What the element is to compute next.
    pub(crate) fn step(&mut self, element: usize) -> NextStep {
        let e = &mut self.elements[element];
        let instances = e.instances(self.instances);
        let watched = e.compute.watched().to_vec();
        e.compute.step(&mut KnownCounters { watched: &watched, known: &e.known, instances })
    }

    /// Nothing could fire until now.
    pub(crate) fn waits(&mut self, element: usize, now_ps: u64) {
        let e = &mut self.elements[element];
        e.idle_since_ps.get_or_insert(now_ps);
        let why = match e.tags().next() {
            _ if e.queue_is_full => Idle::Queue,
            Some(_) => Idle::Transfers,
            None => Idle::Others,
        };
        e.report.spent.idled(why, now_ps);
    }

    /// From `turned_ps` until now the element started transfers and told others.
    pub(crate) fn commanded(&mut self, element: usize, turned_ps: u64, now_ps: u64) {
        self.elements[element].report.spent.commanded(turned_ps, now_ps);
    }

    /// Whether the run goes on; a drain ends the element's sources.
    pub(crate) fn goes_on(&mut self, element: usize, now_ps: u64) -> bool {
        self.seen.now_ps.store(now_ps, Ordering::Relaxed);
        match self.stop.load(Ordering::Acquire) {
            RUN => {}
            STOP => {
                self.failure.get_or_insert(StreamError::Stopped);
            }
            _ if !self.elements[element].drained => {
                self.elements[element].drained = true;
                let layout = &self.made.layout;
                let units = &layout.elements[element].units;
                let sources = (0..units.len()).filter(|&u| layout.units[units[u]].source);
                let end = sources.map(|u| self.elements[element].compute.firings(u)).min();
                if let Some(end) = end {
                    self.end_at(element, end);
                }
            }
            _ => {}
        }
        self.failure.is_none()
    }

    fn end_at(&mut self, element: usize, instances: u64) {
        let counter = self.ids.len() + element;
        let e = &mut self.elements[element];
        e.ends[element] = e.ends[element].min(instances);
        for out in e.outbox.iter_mut().filter(|o| o.notice.counter == counter) {
            out.due = true;
        }
    }

    /// Fires a unit; what it produced is there when the program has computed for the time and has told
    /// [`produced`](Self::produced).
    pub(crate) fn fire(
        &mut self,
        element: usize,
        unit: usize,
        firings: u64,
        now_ps: u64,
    ) -> Option<Produced> {
        let e = &mut self.elements[element];
        let lacked = match e.compute.lacked(unit) {
            Some(Lack::Room(_)) => Spent::Room,
            _ => Spent::Data,
        };
        e.report.spent.fires(lacked, now_ps);
        if let (Some(since), Some(lack)) = (e.idle_since_ps.take(), e.compute.lacked(unit)) {
            let ring = match lack {
                Lack::Data(ring) => (true, ring),
                Lack::Room(ring) => (false, ring),
            };
            let (n, total, longest) = e.report.waits.entry(ring).or_default();
            let waited = now_ps - since;
            (*n, *total, *longest) = (*n + 1, *total + waited, waited.max(*longest));
        }
        let fired = match self.kernels.fire(&self.elements[element].compute, element, unit, firings) {
            Ok(fired) => fired,
            Err(error) => {
                self.failure.get_or_insert(error.into());
                return None;
            }
        };
        let tasks = &self.made.layout.units[self.made.layout.elements[element].units[unit]].tasks;
        let ns: f64 = tasks.iter().map(|&t| self.cost_ns[t]).sum();
        let written = self.elements[element].compute.writes(unit).iter().map(|w| (w.ring, w.slot));
        let writes = written.collect::<Vec<_>>().into_iter();
        let writes = writes.filter_map(|(ring, slot)| self.bytes_of(ring, slot, fired.firings)).collect();
        Some(Produced { fired, ns: ns * fired.firings as f64, writes })
    }

    /// The bytes of instances of a ring as they lie in the element's memory.
    fn bytes_of(&self, ring: usize, slot: u64, instances: u64) -> Option<(u64, Vec<u8>)> {
        let place = self.places.rings[ring].filter(|_| instances > 0)?;
        let (own, stride) = (self.kernels.stride(ring) as usize, place.stride as usize);
        let from = self.kernels.instances(ring, slot, instances);
        let mut bytes = vec![0; stride * instances as usize];
        for (to, from) in bytes.chunks_exact_mut(stride).zip(from.chunks_exact(own)) {
            to[..own].copy_from_slice(from);
        }
        Some((place.at(slot), bytes))
    }

    /// The unit's firing is over: its counters move, and sinks have taken what they got.
    pub(crate) fn produced(&mut self, element: usize, unit: usize, fired: HandFired, now_ps: u64) {
        let layout = &self.made.layout;
        let tasks = layout.units[layout.elements[element].units[unit]].tasks.len() as u64;
        let e = &mut self.elements[element];
        let cost_ns: f64 =
            layout.units[layout.elements[element].units[unit]].tasks.iter().map(|&t| self.cost_ns[t]).sum();
        e.report.spent.fired((cost_ns * fired.firings as f64 * 1e3).round() as u64, now_ps);
        self.seen.occupied_ps[element].store(e.report.spent.occupied_ps(), Ordering::Relaxed);
        e.compute.fired(unit, fired.firings, fired.again);
        self.tell(element, unit, false);
        let e = &mut self.elements[element];
        let done = e.compute.firings(unit);
        e.report.firings += fired.firings * tasks;
        let layout = &self.made.layout;
        let sink = layout.units[layout.elements[element].units[unit]].tasks.iter();
        let mut sink = sink.filter(|&&t| self.graph.edges.iter().all(|edge| edge.from.task != t));
        if sink.next().is_some() && fired.firings > 0 {
            e.report.marks.entry(unit).or_default().push((done, now_ps));
            self.seen.instances.store(done, Ordering::Relaxed);
        }
        if fired.end {
            self.end_at(element, done);
        }
    }

    /// Counters of a unit, as its scheduler has them now, are published.
    fn tell(&mut self, element: usize, unit: usize, fetch: bool) {
        let e = &mut self.elements[element];
        let scheduler = if fetch { &e.fetch } else { &e.compute };
        let heads = scheduler.writes(unit).iter().map(|w| (self.ids.head(w.ring), scheduler.head(w)));
        let tails =
            scheduler.reads(unit).iter().map(|r| (self.ids.tail(r.ring, r.consumer), scheduler.tail(r)));
        let all: Vec<_> = heads.chain(tails).collect();
        for (counter, value) in all {
            e.publish(counter, value);
        }
    }

    /// Zeros behind the end of a ring; they are put into the element's memory.
    pub(crate) fn pad(
        &mut self,
        element: usize,
        unit: usize,
        write: usize,
        instances: u64,
    ) -> Option<(u64, Vec<u8>)> {
        let e = &mut self.elements[element];
        let (ring, slot) = (e.compute.writes(unit)[write].ring, e.compute.writes(unit)[write].slot);
        self.kernels.pad(&e.compute, element, unit, write, instances);
        e.compute.padded(unit, write, instances);
        self.tell(element, unit, false);
        self.bytes_of(ring, slot, instances)
    }

    /// The next fetch that may start, if any. Zeros behind the end are put where they belong at once.
    pub(crate) fn next_fetch(&mut self, element: usize) -> Option<FetchStart> {
        let beside = self.places.units.len() + element;
        loop {
            let e = &mut self.elements[element];
            let instances = e.instances(self.instances);
            let watched = e.fetch.watched().to_vec();
            match e.fetch.step(&mut KnownCounters { watched: &watched, known: &e.known, instances }) {
                NextStep::Fire { unit, firings } => {
                    let id = self.made.layout.elements[beside].units[unit];
                    let fetch = id - self.made.fetches[0].unit;
                    let (read, write) = (&e.fetch.reads(unit)[0], &e.fetch.writes(unit)[0]);
                    let places = (self.places.rings[read.ring]?, self.places.rings[write.ring]?);
                    let (offset, to) = (places.0.at(read.slot), places.1.at(write.slot));
                    let moved = FetchMove {
                        from: places.0.element,
                        offset,
                        address: self.places.base[places.0.element] + offset,
                        to,
                        bytes: places.0.stride * firings,
                    };
                    return Some(FetchStart { fetch, unit, slot: write.slot, instances: firings, moved });
                }
                // Zeros may only follow what has arrived.
                NextStep::Pad { unit, write, instances } => {
                    let id = self.made.layout.elements[beside].units[unit];
                    if !e.flights[id - self.made.fetches[0].unit].is_empty() {
                        return None;
                    }
                    self.kernels.pad(&e.fetch, beside, unit, write, instances);
                    e.fetch.padded(unit, write, instances);
                    self.tell(element, unit, true);
                }
                _ => return None,
            }
        }
    }

    /// A fetch was started with `tag`.
    pub(crate) fn started(&mut self, element: usize, start: FetchStart, tag: u32) {
        let e = &mut self.elements[element];
        e.fetch.fired(start.unit, start.instances, false);
        let FetchStart { slot, instances, fetch, .. } = start;
        let started_ps = self.seen.now_ps.load(Ordering::Relaxed);
        e.flights[fetch].push_back(FetchFlight { tag, slot, instances, started_ps, arrived: false });
    }

    /// The transfers of `tag` of a fetch have arrived. Gives what may be read now: offset and bytes of instances that
    /// are the fetch's oldest; tell [`took`](Self::took) with the bytes there.
    pub(crate) fn arrived(&mut self, element: usize, fetch: usize, tag: u32) {
        let e = &mut self.elements[element];
        let Some(flight) = e.flights[fetch].iter_mut().find(|f| f.tag == tag && !f.arrived) else { return };
        flight.arrived = true;
        let took = self.seen.now_ps.load(Ordering::Relaxed) - flight.started_ps;
        let quickest = e.quickest_ps.entry((fetch, flight.instances)).or_insert(took);
        *quickest = took.min(*quickest);
        // An element that computed meanwhile looked at it late, and so does a PPE's managing thread.
        let is_spe = matches!(self.places.units[element], StreamCore::Spe(_));
        if is_spe && e.idle_since_ps.is_some() {
            e.report.spent.late(took - *quickest);
        }
    }

    /// The oldest instances of a fetch that have arrived and were not taken yet: offset and bytes.
    pub(crate) fn to_take(&self, element: usize, fetch: usize) -> Option<(u64, u64)> {
        let flight = self.elements[element].flights[fetch].front().filter(|f| f.arrived)?;
        let place = self.places.rings[self.made.fetches[fetch].to]?;
        Some((place.at(flight.slot), place.stride * flight.instances))
    }

    /// The bytes of [`to_take`](Self::to_take), out of the element's memory: the instances are there for whoever reads
    /// them, and their room at the producer is free.
    pub(crate) fn took(&mut self, element: usize, fetch: usize, bytes: &[u8]) {
        let Some(flight) = self.elements[element].flights[fetch].pop_front() else { return };
        let of = self.made.fetches[fetch];
        let (own, stride) =
            (self.kernels.stride(of.to) as usize, self.places.rings[of.to].map_or(1, |p| p.stride));
        let packed: Vec<u8> = bytes.chunks_exact(stride as usize).flat_map(|i| &i[..own]).copied().collect();
        self.kernels.arrived(of.to, flight.slot, &packed);
        let consumer = self.made.layout.rings[of.from].consumers.iter().position(|c| c.unit == of.unit);
        let (head, tail) = (self.ids.head(of.to), self.ids.tail(of.from, consumer.unwrap_or(0)));
        let e = &mut self.elements[element];
        let (heads, tails) = (e.known[head] + flight.instances, e.known[tail] + flight.instances);
        e.publish(head, heads);
        e.publish(tail, tails);
    }

    /// Whether the element has nothing left to do.
    pub(crate) fn is_done(&mut self, element: usize) -> bool {
        let fetched = {
            let e = &mut self.elements[element];
            let instances = e.instances(self.instances);
            let watched = e.fetch.watched().to_vec();
            let step = e.fetch.step(&mut KnownCounters { watched: &watched, known: &e.known, instances });
            step == NextStep::Done && e.flights.iter().all(VecDeque::is_empty)
        };
        fetched && self.elements[element].outbox.iter().all(|o| !o.due && o.tag.is_none())
    }
}
