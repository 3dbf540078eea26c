//! What a program's cycles take with one of two answers to a question that comes again and again.
//!
//! A cycle is the time from one question to the next: of large data that goes to several ranks, from one collective to
//! the next. It has all in it that an answer costs, also what the costs of copies do not show: a rank that waits for a
//! cpu, or for others that wait for theirs.
//!
//! Both are compared by cycles of nearly the same time, because a computer changes, and so does a program: those with
//! one answer stand between two rows with the other.

/// The last cycles of a row that count, if there are as many. A choice: one rank's are short and long by turns.
pub(crate) const COUNTED: usize = 8;
/// Fewer say nothing.
const LEAST_COUNTED: usize = 4;
/// So many cycles do not count where one answer follows the other: data lies where the other answer left it, and memory
/// may be new. A choice.
const WARM_UP: usize = 2;
/// One cycle is clearly longer than another that is so many times as long: less may be chance. A choice: the first
/// cycles with another answer are longer than later ones, so that a larger one misses too much. (4 ranks on 2 cpus of a
/// Xeon, bcast of 256 kB: 51 us with 1.2, 39 with 1.1 and 36 with this.)
const CLEAR: f32 = 1.05;
/// So many cycles in a row with one answer are enough to see that it is hopeless: that they are on average so many
/// times as long as those with the other one. A choice, as for the ways of messages. Not the shortest one: one rank's
/// cycles are short by turns. (8 ranks on 2 cpus, gather of 1 MB, ns a byte: 0.4, 1.6, 1.0, 1.6, 0.3, 1.8, 0.2, 2.2.)
const HOPELESS_AFTER: usize = 4;
const HOPELESS: f32 = 1.5;

/// The last cycles with each answer, in ns per byte.
#[derive(Default)]
pub(crate) struct Cycles {
    rows: [Row; 2],
    last: Option<Last>,
    shorter: Option<bool>,
}

/// Cycles with one answer, since it followed the other one.
#[derive(Default)]
struct Row {
    /// What they took in the row before.
    before: Option<f32>,
    /// The last ones that count, and how many did.
    last: [f32; COUNTED],
    counted: usize,
    /// All that have begun and ended, and their sum.
    begun: usize,
    ended: usize,
    sum: f32,
}

impl Row {
    fn end(&mut self, cycle: f32, counts: bool) {
        if counts {
            self.last[self.counted % COUNTED] = cycle;
            self.counted += 1;
        }
        self.ended += 1;
        self.sum += cycle;
    }

    /// The mean of the middle half of those that count: they may be short and long by turns, and some were disturbed.
    /// (Gather of 256 kB on 4 ranks: 37 and 57 us by turns, while ranks fill slots for two at a time.) Nothing: they
    /// are too few.
    fn usual(&self) -> Option<f32> {
        let mut cycles = self.last;
        let cycles = &mut cycles[..self.counted.min(COUNTED)];
        cycles.sort_unstable_by(f32::total_cmp);
        let middle = &cycles[cycles.len() / 4..cycles.len().div_ceil(4) + cycles.len() / 2];
        (cycles.len() >= LEAST_COUNTED).then(|| middle.iter().sum::<f32>() / middle.len() as f32)
    }
}

/// The last answer, when it was given, for how many bytes, and whether its cycle counts.
struct Last {
    answer: bool,
    since_ns: u64,
    bytes: usize,
    counts: bool,
}

impl Cycles {
    /// The last cycle ends.
    pub(crate) fn end(&mut self, now_ns: u64) {
        if let Some(Last { answer, since_ns, bytes, counts }) = self.last {
            let cycle = now_ns.saturating_sub(since_ns) as f32 / bytes.max(1) as f32;
            self.rows[usize::from(answer)].end(cycle, counts);
        }
    }

    /// The next one begins, with an answer for data of so many bytes. The last one has ended.
    pub(crate) fn begin(&mut self, answer: bool, bytes: usize, now_ns: u64) {
        let row = &mut self.rows[usize::from(answer)];
        if self.last.as_ref().is_none_or(|last| last.answer != answer) {
            *row = Row { before: row.usual(), ..Row::default() };
        }
        row.begun += 1;
        self.last = Some(Last { answer, since_ns: now_ns, bytes, counts: row.begun > WARM_UP });
    }

    /// The last answer again; the cycle that has ended does not count.
    pub(crate) fn again(&mut self, now_ns: u64) -> bool {
        self.last.as_mut().is_some_and(|last| {
            last.since_ns = now_ns;
            last.answer
        })
    }

    /// The cycle that has begun does not count: it takes more than others.
    pub(crate) fn leave_out(&mut self) {
        if let Some(last) = &mut self.last {
            last.counts = false;
        }
    }

    /// As many cycles of the last row with this answer count as are compared.
    pub(crate) fn knows(&self, answer: bool) -> bool {
        self.rows[usize::from(answer)].counted >= COUNTED
    }

    /// The last answers were all the same one, and it can't become the shorter one soon.
    pub(crate) fn is_hopeless(&self) -> bool {
        let Some(Last { answer, .. }) = self.last else { return false };
        let [row, other] = [answer, !answer].map(|answer| &self.rows[usize::from(answer)]);
        let counted = &other.last[..other.counted.min(COUNTED)];
        row.ended >= HOPELESS_AFTER
            && counted.len() >= LEAST_COUNTED
            && row.sum / row.ended as f32 > HOPELESS * counted.iter().sum::<f32>() / counted.len() as f32
    }

