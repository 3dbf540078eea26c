//! Which way large messages between two ranks take: measured on the messages themselves.
//!
//! No way is the faster one everywhere. On an EPYC the pool is twice as fast as the kernel's copy from process to
//! process; on a Xeon the kernel needs two thirds of the pool's time for a megabyte, and as much for a quarter of one.
//! It changes while a job runs, too: two virtual cpus may share a core now, and none a minute later.
//!
//! **Both ranks take one way.** What a way costs depends on the way back: slots of the pool go to and fro only where
//! messages of both directions go through it. Ranks that chose for themselves could stay with a mixture for good: on an
//! EPYC, 256 kB to and fro then took 17 us instead of 10. So two ranks agree in memory that both see. Each way is tried
//! in turn, in both directions at once, and each rank says what it cost there. Who has tried enough goes on to the next
//! way, and in the end to the fastest one.
//!
//! **To and fro, and one way alone.** Where large messages come from a rank to which none goes, its slots do not come
//! back, and it may send the next one while this one is copied. So these are measured apart, by their receiver alone.
//! (A Xeon, 64 and 256 kB: to and fro, 3.8 and 9 us when both copy by the kernel, 13 and 32 by the receiver alone; one
//! way alone, 8.1 and 18.8, and 4.8 and 14.1.)
//!
//! Messages that are under way at the same time are a *run*: they take one way, and what counts is the time of all of
//! them together.
//!
//! **A message's time is not all that a way costs.** After a copy by the kernel that both sides made, half of the data
//! lies in the other cpu's cache, and the program waits for it when it uses the data. So the *cycle* is measured, too:
//! the time from the end of one run to that of the next. It has what the program does between in it. Where the cycle is
//! clearly shorter by another way than the one whose messages are the fastest, that other way is taken. (A Xeon, 64 kB
//! to and fro that each side rewrites: messages by the kernel take a third less than through the pool, and the program
//! 10.2 us instead of 7.5.)

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// A way of a large message between two ranks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Way {
    /// The sender copies into slots of the pool, the receiver out of them.
    #[default]
    Pool,
    /// Both copy pieces from memory to memory, by the kernel.
    Kernel,
    /// The receiver copies all by the kernel; the sender need not be asked.
    Receiver,
    /// As `Pool`, and the receiver copies past its caches: see `landing`.
    PastCaches,
}

/// All ways, by their numbers.
const WAYS: [Way; 4] = [Way::Pool, Way::Kernel, Way::Receiver, Way::PastCaches];
/// The ways of messages in the order in which they are tried: of those that both must be able to copy, and of smaller
/// ones, which the caches hold.
const SHARED: &[Way] = &[Way::Pool, Way::PastCaches, Way::Kernel];
const SMALLER: &[Way] = &[Way::Pool, Way::Kernel, Way::Receiver];
/// From so many bytes on, both sides must be able to copy a message.
pub(crate) const SHARED_FROM: usize = 2 * 1024 * 1024;

