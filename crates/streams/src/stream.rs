//! What the programs of all elements share, and the steps that take no time: they ask the schedulers, fire kernels,
//! and say which transfers and flags are due. The programs turn these into calls of the machine.

use crate::memory::{FLAG_BYTES, Flag, HEADS, StreamCore, StreamPlaces};
use crate::spent::{Idle, Spent, TimeSpent};
use crate::steps::Steps;
use crate::{CoreCosts, StreamCosts, StreamError};
use ground::Draws;
use run::fetches::FetchLayout;
use run::scheduler::{CounterId, CounterIds, Lack, NextStep, Scheduler, World};
use run::{ByHand, HandFired, RUN, RunError, STOP, UntilSteady};
use sim::Address;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
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
    /// Where the run goes on until it is steady; and whether it is, so that sources end.
    pub until: Option<UntilSteady>,
    pub is_steady: bool,
    pub seen: Arc<StreamSeen>,
    /// By task, ns per firing on the element that it is mapped to.
    pub cost_ns: Vec<f64>,
    /// Where the costs of firings are drawn.
    pub draws: Option<Draws>,
    /// By fetch, of those that are pushed: the position from which on its instances are zeros behind the end.
    pub zeros_from: Vec<u64>,
    /// By unit of the layout, its place among those with a sink.
    pub sinks: Vec<Option<usize>>,
    /// Where a trace is asked for.
    pub steps: Option<Steps>,
}

/// What an element knows and does.
pub(crate) struct ElementState {
    compute: Scheduler,
    fetch: Scheduler,
    /// What the two watch, and by counter, whether its fetches do.
    watched: [Vec<CounterId>; 2],
    is_fetched: Vec<bool>,
    /// The unit that `compute` looks at first.
    looked_at: usize,
    /// Counters of fetches that have changed since fetches were looked at: only these may start now.
    changed: u64,
    /// Counters as this element knows them; those that it owns are right.
    known: Vec<u64>,
    /// By element, where its sources ended, as far as known here.
    ends: Vec<u64>,
    /// Flags that this element writes, and which of them tell a counter.
    pub outbox: Vec<FlagOut>,
    tellers: Vec<Vec<usize>>,
    /// Flags to be told, and those on their way; indices of `outbox`.
    pub due: Vec<usize>,
    pub telling: Vec<usize>,
    /// Flags of this element that others write, and those that come with polled lines.
    pub inbox: Rc<[FlagIn]>,
    pub polled_inbox: Rc<[FlagIn]>,
    flights: Vec<VecDeque<FetchFlight>>,
    /// Fetches under way, with their tags.
    pub under_way: Vec<(usize, u32)>,
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
    /// That a PPE's managing thread did something.
    pub managing_ps: Option<u64>,
    pub firings: u64,
    /// By unit with a sink: (instances that it had taken, ps).
    pub marks: BTreeMap<usize, Vec<(u64, u64)>>,
    /// By what it lacked when it had nothing to fire, data or room of a ring: how often, and ps in all and at most.
    pub waits: BTreeMap<(bool, usize), (u64, u64, u64)>,
}

/// A flag that an element writes.
#[derive(Debug, Clone)]
pub(crate) struct FlagOut {
    pub flag: Flag,
    pub due: bool,
    /// The tag of the transfer that carries it.
    pub tag: Option<u32>,
    /// How often it was put, for the place that it is put from.
    pub puts: u64,
}

/// A flag that an element reads.
#[derive(Debug, Clone)]
pub(crate) struct FlagIn {
    /// In the element's memory.
    pub at: u64,
    pub counters: Vec<CounterId>,
    /// The fetch whose head it tells, when an SPE pushes that.
    pub fetch: Option<usize>,
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

/// A transfer to start: `bytes` between the element's own memory and another's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FetchMove {
    /// In the element's own memory.
    pub own: u64,
    /// The other element, the place in its memory, and the same as an address.
    pub other: usize,
    pub offset: u64,
    pub address: Address,
    pub bytes: u64,
}

