//! The element interconnect bus of one chip: twelve ramps, four rings, and the data arbiter.

use crate::layout::{self, Direction, HALF_WAY, RAMPS};
use crate::line::{Lines, NONE};
use crate::rules::{HalfWay, Hold, Order, Rules};
use crate::{BEATS, layout::MIC};

/// Rings of a chip: 0 and 1 clockwise, 2 and 3 counter-clockwise.
pub const RINGS: usize = 4;

/// The segments of every way: `[direction][from]`, in the order in which they are crossed.
const SEGMENTS: [[[u8; HALF_WAY as usize]; RAMPS]; 2] = {
    let mut table = [[[0; HALF_WAY as usize]; RAMPS]; 2];
    let mut from = 0;
    while from < RAMPS {
        let mut i = 0;
        while i < HALF_WAY as usize {
            table[0][from][i] = layout::segment(from, i, Direction::Clockwise) as u8;
            table[1][from][i] = layout::segment(from, i, Direction::Counter) as u8;
            i += 1;
        }
        from += 1;
    }
    table
};

#[derive(Debug, Clone, Default)]
struct Ring {
    /// When each segment can be entered again (for [`Hold::Beats`]: by a packet's first beat).
    segment_free: [u64; RAMPS],
    /// When the ring takes up a packet again.
    next_start: u64,
    /// When the packets on it are off it.
    ends: [u64; 3],
}

#[derive(Debug, Clone, Copy)]
struct Ramp {
    /// First and last line that waits to be sent.
    head: u32,
    tail: u32,
    /// When it can send, and receive, again.
    out_free: u64,
    in_free: u64,
    /// The way that the next packet that goes half way takes, when they go in turns.
    turn: Direction,
}

/// A packet that the arbiter let go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grant {
    pub line: u32,
    /// None within one ramp.
    pub ring: Option<u8>,
    pub from: u8,
    pub to: u8,
    pub hops: u8,
}

#[derive(Debug)]
pub(crate) struct Bus {
    rules: Rules,
    rings: [Ring; RINGS],
    ramps: [Ramp; RAMPS],
    /// A bit for each ramp with something to send.
    waiting: u16,
    /// The ramp after the last one served.
    next: usize,
    /// Ramps that are kept for somebody whose turn it is, for the rest of this look.
    kept: u16,
    /// Packets queued for each direction.
    queued: [u32; 2],
    /// When the arbiter will look; later events are stale.
    pub arbitrates_at: u64,
    /// The next free slot of the command bus.
    pub command_free: u64,
    pub grants: Vec<Grant>,
}

impl Bus {
    pub fn new(rules: Rules) -> Self {
        let ramp = Ramp { head: NONE, tail: NONE, out_free: 0, in_free: 0, turn: Direction::Clockwise };
        Self {
            rules,
            rings: Default::default(),
            ramps: [ramp; RAMPS],
            waiting: 0,
            next: 0,
            kept: 0,
            queued: [0; 2],
            arbitrates_at: u64::MAX,
            command_free: 0,
            grants: Vec::with_capacity(RAMPS),
        }
    }

    /// `line` waits at ramp `from` to go to ramp `to`. Says when the arbiter should look, if that is news.
    #[inline]
    pub fn queue(&mut self, lines: &mut Lines, line: u32, from: usize, to: usize, now: u64) -> Option<u64> {
        let way = layout::path(from, to);
        let direction = match way.direction {
            Some(direction) => Some(direction),
            None if way.hops == 0 => None,
            None => self.half_way(from),
        };
        if let Some(direction) = direction {
            self.queued[direction as usize] += 1;
        }
        let l = &mut lines[line];
        (l.from, l.to, l.hops, l.direction) = (from as u8, to as u8, way.hops, direction);
        l.next = NONE;
        l.queued_at = now;
        let ramp = &mut self.ramps[from];
        if ramp.head == NONE {
            ramp.head = line;
            ramp.tail = line;
            self.waiting |= 1 << from;
            // The arbiter sees a request in the cycle after it was made.
            let at = ramp.out_free.max(now + 1);
            return self.look_at(at);
        }
        lines[ramp.tail].next = line;
        ramp.tail = line;
        None
    }

    /// Asks the arbiter to look at cycle `at`; `Some` when it would not have looked by then.
    pub fn look_at(&mut self, at: u64) -> Option<u64> {
        (at < self.arbitrates_at).then(|| {
            self.arbitrates_at = at;
            at
        })
    }

    /// The direction of a packet that goes half way, when the rules fix it now.
    fn half_way(&mut self, from: usize) -> Option<Direction> {
        match self.rules.half_way {
            HalfWay::FirstFree => None,
            HalfWay::Clockwise => Some(Direction::Clockwise),
            HalfWay::LessQueued if self.queued[1] < self.queued[0] => Some(Direction::Counter),
            HalfWay::LessQueued => Some(Direction::Clockwise),
            HalfWay::InTurns => {
                let turn = self.ramps[from].turn;
                self.ramps[from].turn = match turn {
                    Direction::Clockwise => Direction::Counter,
                    Direction::Counter => Direction::Clockwise,
                };
                Some(turn)
            }
        }
    }