    /// Compares the last row of an answer that was tried with those before and behind it, if enough cycles count: to be
    /// the shorter one, it has to be shorter than both. Before, a program may have been new to its data.
    pub(crate) fn compare(&mut self, tried: bool) {
        let [tried_row, usual] = [tried, !tried].map(|answer| &self.rows[usize::from(answer)]);
        if let Some((ns, usual_ns)) = tried_row.usual().zip(usual.usual()) {
            let usual_ns = usual.before.map_or(usual_ns, |before| before.min(usual_ns));
            let is_shorter = CLEAR * ns < usual_ns;
            self.shorter = (is_shorter || CLEAR * usual_ns < ns).then_some(tried == is_shorter);
        }
    }

    /// The answer whose cycles were clearly shorter when they were compared last; nothing: neither, or that is not
    /// known.
    pub(crate) fn shorter(&self) -> Option<bool> {
        self.shorter
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Cycles with rows of an answer, each cycle so long.
    fn of_rows(rows: &[(bool, &[u64])]) -> Cycles {
        let (mut cycles, mut now_ns) = (Cycles::default(), 0);
        for &(answer, row) in rows {
            for cycle_ns in row {
                cycles.begin(answer, 1000, now_ns);
                now_ns += cycle_ns;
                cycles.end(now_ns);
            }
        }
        cycles
    }

    /// The answer that is found to be shorter, where yes was tried between two rows of no.
    fn shorter(before: &[u64], tried: &[u64], behind: &[u64]) -> Option<bool> {
        let mut cycles = of_rows(&[(false, before), (true, tried), (false, behind)]);
        cycles.compare(true);
        cycles.shorter()
    }

    #[test]
    fn an_answer_is_hopeless_after_some_cycles_that_are_far_longer_on_average() {
        // Some that alternate are as long on average; and cycles that do not count are seen as well.
        for (others_ns, after) in
            [([70_000, 70_000], Some(4)), ([20_000, 130_000], Some(4)), ([50_000, 50_000], None)]
        {
            let row = |ended: usize| (0..ended).map(|number| others_ns[number % 2]).collect::<Vec<_>>();
            let hopeless = |before: &[u64]| {
                (0..50).position(|ended| of_rows(&[(false, before), (true, &row(ended))]).is_hopeless())
            };
            assert_eq!(hopeless(&[40_000; 20]), after);
            assert_eq!(hopeless(&[40_000; WARM_UP + 3]), None, "too little is known");
            assert!(
                !of_rows(&[(true, &row(20)), (false, &[40_000])]).is_hopeless(),
                "the answer has changed"
            );
        }
    }

    #[test]
    fn cycles_that_are_short_and_long_by_turns_count_by_their_mean_and_disturbed_ones_do_not() {
        let usual = |cycles: &[u64]| {
            let row: Vec<_> = [1, 1].iter().chain(cycles).copied().collect();
            of_rows(&[(true, &row)]).rows[1].usual()
        };
        assert_eq!(usual(&[40, 90, 40, 90, 40, 90, 40, 90]), Some(0.065));
        assert_eq!(usual(&[40, 1_000_000, 40, 40, 2_000_000, 40, 0, 40]), Some(0.04));
        assert_eq!(usual(&[40, 1_000_000, 40, 40]), Some(0.04));
        assert_eq!(usual(&[40, 40, 40]), None);
        // Of many, the last ones.
        assert_eq!(usual(&[[900; 30].as_slice(), &[40; COUNTED]].concat()), Some(0.04));
    }

    #[test]
    fn the_answer_with_the_clearly_shorter_cycles_is_found_where_enough_of_both_count() {
        let usual: &[u64] = &[60_000; 20];
        assert_eq!(shorter(usual, &[40_000; 10], usual), Some(true));
        assert_eq!(shorter(usual, &[80_000; 10], usual), Some(false));
        assert_eq!(shorter(usual, &[58_000; 10], usual), None);
        assert_eq!(shorter(usual, &[40_000; WARM_UP + 3], usual), None);
        assert_eq!(shorter(usual, &[40_000; 10], &[60_000; WARM_UP + 3]), None);
        // It has to be shorter than those before and behind it.
        let long: &[u64] = &[90_000; 20];
        assert_eq!(shorter(long, &[70_000; 10], usual), Some(false));
        assert_eq!(shorter(usual, &[70_000; 10], long), Some(false));
        assert_eq!(shorter(&[90_000; 3], &[40_000; 10], usual), Some(true));
        // The first cycles after the other answer do not count.
        assert_eq!(shorter(usual, &[9_000_000, 9_000_000, 50, 50, 50, 50], usual), Some(true));
    }

    #[test]
    fn what_was_found_holds_until_the_next_comparison() {
        let row = |cycles: &mut Cycles, answer, cycle_ns| {
            for _ in 0..20 {
                cycles.begin(answer, 1000, 0);
                cycles.end(cycle_ns);
            }
        };
        let mut cycles = of_rows(&[(false, &[60_000; 20]), (true, &[40_000; 20]), (false, &[60_000; 20])]);
        cycles.compare(true);
        row(&mut cycles, true, 500_000);
        assert_eq!(cycles.shorter(), Some(true));
        row(&mut cycles, false, 60_000);
        row(&mut cycles, true, 500_000);
        cycles.compare(false);
        assert_eq!(cycles.shorter(), Some(false));
    }
}