/// Sizes below twice this power of two are one class; each class above is up to the next power of two.
const SMALLEST: u32 = 16;
/// Classes of sizes; all sizes above are in the last one.
const CLASSES: usize = 8;
/// So many messages in a row to one rank try a way: a choice, as are the next ones. The first ones take longer: they
/// get memory for the pool, or find in no cache what the runs before left there. (On an EPYC with 1 MB of second cache,
/// 256 kB to and fro take 8 us through the pool and 22 by the kernel. With single runs by turns, the kernel's was
/// preferred.)
pub(crate) const TRIAL: u32 = 8;
/// The pool's slots come back from the other cache only then: the first ten runs of 1 MB after some by the kernel take
/// 170 to 105 us, and those that follow 50 to 60, on an EPYC.
///
/// Where messages go one way alone, a trial goes on until it comes to slots that it has used: each block of slots gets
/// its memory first, and what other ways left in the caches goes before its lines come back. (A row of broadcasts of 64
/// kB between two ranks on an EPYC: 64 kB take 50 us while there is no memory, 6 to 8 at the next use, 2 then, and 5.5
/// by the kernel.)
const TRIAL_OF_POOL: u32 = 2 * TRIAL;
/// Of messages above so many bytes, fewer try a way, of as many bytes in all: programs send few of them. (34
/// gathers of 4 MB between two ranks on an EPYC: 26 tried something, and took 663 to 1,035 us; the others 594.)
const WHOLE_TRIALS: usize = 1024 * 1024;
/// But at least so many; the pool gets its memory in the first four or five. By the kernel, one is as good as the next.
const LEAST_OF_POOL: u32 = 6;
const LEAST_PAST_CACHES: u32 = 4;
/// So many runs are enough where many messages are under way. A choice: half of them count. (64 of 256 kB at a time on
/// a Xeon: trials with as many runs as messages had half of the first second.)
const LEAST_RUNS: u32 = 5;
/// The last so many runs of a trial count, at most.
const COUNTED: usize = 5;
/// A way is given up after so many messages, the pool after `TRIAL`, when the fastest run of them took so many times
/// what the fastest way takes; after the first one, where that was so in the last trial. (256 kB to and fro on an EPYC
/// while a line takes 200 ns: 15 us by the kernel at both sides, 150 to 230 by the receiver alone.)
const HOPELESS_AFTER: u32 = 4;
const HOPELESS: f32 = 1.5;
/// One cycle is clearly longer than another that is so many times as long: less may be chance. A choice.
const CLEAR: f32 = 1.2;
/// After so many runs, all ways are tried again: at first soon, because the first messages of a job get memory, and
/// then after four times as many, up to the most. (On an EPYC, 1 MB through the pool took 75 to 107 us in the first
/// trials and 50 later, and 65 by the kernel.)
const TRIALS_FIRST: u32 = 32;
const TRIALS_EACH: u32 = 1024;
/// The same when the way has become so many times slower or faster since the trials: then the computer has changed, and
/// what is known of the others is of another time.
const TRIALS_AFTER_CHANGE: u32 = 256;
const CHANGE: f32 = 1.5;
/// A run ends after so many messages, if there was no end before.
const LONGEST: u32 = 64;
/// What a run counts beside those before, once a way is agreed.
const NEWEST: f32 = 1.0 / 16.0;
/// More than so many times what was known counts as this: the run may have waited for its sender, or for a cpu.
const MOST: f32 = 4.0;

/// What two ranks agree on and tell one another, in memory that both see. Whatever another process writes there, the
/// worst is a slower way.
#[repr(C, align(64))]
#[derive(Default)]
pub(crate) struct AgreedWays {
    classes: [AgreedWay; CLASSES],
    kernel_copies_crossing: AtomicU32,
}

impl AgreedWays {
    /// Whether the kernel copies large messages that cross on the way (`engine::crossing`), a bit for each class of
    /// data.
    pub(crate) fn kernel_copies_crossing(&self) -> &AtomicU32 {
        &self.kernel_copies_crossing
    }
}

/// What they agree on for one class of sizes.
#[repr(C)]
#[derive(Default)]
struct AgreedWay {
    /// The phase as `Phase::word`.
    phase: AtomicU64,
    /// What each way cost the two ranks when they tried it last, in ns per byte; 0: not tried.
    ns_per_byte: [[AtomicU32; WAYS.len()]; 2],
    /// The same of their cycles.
    cycle_ns_per_byte: [[AtomicU32; WAYS.len()]; 2],
}

/// What one run cost, or several, in ns per byte.
#[derive(Clone, Copy, Debug)]
struct Cost {
    messages: f32,
    /// From the end of the run before to the end of this one; infinite where that was another sort of run.
    cycle: f32,
}

impl Cost {
    /// The costs in their middle.
    fn median(of: &[Self]) -> Self {
        let middle = |cost: fn(&Self) -> f32| {
            let mut sorted: Vec<f32> = of.iter().map(cost).collect();
            sorted.sort_unstable_by(f32::total_cmp);
            sorted[sorted.len() / 2]
        };
        Self { messages: middle(|cost| cost.messages), cycle: middle(|cost| cost.cycle) }
    }

