//! The element interconnect bus of one chip: twelve ramps, four rings, and the data arbiter.

mod ring;
mod times;

use crate::ids::{LineId, byte};
use crate::layout::{self, HALF_WAY, MIC, Path, RAMPS, RingDirection};
use crate::line::Lines;
use crate::outcome::Chip;
use crate::rules::{HalfWay, Order, Rules};
use crate::sizes::{BEATS, RINGS};
use ring::{Delays, Ring};
use times::{NEVER, ROOM, RampTimes, Soon};

/// The shortest way between any two ramps.
static PATHS: [[Path; RAMPS]; RAMPS] = {
    let mut paths = [[layout::path(0, 0); RAMPS]; RAMPS];
    let mut i = 0;
    while i < RAMPS * RAMPS {
        paths[i / RAMPS][i % RAMPS] = layout::path(i / RAMPS, i % RAMPS);
        i += 1;
    }
    paths
};

/// The first line of a ramp.
#[derive(Debug, Clone, Copy)]
struct First {
    line: LineId,
    /// Where it goes, how far, and in which direction; none for either, or when it stays within the ramp.
    to: u8,
    hops: u8,
    direction: Option<RingDirection>,
}

impl First {
    const NONE: Self = Self { line: LineId::NONE, to: 0, hops: 0, direction: None };
}

/// A packet that the arbiter let go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grant {
    pub line: LineId,
    /// None within one ramp.
    pub ring: Option<u8>,
    pub from: u8,
    pub to: u8,
    pub hops: u8,
}

#[derive(Debug)]
pub(crate) struct Bus {
    rules: Rules,
    delays: Delays,
    rings: [Ring; RINGS],
    /// By ramp: the first line that waits there.
    first: [First; ROOM],
    /// When it can go.
    times: RampTimes,
    /// Ramps whose first line goes there.
    bound: [u16; ROOM],
    /// The last line that waits there.
    tails: [LineId; RAMPS],
    /// When it can receive again.
    in_free: [u64; ROOM],
    /// The way that its next packet that goes half way takes, when they go in turns.
    turns: [RingDirection; RAMPS],
    /// A bit for each ramp with something to send.
    waiting: u16,
    /// The ramp after the last one served.
    next: usize,
    /// Packets queued for each direction.
    queued: [u32; 2],
    /// When the arbiter will look; later events are stale.
    pub arbitrates_at: u64,
    /// The next free slot of the command bus.
    command_free: u64,
    /// Commands on the command bus.
    commands: u64,
    pub grants: Vec<Grant>,
    /// Packets by ring, ramp they left, and hops; those within a ramp count at ring 0.
    carried: [[[u64; HALF_WAY as usize + 1]; RAMPS]; RINGS],
}

impl Bus {
    pub(crate) fn new(rules: Rules) -> Self {
        Self {
            delays: Delays::new(&rules),
            rings: std::array::from_fn(|ring| Ring::new(&rules, ring / 2)),
            rules,
            first: [First::NONE; ROOM],
            times: RampTimes::new(),
            bound: [0; ROOM],
            tails: [LineId::NONE; RAMPS],
            in_free: [0; ROOM],
            turns: [RingDirection::Clockwise; RAMPS],
            waiting: 0,
            next: 0,
            queued: [0; 2],
            arbitrates_at: u64::MAX,
            command_free: 0,
            commands: 0,
            grants: Vec::with_capacity(RAMPS),
            carried: Default::default(),
        }
    }

    /// Takes the next slots of the command bus for so many commands; the first of them.
    #[inline]
    pub(crate) fn command_slots(&mut self, now: u64, interval: u64, commands: u32) -> u64 {
        let first = self.command_free.max(now);
        self.command_free = first + interval * u64::from(commands);
        self.commands += u64::from(commands);
        first
    }

