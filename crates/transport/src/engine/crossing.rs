//! Large messages of two ranks that cross on the way: each rank sends while the other one's is under way, as programs
//! do that exchange the edges of their parts.
//!
//! Then no receiver waits for a first part, so that pieces are larger, and nobody is asked first. What is compared are
//! two copies through the pool and one by the kernel, by the receiver, because both cpus copy either way: by the time
//! from one exchange to the next, as for exchanges of collectives. Messages that try other ways meanwhile would hide
//! what that takes. (Two ranks on an EPYC, `MPI_Sendrecv`, us, without this and with it, n = 8 and 5: 64 kB 3.5 and
//! 3.2, 128 kB 7.0 and 6.0, 256 kB 14.6 and 12.4; while a line takes 220 ns 7.7 and 5.9, 12.4 and 10.6, 22.2 and 20.8.)
//!
//! Each message in slots, and each announcement, says how far its sender has read what came from the receiver. If that
//! is not up to the receiver's own last message, the two cross: to and fro, a rank answers only what it has read.
//!
//! Smaller messages that cross lie in one piece each, of which one line speaks. (Two messages each way of 16 kB, us,
//! in parts and in one piece, n = 86 and 4: 2.03 and 1.81; while a line takes 220 ns 5.3 and 3.7.)

use super::decisions::{Decisions, said, say};
use super::pooled::WHOLE_ANSWER;
use super::reading::EXCHANGES_OF_TWO_AHEAD;
use super::send::MOST_EAGER;
use super::{Engine, Mode};
use crate::buffer::Buffer;
use crate::costs::class_of;
use crate::ways::SHARED_FROM;
use host::clock::kernel_ns;
use std::sync::atomic::AtomicU32;

/// A message that crosses one counts so much, and one that does not takes one away. Messages cross from so much on,
/// until there is nothing left of at most so much. Choices: where threads share a rank, a message may cross by chance.
const COUNTS: u8 = 2;
const CROSS_FROM: u8 = 8;
const MOST: u8 = 16;
/// So many messages that go while none comes cross none, whatever was seen before. A choice.
const ONE_WAY: u8 = 32;

/// Whether messages of so many bytes count: shorter ones lie in one piece anyway.
#[inline]
pub(super) fn counts(bytes: usize) -> bool {
    bytes > WHOLE_ANSWER
}

/// Whether messages of some sizes cross those of another rank.
#[derive(Default)]
struct Seen {
    crosses: bool,
    /// What the last ones count that did, less those that did not.
    counts: u8,
    /// So many went since one came.
    went: u8,
}

impl Seen {
    /// Another one goes; whether it is taken to cross one.
    #[inline]
    fn goes(&mut self) -> bool {
        if self.went < ONE_WAY {
            self.went += 1;
        } else {
            (self.crosses, self.counts) = (false, 0);
        }
        self.crosses
    }

    /// Many went since one came.
    #[inline]
    fn is_stream(&self) -> bool {
        self.went == ONE_WAY
    }

    /// One has come, which crosses one or does not.
    #[inline]
    fn saw(&mut self, crosses: bool) {
        self.went = 0;
        self.counts = if crosses { MOST.min(self.counts + COUNTS) } else { self.counts.saturating_sub(1) };
        self.crosses = if self.crosses { self.counts > 0 } else { self.counts >= CROSS_FROM };
    }
}

/// What this rank knows of messages that cross with those of another one.
pub(super) struct Crossing {
    small: Seen,
    large: Seen,
    /// Whether the kernel copies large ones, a bit for each class of data. The one that says so for both ranks has
    /// decisions.
    by_kernel: &'static AtomicU32,
    says: bool,
    decisions: Option<Box<Decisions>>,
    exchange: Exchange,
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
    pub(super) fn new(by_kernel: &'static AtomicU32, says: bool) -> Self {
        let (small, large) = (Seen::default(), Seen::default());
        Self { small, large, by_kernel, says, decisions: None, exchange: Exchange::default() }
    }

    /// Of messages of so many bytes.
    #[inline]
    fn seen(&mut self, bytes: usize) -> &mut Seen {
        if bytes > MOST_EAGER { &mut self.large } else { &mut self.small }
    }