    /// Where this was known, and then another run cost so much.
    fn followed_by(self, other: Self) -> Self {
        let next = |now: f32, other: f32| now + NEWEST * (other.min(MOST * now) - now);
        let cycle = match (self.cycle.is_finite(), other.cycle.is_finite()) {
            (true, true) => next(self.cycle, other.cycle),
            (true, false) => self.cycle,
            (false, _) => other.cycle,
        };
        Self { messages: next(self.messages, other.messages), cycle }
    }
}

/// What both ranks do until one of them says what is next.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Phase {
    /// Phases before.
    number: u32,
    way: Way,
    /// The way is only tried.
    trial: bool,
}

impl Phase {
    /// The phase of memory that is all zero is the first trial.
    fn word(self) -> u64 {
        u64::from(self.number) << 32 | (self.way as u64) << 1 | u64::from(!self.trial)
    }

    fn of(word: u64) -> Self {
        let way = WAYS.get((word as u32 >> 1) as usize).copied().unwrap_or_default();
        Self { number: (word >> 32) as u32, way, trial: word & 1 == 0 }
    }

    fn next(self, way: Way, trial: bool) -> Self {
        Self { number: self.number.wrapping_add(1), way, trial }
    }
}

impl AgreedWay {
    fn phase(&self) -> Phase {
        Phase::of(self.phase.load(Ordering::Relaxed))
    }

    /// Goes on to another phase, unless the other rank has gone on from this one; the phase now.
    fn go_on(&self, from: Phase, to: Phase) -> Phase {
        match self.phase.compare_exchange(from.word(), to.word(), Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => to,
            Err(word) => Phase::of(word),
        }
    }

    /// What a way cost a rank; the cycle is infinite where it is not known.
    fn cost(&self, side: usize, way: Way) -> Option<Cost> {
        let of = |ns: &[[AtomicU32; WAYS.len()]; 2]| {
            let ns = f32::from_bits(ns[side][way as usize].load(Ordering::Relaxed));
            (ns.is_finite() && ns > 0.0).then_some(ns)
        };
        let cycle = of(&self.cycle_ns_per_byte).unwrap_or(f32::INFINITY);
        of(&self.ns_per_byte).map(|messages| Cost { messages, cycle })
    }

    fn set_cost(&self, side: usize, way: Way, cost: Cost) {
        let Cost { messages, cycle } = cost;
        self.ns_per_byte[side][way as usize].store(messages.to_bits(), Ordering::Relaxed);
        self.cycle_ns_per_byte[side][way as usize].store(cycle.to_bits(), Ordering::Relaxed);
    }

    /// The way that costs both ranks the least. One that sends nothing back has tried none.
    fn fastest(&self, ways: &[Way]) -> Way {
        let has_tried_all = |&side: &usize| ways.iter().all(|&way| self.cost(side, way).is_some());
        let sum = |way: Way| {
            let costs = (0..2).filter(has_tried_all).filter_map(|side| self.cost(side, way));
            costs.fold(Cost { messages: 0.0, cycle: 0.0 }, |sum, cost| Cost {
                messages: sum.messages + cost.messages,
                cycle: sum.cycle + cost.cycle,
            })
        };
        let least = |of: fn(&Cost) -> f32| {
            ways.iter().copied().min_by(|&one, &other| of(&sum(one)).total_cmp(&of(&sum(other))))
        };
        let (by_messages, by_cycle) =
            (least(|cost| cost.messages).unwrap_or_default(), least(|cost| cost.cycle).unwrap_or_default());
        let [least, cycle] = [by_cycle, by_messages].map(|way| sum(way).cycle);
        if cycle.is_finite() && CLEAR * least < cycle { by_cycle } else { by_messages }
    }
}

/// How ways are tried with messages of a class that take a course.
#[derive(Clone, Copy)]
struct Trials {
    class: usize,
    /// So many messages go through the pool before they come to a slot again.
    lap: u32,
}

