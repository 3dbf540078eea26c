//! The event wheel: what happens when, in the order in which it was said. Jumps over idle time.

use crate::ids::LineId;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Slots of one bus cycle; what lies further ahead waits in a heap.
const SLOTS: usize = 1024;
const MASK: u64 = SLOTS as u64 - 1;
/// Words of a bit for each slot.
const WORDS: usize = SLOTS / 64;

/// Something that happens at a cycle. `u8`s are chips or units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum WheelEvent {
    /// A program goes on: its operation takes effect.
    Act(u8),
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

/// An event of a slot, and the next one.
#[derive(Debug, Clone, Copy)]
struct Entry {
    event: WheelEvent,
    next: u32,
}

/// No entry.
const NONE: u32 = u32::MAX;

/// First and last entry of a cycle.
#[derive(Debug, Clone, Copy)]
struct Slot {
    first: u32,
    last: u32,
}

pub(crate) struct Wheel {
    now: u64,
    slots: Box<[Slot; SLOTS]>,
    /// A bit for each slot with entries, and one for each word of these bits that has any.
    occupied: [u64; WORDS],
    words: u16,
    entries: Vec<Entry>,
    /// The first entry that is free; the others follow.
    free: u32,
    far: BinaryHeap<Reverse<(u64, u64, WheelEvent)>>,
    said: u64,
}

impl Wheel {
    pub(crate) fn new() -> Self {
        Self {
            now: 0,
            slots: Box::new([Slot { first: NONE, last: NONE }; SLOTS]),
            occupied: [0; WORDS],
            words: 0,
            entries: Vec::new(),
            free: NONE,
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
            self.said += 1;
            self.far.push(Reverse((at, self.said, event)));
        }
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
        let entry = Entry { event, next: NONE };
        let mut index = self.free;
        if index == NONE {
            index = self.entries.len() as u32;
            self.entries.push(entry);
        } else {
            self.free = std::mem::replace(&mut self.entries[index as usize], entry).next;
        }
        let place = (at & MASK) as usize;
        let slot = &mut self.slots[place];
        if slot.first == NONE {
            slot.first = index;
            self.occupied[place / 64] |= 1 << (place % 64);
            self.words |= 1 << (place / 64);
        } else {
            self.entries[slot.last as usize].next = index;
        }
        slot.last = index;
    }

    /// The next event; none when nothing will ever happen again.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<WheelEvent> {
        let mut place = (self.now & MASK) as usize;
        if self.slots[place].first == NONE {
            self.now = match self.next_occupied(place) {
                Some(near) => near,
                None => self.far.peek()?.0.0,
            };
            place = (self.now & MASK) as usize;
            self.draw_near();
        }
        let slot = &mut self.slots[place];
        let index = slot.first;
        let Entry { event, next } = self.entries[index as usize];
        slot.first = next;
        if next == NONE {
            let word = &mut self.occupied[place / 64];
            *word &= !(1 << (place % 64));
            if *word == 0 {
                self.words &= !(1 << (place / 64));
            }
        }
        self.entries[index as usize].next = self.free;
        self.free = index;
        Some(event)
    }

    /// The cycle of the first occupied slot after `slot`, which is empty.
    #[inline]
    fn next_occupied(&self, slot: usize) -> Option<u64> {
        let (word, bit) = (slot / 64, slot % 64);
        let after = self.occupied[word] >> bit;
        if after != 0 {
            return Some(self.now + u64::from(after.trailing_zeros()));
        }
        if self.words == 0 {
            return None;
        }
        let further = self.words.rotate_right(word as u32 + 1).trailing_zeros() as usize;
        let word = (word + 1 + further) % WORDS;
        let found = word as u64 * 64 + u64::from(self.occupied[word].trailing_zeros());
        Some(self.now + (found.wrapping_sub(slot as u64) & MASK))
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
        let around = SLOTS as u64;
        wheel.push(5 + around, WheelEvent::Ready(LineId(2)));
        wheel.push(4 + around, WheelEvent::Ready(LineId(3)));
        assert_eq!((wheel.pop(), wheel.now()), (Some(WheelEvent::Ready(LineId(1))), 5));
        assert_eq!((wheel.pop(), wheel.now()), (Some(WheelEvent::Ready(LineId(3))), 4 + around));
        assert_eq!((wheel.pop(), wheel.now()), (Some(WheelEvent::Ready(LineId(2))), 5 + around));
        assert_eq!(wheel.pop(), None);
    }
}
