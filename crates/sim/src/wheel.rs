//! The event wheel: what happens when, in the order in which it was said. Jumps over idle time.

use crate::ids::{LineId, UnitId};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

/// Slots of one bus cycle; what lies further ahead waits in a heap.
const SLOTS: usize = 256;
const MASK: u64 = SLOTS as u64 - 1;
/// Words of a bit for each slot.
const WORDS: usize = SLOTS / 64;
/// Events of a slot: as many as two cache lines have room for. Most cycles need the first one only.
const ROOM: usize = 15;
/// What stands where there is no event.
const NOTHING: WheelEvent = WheelEvent::Act(UnitId(0));

/// Something that happens at a cycle. `u8`s are chips or MFCs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum WheelEvent {
    /// A program goes on: its operation takes effect.
    Act(UnitId),
    /// An MFC looks for lines to send out.
    Issue(u8),
    /// A line's data stands at its source's ramp.
    Ready(LineId),
    /// The data arbiter of a chip looks at its requests.
    Arbitrate(u8),
    /// A put's line has left its local store.
    Sent(LineId),
    /// A line has gone its way on this chip's rings.
    Arrived(LineId),
    /// A memory read reaches the memory controller.
    Read(LineId),
    /// The memory controller of a chip looks at its queue.
    Memory(u8),
}

/// The events of a cycle.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(128))]
struct Slot {
    used: u32,
    events: [WheelEvent; ROOM],
}

pub(crate) struct Wheel {
    now: u64,
    /// Events of this cycle's slot that have happened.
    happened: u32,
    slots: Box<[Slot; SLOTS]>,
    /// A bit for each slot with events.
    occupied: [u64; WORDS],
    /// By cycle, events that its slot has no room for; and those of this cycle.
    more: BTreeMap<u64, VecDeque<WheelEvent>>,
    rest: VecDeque<WheelEvent>,
    far: BinaryHeap<Reverse<(u64, u64, WheelEvent)>>,
    said: u64,
}

impl Wheel {
    pub(crate) fn new() -> Self {
        Self {
            now: 0,
            happened: 0,
            slots: Box::new([Slot { events: [NOTHING; ROOM], used: 0 }; SLOTS]),
            occupied: [0; WORDS],
            more: BTreeMap::new(),
            rest: VecDeque::new(),
            far: BinaryHeap::new(),
            said: 0,
        }
    }

