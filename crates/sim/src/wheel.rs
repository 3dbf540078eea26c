//! The event wheel: what happens when, in the order in which it was said. Jumps over idle time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Slots of one bus cycle; what lies further ahead waits in a heap.
const SLOTS: usize = 4096;
const MASK: u64 = SLOTS as u64 - 1;

/// Something that happens at a cycle. `u32`s are lines, `u8`s chips or units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    /// A program goes on: its operation takes effect.
    Act(u8),
    /// An MFC looks for lines to send out.
    Issue(u8),
    /// A line's data stands at its source's ramp.
    Ready(u32),
    /// The data arbiter of a chip looks at its requests.
    Arbitrate(u8),
    /// A put's line has left its local store.
    Sent(u32),
    /// A line has gone its way on this chip's rings.
    Arrived(u32),
    /// A memory read reaches the memory controller.
    Read(u32),
    /// The memory controller of a chip looks at its queue.
    Memory(u8),
}

pub(crate) struct Wheel {
    now: u64,
    cursor: usize,
    slots: Vec<Vec<Event>>,
    occupied: [u64; SLOTS / 64],
    far: BinaryHeap<Reverse<(u64, u64, Event)>>,
    said: u64,
}

impl Wheel {
    pub fn new() -> Self {
        Self {
            now: 0,
            cursor: 0,
            slots: vec![Vec::new(); SLOTS],
            occupied: [0; SLOTS / 64],
            far: BinaryHeap::new(),
            said: 0,
        }
    }

    /// The cycle that is being worked on.
    #[inline]
    pub fn now(&self) -> u64 {
        self.now
    }

    /// `event` happens at cycle `at`, after everything that was said before for that cycle.
    #[inline]
    pub fn push(&mut self, at: u64, event: Event) {
        debug_assert!(at >= self.now, "{event:?} at {at}, now {}", self.now);
        if at - self.now < SLOTS as u64 {
            let slot = (at & MASK) as usize;
            self.slots[slot].push(event);
            self.occupied[slot / 64] |= 1 << (slot % 64);
        } else {
            self.said += 1;
            self.far.push(Reverse((at, self.said, event)));
        }
    }

    /// The next event; none when nothing will ever happen again.
    #[inline]
    pub fn pop(&mut self) -> Option<Event> {
        loop {
            let slot = (self.now & MASK) as usize;
            if let Some(&event) = self.slots[slot].get(self.cursor) {
                self.cursor += 1;
                return Some(event);
            }
            self.slots[slot].clear();
            self.occupied[slot / 64] &= !(1 << (slot % 64));
            self.cursor = 0;
            let near = self.next_occupied(slot);
            let far = self.far.peek().map(|Reverse((at, ..))| *at);
            self.now = match (near, far) {
                (None, None) => return None,
                (Some(near), None) => near,
                (None, Some(far)) => far,
                (Some(near), Some(far)) => near.min(far),
            };
            // What was said when this cycle was far away was said before everything that is in its slot.
            let mut first = 0;
            while let Some(&Reverse((at, _, event))) = self.far.peek() {
                if at != self.now {
                    break;
                }
                self.far.pop();
                let slot = (at & MASK) as usize;
                self.slots[slot].insert(first, event);
                first += 1;
                self.occupied[slot / 64] |= 1 << (slot % 64);
            }
        }
    }

    /// The cycle of the first occupied slot after `slot`.
    #[inline]
    fn next_occupied(&self, slot: usize) -> Option<u64> {
        let words = SLOTS / 64;
        let start = (slot + 1) % SLOTS;
        let (word, bit) = (start / 64, start % 64);
        let first = self.occupied[word] >> bit;
        if first != 0 {
            return Some(self.now + 1 + u64::from(first.trailing_zeros()));
        }
        for i in 1..=words {
            let w = (word + i) % words;
            let bits = if i == words { self.occupied[w] & ((1 << bit) - 1) } else { self.occupied[w] };
            if bits != 0 {
                return Some(self.now + 1 + (i * 64 - bit) as u64 + u64::from(bits.trailing_zeros()));
            }
        }
        None
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
            wheel.push(at, Event::Ready(i));
            expected.push((at, i));
        }
        expected.sort();
        let mut got = Vec::new();
        while let Some(Event::Ready(i)) = wheel.pop() {
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
        wheel.push(9000, Event::Ready(0));
        wheel.push(9000, Event::Ready(1));
        wheel.push(5500, Event::Ready(9));
        wheel.pop();
        wheel.push(9000, Event::Ready(2));
        let order = [wheel.pop(), wheel.pop(), wheel.pop(), wheel.pop()];
        assert_eq!(order, [Some(Event::Ready(0)), Some(Event::Ready(1)), Some(Event::Ready(2)), None]);
    }

    #[test]
    fn what_is_said_for_this_cycle_happens_in_it() {
        let mut wheel = Wheel::new();
        wheel.push(5, Event::Ready(0));
        assert_eq!(wheel.pop(), Some(Event::Ready(0)));
        wheel.push(5, Event::Ready(1));
        wheel.push(5 + 4096, Event::Ready(2));
        wheel.push(5 + 4095, Event::Ready(3));
        assert_eq!((wheel.pop(), wheel.now()), (Some(Event::Ready(1)), 5));
        assert_eq!((wheel.pop(), wheel.now()), (Some(Event::Ready(3)), 4100));
        assert_eq!((wheel.pop(), wheel.now()), (Some(Event::Ready(2)), 4101));
        assert_eq!(wheel.pop(), None);
    }
}
