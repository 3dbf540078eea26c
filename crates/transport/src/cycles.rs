//! What a program's cycles take with one of two answers to a question that comes again and again.
//!
//! A cycle is the time from one question to the next: of large data that goes to several ranks, from one collective to
//! the next. It has all in it that an answer costs, also what the costs of copies do not show: a rank that waits for a
//! cpu, or for others that wait for theirs.
//!
//! Both are compared by cycles of nearly the same time, because a computer changes, and so does a program: those with
//! one answer stand between two rows with the other.

use std::array;

/// The last cycles of a row that count, if there are as many. A choice: one rank's are short and long by turns.
pub(crate) const COUNTED: usize = 8;
/// Fewer say nothing. They are enough for data of so many bytes, which takes long. Choices.
const LEAST_COUNTED: usize = 4;
const LARGE: usize = 4 << 20;
/// So many cycles do not count where one answer follows the other: data lies where the other answer left it, and memory
/// may be new. A choice.
const WARM_UP: usize = 2;
/// One cycle is clearly longer than another that is so many times as long: less may be chance. A choice: the first
/// cycles with another answer are longer than later ones, so that a larger one misses too much. (4 ranks on 2 cpus of a
/// Xeon, bcast of 256 kB: 51 us with 1.2, 39 with 1.1 and 36 with this.)
const CLEAR: f32 = 1.05;
/// Cycles are settled when the earlier half of the last ones is not clearly longer than the later half: at first, data
/// gets memory and moves from cache to cache. So many times as long is clear. A choice. (Two ranks on an EPYC,
/// allgather of 1 MB, us, read by the kernel 97; sent through the pool, which is new, 238, 270 and later 68.)
const FALLING: f32 = 1.1;
/// An answer is hopeless whose last cycles are so many times as long as those with the other one: its turn is over. A
/// choice: less may be the start of something shorter.
const HOPELESS: f32 = 3.0;

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
    /// All that have begun.
    begun: usize,
}

/// The mean of the middle half of some cycles: they may be short and long by turns, and some were disturbed. (Gather of
/// 256 kB on 4 ranks: 37 and 57 us by turns, while ranks fill slots for two at a time.)
fn usual(cycles: &mut [f32]) -> f32 {
    cycles.sort_unstable_by(f32::total_cmp);
    let middle = &cycles[cycles.len() / 4..cycles.len().div_ceil(4) + cycles.len() / 2];
    middle.iter().sum::<f32>() / middle.len() as f32
}

impl Row {
    fn end(&mut self, cycle: f32) {
        self.last[self.counted % COUNTED] = cycle;
        self.counted += 1;
    }

    /// What those take that count; nothing: they are too few.
    fn usual(&self) -> Option<f32> {
        let mut last = self.last;
        (self.counted >= LEAST_COUNTED).then(|| usual(&mut last[..self.counted.min(COUNTED)]))
    }

    /// So many count, and the last ones do not become shorter any more.
    fn is_settled(&self, cycles: usize) -> bool {
        let mut by_time: [f32; COUNTED] = array::from_fn(|at| self.last[(self.counted + at) % COUNTED]);
        let (earlier, later) = by_time[COUNTED - cycles..].split_at_mut(cycles / 2);
        self.counted >= cycles && usual(earlier) <= FALLING * usual(later)
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
        if let Some(Last { answer, since_ns, bytes, counts: true }) = self.last {
            let cycle_ns = now_ns.saturating_sub(since_ns);
            self.rows[usize::from(answer)].end(cycle_ns as f32 / bytes.max(1) as f32);
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

    /// What the last row of cycles with this answer takes is known. Its data has so many bytes.
    pub(crate) fn knows(&self, answer: bool, data: usize) -> bool {
        self.rows[usize::from(answer)].is_settled(if data < LARGE { COUNTED } else { LEAST_COUNTED })
    }

    /// The last row of cycles with this answer can't become the shorter one soon.
    pub(crate) fn is_hopeless(&self, answer: bool) -> bool {
        let [ns, other_ns] = [answer, !answer].map(|answer| self.rows[usize::from(answer)].usual());
        ns.zip(other_ns).is_some_and(|(ns, other_ns)| ns > HOPELESS * other_ns)
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

    /// A row of these cycles that count.
    fn row_of(cycles: &[u64]) -> Cycles {
        let row: Vec<_> = [1; WARM_UP].iter().chain(cycles).copied().collect();
        of_rows(&[(true, &row)])
    }

    #[test]
    fn an_answer_is_hopeless_whose_cycles_are_far_longer() {
        for (others_ns, after) in
            [([150_000, 150_000], Some(4)), ([20_000, 280_000], Some(4)), ([100_000, 100_000], None)]
        {
            let row = |ended: usize| (0..ended).map(|number| others_ns[number % 2]).collect::<Vec<_>>();
            let hopeless = |before: &[u64]| {
                (0..50).position(|ended| of_rows(&[(false, before), (true, &row(ended))]).is_hopeless(true))
            };
            assert_eq!(hopeless(&[40_000; 20]), after.map(|counted| WARM_UP + counted));
            assert_eq!(hopeless(&[40_000; WARM_UP + 3]), None, "too little is known");
        }
    }

    #[test]
    fn cycles_are_settled_when_they_become_no_shorter() {
        let settled = |cycles: &[u64]| row_of(cycles).knows(true, 1000);
        assert!(settled(&[70; 8]));
        assert!(!settled(&[70; 7]));
        assert!(!settled(&[250, 250, 240, 90, 70, 70, 70, 70]));
        assert!(settled(&[250, 250, 240, 90, 70, 70, 70, 70, 70, 70, 70]));
        // Some are short and long by turns, and one was disturbed.
        assert!(settled(&[40, 90, 40, 90, 40, 90, 40, 90]));
        assert!(settled(&[70, 900, 70, 70, 70, 70, 70, 70]));
        assert!(!row_of(&[70; 20]).knows(false, 1000));
        // Of large data, half as many are enough.
        let large = |cycles: &[u64]| row_of(cycles).knows(true, LARGE);
        assert!(large(&[70; 4]) && !large(&[70; 3]) && !large(&[250, 90, 70, 70]));
        assert!(large(&[250, 90, 70, 70, 70, 70]));
    }

    #[test]
    fn cycles_that_are_short_and_long_by_turns_count_by_their_mean_and_disturbed_ones_do_not() {
        let usual = |cycles: &[u64]| row_of(cycles).rows[1].usual();
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