    /// The cycle that is being worked on.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        self.now
    }

    /// `event` happens at cycle `at`, after everything that was said before for that cycle.
    #[inline]
    pub(crate) fn push(&mut self, at: u64, event: WheelEvent) {
        debug_assert!(at >= self.now, "{event:?} at {at}, now {}", self.now);
        if at - self.now < SLOTS as u64 {
            self.append(at, event);
        } else {
            self.push_far(at, event);
        }
    }

    #[cold]
    fn push_far(&mut self, at: u64, event: WheelEvent) {
        self.said += 1;
        self.far.push(Reverse((at, self.said, event)));
    }

    /// An event that is no longer far away gets its slot before a later one for the same cycle can: the order stays.
    #[inline]
    fn draw_near(&mut self) {
        while let Some(&Reverse((at, _, event))) = self.far.peek()
            && at - self.now < SLOTS as u64
        {
            self.far.pop();
            self.append(at, event);
        }
    }

    #[inline]
    fn append(&mut self, at: u64, event: WheelEvent) {
        let place = (at & MASK) as usize;
        let slot = &mut self.slots[place];
        if let Some(free) = slot.events.get_mut(slot.used as usize) {
            *free = event;
            slot.used += 1;
            self.occupied[place / 64] |= 1 << (place % 64);
        } else {
            self.append_more(at, event);
        }
    }

    /// The slot of `at` is full.
    #[cold]
    fn append_more(&mut self, at: u64, event: WheelEvent) {
        if at == self.now {
            self.rest.push_back(event);
        } else {
            self.more.entry(at).or_default().push_back(event);
        }
    }

    /// The next event; none when nothing will ever happen again.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<WheelEvent> {
        let place = (self.now & MASK) as usize;
        let event = if self.happened < self.slots[place].used {
            self.slots[place].events[self.happened as usize]
        } else {
            self.pop_later()?
        };
        self.happened += 1;
        Some(event)
    }

    /// [`pop`](Self::pop) when all events of this cycle's slot have happened.
    #[inline]
    fn pop_later(&mut self) -> Option<WheelEvent> {
        if self.happened >= ROOM as u32
            && let Some(event) = self.rest.pop_front()
        {
            return Some(event);
        }
        self.next_cycle()?;
        Some(self.slots[(self.now & MASK) as usize].events[0])
    }

    /// Goes on to the next cycle in which something happens.
    #[inline]
    fn next_cycle(&mut self) -> Option<()> {
        let place = (self.now & MASK) as usize;
        (self.slots[place].used, self.happened) = (0, 0);
        self.occupied[place / 64] &= !(1 << (place % 64));
        self.now = match self.next_occupied(place) {
            Some(near) => near,
            None => self.far.peek()?.0.0,
        };
        if !self.more.is_empty() {
            self.rest = self.more.remove(&self.now).unwrap_or_default();
        }
        self.draw_near();
        Some(())
    }

    /// The cycle of the first occupied slot after `slot`, which is empty.
    #[inline]
    fn next_occupied(&self, slot: usize) -> Option<u64> {
        let (word, bit) = (slot / 64, slot % 64);
        let after = self.occupied[word] >> bit;
        if after != 0 {
            return Some(self.now + u64::from(after.trailing_zeros()));
        }
        // The last one is this word again: its bits before the slot are a whole turn ahead.
        (1..=WORDS).find_map(|i| {
            let further = self.occupied[(word + i) % WORDS];
            let skipped = (i * 64 - bit) as u64;
            (further != 0).then(|| self.now + skipped + u64::from(further.trailing_zeros()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_in_time_order_and_ties_in_the_order_said() {
        let mut wheel = Wheel::new();
        let mut expected = Vec::new();
        let mut seed = 7u64;
        for i in 0..2000u32 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let at = (seed >> 33) % 20_000;
            wheel.push(at, WheelEvent::Ready(LineId(i)));
            expected.push((at, i));
        }
        expected.sort();
        let mut got = Vec::new();
        while let Some(WheelEvent::Ready(LineId(i))) = wheel.pop() {
            got.push((wheel.now(), i));
        }
        let times: Vec<u64> = got.iter().map(|g| g.0).collect();
        assert_eq!(times, expected.iter().map(|e| e.0).collect::<Vec<_>>());
        got.sort();
        assert_eq!(got, expected);
    }

    #[test]
    fn what_was_said_first_comes_first_however_far_ahead_it_was() {
        let mut wheel = Wheel::new();
        wheel.push(9000, WheelEvent::Ready(LineId(0)));
        wheel.push(9000, WheelEvent::Ready(LineId(1)));
        wheel.push(5500, WheelEvent::Ready(LineId(9)));
        wheel.pop();
        wheel.push(9000, WheelEvent::Ready(LineId(2)));
        let order = [wheel.pop(), wheel.pop(), wheel.pop(), wheel.pop()];
        assert_eq!(
            order,
            [
                Some(WheelEvent::Ready(LineId(0))),
                Some(WheelEvent::Ready(LineId(1))),
                Some(WheelEvent::Ready(LineId(2))),
                None
            ]
        );
    }

    #[test]
    fn what_is_said_for_this_cycle_happens_in_it() {
        let mut wheel = Wheel::new();
        wheel.push(5, WheelEvent::Ready(LineId(0)));
        assert_eq!(wheel.pop(), Some(WheelEvent::Ready(LineId(0))));
        wheel.push(5, WheelEvent::Ready(LineId(1)));
        let around = MASK + 1;
        wheel.push(5 + around, WheelEvent::Ready(LineId(2)));
        wheel.push(4 + around, WheelEvent::Ready(LineId(3)));
        assert_eq!((wheel.pop(), wheel.now()), (Some(WheelEvent::Ready(LineId(1))), 5));
        assert_eq!((wheel.pop(), wheel.now()), (Some(WheelEvent::Ready(LineId(3))), 4 + around));
        assert_eq!((wheel.pop(), wheel.now()), (Some(WheelEvent::Ready(LineId(2))), 5 + around));
        assert_eq!(wheel.pop(), None);
    }

    #[test]
    fn a_cycle_has_room_for_any_number_of_events() {
        let mut wheel = Wheel::new();
        let line = |i| WheelEvent::Ready(LineId(i));
        let many = 3 * ROOM as u32;
        (0..many).for_each(|i| wheel.push(7, line(i)));
        wheel.push(8, line(many + 1));
        wheel.push(2000, line(many + 2));
        for i in 0..many {
            assert_eq!((wheel.pop(), wheel.now()), (Some(line(i)), 7));
            if i == 1 {
                wheel.push(7, line(many));
            }
        }
        assert_eq!((wheel.pop(), wheel.now()), (Some(line(many)), 7));
        assert_eq!((wheel.pop(), wheel.now()), (Some(line(many + 1)), 8));
        (0..many).for_each(|i| wheel.push(8, line(i)));
        (0..many).for_each(|i| assert_eq!((wheel.pop(), wheel.now()), (Some(line(i)), 8)));
        assert_eq!((wheel.pop(), wheel.now()), (Some(line(many + 2)), 2000));
        assert_eq!(wheel.pop(), None);
    }
}
