//! The element interconnect bus of one chip: twelve ramps, four rings, and the data arbiter.

use crate::layout::{self, HALF_WAY, RAMPS, RingDirection};
use crate::line::{Line, Lines, NONE};
use crate::outcome::Chip;
use crate::rules::{HalfWay, Hold, Order, Rules};
use crate::{BEATS, layout::MIC};

/// Rings of a chip: 0 and 1 clockwise, 2 and 3 counter-clockwise.
pub(crate) const RINGS: usize = 4;

/// The segments from each ramp on, all around: `[direction][from]`, in the order in which they are crossed.
const SEGMENTS: [[[u8; RAMPS]; RAMPS]; 2] = {
    let mut table = [[[0; RAMPS]; RAMPS]; 2];
    let mut from = 0;
    while from < RAMPS {
        let mut i = 0;
        while i < RAMPS {
            table[0][from][i] = layout::segment(from, i, RingDirection::Clockwise) as u8;
            table[1][from][i] = layout::segment(from, i, RingDirection::Counter) as u8;
            i += 1;
        }
        from += 1;
    }
    table
};

/// The segments that a packet from ramp `from` over `hops` segments keeps: its way, and the margin on either side.
#[inline]
fn kept(margin: u8, direction: usize, from: usize, hops: u8) -> &'static [u8] {
    let margin = margin as usize;
    let start = if direction == 0 { from + RAMPS - margin } else { from + margin } % RAMPS;
    &SEGMENTS[direction][start][..hops as usize + 2 * margin]
}

#[derive(Debug, Clone)]
struct Ring {
    /// When the ring takes up a packet again, and one that wants it for itself.
    open: u64,
    empty: u64,
    /// When each segment can be entered again (for [`Hold::Beats`]: by a packet's first beat) by a packet from the same
    /// ramp; others wait for the gap as well.
    segments: [u64; RAMPS],
    /// The ramp that the last packet on each segment came from.
    owners: [u8; RAMPS],
    /// When the packets on it are off it. Places that the rules do not give away are taken for ever.
    ends: [u64; 3],
}

impl Ring {
    fn new(rules: &Rules) -> Self {
        let end = |place| if place < rules.per_ring.into() { 0 } else { u64::MAX };
        Self { open: 0, empty: 0, segments: [0; RAMPS], owners: [0; RAMPS], ends: std::array::from_fn(end) }
    }

    /// When a packet from ramp `from` over `hops` segments finds its way free.
    #[inline]
    fn way_free(&self, rules: &Rules, direction: usize, from: usize, hops: u8) -> u64 {
        let by_beats = u64::from(rules.hold == Hold::Beats);
        let margin = u64::from(rules.margin) * by_beats;
        kept(rules.margin, direction, from, hops).iter().zip(0..).fold(0, |at, (&s, i)| {
            let gap = if self.owners[s as usize] == from as u8 { 0 } else { rules.gap };
            at.max((self.segments[s as usize] + gap + margin).saturating_sub(i * by_beats))
        })
    }

    /// Takes up a packet, until `end`, in the place of the one that left first.
    #[inline]
    fn take(&mut self, rules: &Rules, alone: bool, now: u64, end: u64) {
        let [a, b, c] = &mut self.ends;
        let first = if a <= b { a } else { b };
        *(if first <= c { first } else { c }) = end;
        let room = self.ends[0].min(self.ends[1]).min(self.ends[2]);
        self.empty = self.empty.max(end);
        // A packet that has its ring alone keeps all others off it.
        self.open = if alone { end } else { room.max(now + rules.start_interval) };
    }
}

#[derive(Debug, Clone, Copy)]
struct Ramp {
    /// First and last line that waits to be sent.
    head: u32,
    tail: u32,
    /// Where the first one goes, how far, and which segments it keeps in each direction.
    to: u8,
    hops: u8,
    ways: [u16; 2],
    /// When each ring takes it; never, where it does not go.
    rings: [u64; RINGS],
    /// When ramp and rings let it go. Its destination may still be busy.
    goes: u64,
    /// When it can send, and receive, again.
    out_free: u64,
    in_free: u64,
    /// The way that the next packet that goes half way takes, when they go in turns.
    turn: RingDirection,
}

