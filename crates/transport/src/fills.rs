//! How a sender fills slots of the pool: by the copy instruction, by wide words, or past its caches, as both ranks
//! measure it.
//!
//! A store to a line that another cpu has in its cache first takes that line back. A store past the caches does not,
//! and its reader gets the data from memory. Neither is cheaper everywhere, nor for long: two virtual cpus may share a
//! cache now, and none a minute later. (Two ranks on an EPYC, 64 messages of 16 kB under way, us for each: through the
//! caches .68 and past them 2.0; 3.0 and 1.7 while a line takes 200 ns from one to the other.)
//!
//! The copy instruction need not fetch lines that it writes whole, but it fetches what it reads late. (4 MB from memory
//! to memory, by hand, ns per byte: .13 by the instruction, .12 by wide words, .06 past the caches; 1 MB in the caches:
//! .042, .038 and .048.)
//!
//! What goes to a rank on this cpu is best left in the cpu's caches, and such copies cost too little to be compared
//! (`Pool::choose_fill`). What it sends to other cpus has the choice. (4 ranks on 2 cpus of an EPYC while a line takes
//! 200 ns, scatter of 16 kB: 4.9 us, and 16 without it.)
//!
//! A slot that came with a piece of the other rank has its lines here, because this rank has read them: it is filled
//! through the caches, in either way. (Allgather of 256 kB between two ranks, us: 27, and 45 by what single copies
//! cost; 46 and 51 while a line takes 200 ns. A store past the caches drives out what the next piece would have found.)

use crate::copy::can_copy_past;
use crate::costs::{COPY_FROM, Costs, Fill, Sort};
use host::clock::kernel_ns;
use std::sync::atomic::{Ordering, fence};

/// Smaller pieces go through the caches: a store past them takes longer than their copy. A choice.
const FROM_BYTES: usize = 1024;
/// One of so many pieces is timed, and then it is chosen anew: a timed piece waits until its stores are done. A choice,
/// as are the next ones.
const TIMED_EACH: u32 = 32;
/// The same of small messages; and of slots that came back, where the two ways differ little, with messages that are
/// too small for the kernel's copy, with which those of others are compared. (With one of 32, on an EPYC, 4 kB to and
/// fro take .56 us instead of .50, a stream of 1 kB .24 instead of .22, and one of 2 kB .61 instead of .55 while a line
/// takes 200 ns.)
const RARELY_TIMED_EACH: u32 = 256;
/// Small messages have fewer bytes. A choice.
const SMALL: usize = 4096;
/// After so many choices, one of the fills is tried with so many pieces, so that all are measured again: at first soon,
/// because the first pieces get memory, and then after twice as many, up to the most. (4 ranks on 2 cpus of an EPYC for
/// 40 ms, while a line takes 200 ns, scatter of 8 kB: 3.2 us, and 7.9 when each trial is after the most.)
const TRIED_FIRST: u32 = 8;
const TRIED_EACH: u32 = 128;
const TRIED: u32 = 16;
/// Classes of messages, by the power of two of their bytes; all larger ones are in the last one.
const CLASSES: usize = 14;

/// How a piece's slot is filled, and whether both ranks time their copies of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimedFill {
    pub(crate) fill: Fill,
    is_timed: bool,
    /// Bytes of the whole message.
    data: usize,
}

/// The same as a word of the line that speaks of the piece: the fill's number, this bit, and the message's bytes.
const TIMED: u64 = 8;
const DATA: u32 = 8;

impl TimedFill {
    /// Not timed.
    pub(crate) fn untimed(fill: Fill) -> Self {
        Self { fill, is_timed: false, data: 0 }
    }

    /// Through the caches, as a slot is filled where nothing is compared. `returned`: it came with a piece of the other
    /// rank.
    #[inline]
    pub(crate) fn through_caches(returned: bool) -> Self {
        Self::untimed(if returned { Fill::Returned } else { Fill::ByInstruction })
    }

    /// Whether its copies are.
    #[inline]
    pub(crate) fn is_timed(self) -> bool {
        self.is_timed
    }

    #[inline]
    pub(crate) fn word(self) -> u64 {
        self.fill as u64 | if self.is_timed { TIMED } else { 0 } | (self.data as u64) << DATA
    }