impl Trials {
    fn of(course: Course, class: usize, lap_bytes: usize) -> Self {
        // To and fro, slots come back.
        let lap = if course == Course::OneWay { lap_bytes / smallest_of(class) } else { 0 };
        Self { class, lap: lap as u32 }
    }

    /// Messages of a trial of a way.
    fn messages(self, way: Way) -> u32 {
        let larger = (smallest_of(self.class) / WHOLE_TRIALS).clamp(1, TRIAL as usize / 2) as u32;
        match way {
            Way::Pool => (TRIAL_OF_POOL / larger).max(LEAST_OF_POOL).max(self.lap + TRIAL / larger),
            Way::PastCaches => (TRIAL / larger).max(LEAST_PAST_CACHES),
            Way::Kernel | Way::Receiver => TRIAL / larger,
        }
    }

    /// The most runs between trials: more where a trial is longer.
    fn most_between(self) -> u32 {
        TRIALS_EACH.saturating_mul(1 + self.lap / TRIAL_OF_POOL)
    }

    /// A way that is far behind is given up after so many messages.
    fn given_up_after(self, way: Way) -> u32 {
        match way {
            Way::Pool => TRIAL.max(self.lap + HOPELESS_AFTER),
            _ => HOPELESS_AFTER,
        }
    }
}

/// The class of a message of so many bytes.
fn class_of(bytes: usize) -> usize {
    (bytes.max(1).ilog2().saturating_sub(SMALLEST) as usize).min(CLASSES - 1)
}

/// The smallest message of a class, in bytes.
fn smallest_of(class: usize) -> usize {
    1 << (SMALLEST as usize + class)
}

/// The ways that a class has.
fn ways_of(class: usize) -> &'static [Way] {
    if smallest_of(class) >= SHARED_FROM { SHARED } else { SMALLER }
}

/// What this rank has seen of one class of sizes.
#[derive(Clone, Copy, Default)]
struct Seen {
    phase: Phase,
    /// Runs that began in the phase, their messages, and runs that ended in it.
    runs: u32,
    messages: u32,
    ended: usize,
    /// In a trial: what the last ones cost by turns, and the least of all.
    counted: [Option<Cost>; COUNTED],
    least: Option<Cost>,
    /// Otherwise: what the way cost in the trials, and what it costs now.
    before: Option<Cost>,
    now: Option<Cost>,
}

impl Seen {
    /// Which way the next run takes.
    fn choose(&mut self, trials: Trials, agreed: &AgreedWay, side: usize) -> Way {
        let class = trials.class;
        self.follow(agreed.phase(), agreed, side);
        let is_over = if self.phase.trial {
            let messages = trials.messages(self.phase.way);
            let has_tried = self.messages >= messages && self.runs >= LEAST_RUNS.min(messages);
            has_tried || self.is_hopeless(trials, agreed, side)
        } else {
            let has_changed = self.before.zip(self.now).is_some_and(|(before, now)| {
                now.messages > CHANGE * before.messages || now.messages * CHANGE < before.messages
            });
            let rounds = self.phase.number as usize / (ways_of(class).len() + 1);
            let most = trials.most_between().min(TRIALS_FIRST << (2 * rounds).min(16));
            self.runs >= most || self.runs >= TRIALS_AFTER_CHANGE && has_changed
        };
        if is_over {
            let (phase, ways) = (self.phase, ways_of(class));
            let tried = ways.iter().position(|&way| way == phase.way).unwrap_or(0);
            let next = match ways.get(tried + 1) {
                _ if !phase.trial => phase.next(ways[0], true),
                Some(&way) => phase.next(way, true),
                None => phase.next(agreed.fastest(ways), false),
            };
            self.follow(agreed.go_on(phase, next), agreed, side);
        }
        self.runs += 1;
        self.phase.way
    }

