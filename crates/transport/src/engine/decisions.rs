//! Questions that come again and again with large data, for which no computer has one best answer: now and then the
//! other answer is tried.

use crate::costs::{CLASSES, class_of, known_from};
use crate::cycles::Cycles;
use std::sync::atomic::{AtomicU32, Ordering};

/// One of so many answers begins a turn of the other one, so that what costs more is measured again. The answers of a
/// turn follow one another, because the first copies of a sort take longer. A choice. (4 ranks on 2 cpus of an EPYC,
/// allreduce of 256 kB: 69 us with one in 16 and 63 with this.)
pub(super) const TURN_EACH: u32 = 1024;
/// The first turns are after so many answers: what is known may be from other collectives, where it cost more. Choices:
/// a fourth of the way each, as for `landing`. (Allgather of 256 kB between two ranks after gathers, on an EPYC: 38 us
/// without them and 32 with them. On a Xeon, 40 ms of collectives of 4 MB between two ranks, us, with turns after 16
/// and 64, and with these: allgather 816 and 774, scatter 482 and 416.)
const FIRST_TURNS: [u32; 2] = [64, 256];
/// The most answers of a turn that ends when enough cycles count. A choice.
const LONGEST: u32 = FIRST_TURNS[0];

/// How many answers there were, by the class of data.
#[derive(Default)]
pub(super) struct Answers([u32; CLASSES]);

impl Answers {
    /// How many were given.
    pub(super) fn given(&self, data: usize) -> u32 {
        self.0[class_of(data)]
    }

    /// Whether the next answer is the turn of what costs more.
    pub(super) fn turn_of_other(&mut self, data: usize) -> bool {
        self.turn(data, 0, |_| known_from(data)).is_some()
    }

    /// Which turn the next answer belongs to, if to one, where all turns are so many answers ahead of their time: two
    /// questions whose turns fall together tell nothing of either. `length`: how many answers one has.
    pub(super) fn turn(&mut self, data: usize, ahead: u32, length: impl Fn(usize) -> u32) -> Option<usize> {
        let answers = &mut self.0[class_of(data)];
        let number = answers.wrapping_add(ahead);
        *answers = answers.wrapping_add(1);
        let (turn, start) = match number / TURN_EACH {
            0 => FIRST_TURNS.into_iter().enumerate().rfind(|&(_, start)| start <= number)?,
            later => (FIRST_TURNS.len() - 1 + later as usize, later * TURN_EACH),
        };
        (number - start < length(turn)).then_some(turn)
    }
}

/// Answers that a program's cycles tell, by the class of data.
#[derive(Default)]
pub(super) struct Decisions {
    cycles: [Cycles; CLASSES],
    answers: Answers,
    turns: [Turn; CLASSES],
    /// Turns are so many answers ahead of their time.
    ahead: u32,
}

/// Whose turn it is.
#[derive(Clone, Copy, Default)]
enum Turn {
    /// The usual answer's.
    #[default]
    Usual,
    /// The other one's, which is this.
    Other(bool),
    /// The usual one's again, to be compared with the other one, which was this.
    Back(bool),
    /// The usual one's: both are known.
    Over,
}

impl Decisions {
    /// Turns of the other answer come so many answers before their time.
    pub(super) fn ahead_by(ahead: u32) -> Self {
        Self { ahead, ..Self::default() }
    }

    /// The next answer, now. `at_first`: as long as cycles don't tell; an error: what is to be measured next.
    pub(super) fn answer(&mut self, bytes: usize, at_first: Result<bool, bool>, now_ns: u64) -> bool {
        self.answer_ahead(self.ahead, bytes, at_first, now_ns)
    }

    /// The same where the first answer is all but sure: turns of the other one are not ahead of their time.
    pub(super) fn answer_sure(&mut self, bytes: usize, at_first: bool, now_ns: u64) -> bool {
        self.answer_ahead(0, bytes, Ok(at_first), now_ns)
    }

    fn answer_ahead(&mut self, ahead: u32, bytes: usize, at_first: Result<bool, bool>, now_ns: u64) -> bool {
        let class = class_of(bytes);
        let (cycles, turn) = (&mut self.cycles[class], &mut self.turns[class]);
        cycles.end(now_ns);
        let answer = match at_first {
            Err(measure) => measure,
            Ok(at_first) => {
                let has_time = self.answers.turn(bytes, ahead, |_| LONGEST).is_some();
                match *turn {
                    Turn::Other(other)
                        if !has_time || cycles.knows(other, bytes) || cycles.is_hopeless(other) =>
                    {
                        *turn = Turn::Back(other);
                    }
                    Turn::Back(other) if cycles.knows(!other, bytes) => {
                        cycles.compare(other);
                        *turn = Turn::Over;
                    }
                    Turn::Over if !has_time => *turn = Turn::Usual,
                    _ => {}
                }
                let usual = cycles.shorter().unwrap_or(at_first);
                if has_time && matches!(*turn, Turn::Usual) {
                    *turn = Turn::Other(!usual);
                }
                if let Turn::Other(other) = *turn { other } else { usual }
            }
        };
        cycles.begin(answer, bytes, now_ns);
        answer
    }

    /// The answer whose cycles were clearly shorter with half as much data, or a fourth; nothing: that is not known.
    pub(super) fn of_smaller(&self, bytes: usize) -> Option<bool> {
        [bytes / 2, bytes / 4].into_iter().find_map(|bytes| self.cycles[class_of(bytes)].shorter())
    }

    /// The last answer again, which was not heeded: its cycle does not count.
    pub(super) fn again(&mut self, bytes: usize, now_ns: u64) -> bool {
        self.cycles[class_of(bytes)].again(now_ns)
    }