    /// `line` waits at ramp `from` to go to ramp `to`. Says when the arbiter should look, if that is news.
    #[inline]
    pub(crate) fn queue(
        &mut self,
        lines: &mut Lines,
        line: LineId,
        from: usize,
        to: usize,
        now: u64,
    ) -> Option<u64> {
        let way = PATHS[from][to];
        let direction = match way.direction {
            Some(direction) => Some(direction),
            None if way.hops == 0 => None,
            None => self.half_way(from),
        };
        if let Some(direction) = direction {
            self.queued[direction as usize] += 1;
        }
        let l = &mut lines[line];
        (l.from, l.to, l.hops, l.direction) = (byte(from), byte(to), way.hops, direction);
        l.next = LineId::NONE;
        l.queued_at = now;
        let tail = std::mem::replace(&mut self.tails[from], line);
        if self.waiting & 1 << from != 0 {
            lines[tail].next = line;
            return None;
        }
        // The arbiter sees a request in the cycle after it was made.
        self.times.draw_near(now);
        let at = self.times.sends(from).max(now + 1);
        self.becomes_first(from, line, lines, now);
        self.times.settle(from);
        self.look_at(at)
    }

    /// Asks the arbiter to look at cycle `at`; `Some` when it would not have looked by then.
    pub(crate) fn look_at(&mut self, at: u64) -> Option<u64> {
        (at < self.arbitrates_at).then(|| {
            self.arbitrates_at = at;
            at
        })
    }

    /// Adds the commands and packets since the last time to the counters.
    pub(crate) fn count(&mut self, counters: &mut Chip) {
        counters.commands += std::mem::take(&mut self.commands);
        for (r, ramps) in std::mem::take(&mut self.carried).iter().enumerate() {
            let direction = if r < RINGS / 2 { RingDirection::Clockwise } else { RingDirection::Counter };
            for (from, hops, packets) in
                (0..RAMPS).flat_map(|from| (0..).zip(ramps[from]).map(move |(hops, n)| (from, hops, n)))
            {
                counters.sent[from] += packets;
                counters.received[layout::ahead(from, hops, direction)] += packets;
                if hops > 0 {
                    counters.ring_packets[r] += packets;
                }
                counters.ring_hops[r] += packets * hops as u64;
                for i in 0..hops {
                    counters.segment_packets[direction as usize][layout::segment(from, i, direction)] +=
                        packets;
                }
            }
        }
    }

    /// The direction of a packet that goes half way, when the rules fix it now.
    fn half_way(&mut self, from: usize) -> Option<RingDirection> {
        match self.rules.half_way {
            HalfWay::FirstFree => None,
            HalfWay::Clockwise => Some(RingDirection::Clockwise),
            HalfWay::LessQueued if self.queued[1] < self.queued[0] => Some(RingDirection::Counter),
            HalfWay::LessQueued => Some(RingDirection::Clockwise),
            HalfWay::InTurns => {
                let turn = self.turns[from];
                self.turns[from] = match turn {
                    RingDirection::Clockwise => RingDirection::Counter,
                    RingDirection::Counter => RingDirection::Clockwise,
                };
                Some(turn)
            }
        }
    }

    /// Lets go what can go at `now` (into `grants`), and says when to look again.
    pub(crate) fn arbitrate(&mut self, lines: &Lines, now: u64, memory_has_room: bool) -> u64 {
        self.grants.clear();
        let soon = self.times.draw_near(now);
        let (memory, others) = (self.waiting & 1 << MIC, self.waiting & !(1 << MIC));
        // The ramps in the order in which they are looked at: sets, each in ring order.
        let mut sets = [0; RAMPS + 1];
        let used = match self.rules.order {
            Order::RoundRobin => {
                let turned = others >> self.next << self.next;
                sets[..3].copy_from_slice(&[memory, turned, others & !turned]);
                3
            }
            Order::Fixed => {
                sets[..2].copy_from_slice(&[memory, others]);
                2
            }
            Order::OldestFirst => {
                sets[0] = memory;
                sets[1..].copy_from_slice(&self.oldest_first(others, lines));
                sets.len()
            }
        };
        // Memory without room takes nothing: as if it were kept for somebody whose turn it is.
        let (mut kept, mut again) = (u16::from(!memory_has_room) << MIC, NEVER);
        for set in &sets[..used] {
            let mut left = *set;
            while left != 0 {
                let ramp = left.trailing_zeros() as usize;
                left &= left - 1;
                // The packet for which a destination is kept says when to look again.
                if kept >> self.first[ramp].to & 1 != 0 {
                    continue;
                }
                let earliest = self.times.earliest(ramp);
                if earliest > soon {
                    // It waits for its destination alone: no packet with a shorter or longer way takes its turn.
                    kept |= u16::from(self.times.awaits_destination(ramp)) << self.first[ramp].to;
                    again = again.min(earliest);
                } else if self.go(ramp, now, soon, lines) {
                    again = again.min(soon + BEATS as Soon);
                }
            }
        }
        if again == NEVER { u64::MAX } else { self.times.cycle(again) }
    }

