//! The paper's scheduler as a state machine of one element: no threads, no clocks, no memory but counters.
//!
//! It is self-timed (MODEL.md, "Why the runtime cannot deadlock"): it fires any unit that has its inputs, with peek,
//! and room for its outputs; it prefers the plan's order and a full batch, never waits for one unit while another can
//! fire, nor for a full batch while nothing else can run. A firing never straddles the end of a ring, nor a batch's
//! end, so that batches fall back into step after a partial one.
//!
//! Every ring has counters that only rise: its head (instances produced, zeros of the start included) and a tail per
//! consumer. An element owns the heads that it produces and the tails that it consumes; of the others it keeps the last
//! value seen, and looks again, through [`World`], only when that is not enough for a full batch.

use crate::layout::{RingLayout, RunLayout};

/// Number of a counter, over all rings: [`CounterIds`] tells which.
pub type CounterId = usize;

/// Numbers the counters of a layout: each ring's head, then its tails.
#[derive(Debug, Clone)]
pub struct CounterIds {
    base: Vec<CounterId>,
    total: usize,
}

impl CounterIds {
    /// Of all rings of `layout`.
    pub fn new(layout: &RunLayout) -> CounterIds {
        let mut total = 0;
        let base = layout
            .rings
            .iter()
            .map(|r| {
                let at = total;
                total += 1 + r.consumers.len();
                at
            })
            .collect();
        CounterIds { base, total }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.total
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// Instances that ring `ring`'s producer made available.
    pub fn head(&self, ring: usize) -> CounterId {
        self.base[ring]
    }

    /// All tails of `ring`.
    pub fn tails(&self, ring: usize) -> std::ops::Range<CounterId> {
        self.base[ring] + 1..self.base.get(ring + 1).copied().unwrap_or(self.total)
    }

    /// Position of the next instance that a consumer of `ring` reads.
    pub fn tail(&self, ring: usize, consumer: usize) -> CounterId {
        self.base[ring] + 1 + consumer
    }

    /// Every counter's value before anything has fired.
    pub fn initial(&self, layout: &RunLayout) -> Vec<u64> {
        let mut values = vec![0; self.total];
        for (r, ring) in layout.rings.iter().enumerate() {
            values[self.head(r)] = ring.lead;
            for (c, consumer) in ring.consumers.iter().enumerate() {
                values[self.tail(r, c)] = consumer.offset;
            }
        }
        values
    }
}

/// What the scheduler may ask of the world around its element.
pub trait World {
    /// The latest value of a counter that another element owns: entry `watched` of [`Scheduler::watched`].
    fn seen(&mut self, watched: usize) -> u64;
    /// How often every task fires: known from the start, or lowered when a source ends; `u64::MAX` until then.
    fn instances(&mut self) -> u64;
}

/// What the element is to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NextStep {
    /// Fire each task of the unit `firings` times, then tell with [`Scheduler::fired`].
    Fire {
        /// Index among the element's units.
        unit: usize,
        /// At least 1, at most the batch.
        firings: u64,
    },
    /// As `Fire`, of a source that said it has nothing right now; nothing else can run: wait a little first.
    Retry {
        /// Index among the element's units.
        unit: usize,
        /// At least 1.
        firings: u64,
    },
    /// The unit has fired for the last time: write zeros for the windows that reach beyond the end, then tell with
    /// [`Scheduler::padded`].
    Pad {
        /// Index among the element's units.
        unit: usize,
        /// Index among the unit's writes.
        write: usize,
        /// At least 1.
        instances: u64,
    },
    /// Nothing can run before a counter or the number of instances changes.
    Wait,
    /// Every unit has fired as often as it ever will.
    Done,
}

/// Index into [`Scheduler::counters`].
type Local = usize;

/// An input of a unit that comes out of a ring.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RingRead {
    /// Index of the layout's rings.
    pub ring: usize,
    /// Index of the ring's consumers.
    pub consumer: usize,
    /// Slot of the next instance, below `capacity`.
    pub slot: u64,
    /// Slots of the ring.
    pub capacity: u64,
    peek: u64,
    inside: bool,
    head: Local,
    tail: Local,
}

/// An output of a unit that goes into a ring.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RingWrite {
    /// Index of the layout's rings.
    pub ring: usize,
    /// Slot of the next instance, below `capacity`.
    pub slot: u64,
    /// Slots of the ring.
    pub capacity: u64,
    end: u64,
    head: Local,
    tails: Vec<Local>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct UnitProgress {
    fired: u64,
    /// `fired` modulo the batch.
    phase: u64,
    reads: Vec<RingRead>,
    writes: Vec<RingWrite>,
    resting: bool,
    done: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct KnownCounter {
    value: u64,
    /// Where to look for a newer value, in `watched`; `None` when this element owns it.
    remote: Option<usize>,
}

/// What a unit lacked when it could not fire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lack {
    /// Instances of this ring, which it reads.
    Data(usize),
    /// Room in this ring, which it writes.
    Room(usize),
}