    /// The cycle that has begun does not count.
    pub(super) fn leave_out(&mut self, bytes: usize) {
        self.cycles[class_of(bytes)].leave_out();
    }
}

/// The answer of a rank about a class of data.
pub(super) fn said(answers: &AtomicU32, class: usize) -> bool {
    answers.load(Ordering::Relaxed) >> class & 1 == 1
}

/// Says an answer of this rank about a class of data, where others look.
pub(super) fn say(answers: &AtomicU32, class: usize, answer: bool) {
    let before = answers.load(Ordering::Relaxed);
    let now = before & !(1 << class) | u32::from(answer) << class;
    if now != before {
        answers.store(now, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::cycles::COUNTED;

    const BYTES: usize = 100_000;

    #[test]
    fn what_costs_more_has_its_turn_soon_at_first_and_rarely_later_for_each_size() {
        let mut answers = Answers::default();
        let turns = |answers: &mut Answers, data| {
            let turns =
                (0..3000).filter_map(|number| Some((number, answers.turn(data, 0, |_| known_from(data))?)));
            turns.collect::<Vec<(u32, usize)>>()
        };
        for (data, others, starts) in [
            (100_000, 16, [64, 256, 1024, 2048]),
            (200_000, 16, [64, 256, 1024, 2048]),
            (4 << 20, 4, [64, 256, 1024, 2048]),
        ] {
            let expected: Vec<_> = (0..4)
                .flat_map(|turn| (starts[turn]..starts[turn] + others).map(move |number| (number, turn)))
                .collect();
            assert_eq!(turns(&mut answers, data), expected, "{data} bytes");
        }
        assert_eq!(turns(&mut answers, 100_000).first(), Some(&(72, 4)));
        // A turn may be longer, up to the next one; and all of them may come sooner.
        let mut answers = Answers::default();
        let length = |turn| if turn == 1 { 80 } else { 2000 };
        let turns: Vec<_> = (0..1100).filter_map(|_| answers.turn(100_000, 0, length)).collect();
        assert_eq!([0, 1, 2].map(|turn| turns.iter().filter(|&&one| one == turn).count()), [192, 80, 76]);
        let mut answers = Answers::default();
        let starts = (0..2000).filter(|_| answers.turn(100_000, 60, |_| 1).is_some());
        assert_eq!(starts.collect::<Vec<_>>(), [4, 196, 964, 1988]);
    }

    /// How many of so many answers are yes where a cycle takes so long with no and with yes.
    fn yes(decisions: &mut Decisions, answers: usize, at_first: bool, cycle_ns: [u64; 2]) -> usize {
        let (mut now_ns, mut yes) = (0, 0);
        for number in 0..answers {
            let answer = decisions.answer(BYTES, Ok(at_first), now_ns);
            // Some wait for a cpu.
            now_ns += cycle_ns[usize::from(answer)] * if number % 7 == 0 { 20 } else { 1 };
            yes += usize::from(answer);
        }
        yes
    }

    #[test]
    fn the_answer_with_the_clearly_shorter_cycle_is_given_after_its_first_turn() {
        let of_300 = |at_first, cycle_ns| yes(&mut Decisions::default(), 300, at_first, cycle_ns);
        assert!(of_300(false, [60_000, 40_000]) > 200);
        assert!(of_300(true, [40_000, 60_000]) < 100);
        // Where cycles differ little, what is known at first decides.
        assert!(of_300(false, [50_000, 49_000]) < 50);
        assert!(of_300(true, [49_000, 50_000]) > 250);
        assert!(yes(&mut Decisions::ahead_by(56), 300, false, [60_000, 40_000]) > 250);
    }

    #[test]
    fn a_change_is_found_in_the_next_turn_and_time_alone_changes_no_answer() {
        let mut decisions = Decisions::default();
        assert!(yes(&mut decisions, 900, false, [60_000, 40_000]) > 700);
        // All cycles become longer.
        assert_eq!(yes(&mut decisions, 100, false, [600_000, 400_000]), 100);
        assert!(yes(&mut decisions, 1000, false, [40_000, 60_000]) < 100);
    }

    #[test]
    fn a_turn_of_the_other_answer_ends_when_enough_cycles_count_or_soon_where_they_are_far_longer() {
        // How many of the first 400 answers, with two turns, are the other one.
        let others = |other_ns| {
            let (mut decisions, mut now_ns) = (Decisions::default(), 0);
            let answers = (0..400).map(|_| {
                let answer = decisions.answer(BYTES, Ok(false), now_ns);
                now_ns += if answer { other_ns } else { 10_000 };
                answer
            });
            answers.filter(|&answer| answer).count()
        };
        // The first two of a turn do not count.
        assert_eq!(others(10_400), 2 * (2 + COUNTED));
        assert_eq!(others(12_000), 2 * (2 + COUNTED));
        assert_eq!(others(25_000), 2 * (2 + COUNTED));
        // Four tell.
        assert_eq!(others(35_000), 2 * (2 + 4));
        assert!(others(8_000) > 300);
    }

    #[test]
    fn an_answer_that_was_not_heeded_is_given_again_and_its_cycle_does_not_count() {
        let (mut decisions, mut now_ns) = (Decisions::default(), 0);
        // Of two turns of the other answer, which takes longer, half of the answers are heeded too late.
        let mut others = 0;
        for number in 0..400 {
            let answer = decisions.answer(BYTES, Ok(false), now_ns);
            for _ in 0..number % 2 {
                now_ns += 100;
                assert_eq!(decisions.again(BYTES, now_ns), answer);
            }
            now_ns += if answer { 12_000 } else { 10_000 };
            others += usize::from(answer);
        }
        assert_eq!(others, 2 * (2 + COUNTED));
    }
}
