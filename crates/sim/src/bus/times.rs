//! When the first line of each ramp can go. Times are lanes of sixteen short numbers, one for each ramp, so that a few
//! vector instructions settle all ramps at once.

use super::ring::DelaysBy;
use crate::layout::RAMPS;
use crate::sizes::RINGS;

/// Ramps in tables, rounded up.
pub(super) const ROOM: usize = 16;

/// A cycle, as a distance from the base of the [`RampTimes`].
pub(super) type Soon = i16;

/// Later than any cycle.
pub(super) const NEVER: Soon = Soon::MAX;

/// Cycles after which the base moves. Nothing on a bus is decided for more than some two thousand cycles ahead
/// ([`Parameters::check`](crate::Parameters::check)), so that no time comes near [`NEVER`].
const SPAN: u64 = 1 << 14;

/// A number for each ramp.
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
struct Lanes([Soon; ROOM]);

#[derive(Debug)]
pub(super) struct RampTimes {
    base: u64,
    /// When each ring takes the first line of each ramp; never, where it does not go. The last one is for lines that
    /// stay within their ramp and need no ring.
    takes: [Lanes; RINGS + 1],
    /// When each ramp can send again.
    sends: Lanes,
    /// When the line may start for its destination to be able to receive it.
    receives: Lanes,
    /// When the line can go, as far as is known.
    earliest: Lanes,
    /// All bits of a lane are set when the line wants a ring for itself.
    alone: Lanes,
    /// The place of each line in tables of delays.
    places: [u8; ROOM],
}

impl RampTimes {
    pub(super) fn new() -> Self {
        let never = Lanes([NEVER; ROOM]);
        let past = Lanes([0; ROOM]);
        Self {
            base: 0,
            takes: [never; RINGS + 1],
            sends: past,
            receives: past,
            earliest: never,
            alone: past,
            places: [0; ROOM],
        }
    }

    /// `now` as a distance from the base, which moves when it is far away: call this before anything else of a cycle.
    #[inline]
    pub(super) fn draw_near(&mut self, now: u64) -> Soon {
        if now - self.base >= SPAN {
            self.move_base(now);
        }
        (now - self.base) as Soon
    }

    #[cold]
    fn move_base(&mut self, now: u64) {
        let by = Soon::try_from(now - self.base).unwrap_or(NEVER);
        let lanes = [&mut self.sends, &mut self.receives, &mut self.earliest];
        for lane in lanes.into_iter().chain(&mut self.takes).flat_map(|lanes| &mut lanes.0) {
            // What is past stays past.
            *lane = if *lane == NEVER { NEVER } else { lane.saturating_sub(by).max(0) };
        }
        self.base = now;
    }

    /// A cycle as a distance from the base; what was before the base has passed, and so has the base.
    #[inline]
    fn soon(&self, at: u64) -> Soon {
        debug_assert!(at < self.base + NEVER as u64);
        at.saturating_sub(self.base) as Soon
    }

    #[inline]
    pub(super) fn cycle(&self, at: Soon) -> u64 {
        self.base + at as u64
    }

    /// When the first line of `ramp` can go.
    #[inline]
    pub(super) fn earliest(&self, ramp: usize) -> Soon {
        self.earliest.0[ramp]
    }

    /// Whether the line, which cannot go yet, waits for its destination alone.
    #[inline]
    pub(super) fn awaits_destination(&self, ramp: usize) -> bool {
        self.receives.0[ramp] == self.earliest.0[ramp]
    }

    /// When `ramp` can send again.
    #[inline]
    pub(super) fn sends(&self, ramp: usize) -> u64 {
        self.cycle(self.sends.0[ramp])
    }

    #[inline]
    pub(super) fn set_sends(&mut self, ramp: usize, at: u64) {
        self.sends.0[ramp] = self.soon(at);
    }

    #[inline]
    pub(super) fn set_receives(&mut self, ramp: usize, at: u64) {
        self.receives.0[ramp] = self.soon(at);
    }

    /// The ring that takes the line of `ramp` at `now`; none when it needs none.
    #[inline]
    pub(super) fn ring(&self, ramp: usize, now: Soon) -> Option<u8> {
        (0..RINGS as u8).find(|&r| self.takes[usize::from(r)].0[ramp] <= now)
    }

    /// The line of `ramp` goes over `hops` segments, and no ring takes it as yet.
    #[inline]
    pub(super) fn set_way(&mut self, ramp: usize, place: u8, hops: u8, alone: bool) {
        for takes in &mut self.takes {
            takes.0[ramp] = NEVER;
        }
        self.takes[RINGS].0[ramp] = if hops == 0 { 0 } else { NEVER };
        self.alone.0[ramp] = -Soon::from(alone);
        self.places[ramp] = place;
    }

    #[inline]
    pub(super) fn set_takes(&mut self, ring: usize, ramp: usize, at: u64) {
        self.takes[ring].0[ramp] = self.soon(at);
    }

    /// A packet starts on `ring` at `now` and delays the lines that wait. The ring takes no other one before `open`,
    /// and none that wants it for itself before `empty`.
    #[inline]
    pub(super) fn delay(&mut self, ring: usize, now: Soon, by: DelaysBy<'_>, open: u64, empty: u64) {
        let (open, empty) = (self.soon(open), self.soon(empty));
        let mut delays = Lanes([0; ROOM]);
        for ramp in 0..RAMPS {
            delays.0[ramp] = by.at(self.places[ramp]) as Soon;
        }
        for (ramp, takes) in self.takes[ring].0.iter_mut().enumerate() {
            *takes = (*takes).max(open).max(self.alone.0[ramp] & empty).max(now + delays.0[ramp]);
        }
    }

    /// Settles when the first line of `ramp` can go.
    #[inline]
    pub(super) fn settle(&mut self, ramp: usize) {
        let taken = self.takes.iter().map(|takes| takes.0[ramp]).min().expect("there are rings");
        self.earliest.0[ramp] = taken.max(self.sends.0[ramp]).max(self.receives.0[ramp]);
    }

    /// Settles when the first line of each ramp can go.
    #[inline]
    pub(super) fn settle_all(&mut self) {
        let [a, b, c, d, e] = &self.takes;
        for ramp in 0..ROOM {
            let taken = a.0[ramp].min(b.0[ramp]).min(c.0[ramp].min(d.0[ramp])).min(e.0[ramp]);
            self.earliest.0[ramp] = taken.max(self.sends.0[ramp]).max(self.receives.0[ramp]);
        }
    }
}
