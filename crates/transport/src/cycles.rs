//! What a program's cycles take with one of two answers to a question that comes again and again.
//!
//! A cycle is the time from one question to the next: of large data that goes to several ranks, from one collective to
//! the next. It has all in it that an answer costs, also what the costs of copies do not show: a rank that waits for a
//! cpu, or for others that wait for theirs.

/// The last cycles of each answer that count.
const COUNTED: usize = 8;
/// One cycle is clearly longer than another that is so many times as long: less may be chance. A choice: the first
/// cycles with another answer are longer than later ones, so that a larger one misses too much. (4 ranks on 2 cpus of a
/// Xeon, bcast of 256 kB: 51 us with 1.2, 39 with 1.1 and 36 with this.)
const CLEAR: f32 = 1.05;

/// The mean of the middle half of some cycles: they may be short and long by turns, and some were disturbed. (Gather of
/// 256 kB on 4 ranks: 37 and 57 us by turns, while ranks fill slots for two at a time.)
fn usual(mut cycles: [f32; COUNTED]) -> f32 {
    cycles.sort_unstable_by(f32::total_cmp);
    let middle = &cycles[COUNTED / 4..3 * COUNTED / 4];
    middle.iter().sum::<f32>() / middle.len() as f32
}

/// So many cycles in a row with one answer are enough to see that it is hopeless: that they are on average so many
/// times as long as those with the other one. A choice, as for the ways of messages. Not the shortest one: one rank's
/// cycles are short by turns. (8 ranks on 2 cpus, gather of 1 MB, ns a byte: 0.4, 1.6, 1.0, 1.6, 0.3, 1.8, 0.2, 2.2.)
const HOPELESS_AFTER: usize = 4;
const HOPELESS: f32 = 1.5;

/// The last cycles with each answer, in ns per byte.
#[derive(Default)]
pub(crate) struct Cycles {
    counted: [[f32; COUNTED]; 2],
    ended: [usize; 2],
    last: Option<Last>,
    row: Row,
}

/// The last answer, when it was given, for how many bytes, and whether its cycle counts.
struct Last {
    answer: bool,
    since_ns: u64,
    bytes: usize,
    counts: bool,
}

/// The cycles that ended since another answer was given, and their sum; also those that do not count.
#[derive(Default)]
struct Row {
    answer: bool,
    ended: usize,
    sum: f32,
}

impl Cycles {
    /// The next answer, of data of so many bytes: chosen by the one whose cycles are known to be clearly shorter.
    pub(crate) fn answer(
        &mut self,
        bytes: usize,
        now_ns: u64,
        choose: impl FnOnce(Option<bool>) -> bool,
    ) -> bool {
        if let Some(Last { answer, since_ns, bytes, counts }) = self.last {
            let cycle = now_ns.saturating_sub(since_ns) as f32 / bytes.max(1) as f32;
            if counts {
                let ended = &mut self.ended[usize::from(answer)];
                self.counted[usize::from(answer)][*ended % COUNTED] = cycle;
                *ended += 1;
            }
            if self.row.answer != answer {
                self.row = Row { answer, ..Row::default() };
            }
            self.row.ended += 1;
            self.row.sum += cycle;
        }
        let answer = choose(self.clearly_shorter());
        self.last = Some(Last { answer, since_ns: now_ns, bytes, counts: true });
        answer
    }

    /// The last answer again; the cycle that has ended does not count.
    pub(crate) fn again(&mut self, now_ns: u64) -> bool {
        self.last.as_mut().is_some_and(|last| {
            last.since_ns = now_ns;
            last.answer
        })
    }

    /// Enough cycles with this answer have ended.
    pub(crate) fn knows(&self, answer: bool) -> bool {
        self.ended[usize::from(answer)] >= COUNTED
    }

    /// The cycle that has begun does not count: it takes more than others.
    pub(crate) fn leave_out(&mut self) {
        if let Some(last) = &mut self.last {
            last.counts = false;
        }
    }

    /// The last answers were all the same one, and it can't become the shorter one soon.
    pub(crate) fn is_hopeless(&self) -> bool {
        let Row { answer, ended, sum } = self.row;
        let mean = |cycles: &[f32]| cycles.iter().sum::<f32>() / cycles.len() as f32;
        ended >= HOPELESS_AFTER
            && self.knows(!answer)
            && sum / ended as f32 > HOPELESS * mean(&self.counted[usize::from(!answer)])
    }

    /// The answer whose cycles are clearly shorter; nothing: neither, or that is not known.
    pub(crate) fn clearly_shorter(&self) -> Option<bool> {
        if !(self.knows(false) && self.knows(true)) {
            return None;
        }
        let [no, yes] = self.counted.map(usual);
        (CLEAR * no.min(yes) < no.max(yes)).then_some(yes < no)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// How many of the last 500 answers were yes where a cycle takes so long with no and with yes, when copies alone
    /// say `by_copies`. Each is tried now and then.
    fn yes(cycle_ns: [u64; 2], by_copies: bool) -> usize {
        let (mut cycles, mut now_ns, mut yes) = (Cycles::default(), 0, 0);
        for number in 0..1000u64 {
            let is_turn = number % 256 < 16;
            let answer =
                cycles.answer(1000, now_ns, |known| known.unwrap_or(by_copies) != (is_turn && number > 0));
            // Some wait for a cpu.
            now_ns += cycle_ns[usize::from(answer)] * if number % 7 == 0 { 20 } else { 1 };
            yes += usize::from(number >= 500 && answer);
        }
        yes
    }

    #[test]
    fn the_answer_with_the_clearly_shorter_cycle_is_given() {
        assert!(yes([60_000, 40_000], false) > 450);
        assert!(yes([40_000, 60_000], true) < 50);
    }

    #[test]
    fn an_answer_is_hopeless_after_some_cycles_that_are_far_longer_on_average() {
        // Some that alternate are as long on average; and cycles that do not count are seen as well.
        for (others_ns, after) in
            [([70_000, 70_000], Some(4)), ([20_000, 130_000], Some(4)), ([50_000, 50_000], None)]
        {
            let (mut cycles, mut now_ns) = (Cycles::default(), 0);
            let mut is_hopeless = |answer: bool, ns: u64, counts: bool| {
                assert!(cycles.answer(1000, now_ns, |_| answer) == answer);
                if !counts {
                    cycles.leave_out();
                }
                now_ns += ns;
                cycles.is_hopeless()
            };
            let with_nothing_known = (0..20).any(|_| is_hopeless(true, 90_000, false));
            let shorter = (0..20).any(|_| is_hopeless(false, 40_000, true));
            assert!(!with_nothing_known && !shorter);
            // The first answer ends the last cycle with the other one, and so does the last one.
            assert_eq!((0..50).position(|number| is_hopeless(true, others_ns[number % 2], false)), after);
            is_hopeless(false, 40_000, true);
            assert!(!is_hopeless(false, 40_000, true), "the answer has changed");
        }
    }

    #[test]
    fn cycles_that_are_short_and_long_by_turns_count_by_their_mean_and_disturbed_ones_do_not() {
        assert_eq!(usual([40.0, 90.0, 40.0, 90.0, 40.0, 90.0, 40.0, 90.0]), 65.0);
        assert_eq!(usual([40.0, 1e6, 40.0, 40.0, 2e6, 40.0, 0.0, 40.0]), 40.0);
    }

    #[test]
    fn where_cycles_differ_little_copies_decide() {
        assert!(yes([50_000, 49_000], false) < 50);
        assert!(yes([49_000, 50_000], true) > 450);
    }
}