/// A fetch to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FetchStart {
    pub fetch: usize,
    unit: usize,
    slot: u64,
    instances: u64,
    /// Whether it goes to the other element.
    pub pushed: bool,
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
        let mine = places.flags.iter().filter(|f| f.from == element);
        let outbox: Vec<FlagOut> =
            mine.map(|flag| FlagOut { flag: flag.clone(), due: false, tag: None, puts: 0 }).collect();
        let mut tellers = vec![Vec::new(); initial.len() + places.units.len()];
        for (k, out) in outbox.iter().enumerate() {
            for &counter in &out.flag.counters {
                tellers[counter].push(k);
            }
        }
        let is_polled = |f: &Flag| places.polled.iter().any(|p| (p.from, p.to) == (f.from, f.to));
        let inbox = |polled: bool| {
            let mine = places.flags.iter().filter(|f| f.to == element && is_polled(f) == polled);
            mine.map(|f| FlagIn { at: f.at, counters: f.counters.clone(), fetch: f.fetch }).collect()
        };
        let watched = [compute.watched().to_vec(), fetch.watched().to_vec()];
        let mut is_fetched = vec![false; initial.len()];
        watched[1].iter().for_each(|&counter| is_fetched[counter] = true);
        ElementState {
            watched,
            is_fetched,
            compute,
            fetch,
            looked_at: 0,
            changed: 0,
            known: initial.to_vec(),
            ends: vec![u64::MAX; places.units.len()],
            outbox,
            tellers,
            due: Vec::new(),
            telling: Vec::new(),
            inbox: inbox(false),
            polled_inbox: inbox(true),
            flights: vec![VecDeque::new(); fetches],
            under_way: Vec::new(),
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
        self.changed += u64::from(self.is_fetched[counter]);
        self.is_due(counter);
    }

    fn is_due(&mut self, counter: CounterId) {
        for &k in &self.tellers[counter] {
            if !self.outbox[k].due {
                self.outbox[k].due = true;
                self.due.push(k);
            }
        }
    }

    /// What a flag says now.
    pub(crate) fn words(&self, flag: &Flag) -> [u8; FLAG_BYTES as usize] {
        let mut bytes = [0; FLAG_BYTES as usize];
        for (word, &counter) in bytes.chunks_exact_mut(4).zip(&flag.counters) {
            word.copy_from_slice(&self.word(counter).to_le_bytes());
        }
        bytes
    }

    /// The word that tells a counter.
    fn word(&self, counter: CounterId) -> u32 {
        match counter.checked_sub(self.known.len()) {
            None => self.known[counter] as u32,
            // 0 is "not known yet".
            Some(element) => self.ends[element].saturating_add(1).min(u64::from(u32::MAX)) as u32,
        }
    }

    /// A flag says these words.
    pub(crate) fn told(&mut self, flag: &FlagIn, bytes: &[u8]) {
        for (&counter, word) in flag.counters.iter().zip(bytes.chunks_exact(4)) {
            let word = u32::from_le_bytes(word.try_into().expect("four bytes"));
            match counter.checked_sub(self.known.len()) {
                None => {
                    let risen = self.risen(counter, word);
                    self.changed += u64::from(risen != self.known[counter] && self.is_fetched[counter]);
                    self.known[counter] = risen;
                }
                Some(element) if word > 0 => self.ends[element] = u64::from(word) - 1,
                Some(_) => {}
            }
        }
    }

    /// Whether a flag says what is not known yet.
    pub(crate) fn is_news(&self, flag: &FlagIn, bytes: &[u8]) -> bool {
        flag.counters.iter().zip(bytes.chunks_exact(4)).any(|(&counter, word)| {
            let word = u32::from_le_bytes(word.try_into().expect("four bytes"));
            match counter.checked_sub(self.known.len()) {
                None => self.risen(counter, word) != self.known[counter],
                Some(element) => word > 0 && self.ends[element] != u64::from(word) - 1,
            }
        })
    }

    /// The value of a counter of which a flag says `word`. Counters only rise; before it is told the first time a
    /// flag is older than what is known from the start.
    fn risen(&self, counter: CounterId, word: u32) -> u64 {
        let ahead = word.wrapping_sub(self.known[counter] as u32);
        self.known[counter] + u64::from(if ahead < 1 << 31 { ahead } else { 0 })
    }

    fn instances(&self, most: u64) -> u64 {
        self.ends.iter().copied().fold(most, u64::min)
    }

    /// What one of the two schedulers says; every task fires `most` times at most.
    fn step(&mut self, fetch: bool, most: u64) -> NextStep {
        let instances = self.instances(most);
        let watched = &self.watched[usize::from(fetch)];
        let mut world = KnownCounters { watched, known: &self.known, instances };
        let scheduler = if fetch { &mut self.fetch } else { &mut self.compute };
        scheduler.step(&mut world)
    }

    /// Tags of what is under way.
    pub(crate) fn tags(&self) -> u32 {
        let telling = self.telling.iter().filter_map(|&k| self.outbox[k].tag);
        self.under_way.iter().map(|f| f.1).chain(telling).fold(0, |mask, tag| mask | 1 << tag)
    }

    /// The flags carried by the tags of `done` have left.
    pub(crate) fn flags_left(&mut self, done: u32) {
        let outbox = &mut self.outbox;
        self.telling.retain(|&k| {
            let under_way = outbox[k].tag.is_some_and(|tag| done & 1 << tag == 0);
            if !under_way {
                outbox[k].tag = None;
            }
            under_way
        });
    }

    /// Units and rings that are looked at when it comes to `step`.
    fn looks(&mut self, step: NextStep) -> (u64, u64) {
        let (units, first) = (self.compute.units(), self.looked_at);
        let count = match step {
            NextStep::Fire { unit, .. } => {
                self.looked_at = (unit + 1) % units;
                (unit + units - first) % units + 1
            }
            _ => units,
        };
        let rings = (0..count).map(|k| {
            let unit = (first + k) % units;
            self.compute.reads(unit).len() + self.compute.writes(unit).len()
        });
        (count as u64, rings.sum::<usize>() as u64)
    }
}