    /// Whether messages of so many bytes go to the other rank and none comes from there.
    #[inline]
    pub(super) fn is_stream(&mut self, bytes: usize) -> bool {
        self.seen(bytes).is_stream()
    }

    #[cfg(all(test, not(loom)))]
    pub(super) fn is_known(&mut self, bytes: usize) -> bool {
        self.seen(bytes).crosses
    }

    /// Whether the kernel is to copy the next message of so many bytes, when so many lines have come from the other
    /// rank: one answer for all of an exchange, by the bytes of the one before. `at_first`: as for `Decisions`.
    fn by_kernel(&mut self, bytes: usize, lines: u64, at_first: Result<bool, bool>) -> bool {
        let begins = self.exchange.add(bytes, lines);
        let before = self.exchange.before;
        if begins && self.says {
            let decisions =
                self.decisions.get_or_insert_with(|| Box::new(Decisions::ahead_by(EXCHANGES_OF_TWO_AHEAD)));
            say(self.by_kernel, class_of(before), decisions.answer(before, at_first, kernel_ns()));
        }
        said(self.by_kernel, class_of(before))
    }
}

impl Engine<'_> {
    /// How a large message to a rank is sent that crosses others; else as it is. Both ranks copy those from
    /// `SHARED_FROM` bytes on.
    #[inline]
    pub(super) fn mode_of_large(&mut self, to: usize, buffer: &Buffer, mode: Mode) -> Mode {
        let is_plain = mode == Mode::Standard && buffer.is_contiguous() && buffer.bytes < SHARED_FROM;
        if !self.goes_across(to, buffer.bytes) || !is_plain || self.crowded() || self.outgoing[to].wary > 0 {
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

    /// A message of so many bytes that counts goes to a rank; whether it is taken to cross one.
    #[inline]
    pub(super) fn goes_across(&mut self, to: usize, bytes: usize) -> bool {
        self.sharing.crossing[to].seen(bytes).goes()
    }

    /// Whether the large message that goes to a rank goes behind one, since when no large one has come from there.
    #[inline]
    pub(super) fn goes_behind_one(&self, to: usize) -> bool {
        self.sharing.crossing[to].large.went > 1
    }

    /// One comes, or is announced, from a rank that has read so far what it was sent.
    #[inline]
    pub(super) fn note_message(&mut self, from: usize, bytes: usize, has_read: u64) {
        let crosses = has_read < self.outgoing[from].spoke;
        self.sharing.crossing[from].seen(bytes).saw(crosses);
    }

    /// One from a rank was read. Of several that were matched, others may still be under way: but a rank rarely sends
    /// before it has them all.
    #[inline]
    pub(super) fn note_read(&mut self, from: usize) {
        let began = self.incoming[from].began;
        let has_read = &mut self.outgoing[from].has_read;
        *has_read = (*has_read).max(began + 1);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const BYTES: usize = 100_000;

    fn pair() -> [Crossing; 2] {
        let agreed: &'static AtomicU32 = Box::leak(Box::default());
        [true, false].map(|says| Crossing::new(agreed, says))
    }

    #[test]
    fn messages_cross_that_have_often_done_so_until_they_no_longer_do() {
        let mut seen = Seen::default();
        // To and fro, a message of another thread may come in between.
        for number in 0..100 {
            seen.saw(number % 4 == 0);
            assert!(!seen.crosses, "{number}");
        }
        (0..20).for_each(|_| seen.saw(true));
        for number in 0..100 {
            seen.saw(number % 2 == 0);
            assert!(seen.crosses, "{number}");
        }
        let left = seen.counts;
        (1..left).for_each(|_| seen.saw(false));
        assert!(seen.crosses);
        seen.saw(false);
        assert!(!seen.crosses);
    }

    #[test]
    fn messages_that_go_while_none_comes_cross_none() {
        let mut seen = Seen::default();
        (0..20).for_each(|_| seen.saw(true));
        // Some go at a time.
        for _ in 0..10 {
            assert!((0..ONE_WAY).all(|_| seen.goes()));
            seen.saw(true);
        }
        assert!((0..ONE_WAY).all(|_| seen.goes()));
        assert!(!seen.goes());
        seen.saw(true);
        assert!(!seen.goes(), "as if nothing had been seen");
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