    /// The way that is tried can't become the fastest any more.
    fn is_hopeless(&self, trials: Trials, agreed: &AgreedWay, side: usize) -> bool {
        let others = ways_of(trials.class).iter().filter(|&&way| way != self.phase.way);
        let costs = others.filter_map(|&way| agreed.cost(side, way));
        let fastest = costs.min_by(|one, other| one.messages.total_cmp(&other.messages));
        let is_far_from = |cost: Option<Cost>| {
            cost.zip(fastest).is_some_and(|(cost, fastest)| {
                cost.messages > HOPELESS * fastest.messages && cost.cycle >= fastest.cycle
            })
        };
        let after = match self.phase.way {
            way if way != Way::Pool && is_far_from(self.before) => 1,
            way => trials.given_up_after(way),
        };
        self.ended >= LEAST_RUNS.min(after) as usize && self.messages >= after && is_far_from(self.least)
    }

    /// Takes note of the phase. What a way has cost in many runs takes the place of what it cost in a trial: by the
    /// kernel, 1 MB takes 80 us in one run and 250 in the next.
    fn follow(&mut self, phase: Phase, agreed: &AgreedWay, side: usize) {
        if phase != self.phase {
            if let Some(now) = self.now.filter(|_| !self.phase.trial && self.runs > TRIAL_OF_POOL) {
                agreed.set_cost(side, self.phase.way, now);
            }
            let before = agreed.cost(side, phase.way);
            *self = Self { phase, before, now: before, ..Self::default() };
        }
    }

    /// A message went through the pool without a choice. In a trial it is a run whose cost is not known.
    fn came(&mut self) {
        if self.phase.trial && self.phase.way == Way::Pool {
            self.runs += 1;
            self.messages += 1;
            self.ended += 1;
        }
    }

    /// A run of this phase cost so much.
    fn learn(&mut self, cost: Cost, agreed: &AgreedWay, side: usize) {
        if self.phase.trial {
            self.counted[self.ended % COUNTED] = Some(cost);
            self.least = Some(self.least.map_or(cost, |least| Cost {
                messages: least.messages.min(cost.messages),
                cycle: least.cycle.min(cost.cycle),
            }));
            self.ended += 1;
            let last = self.ended - COUNTED.min(self.ended.div_ceil(2))..self.ended;
            let counted: Vec<Cost> = last.filter_map(|run| self.counted[run % COUNTED]).collect();
            agreed.set_cost(side, self.phase.way, Cost::median(&counted));
        } else if let Some(now) = self.now {
            self.now = Some(now.followed_by(cost));
        } else {
            (self.before, self.now) = (Some(cost), Some(cost));
        }
    }
}

/// Where large messages go between two ranks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Course {
    /// One of this rank is followed by one of the other rank, or both are under way at the same time.
    #[default]
    ToAndFro,
    /// They come from the other rank, and none goes there.
    OneWay,
}

/// What a receiver knows of messages that come one way alone: it agrees on their way with itself.
#[derive(Default)]
struct OneWay {
    agreed: AgreedWays,
    seen: [Seen; CLASSES],
}

/// What a rank knows of messages from another one, and their current run.
pub(crate) struct Ways {
    agreed: &'static AgreedWays,
    /// Which of the two ranks this one is: 0 or 1.
    side: usize,
    lap_bytes: usize,
    seen: [Seen; CLASSES],
    /// From the first such message on: most pairs of ranks have none.
    one_way: Option<Box<OneWay>>,
    /// A large message went to the other rank since the last run began.
    has_sent: bool,
    /// Of the run, as is what follows.
    course: Course,
    way: Way,
    /// The class of the run's first message, and the phase in which it began.
    class: usize,
    phase: Phase,
    /// Messages of the run, and how many are not complete, those of the last run among them.
    messages: u32,
    under_way: u32,
    /// Bytes of messages that were completed in the run, and since when it is.
    bytes: usize,
    since_ns: u64,
    /// The last run that ended: its course, its class, its phase, and when.
    last: Option<((Course, usize, Phase), u64)>,
    /// Bytes that came since then without a choice.
    unasked: usize,
}