/// Per unit, what it lacked last: for reports alone. It decides nothing, so that states that differ in it are equal.
#[derive(Debug, Clone, Default)]
struct Lacks(Vec<Option<Lack>>);

impl PartialEq for Lacks {
    fn eq(&self, _: &Lacks) -> bool {
        true
    }
}

impl Eq for Lacks {}

impl std::hash::Hash for Lacks {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}

/// The state machine of one element.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Scheduler {
    batch: u64,
    units: Vec<UnitProgress>,
    counters: Vec<KnownCounter>,
    watched: Vec<CounterId>,
    next: usize,
    live: usize,
    lacks: Lacks,
}

impl Scheduler {
    /// For the element with index `element` of [`RunLayout::elements`].
    pub fn new(layout: &RunLayout, element: usize) -> Scheduler {
        let ids = CounterIds::new(layout);
        let initial = ids.initial(layout);
        let mut counters: Vec<KnownCounter> = Vec::new();
        let mut watched = Vec::new();
        let mut local = std::collections::HashMap::new();
        let mut intern = |id: CounterId, owner: usize| -> Local {
            *local.entry(id).or_insert_with(|| {
                let remote = (layout.units[owner].element != element).then(|| {
                    watched.push(id);
                    watched.len() - 1
                });
                counters.push(KnownCounter { value: initial[id], remote });
                counters.len() - 1
            })
        };
        let mut units = Vec::new();
        let mut place = std::collections::HashMap::new();
        for &u in &layout.elements[element].units {
            place.insert(u, units.len());
            units.push(UnitProgress {
                fired: 0,
                phase: 0,
                reads: Vec::new(),
                writes: Vec::new(),
                resting: false,
                done: false,
            });
        }
        for (r, ring) in layout.rings.iter().enumerate() {
            let RingLayout { producer, capacity, lead, pad, .. } = *ring;
            for (c, consumer) in ring.consumers.iter().enumerate() {
                let Some(&u) = place.get(&consumer.unit) else { continue };
                units[u].reads.push(RingRead {
                    ring: r,
                    consumer: c,
                    slot: consumer.offset % capacity,
                    capacity,
                    peek: consumer.peek,
                    inside: consumer.inside,
                    head: intern(ids.head(r), producer),
                    tail: intern(ids.tail(r, c), consumer.unit),
                });
            }
            if let Some(&u) = place.get(&producer) {
                let head = intern(ids.head(r), producer);
                let tails =
                    ring.consumers.iter().enumerate().map(|(c, k)| intern(ids.tail(r, c), k.unit)).collect();
                units[u].writes.push(RingWrite {
                    ring: r,
                    slot: lead % capacity,
                    capacity,
                    end: lead + pad,
                    head,
                    tails,
                });
            }
        }
        let live = units.len();
        let lacks = Lacks(vec![None; live]);
        Scheduler { batch: layout.batch, units, counters, watched, next: 0, live, lacks }
    }

    /// What to do next. Asking again without doing it gives the same or, when the world moved on, something as good.
    #[inline]
    pub fn step(&mut self, world: &mut impl World) -> NextStep {
        let instances = world.instances();
        let count = self.units.len();
        let mut partial: Option<(usize, u64)> = None;
        let mut resting: Option<(usize, u64)> = None;
        let mut unit = self.next;
        for _ in 0..count {
            if !self.units[unit].done {
                if self.units[unit].fired >= instances {
                    if let Some(step) = self.close(unit, instances, world) {
                        return step;
                    }
                } else {
                    let want = self.wanted(unit, instances);
                    let firings = self.ready(unit, want, world);
                    if self.units[unit].resting {
                        if firings > 0 {
                            resting = resting.or(Some((unit, firings)));
                        }
                    } else if firings == want {
                        return NextStep::Fire { unit, firings };
                    } else if firings > 0 {
                        partial = partial.or(Some((unit, firings)));
                    }
                }
            }
            unit += 1;
            if unit == count {
                unit = 0;
            }
        }
        match (partial, resting) {
            (Some((unit, firings)), _) => NextStep::Fire { unit, firings },
            (None, Some((unit, firings))) => NextStep::Retry { unit, firings },
            (None, None) if self.live == 0 => NextStep::Done,
            (None, None) => NextStep::Wait,
        }
    }

    /// The unit fired `firings` times. `again`: it is a source that has nothing more right now.
    #[inline]
    pub fn fired(&mut self, unit: usize, firings: u64, again: bool) {
        let progress = &mut self.units[unit];
        progress.fired += firings;
        progress.phase += firings;
        if progress.phase >= self.batch {
            progress.phase -= self.batch;
        }
        progress.resting = again;
        for read in &mut progress.reads {
            read.slot = advance(read.slot, firings, read.capacity);
            self.counters[read.tail].value += firings;
        }
        for write in &mut progress.writes {
            write.slot = advance(write.slot, firings, write.capacity);
            self.counters[write.head].value += firings;
        }
        self.next = if unit + 1 == self.units.len() { 0 } else { unit + 1 };
    }