    /// Whatever the other rank wrote there, the worst is a slower fill.
    #[inline]
    pub(crate) fn of(word: u64) -> Self {
        let fill = Fill::ALL.get((word & (TIMED - 1)) as usize).copied().unwrap_or_default();
        Self { fill, is_timed: word & TIMED != 0, data: (word >> DATA) as usize }
    }

    /// Makes the sender's copy of so many bytes.
    #[inline]
    pub(crate) fn write(self, costs: &Costs, bytes: usize, copy: impl FnOnce()) {
        let copy = || {
            copy();
            true
        };
        self.time(costs, Sort::Pooled(self.fill), bytes, copy);
    }

    /// Makes the receiver's. `copy` says whether it made one: a piece that is left in its slot costs nothing yet.
    #[inline]
    pub(crate) fn read(self, costs: &Costs, bytes: usize, copy: impl FnOnce() -> bool) {
        self.time(costs, Sort::ReadPooled(self.fill), bytes, copy);
    }

    /// Until the stores are done: those of a small piece may still be under way when the next instruction begins.
    #[inline]
    fn time(self, costs: &Costs, sort: Sort, bytes: usize, copy: impl FnOnce() -> bool) {
        if !self.is_timed {
            copy();
            return;
        }
        fence(Ordering::SeqCst);
        let start_ns = kernel_ns();
        let is_copied = copy();
        fence(Ordering::SeqCst);
        if is_copied {
            costs.learn(sort, self.data, bytes, kernel_ns() - start_ns);
        }
    }
}

/// What a rank has chosen for one class of messages, and one origin of slots.
#[derive(Clone, Copy, Default)]
struct Choice {
    fill: Fill,
    /// For so many more pieces.
    left: u32,
    /// So many more pieces try one; trials, and choices since the last one.
    tries_left: u32,
    trials: u32,
    choices: u32,
}

impl Choice {
    #[cold]
    fn again(&mut self, fills: &[Fill], data: usize, costs: &Costs) -> Fill {
        let cheapest = match costs.cheapest_fill(fills, data) {
            Ok(cheapest) => cheapest,
            Err(measure) => return measure,
        };
        if self.tries_left > 0 {
            self.tries_left -= 1;
            return fills[self.trials as usize % fills.len()];
        }
        self.choices += 1;
        if self.choices >= TRIED_EACH.min(TRIED_FIRST << self.trials.min(16)) {
            self.tries_left = TRIED;
            self.trials = self.trials.wrapping_add(1);
            self.choices = 0;
        } else {
            let is_compared = data >= if fills == Fill::OWN { SMALL } else { COPY_FROM };
            self.left = if is_compared { TIMED_EACH } else { RARELY_TIMED_EACH } - 1;
        }
        self.fill = cheapest;
        cheapest
    }
}

/// What a rank has chosen for what it sends to other cpus.
#[derive(Default)]
pub(crate) struct Fills {
    choices: [[Choice; CLASSES]; 2],
}