impl Ways {
    /// What one of two ranks, 0 or 1, knows at first. After `lap_bytes` one way alone, the pool comes to a slot again.
    pub(crate) fn new(agreed: &'static AgreedWays, side: usize, lap_bytes: usize) -> Self {
        Self {
            agreed,
            side,
            lap_bytes,
            seen: Default::default(),
            one_way: None,
            has_sent: false,
            course: Course::ToAndFro,
            way: Way::Pool,
            class: 0,
            phase: Phase::default(),
            messages: 0,
            under_way: 0,
            bytes: 0,
            since_ns: 0,
            last: None,
            unasked: 0,
        }
    }

    /// The way of the next message of so many bytes, now.
    ///
    /// `shared`: both sides must be able to copy it.
    pub(crate) fn choose(&mut self, bytes: usize, shared: bool, now_ns: u64) -> Way {
        if self.under_way == 0 || self.messages == LONGEST {
            self.end_run(now_ns);
            (self.class, self.course) = (class_of(bytes), self.course_now());
            let (trials, side) = (Trials::of(self.course, self.class, self.lap_bytes), self.side);
            let (seen, agreed) = self.known(self.course, self.class);
            let way = seen.choose(trials, agreed, side);
            let phase = seen.phase;
            (self.way, self.phase, self.messages, self.since_ns) = (way, phase, 0, now_ns);
            self.has_sent = false;
        }
        self.known(self.course, self.class).0.messages += 1;
        self.messages += 1;
        self.under_way += 1;
        if shared && self.way == Way::Receiver { Way::Kernel } else { self.way }
    }

    /// The messages that are under way come one way alone.
    pub(crate) fn is_one_way(&self) -> bool {
        self.course == Course::OneWay
    }

    /// Messages are under way by a way that is only tried.
    pub(crate) fn is_trying(&self) -> bool {
        self.under_way > 0 && self.phase.trial
    }

    /// A large message of so many bytes comes through the pool without a choice.
    pub(crate) fn came(&mut self, bytes: usize) {
        self.unasked = self.unasked.saturating_add(bytes);
        let course = self.course_now();
        self.known(course, class_of(bytes)).0.came();
        self.has_sent = false;
    }

    /// A large message goes to the other rank.
    pub(crate) fn sent(&mut self) {
        self.has_sent = true;
    }

    /// The course of a message that comes now.
    fn course_now(&self) -> Course {
        if self.has_sent { Course::ToAndFro } else { Course::OneWay }
    }

    /// What this rank has seen of a class of messages, and where the way is agreed that they take.
    fn known(&mut self, course: Course, class: usize) -> (&mut Seen, &AgreedWay) {
        match course {
            Course::ToAndFro => (&mut self.seen[class], &self.agreed.classes[class]),
            Course::OneWay => {
                let OneWay { agreed, seen } = &mut **self.one_way.get_or_insert_default();
                (&mut seen[class], &agreed.classes[class])
            }
        }
    }

    /// A message of so many bytes is complete now.
    pub(crate) fn complete(&mut self, bytes: usize, now_ns: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.under_way -= 1;
        if self.under_way == 0 {
            self.end_run(now_ns);
        }
    }

    fn end_run(&mut self, now_ns: u64) {
        let bytes = std::mem::take(&mut self.bytes);
        if bytes == 0 {
            return;
        }
        let cycle_bytes = bytes.saturating_add(std::mem::take(&mut self.unasked));
        let this = (self.course, self.class, self.phase);
        let last = self.last.replace((this, now_ns));
        let (side, since_ns) = (self.side, self.since_ns);
        let (course, class, phase) = this;
        let (seen, agreed) = self.known(course, class);
        if seen.phase == phase {
            let per_byte = |since_ns, bytes| now_ns.saturating_sub(since_ns).max(1) as f32 / bytes as f32;
            let cycle = last
                .filter(|&(last, _)| last == this)
                .map_or(f32::INFINITY, |(_, ended_ns)| per_byte(ended_ns, cycle_bytes));
            let cost = Cost { messages: per_byte(since_ns, bytes), cycle };
            seen.learn(cost, agreed, side);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