    /// `instances` zeros were written as a [`NextStep::Pad`] asked.
    pub fn padded(&mut self, unit: usize, write: usize, instances: u64) {
        let write = &mut self.units[unit].writes[write];
        write.slot = advance(write.slot, instances, write.capacity);
        self.counters[write.head].value += instances;
    }

    /// The counters of other elements that this one looks at.
    pub fn watched(&self) -> &[CounterId] {
        &self.watched
    }

    /// How many units there are.
    pub fn units(&self) -> usize {
        self.units.len()
    }

    /// How often a unit has fired.
    pub fn firings(&self, unit: usize) -> u64 {
        self.units[unit].fired
    }

    /// What the unit lacked when it could not fire the last time.
    pub fn lacked(&self, unit: usize) -> Option<Lack> {
        self.lacks.0[unit]
    }

    /// The unit's inputs out of rings.
    pub fn reads(&self, unit: usize) -> &[RingRead] {
        &self.units[unit].reads
    }

    /// The unit's outputs into rings.
    pub fn writes(&self, unit: usize) -> &[RingWrite] {
        &self.units[unit].writes
    }

    /// The head that a write has reached.
    pub fn head(&self, write: &RingWrite) -> u64 {
        self.counters[write.head].value
    }

    /// Instances in a write's ring, as far as this element knows of its consumers.
    pub fn fill(&self, write: &RingWrite) -> u64 {
        let slowest = write.tails.iter().map(|&t| self.counters[t].value).min();
        self.counters[write.head].value - slowest.unwrap_or(0)
    }

    /// The position that a read has reached.
    pub fn tail(&self, read: &RingRead) -> u64 {
        self.counters[read.tail].value
    }

    /// Units that have not fired for the last time.
    pub fn unfinished(&self) -> impl Iterator<Item = usize> + '_ {
        self.units.iter().enumerate().filter(|(_, u)| !u.done).map(|(i, _)| i)
    }

    /// Firings that would bring the unit to the end of its batch, of the stream or of a ring.
    fn wanted(&self, unit: usize, instances: u64) -> u64 {
        let u = &self.units[unit];
        let mut want = (self.batch - u.phase).min(instances - u.fired);
        for r in &u.reads {
            want = want.min(r.capacity - r.slot);
        }
        for w in &u.writes {
            want = want.min(w.capacity - w.slot);
        }
        want
    }

    /// How many of `want` firings have their inputs and room.
    fn ready(&mut self, unit: usize, want: u64, world: &mut impl World) -> u64 {
        let u = &self.units[unit];
        let mut firings = want;
        for r in &u.reads {
            if r.inside {
                continue;
            }
            let from = self.counters[r.tail].value + r.peek;
            let mut there = self.counters[r.head].value.saturating_sub(from);
            if there < firings {
                there = refresh(&mut self.counters[r.head], world).saturating_sub(from);
                firings = firings.min(there);
                if firings == 0 {
                    self.lacks.0[unit] = Some(Lack::Data(r.ring));
                    return 0;
                }
            }
        }
        for w in &u.writes {
            firings = room(&mut self.counters, w, firings, world);
            if firings == 0 {
                self.lacks.0[unit] = Some(Lack::Room(w.ring));
                return 0;
            }
        }
        firings
    }

    /// The unit has fired as often as it will: the zeros that its readers' last windows need, if there is room.
    fn close(&mut self, unit: usize, instances: u64, world: &mut impl World) -> Option<NextStep> {
        let mut open = false;
        for w in 0..self.units[unit].writes.len() {
            let write = &self.units[unit].writes[w];
            let missing = instances.saturating_add(write.end).saturating_sub(self.counters[write.head].value);
            // No window reaches beyond the end of this ring.
            if missing == 0 {
                continue;
            }
            open = true;
            let want = missing.min(write.capacity - write.slot);
            let instances = room(&mut self.counters, write, want, world);
            if instances > 0 {
                return Some(NextStep::Pad { unit, write: w, instances });
            }
        }
        if !open {
            self.units[unit].done = true;
            self.live -= 1;
        }
        None
    }
}

#[inline]
fn advance(slot: u64, by: u64, capacity: u64) -> u64 {
    let slot = slot + by;
    if slot >= capacity { slot - capacity } else { slot }
}

#[inline]
fn refresh(counter: &mut KnownCounter, world: &mut impl World) -> u64 {
    if let Some(id) = counter.remote {
        counter.value = world.seen(id);
    }
    counter.value
}

/// How many of `want` instances the write has room for.
#[inline]
fn room(counters: &mut [KnownCounter], write: &RingWrite, want: u64, world: &mut impl World) -> u64 {
    let head = counters[write.head].value;
    let mut firings = want;
    for &tail in &write.tails {
        let limit = |tail: u64| tail + write.capacity - head;
        if limit(counters[tail].value) < firings {
            firings = firings.min(limit(refresh(&mut counters[tail], world)));
            if firings == 0 {
                return 0;
            }
        }
    }
    firings
}