impl Fills {
    /// How the slot of the next piece of so many bytes is filled, of a contiguous message of `data` bytes. `returned`:
    /// the slot came with a piece of the other rank.
    #[inline]
    pub(crate) fn choose(&mut self, returned: bool, data: usize, bytes: usize, costs: &Costs) -> TimedFill {
        if bytes < FROM_BYTES || !can_copy_past() {
            return TimedFill::through_caches(returned);
        }
        let fills = if returned { Fill::RETURNED } else { Fill::OWN };
        let class = (data.ilog2().saturating_sub(FROM_BYTES.ilog2()) as usize).min(CLASSES - 1);
        let choice = &mut self.choices[usize::from(returned)][class];
        if choice.left > 0 {
            choice.left -= 1;
            return TimedFill::untimed(choice.fill);
        }
        TimedFill { fill: choice.again(fills, data, costs), is_timed: true, data }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const BYTES: usize = 16 * 1024;

    /// Which part of so many pieces is filled in which way, where both copies of one take so long together.
    fn parts(fills: &mut Fills, costs: &Costs, returned: bool, pieces: u32, ns: [u64; 5]) -> [f32; 5] {
        let mut parts = [0.0; 5];
        for _ in 0..pieces {
            let chosen = fills.choose(returned, BYTES, BYTES, costs);
            parts[chosen.fill as usize] += 1.0 / pieces as f32;
            let took_ns = ns[chosen.fill as usize];
            if chosen.is_timed {
                costs.learn(Sort::Pooled(chosen.fill), BYTES, BYTES, took_ns / 4);
                costs.learn(Sort::ReadPooled(chosen.fill), BYTES, BYTES, took_ns * 3 / 4);
            }
        }
        parts
    }

    #[test]
    fn nearly_all_pieces_are_filled_as_costs_least_and_a_change_is_followed() {
        if !can_copy_past() {
            return; // This cpu has one fill.
        }
        let (mut fills, costs) = (Fills::default(), Costs::default());
        for &cheapest in Fill::OWN.iter().chain(Fill::OWN) {
            let mut ns = [4000; 5];
            ns[cheapest as usize] = 2000;
            // What is used becomes slow: that is noticed soon. What is not becomes fast: that is found at a trial.
            parts(&mut fills, &costs, false, 15_000, ns);
            let parts = parts(&mut fills, &costs, false, 10_000, ns);
            assert!(parts[cheapest as usize] > 0.98, "{cheapest:?} {parts:?}");
        }
    }

    #[test]
    fn slots_that_came_back_and_small_pieces_go_through_the_caches_whatever_that_costs() {
        let (mut fills, costs) = (Fills::default(), Costs::default());
        for (ns, cheaper) in [
            ([4000, 4000, 1000, 4000, 5000], Fill::Returned),
            ([4000, 4000, 1000, 4000, 3000], Fill::ReturnedByWords),
        ] {
            parts(&mut fills, &costs, false, 1000, ns);
            // What was cheaper before is soon known to be so no longer.
            parts(&mut fills, &costs, true, 60_000, ns);
            let parts = parts(&mut fills, &costs, true, 10_000, ns);
            assert!(parts[cheaper as usize] > 0.98, "{cheaper:?} {parts:?}");
            let returned: f32 = Fill::RETURNED.iter().map(|&fill| parts[fill as usize]).sum();
            assert!(returned > 0.999 || !can_copy_past(), "{parts:?}");
        }
        for _ in 0..1000 {
            let small = fills.choose(false, BYTES, FROM_BYTES - 1, &costs);
            assert_eq!(small, TimedFill::untimed(Fill::ByInstruction));
        }
    }

    #[test]
    fn pieces_of_small_messages_are_rarely_timed() {
        let timed = |returned, data| {
            let (mut fills, costs) = (Fills::default(), Costs::default());
            for fill in Fill::ALL {
                // It is known what they cost.
                for _ in 0..100 {
                    costs.learn(Sort::Pooled(fill), data, data, 100);
                    costs.learn(Sort::ReadPooled(fill), data, data, 100);
                }
            }
            (0..6000).filter(|_| fills.choose(returned, data, data, &costs).is_timed).count()
        };
        if !can_copy_past() {
            return; // This cpu has one fill.
        }
        // Those of trials come on top.
        for (returned, data, few) in [(false, SMALL - 1, true), (false, SMALL, false), (true, BYTES, true)] {
            let timed = timed(returned, data);
            assert!(if few { 23..90 } else { 180..400 }.contains(&timed), "{returned} {data}: {timed}");
        }
    }

    #[test]
    fn the_line_says_how_its_slot_was_filled_and_scribbles_do_no_harm() {
        for fill in Fill::ALL {
            for is_timed in [false, true] {
                let filled = TimedFill { fill, is_timed, data: 5 << 20 };
                assert_eq!(TimedFill::of(filled.word()), filled);
            }
        }
        for word in [u64::MAX, u64::MAX - TIMED, TIMED, 1 << DATA] {
            let mut copies = 0;
            TimedFill::of(word).read(&Costs::default(), 0, || {
                copies += 1;
                true
            });
            assert_eq!(copies, 1, "{word:x}");
        }
    }

    #[test]
    fn both_copies_of_a_timed_piece_are_learnt_and_those_of_others_are_not() {
        let costs = Costs::default();
        let fill = Fill::Returned;
        for (is_timed, known) in [(false, Err(fill)), (true, Ok(fill))] {
            let filled = TimedFill { fill, is_timed, data: BYTES };
            let mut copies = 0;
            for _ in 0..16 {
                filled.write(&costs, BYTES, || copies += 1);
                filled.read(&costs, BYTES, || {
                    copies += 1;
                    true
                });
            }
            assert_eq!(copies, 32);
            assert_eq!(costs.cheapest_fill(&[fill], BYTES), known);
        }
    }
}