/// What failed, and on which element.
fn on(error: RunError, element: &str) -> RunError {
    match error {
        RunError::Failed { task, instance, why, accepted } => {
            RunError::Failed { task, instance, why: format!("on {element}: {why}"), accepted }
        }
        error => error,
    }
}

impl StreamState {
    /// What the element is to compute next, and the cycles that finding it takes.
    pub(crate) fn step(&mut self, element: usize) -> (NextStep, u64) {
        let costs = self.costs_of(element);
        let e = &mut self.elements[element];
        let step = e.step(false, self.instances);
        let (units, rings) = e.looks(step);
        (step, costs.turn + units * costs.unit + rings * costs.ring)
    }

    /// Cycles that the bookkeeping of a unit's firing takes.
    pub(crate) fn firing_cycles(&self, element: usize, unit: usize) -> u64 {
        let (costs, compute) = (self.costs_of(element), &self.elements[element].compute);
        let rings = compute.reads(unit).len() + compute.writes(unit).len();
        costs.firing + rings as u64 * costs.firing_ring
    }

    pub(crate) fn costs_of(&self, element: usize) -> CoreCosts {
        match self.places.units[element] {
            StreamCore::Spe(_) => self.costs.spe,
            StreamCore::Ppe(_) => self.costs.ppe,
        }
    }

    /// Nothing could fire until now.
    pub(crate) fn waits(&mut self, element: usize, now_ps: u64) {
        let e = &mut self.elements[element];
        e.idle_since_ps.get_or_insert(now_ps);
        let why = match e.under_way.iter().any(|&(fetch, _)| !self.made.fetches[fetch].pushed) {
            _ if e.queue_is_full => Idle::Queue,
            true => Idle::Transfers,
            false => Idle::Others,
        };
        e.report.spent.idled(why, now_ps);
    }

