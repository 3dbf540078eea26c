//! A ring: which packets are on it, and when it takes up the next one.

use crate::BEATS;
use crate::layout::{HALF_WAY, RAMPS};
use crate::rules::{Hold, Rules};

/// Hops of a packet on a ring, from none; rounded up, so that a place in a table is found by shifts.
const HOPS: usize = 8;

/// Ramps in a table, twice around the ring and rounded up.
const AROUND: usize = 32;

/// For how long a packet that starts delays another one in its direction.
#[derive(Debug)]
pub(crate) struct Delays {
    /// `[direction][hops][(other's ramp - ramp + RAMPS) * HOPS + other's hops]`.
    cycles: [[[u16; AROUND * HOPS]; HOPS]; 2],
    /// The longest of them.
    longest: u64,
}

impl Delays {
    /// A packet keeps the segments of its way and the margin on either side of it. Under [`Hold::Beats`] it frees each
    /// one after its eight beats; under [`Hold::Way`] it frees all of them when it ends.
    pub(crate) fn new(rules: &Rules) -> Self {
        let margins = 2 * usize::from(rules.margin);
        let delay = |hops: usize, ahead: usize, others: usize| {
            let gap = if ahead == 0 { 0 } else { rules.gap as usize };
            // The other one meets the kept segments ahead, or comes from behind and meets their start.
            let (reaches, before) = if ahead < hops + margins {
                (ahead, 0)
            } else if RAMPS - ahead < others + margins {
                (0, RAMPS - ahead)
            } else {
                return 0;
            };
            match rules.hold {
                Hold::Beats => (BEATS as usize + gap + reaches).saturating_sub(before) as u16,
                Hold::Way => (BEATS as usize + gap + hops) as u16,
            }
        };
        let mut cycles = [[[0; AROUND * HOPS]; HOPS]; 2];
        let mut longest = 0;
        let pairs =
            (1..=HALF_WAY.into()).flat_map(|hops| (1..=HALF_WAY.into()).map(move |others| (hops, others)));
        for (hops, others) in pairs {
            for ahead in 0..2 * RAMPS {
                let cycle = delay(hops, ahead % RAMPS, others);
                cycles[0][hops][ahead * HOPS + others] = cycle;
                cycles[1][hops][(2 * RAMPS - ahead) * HOPS + others] = cycle;
                longest = longest.max(cycle.into());
            }
        }
        Self { cycles, longest }
    }

    /// The delays by a packet from ramp `from` over `hops` segments.
    #[inline]
    pub(crate) fn by(&self, direction: usize, from: usize, hops: u8) -> DelaysBy<'_> {
        let of = &self.cycles[direction][usize::from(hops) % HOPS];
        DelaysBy { of, start: ((RAMPS - from) * HOPS) as u8 }
    }

    /// The place of a packet from ramp `other` over `hops` segments in [`DelaysBy`].
    #[inline]
    pub(crate) fn place(other: usize, hops: u8) -> u8 {
        (other * HOPS) as u8 + hops
    }
}

/// The delays by one packet.
#[derive(Clone, Copy)]
pub(crate) struct DelaysBy<'a> {
    of: &'a [u16; AROUND * HOPS],
    /// Where ramp 0 is in the table.
    start: u8,
}

impl DelaysBy<'_> {
    /// For how long it delays the packet at `place`.
    #[inline]
    pub(crate) fn at(self, place: u8) -> u16 {
        self.of[usize::from(self.start.wrapping_add(place))]
    }
}

#[derive(Debug)]
pub(crate) struct Ring {
    direction: usize,
    /// When the ring takes up a packet again, and one that wants it for itself.
    open: u64,
    empty: u64,
    /// When the packets on it are off it. Places that the rules do not give away are taken for ever.
    ends: [u64; 3],
    /// When the last packet of each ramp and number of hops started, and a bit for each that may still delay others.
    started: [[u64; HOPS]; RAMPS],
    recent: u128,
}

impl Ring {
    pub(crate) fn new(rules: &Rules, direction: usize) -> Self {
        let end = |place| if place < rules.per_ring.into() { 0 } else { u64::MAX };
        let started = [[0; HOPS]; RAMPS];
        Self { direction, open: 0, empty: 0, ends: std::array::from_fn(end), started, recent: 0 }
    }

    /// When it takes up a packet, whatever its way is.
    #[inline]
    pub(crate) fn open(&self, alone: bool) -> u64 {
        if alone { self.open.max(self.empty) } else { self.open }
    }

    /// When it takes up the packet at `place` of the delays, which is the first of its ramp at `now`.
    #[inline]
    pub(crate) fn takes(&mut self, delays: &Delays, alone: bool, place: u8, now: u64) -> u64 {
        let (mut at, mut left) = (self.open(alone), self.recent);
        while left != 0 {
            let one = left.trailing_zeros() as usize;
            left &= left - 1;
            let (ramp, its) = (one / HOPS, one % HOPS);
            let start = self.started[ramp % RAMPS][its];
            at = at.max(start + u64::from(delays.by(self.direction, ramp % RAMPS, its as u8).at(place)));
            if start + delays.longest <= now {
                self.recent &= !(1 << one);
            }
        }
        at
    }

    /// Takes up a packet, in the place of the one that left first.
    #[inline]
    pub(crate) fn take(&mut self, rules: &Rules, alone: bool, from: usize, hops: u8, now: u64) {
        let end = now + u64::from(hops) + BEATS;
        let [a, b, c] = &mut self.ends;
        let first = if a <= b { a } else { b };
        *(if first <= c { first } else { c }) = end;
        let room = self.ends[0].min(self.ends[1]).min(self.ends[2]);
        self.empty = self.empty.max(end);
        // A packet that has its ring alone keeps all others off it.
        self.open = if alone { end } else { room.max(now + rules.start_interval) };
        self.started[from][usize::from(hops) % HOPS] = now;
        self.recent |= 1 << (from * HOPS + usize::from(hops));
    }
}
