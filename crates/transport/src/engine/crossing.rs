//! Large messages of two ranks that cross on the way: each rank sends while the other one's is under way, as programs
//! do that exchange the edges of their parts.
//!
//! Then no receiver waits for a first part, so that pieces are larger, and nobody is asked first. What is compared are
//! two copies through the pool and one by the kernel, by the receiver, because both cpus copy either way: by the time
//! from one exchange to the next, as for exchanges of collectives. Messages that try other ways meanwhile would hide
//! what that takes. (Two ranks on an EPYC, `MPI_Sendrecv`, us, without this and with it, n = 8 and 5: 64 kB 3.5 and
//! 3.2, 128 kB 7.0 and 6.0, 256 kB 14.6 and 12.4; while a line takes 220 ns 7.7 and 5.9, 12.4 and 10.6, 22.2 and 20.8.)
//!
//! A rank that has just sent a message at once and finds that one has begun to come knows that they cross: to and fro,
//! the other one answers only when it has all. So does one that has announced a message and hears of another one. Who
//! is always the earlier one does not see it, so each says what it has seen, and one of them says for both what is
//! shorter.

use super::decisions::{Decisions, said, say};
use super::reading::EXCHANGES_OF_TWO_AHEAD;
use super::send::MOST_EAGER;
use super::{Engine, Mode, kind};
use crate::buffer::Buffer;
use crate::costs::class_of;
use crate::ways::{AgreedCrossing, SHARED_FROM};
use host::clock::kernel_ns;
use std::sync::atomic::Ordering;

/// A message that was seen to cross counts so much, and one that was not takes one away. Messages cross from so much
/// on, until there is nothing left of at most so much. Choices: of two ranks that begin at the same time, each sees
/// about half.
const COUNTS: u8 = 2;
const CROSS_FROM: u8 = 8;
const MOST: u8 = 16;
/// So many large messages that come while none goes to their rank cross none, whatever was seen before. A choice.
const ONE_WAY: u32 = 32;

/// What this rank knows of messages that cross with those of another one.
pub(super) struct Crossing {
    agreed: &'static AgreedCrossing,
    /// Which of the two ranks this one is, 0 or 1; 0 says what is shorter.
    side: usize,
    /// What the last messages count that were seen to cross, less those that were not.
    pub(super) seen: u8,
    /// Large messages that came since one went to the other rank.
    came: u32,
    exchange: Exchange,
    /// Of the rank that says what is shorter.
    decisions: Option<Box<Decisions>>,
}

/// What is sent to the other rank until more has come from it.
#[derive(Default)]
struct Exchange {
    /// Lines that had come when it began.
    lines: u64,
    /// Bytes so far, and of the exchange before.
    bytes: usize,
    before: usize,
}

impl Exchange {
    /// The next message has so many bytes, and so many lines have come; whether it begins another exchange.
    fn add(&mut self, bytes: usize, lines: u64) -> bool {
        let begins = self.lines != lines;
        if begins {
            *self = Self { lines, bytes: 0, before: self.bytes };
        }
        self.bytes = self.bytes.saturating_add(bytes);
        begins
    }
}

impl Crossing {
    pub(super) fn new(agreed: &'static AgreedCrossing, side: usize) -> Self {
        Self { agreed, side, seen: 0, came: 0, exchange: Exchange::default(), decisions: None }
    }

    /// A large message was seen to cross one of the other rank, or was not.
    fn saw(&mut self, crosses: bool) {
        self.counts(if crosses { MOST.min(self.seen + COUNTS) } else { self.seen.saturating_sub(1) });
    }

    /// What was seen counts so much now.
    fn counts(&mut self, seen: u8) {
        let before = std::mem::replace(&mut self.seen, seen);
        let said = &self.agreed.seen[self.side];
        if before < CROSS_FROM && seen >= CROSS_FROM {
            said.store(1, Ordering::Relaxed);
        } else if before > 0 && seen == 0 {
            said.store(0, Ordering::Relaxed);
        }
    }

    /// A large message comes from the other rank.
    fn comes(&mut self) {
        self.came = self.came.saturating_add(1);
        if self.came == ONE_WAY {
            self.counts(0);
        }
    }

    /// One of the two ranks has seen that messages cross.
    pub(super) fn is_known(&self) -> bool {
        self.agreed.seen.iter().any(|seen| seen.load(Ordering::Relaxed) != 0)
    }

    /// Whether the kernel is to copy the next message of so many bytes, when so many lines have come from the other
    /// rank: one answer for all of an exchange, by the bytes of the one before. `at_first`: as for `Decisions`.
    fn by_kernel(&mut self, bytes: usize, lines: u64, at_first: Result<bool, bool>) -> bool {
        let begins = self.exchange.add(bytes, lines);
        let (by_kernel, before) = (&self.agreed.by_kernel, self.exchange.before);
        if begins && self.side == 0 {
            let decisions =
                self.decisions.get_or_insert_with(|| Box::new(Decisions::ahead_by(EXCHANGES_OF_TWO_AHEAD)));
            say(by_kernel, class_of(before), decisions.answer(before, at_first, kernel_ns()));
        }
        said(by_kernel, class_of(before))
    }
}