    /// From `turned_ps` until now the element started transfers and told others.
    pub(crate) fn commanded(&mut self, element: usize, turned_ps: u64, now_ps: u64) {
        self.elements[element].report.spent.commanded(turned_ps, now_ps);
        self.communicated(element, turned_ps, now_ps);
    }

    /// Whether the run goes on; a drain ends the element's sources.
    pub(crate) fn goes_on(&mut self, element: usize, now_ps: u64) -> bool {
        self.seen.now_ps.store(now_ps, Ordering::Relaxed);
        match self.stop.load(Ordering::Acquire) {
            RUN if !self.is_steady => {}
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
        let e = &mut self.elements[element];
        e.ends[element] = e.ends[element].min(instances);
        e.is_due(self.ids.len() + element);
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
        if let Some(steps) = &mut self.steps {
            steps.fires(element, now_ps);
        }
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
                let error = on(error, &self.made.layout.elements[element].name);
                self.failure.get_or_insert(error.into());
                return None;
            }
        };
        let tasks = &self.made.layout.units[self.made.layout.elements[element].units[unit]].tasks;
        let ns: f64 = tasks.iter().map(|&t| self.cost_ns[t]).sum();
        let ns = ns * fired.firings as f64 * self.draws.as_mut().map_or(1.0, |draws| 2.0 * draws.unit());
        let written = self.elements[element].compute.writes(unit).iter().map(|w| (w.ring, w.slot));
        let writes = written.collect::<Vec<_>>().into_iter();
        let writes = writes.filter_map(|(ring, slot)| self.bytes_of(ring, slot, fired.firings)).collect();
        Some(Produced { fired, ns, writes })
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
    pub(crate) fn produced(&mut self, element: usize, unit: usize, done: &Produced, now_ps: u64) {
        let (fired, tasks_ps) = (done.fired, (done.ns * 1e3).round() as u64);
        let layout = &self.made.layout;
        let tasks = layout.units[layout.elements[element].units[unit]].tasks.len() as u64;
        let e = &mut self.elements[element];
        e.report.spent.fired(tasks_ps, now_ps);
        self.seen.occupied_ps[element].store(e.report.spent.occupied_ps(), Ordering::Relaxed);
        e.compute.fired(unit, fired.firings, fired.again);
        self.computed(element, unit, fired.firings, now_ps);
        self.tell(element, unit, false);
        let e = &mut self.elements[element];
        let done = e.compute.firings(unit);
        e.report.firings += fired.firings * tasks;
        let sink = self.sinks[self.made.layout.elements[element].units[unit]];
        if let Some(sink) = sink.filter(|_| fired.firings > 0) {
            e.report.marks.entry(unit).or_default().push((done, now_ps));
            self.seen.instances.store(done, Ordering::Relaxed);
            self.is_steady |= self.until.as_mut().is_some_and(|until| until.took(sink, done, now_ps));
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

    /// The next fetch that may start, if any, and the cycles that finding it takes. Zeros behind the end are put
    /// where they belong at once.
    pub(crate) fn next_fetch(&mut self, element: usize) -> (Option<FetchStart>, u64) {
        let beside = self.places.units.len() + element;
        let costs = self.costs_of(element);
        let mut cycles = 0;
        loop {
            let e = &mut self.elements[element];
            let step = e.step(true, self.instances);
            cycles += std::mem::take(&mut e.changed) * (costs.unit + 2 * costs.ring);
            match step {
                NextStep::Fire { unit, firings } => {
                    return (self.fetch_start(element, unit, firings), cycles);
                }
                // Zeros may only follow what has arrived.
                NextStep::Pad { unit, write, instances } => {
                    let fetch = self.fetch_of(element, unit);
                    let e = &mut self.elements[element];
                    if !e.flights[fetch].is_empty() {
                        return (None, cycles);
                    }
                    let of = &self.made.fetches[fetch];
                    if of.pushed {
                        let head = e.fetch.head(&e.fetch.writes(unit)[write]);
                        self.zeros_from[fetch] = self.zeros_from[fetch].min(head);
                    }
                    self.kernels.pad(&e.fetch, beside, unit, write, instances);
                    e.fetch.padded(unit, write, instances);
                    self.tell(element, unit, true);
                }
                _ => return (None, cycles),
            }
        }
    }

    fn fetch_of(&self, element: usize, unit: usize) -> usize {
        let id = self.made.layout.elements[self.places.units.len() + element].units[unit];
        id - self.made.fetches[0].unit
    }

    fn fetch_start(&self, element: usize, unit: usize, instances: u64) -> Option<FetchStart> {
        let (e, fetch) = (&self.elements[element], self.fetch_of(element, unit));
        let pushed = self.made.fetches[fetch].pushed;
        if pushed && e.flights[fetch].len() as u64 >= HEADS {
            return None;
        }
        let (read, write) = (&e.fetch.reads(unit)[0], &e.fetch.writes(unit)[0]);
        let (from, to) = (self.places.rings[read.ring]?, self.places.rings[write.ring]?);
        let (from_at, to_at) = (from.at(read.slot), to.at(write.slot));
        let (own, other, offset) =
            if pushed { (from_at, to.element, to_at) } else { (to_at, from.element, from_at) };
        let address = self.places.base[other] + offset;
        let moved = FetchMove { own, other, offset, address, bytes: from.stride * instances };
        Some(FetchStart { fetch, unit, slot: write.slot, instances, pushed, moved })
    }

    /// A fetch was started with `tag`. Of one that is pushed, gives the flag that tells its head: an index of the
    /// outbox; it is to be put right behind the data.
    pub(crate) fn started(&mut self, element: usize, start: FetchStart, tag: u32) -> Option<usize> {
        let e = &mut self.elements[element];
        e.fetch.fired(start.unit, start.instances, false);
        let FetchStart { slot, instances, fetch, .. } = start;
        let started_ps = self.seen.now_ps.load(Ordering::Relaxed);
        e.flights[fetch].push_back(FetchFlight { tag, slot, instances, started_ps, arrived: false });
        e.under_way.push((fetch, tag));
        if let Some(steps) = &mut self.steps {
            steps.starts(element, fetch);
        }
        if !start.pushed {
            return None;
        }
        let head = self.ids.head(self.made.fetches[fetch].to);
        e.known[head] += instances;
        e.tellers[head].first().copied()
    }

    /// The transfers of the tags of `done` have arrived. Gives the fetches whose oldest instances may be taken.
    pub(crate) fn arrived(&mut self, element: usize, done: u32) -> Vec<usize> {
        let e = &mut self.elements[element];
        let mut fetches = Vec::new();
        let (flights, quickest) = (&mut e.flights, &mut e.quickest_ps);
        let now_ps = self.seen.now_ps.load(Ordering::Relaxed);
        // An element that computed meanwhile looked at it late, and so does a PPE's managing thread.
        let waited = matches!(self.places.units[element], StreamCore::Spe(_)) && e.idle_since_ps.is_some();
        let mut late_ps = 0;
        e.under_way.retain(|&(fetch, tag)| {
            if done & 1 << tag == 0 {
                return true;
            }
            if let Some(flight) = flights[fetch].iter_mut().find(|f| f.tag == tag && !f.arrived) {
                flight.arrived = true;
                if !self.made.fetches[fetch].pushed {
                    let took = now_ps - flight.started_ps;
                    let quickest = quickest.entry((fetch, flight.instances)).or_insert(took);
                    *quickest = took.min(*quickest);
                    late_ps = (took - *quickest).max(late_ps);
                }
            }
            if !fetches.contains(&fetch) {
                fetches.push(fetch);
            }
            false
        });
        if waited {
            e.report.spent.late(late_ps);
        }
        fetches
    }

    /// The oldest instances of a fetch that have arrived and were not taken yet: offset and bytes, none of what was
    /// pushed away.
    pub(crate) fn to_take(&self, element: usize, fetch: usize) -> Option<(u64, u64)> {
        let flight = self.elements[element].flights[fetch].front().filter(|f| f.arrived)?;
        let place = self.places.rings[self.made.fetches[fetch].to]?;
        if self.made.fetches[fetch].pushed {
            return Some((0, 0));
        }
        Some((place.at(flight.slot), place.stride * flight.instances))
    }

    /// The bytes of [`to_take`](Self::to_take), out of the element's memory: the instances are there for whoever
    /// reads them, and their room at the producer is free.
    pub(crate) fn took(&mut self, element: usize, fetch: usize, bytes: &[u8]) {
        let Some(flight) = self.elements[element].flights[fetch].pop_front() else { return };
        let of = self.made.fetches[fetch];
        let consumer = self.made.layout.rings[of.from].consumers.iter().position(|c| c.unit == of.unit);
        let tail = self.ids.tail(of.from, consumer.unwrap_or(0));
        if !of.pushed {
            self.put_instances(of.to, flight.slot, bytes);
            let (e, head) = (&mut self.elements[element], self.ids.head(of.to));
            let heads = e.known[head] + flight.instances;
            e.publish(head, heads);
        }
        let e = &mut self.elements[element];
        let tails = e.known[tail] + flight.instances;
        e.publish(tail, tails);
    }

    /// Bytes as they lie in an element's memory become instances that kernels read.
    fn put_instances(&mut self, ring: usize, slot: u64, bytes: &[u8]) {
        let own = self.kernels.stride(ring) as usize;
        let stride = self.places.rings[ring].map_or(1, |p| p.stride) as usize;
        if own == stride {
            self.kernels.arrived(ring, slot, bytes);
        } else {
            let packed: Vec<u8> = bytes.chunks_exact(stride).flat_map(|i| &i[..own]).copied().collect();
            self.kernels.arrived(ring, slot, &packed);
        }
    }

    /// A flag of `element` says the head of a ring that is pushed to it. The next of its instances that are to be
    /// taken: offset and bytes (none of zeros behind the end) and how many; tell [`received`](Self::received).
    pub(crate) fn to_receive(&self, element: usize, flag: &FlagIn, bytes: &[u8]) -> Option<(u64, u64, u64)> {
        let e = &self.elements[element];
        let fetch = flag.fetch?;
        let head = e.known[flag.counters[0]];
        let told = e.risen(flag.counters[0], u32::from_le_bytes(bytes[..4].try_into().expect("four bytes")));
        let (ring, zeros) = (self.made.fetches[fetch].to, self.zeros_from[fetch]);
        let capacity = self.made.layout.rings[ring].capacity;
        let most = (told - head).min(capacity - head % capacity);
        let place = self.places.rings[ring]?;
        let real = most.min(zeros.saturating_sub(head));
        let instances = if real > 0 { real } else { most };
        (most > 0).then(|| (place.at(head % capacity), place.stride * real, instances))
    }

    /// The bytes of [`to_receive`](Self::to_receive).
    pub(crate) fn received(&mut self, element: usize, flag: &FlagIn, bytes: &[u8], instances: u64) {
        let Some(fetch) = flag.fetch else { return };
        let ring = self.made.fetches[fetch].to;
        let head = self.elements[element].known[flag.counters[0]];
        if !bytes.is_empty() {
            self.put_instances(ring, head % self.made.layout.rings[ring].capacity, bytes);
        }
        self.elements[element].known[flag.counters[0]] += instances;
    }

    /// Whether the element's tasks have fired for the last time.
    pub(crate) fn has_computed(&self, element: usize) -> bool {
        self.elements[element].compute.unfinished().next().is_none()
    }

    /// Whether the element has nothing left to do.
    pub(crate) fn is_done(&mut self, element: usize) -> bool {
        let e = &mut self.elements[element];
        e.step(true, self.instances) == NextStep::Done
            && e.flights.iter().all(VecDeque::is_empty)
            && e.due.is_empty()
            && e.telling.is_empty()
    }
}