    /// Lets go what can go at `now` (into `grants`), and says when to look again.
    pub fn arbitrate(&mut self, lines: &Lines, now: u64, memory_has_room: bool) -> u64 {
        self.grants.clear();
        self.kept = 0;
        let mut again = u64::MAX;
        if self.waiting & 1 << MIC != 0 {
            again = again.min(self.consider(MIC, lines, now, memory_has_room, false));
        }
        let others = self.waiting & !(1 << MIC);
        match self.rules.order {
            Order::RoundRobin => {
                // Bits rotated so that the ramp whose turn it is comes first.
                let next = self.next;
                let mut turned = (u32::from(others) >> next | u32::from(others) << (RAMPS - next)) & 0xfff;
                while turned != 0 {
                    let ramp = (turned.trailing_zeros() as usize + next) % RAMPS;
                    turned &= turned - 1;
                    again = again.min(self.consider(ramp, lines, now, memory_has_room, true));
                }
            }
            Order::Fixed => {
                let mut left = others;
                while left != 0 {
                    let ramp = left.trailing_zeros() as usize;
                    left &= left - 1;
                    again = again.min(self.consider(ramp, lines, now, memory_has_room, true));
                }
            }
            Order::OldestFirst => {
                let mut order = [(0, 0); RAMPS];
                let mut n = 0;
                let mut left = others;
                while left != 0 {
                    let ramp = left.trailing_zeros() as usize;
                    left &= left - 1;
                    order[n] = (lines[self.ramps[ramp].head].queued_at, ramp);
                    n += 1;
                }
                order[..n].sort_unstable();
                for &(_, ramp) in &order[..n] {
                    again = again.min(self.consider(ramp, lines, now, memory_has_room, true));
                }
            }
        }
        again
    }

    /// Lets the first line of `ramp` go at `now` if it can; says when to look at the ramp again.
    #[inline]
    fn consider(&mut self, ramp: usize, lines: &Lines, now: u64, memory_has_room: bool, turn: bool) -> u64 {
        let index = self.ramps[ramp].head;
        let line = &lines[index];
        let (to, hops) = (line.to as usize, line.hops);
        if to == MIC && !memory_has_room {
            return u64::MAX;
        }
        let receives = self.ramps[to].in_free.saturating_sub(u64::from(hops));
        let mut earliest = self.ramps[ramp].out_free.max(now).max(receives);
        if self.kept & 1 << to != 0 {
            // Whoever it is kept for says when to look again.
            return u64::MAX;
        }
        let mut ring = None;
        if hops > 0 {
            let (mut best, mut best_ring) = (u64::MAX, 0);
            let rings = match line.direction {
                Some(Direction::Clockwise) => 0..2,
                Some(Direction::Counter) => 2..4,
                None => 0..4,
            };
            for r in rings {
                let at = self.ring_free(r, ramp, hops, earliest);
                if at < best {
                    (best, best_ring) = (at, r);
                }
            }
            earliest = best;
            ring = Some(best_ring);
        }
        if earliest > now {
            if earliest == receives {
                // It waits for nothing but its destination: nobody who has less far to go, or more, takes its turn.
                self.kept |= 1 << to;
            }
            return earliest;
        }
        self.go(ramp, to, hops, ring, now);
        if let Some(direction) = line.direction {
            self.queued[direction as usize] -= 1;
        }
        self.grants.push(Grant {
            line: index,
            ring: ring.map(|r| r as u8),
            from: ramp as u8,
            to: to as u8,
            hops,
        });
        self.ramps[ramp].head = line.next;
        if turn {
            self.next = (ramp + 1) % RAMPS;
        }
        if line.next == NONE {
            self.ramps[ramp].tail = NONE;
            self.waiting &= !(1 << ramp);
            u64::MAX
        } else {
            now + BEATS
        }
    }

    /// From when on ring `r` takes a packet from `from` over `hops` segments, not before `at`.
    #[inline]
    fn ring_free(&self, r: usize, from: usize, hops: u8, at: u64) -> u64 {
        let ring = &self.rings[r];
        let mut at = at.max(ring.next_start);
        let alone = hops >= self.rules.alone_from_hops;
        let ends = &ring.ends[..self.rules.per_ring as usize];
        at = at.max(if alone {
            *ends.iter().max().expect("at least one")
        } else {
            *ends.iter().min().expect("at least one")
        });
        let way = &SEGMENTS[r / 2][from][..hops as usize];
        match self.rules.hold {
            Hold::Way => {
                for &s in way {
                    at = at.max(ring.segment_free[s as usize]);
                }
            }
            Hold::Beats => {
                for (i, &s) in way.iter().enumerate() {
                    at = at.max(ring.segment_free[s as usize].saturating_sub(i as u64));
                }
            }
        }
        at
    }

    #[inline]
    fn go(&mut self, from: usize, to: usize, hops: u8, ring: Option<usize>, now: u64) {
        let end = now + u64::from(hops) + BEATS;
        self.ramps[from].out_free = now + BEATS;
        self.ramps[to].in_free = end;
        let Some(r) = ring else { return };
        let rules = &self.rules;
        let ring = &mut self.rings[r];
        ring.next_start = now + rules.start_interval;
        let ends = &mut ring.ends[..rules.per_ring as usize];
        let (first, _) = ends.iter().enumerate().min_by_key(|(_, e)| **e).expect("at least one");
        ends[first] = end;
        if hops >= rules.alone_from_hops {
            ring.segment_free.fill(end + rules.gap);
            return;
        }
        let way = &SEGMENTS[r / 2][from][..hops as usize];
        match rules.hold {
            Hold::Way => {
                for &s in way {
                    ring.segment_free[s as usize] = end + rules.gap;
                }
            }
            Hold::Beats => {
                for (i, &s) in way.iter().enumerate() {
                    ring.segment_free[s as usize] = now + i as u64 + BEATS + rules.gap;
                }
            }
        }
    }
}