impl Ramp {
    const IDLE: Self = Self {
        head: NONE,
        tail: NONE,
        to: 0,
        hops: 0,
        ways: [0; 2],
        rings: [0; RINGS],
        goes: 0,
        out_free: 0,
        in_free: 0,
        turn: RingDirection::Clockwise,
    };

    #[inline]
    fn look(&mut self) {
        let [a, b, c, d] = self.rings;
        self.goes = self.out_free.max(a.min(b).min(c.min(d)));
    }
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
    /// What packets keep, as bits: `[direction][from][hops]`.
    ways: [[[u16; HALF_WAY as usize + 1]; RAMPS]; 2],
    rings: [Ring; RINGS],
    ramps: [Ramp; RAMPS],
    /// A bit for each ramp with something to send.
    waiting: u16,
    /// Of these, ramps whose first line may go in each direction.
    users: [u16; 2],
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
    /// Packets by ring, ramp they left, and hops; those within a ramp count at ring 0.
    carried: [[[u64; HALF_WAY as usize + 1]; RAMPS]; RINGS],
}

impl Bus {
    pub(crate) fn new(rules: Rules) -> Self {
        Self {
            rings: std::array::from_fn(|_| Ring::new(&rules)),
            ways: std::array::from_fn(|d| {
                std::array::from_fn(|from| {
                    std::array::from_fn(|hops| {
                        kept(rules.margin, d, from, hops as u8).iter().fold(0, |bits, s| bits | 1 << s)
                    })
                })
            }),
            rules,
            ramps: [Ramp::IDLE; RAMPS],
            waiting: 0,
            users: [0; 2],
            next: 0,
            kept: 0,
            queued: [0; 2],
            arbitrates_at: u64::MAX,
            command_free: 0,
            grants: Vec::with_capacity(RAMPS),
            carried: Default::default(),
        }
    }