    /// Ramps of a set, one by one.
    #[cold]
    fn oldest_first(&self, ramps: u16, lines: &Lines) -> [u16; RAMPS] {
        let mut order = [(u64::MAX, 0); RAMPS];
        for (ramp, place) in order.iter_mut().enumerate().filter(|(ramp, _)| ramps & 1 << ramp != 0) {
            *place = (lines[self.first[ramp].line].queued_at, 1 << ramp);
        }
        order.sort_unstable();
        order.map(|(_, ramp)| ramp)
    }

    /// The first line of `ramp` starts, and those that wait may have to wait longer. Whether another one waits there.
    #[inline]
    fn go(&mut self, ramp: usize, now: u64, soon: Soon, lines: &Lines) -> bool {
        let First { line, to, hops, direction } = self.first[ramp];
        let ring = self.times.ring(ramp, soon);
        self.times.set_sends(ramp, now + BEATS);
        self.grants.push(Grant { line, ring, from: byte(ramp), to, hops });
        if let Some(direction) = direction {
            self.queued[direction as usize] -= 1;
        }
        if ramp != MIC {
            self.next = ramp + 1;
        }
        self.carried[usize::from(ring.unwrap_or(0))][ramp][usize::from(hops)] += 1;
        let to = usize::from(to);
        self.in_free[to] = now + u64::from(hops) + BEATS;
        let mut bound = self.bound[to];
        while bound != 0 {
            self.destination_settled(bound.trailing_zeros() as usize);
            bound &= bound - 1;
        }
        if let Some(ring) = ring {
            let r = usize::from(ring);
            let ring = &mut self.rings[r];
            ring.take(&self.rules, hops >= self.rules.alone_from_hops, ramp, hops, now);
            let by = self.delays.by(r / 2, ramp, hops);
            self.times.delay(r, soon, by, ring.open(false), ring.open(true));
        }
        let next = lines[line].next;
        if next == LineId::NONE {
            self.waiting &= !(1 << ramp);
            self.bound[to] &= !(1 << ramp);
        } else {
            self.becomes_first(ramp, next, lines, now);
        }
        self.times.settle_all();
        next != LineId::NONE
    }

    /// The first line of `ramp` learns when its destination can receive it.
    #[inline]
    fn destination_settled(&mut self, ramp: usize) {
        let First { to, hops, .. } = self.first[ramp];
        self.times.set_receives(ramp, self.in_free[usize::from(to)].saturating_sub(hops.into()));
    }

    /// `line` is the first at `ramp` at `now`.
    #[inline]
    fn becomes_first(&mut self, ramp: usize, line: LineId, lines: &Lines, now: u64) {
        let l = &lines[line];
        let (to, hops, direction) = (l.to, l.hops, l.direction);
        let first = &mut self.first[ramp];
        first.line = line;
        // When it goes the way of the one before, that one's times are kept.
        if self.waiting >> ramp & 1 != 0 && (first.to, first.direction) == (to, direction) {
            return;
        }
        self.waiting |= 1 << ramp;
        self.bound[usize::from(first.to)] &= !(1 << ramp);
        self.bound[usize::from(to)] |= 1 << ramp;
        (first.to, first.hops, first.direction) = (to, hops, direction);
        let (place, alone) = (Delays::place(ramp, hops), hops >= self.rules.alone_from_hops);
        self.times.set_way(ramp, place, hops, alone);
        for (r, ring) in self.rings.iter_mut().enumerate() {
            if hops > 0 && direction.is_none_or(|only| only as usize == r / 2) {
                self.times.set_takes(r, ramp, ring.takes(&self.delays, alone, place, now));
            }
        }
        self.destination_settled(ramp);
    }
}