impl Engine<'_> {
    /// How a large message to a rank is sent that crosses others; else as it is. Both ranks copy those from
    /// `SHARED_FROM` bytes on.
    #[inline]
    pub(super) fn mode_of_large(&mut self, to: usize, buffer: &Buffer, mode: Mode) -> Mode {
        let is_plain = mode == Mode::Standard && buffer.is_contiguous() && buffer.bytes < SHARED_FROM;
        if !is_plain
            || self.room.crowded()
            || !self.sharing.crossing[to].is_known()
            || self.outgoing[to].wary > 0
        {
            return mode;
        }
        let bytes = buffer.bytes;
        let is_forbidden = || self.segment().header().costs.kernel_fails(bytes);
        if self.copy_from > bytes || is_forbidden() {
            return Mode::Pooled;
        }
        let at_first = self.kernel_costs_less_than_the_pool(bytes);
        let lines = self.incoming[to].consumer.consumed();
        match self.sharing.crossing[to].by_kernel(bytes, lines, at_first) {
            true => Mode::ByKernel,
            false => Mode::Pooled,
        }
    }

    /// Before a large message goes to a rank, or when it is all out: whether one of that rank is there that was not
    /// looked at yet.
    #[inline]
    pub(super) fn meets_one_of(&self, rank: usize) -> bool {
        self.incoming[rank].consumer.peek().is_some_and(|header| match header.kind() & !kind::POOLED {
            kind::EAGER | kind::MORE => header.length() as usize > MOST_EAGER,
            kind::ANNOUNCE | kind::DATA => true,
            _ => false,
        })
    }

    /// A large message to a rank is on its way; whether it has met one.
    #[inline]
    pub(super) fn note_crossing(&mut self, to: usize, has_met: bool) {
        let crossing = &mut self.sharing.crossing[to];
        crossing.came = 0;
        crossing.saw(has_met);
    }

    /// A large message of a rank comes at once.
    #[inline]
    pub(super) fn note_large(&mut self, from: usize) {
        self.sharing.crossing[from].comes();
    }

    /// A message of a rank is announced: it crosses one that this rank has announced and that is not answered.
    #[inline]
    pub(super) fn note_announcement(&mut self, from: usize) {
        let crosses = self.transfers.is_active(self.outgoing[from].announced);
        let crossing = &mut self.sharing.crossing[from];
        crossing.comes();
        if crosses {
            crossing.saw(true);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const BYTES: usize = 100_000;

    fn pair() -> [Crossing; 2] {
        let agreed: &'static AgreedCrossing = Box::leak(Box::default());
        [0, 1].map(|side| Crossing::new(agreed, side))
    }

    #[test]
    fn both_ranks_know_that_messages_cross_when_one_has_seen_it_often_and_until_none_does() {
        for side in [0, 1] {
            let mut pair = pair();
            // To and fro, a message of another thread may come in between.
            for number in 0..100 {
                pair[side].saw(number % 4 == 0);
                assert!(!pair[side].is_known() && !pair[1 - side].is_known(), "{number}");
            }
            (0..20).for_each(|_| pair[side].saw(true));
            // Half of them are seen.
            (0..100).for_each(|number| pair[side].saw(number % 2 == 0));
            assert!(pair.iter().all(Crossing::is_known));
            // What the other one sees, which is always the earlier one, changes nothing.
            (0..100).for_each(|_| pair[1 - side].saw(false));
            assert!(pair.iter().all(Crossing::is_known));
            let left = pair[side].seen;
            (1..left).for_each(|_| pair[side].saw(false));
            assert!(pair.iter().all(Crossing::is_known));
            pair[side].saw(false);
            assert!(!pair.iter().any(Crossing::is_known));
        }
    }

    #[test]
    fn one_rank_says_for_both_and_all_of_an_exchange_whether_the_kernel_copies() {
        let [mut first, mut second] = pair();
        // Two messages each time.
        let mut exchange = |lines, bytes, kernel: bool| {
            let first_rank = [kernel, !kernel].map(|at_first| first.by_kernel(bytes, lines, Ok(at_first)));
            let second_rank = [!kernel; 2].map(|at_first| second.by_kernel(bytes, lines, Ok(at_first)));
            assert_eq!(first_rank, second_rank, "{lines}");
            assert_eq!(first_rank[0], first_rank[1], "{lines}");
            first_rank[0]
        };
        exchange(1, BYTES, true);
        assert!(exchange(2, BYTES, true));
        assert!(!exchange(3, BYTES, false));
        // What is known of one size says nothing of another, as soon as an exchange has that size.
        assert!(exchange(4, 8 * BYTES, true));
        assert!(!exchange(5, 8 * BYTES, false));
        assert!(exchange(6, BYTES, true));
    }
}