    /// `line` waits at ramp `from` to go to ramp `to`. Says when the arbiter should look, if that is news.
    #[inline]
    pub(crate) fn queue(
        &mut self,
        lines: &mut Lines,
        line: u32,
        from: usize,
        to: usize,
        now: u64,
    ) -> Option<u64> {
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
            ramp.tail = line;
            // The arbiter sees a request in the cycle after it was made.
            let at = ramp.out_free.max(now + 1);
            self.first(from, line, lines);
            return self.look_at(at);
        }
        lines[ramp.tail].next = line;
        ramp.tail = line;
        None
    }

    /// Asks the arbiter to look at cycle `at`; `Some` when it would not have looked by then.
    pub(crate) fn look_at(&mut self, at: u64) -> Option<u64> {
        (at < self.arbitrates_at).then(|| {
            self.arbitrates_at = at;
            at
        })
    }

    /// Adds the packets carried since the last time to the counters.
    pub(crate) fn count(&mut self, counters: &mut Chip) {
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
                let turn = self.ramps[from].turn;
                self.ramps[from].turn = match turn {
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
        self.kept = 0;
        let others = self.waiting & !(1 << MIC);
        let mut again = self.consider_all(self.waiting & 1 << MIC, lines, now, memory_has_room);
        match self.rules.order {
            Order::RoundRobin => {
                let turned = others >> self.next << self.next;
                again = again.min(self.consider_all(turned, lines, now, memory_has_room));
                again = again.min(self.consider_all(others & !turned, lines, now, memory_has_room));
            }
            Order::Fixed => again = again.min(self.consider_all(others, lines, now, memory_has_room)),
            Order::OldestFirst => {
                let mut order = [(u64::MAX, 0); RAMPS];
                for (ramp, place) in order.iter_mut().enumerate().filter(|(ramp, _)| others & 1 << ramp != 0)
                {
                    *place = (lines[self.ramps[ramp].head].queued_at, 1 << ramp);
                }
                order.sort_unstable();
                for (_, ramp) in order {
                    again = again.min(self.consider_all(ramp, lines, now, memory_has_room));
                }
            }
        }
        again
    }

    /// Looks at the ramps of a set, in ring order; says when to look again.
    fn consider_all(&mut self, mut ramps: u16, lines: &Lines, now: u64, memory_has_room: bool) -> u64 {
        let mut again = u64::MAX;
        while ramps != 0 {
            let ramp = ramps.trailing_zeros() as usize;
            ramps &= ramps - 1;
            again = again.min(self.consider(ramp, lines, now, memory_has_room));
        }
        again
    }

    /// Lets the first line of `ramp` go at `now` if it can; says when to look at the ramp again.
    #[inline]
    fn consider(&mut self, ramp: usize, lines: &Lines, now: u64, memory_has_room: bool) -> u64 {
        let &Ramp { head, to, hops, goes, .. } = &self.ramps[ramp];
        // The packet for which a destination is kept says when to look again.
        if to as usize == MIC && !memory_has_room || self.kept & 1 << to != 0 {
            return u64::MAX;
        }
        let receives = self.ramps[to as usize].in_free.saturating_sub(hops.into());
        let earliest = goes.max(receives);
        if earliest > now {
            // It waits for its destination alone: no packet with a shorter or longer way takes its turn.
            self.kept |= u16::from(earliest == receives) << to;
            return earliest;
        }
        let rings = &self.ramps[ramp].rings;
        let ring = (hops > 0).then(|| rings.iter().position(|&at| at <= now).expect("it goes now") as u8);
        self.go(ramp, to, hops, ring, now);
        self.grants.push(Grant { line: head, ring, from: ramp as u8, to, hops });
        if let Some(direction) = lines[head].direction {
            self.queued[direction as usize] -= 1;
        }
        if ramp != MIC {
            self.next = (ramp + 1) % RAMPS;
        }
        let next = lines[head].next;
        if next == NONE {
            (self.ramps[ramp].head, self.ramps[ramp].tail) = (NONE, NONE);
            self.waiting &= !(1 << ramp);
            self.users = self.users.map(|users| users & !(1 << ramp));
            u64::MAX
        } else {
            self.first(ramp, next, lines);
            now + BEATS
        }
    }

    /// `line` is the first at `ramp` now.
    #[inline]
    fn first(&mut self, ramp: usize, line: u32, lines: &Lines) {
        let Line { to, hops, direction, .. } = lines[line];
        let alone = hops >= self.rules.alone_from_hops;
        self.waiting |= 1 << ramp;
        let r = &mut self.ramps[ramp];
        (r.head, r.to, r.hops) = (line, to, hops);
        r.rings = [if hops == 0 { 0 } else { u64::MAX }; RINGS];
        for d in [RingDirection::Clockwise, RingDirection::Counter] {
            let uses = hops > 0 && direction.is_none_or(|only| only == d);
            let d = d as usize;
            self.users[d] = self.users[d] & !(1 << ramp) | u16::from(uses) << ramp;
            if !uses {
                continue;
            }
            r.ways[d] = self.ways[d][ramp][hops as usize];
            for i in [2 * d, 2 * d + 1] {
                let ring = &self.rings[i];
                let open = if alone { ring.open.max(ring.empty) } else { ring.open };
                r.rings[i] = open.max(ring.way_free(&self.rules, d, ramp, hops));
            }
        }
        r.look();
    }

    /// A packet starts, and those that wait may have to wait longer.
    #[inline]
    fn go(&mut self, from: usize, to: u8, hops: u8, ring: Option<u8>, now: u64) {
        let end = now + u64::from(hops) + BEATS;
        self.ramps[from].out_free = now + BEATS;
        self.ramps[to as usize].in_free = end;
        self.carried[ring.unwrap_or(0) as usize][from][hops as usize] += 1;
        let Some(r) = ring else { return };
        let (rules, r, d) = (&self.rules, r as usize, r as usize / 2);
        let ring = &mut self.rings[r];
        let margin = u64::from(rules.margin);
        for (&s, i) in kept(rules.margin, d, from, hops).iter().zip(0..) {
            ring.segments[s as usize] = if rules.hold == Hold::Way { end } else { now + BEATS + i - margin };
            ring.owners[s as usize] = from as u8;
        }
        ring.take(rules, hops >= rules.alone_from_hops, now, end);
        let (open, empty) = (ring.open, ring.open.max(ring.empty));
        let way = self.ways[d][from][hops as usize];
        let mut left = self.users[d] & !(1 << from);
        while left != 0 {
            let other = left.trailing_zeros() as usize;
            left &= left - 1;
            let ramp = &mut self.ramps[other];
            let at = if ramp.hops >= rules.alone_from_hops { empty } else { open };
            let passed = if ramp.ways[d] & way == 0 { 0 } else { ring.way_free(rules, d, other, ramp.hops) };
            ramp.rings[r] = ramp.rings[r].max(at).max(passed);
            ramp.look();
        }
    }
}
