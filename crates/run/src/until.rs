//! How long a run on a simulated machine goes on when it goes on until its throughput is steady.

use serde::{Deserialize, Serialize};

/// Instances that such a run has at most.
pub const STEADY_MOST: u64 = 40_000;
/// The part of the highest throughput that a steady run reaches: that of `streaming-schedule` 5.3.1.
const REACHED: f64 = 0.99;
/// By how much the rates of two windows may differ that count as equal.
const EQUAL: f64 = 0.005;
/// Fewer instances decide nothing.
const LEAST: u64 = 1_000;
/// The criterion in words, for the result.
const CRITERION: &str = "instances / time is 99 % of the highest, which no longer grows: the rate of the last half of \
                         the instances is that of the quarter before, within 0.5 %";

/// What a run that went on until its throughput was steady found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SteadyOutcome {
    /// When a throughput counts as steady.
    pub criterion: String,
    /// Whether it was; else the run ended before.
    pub decided: bool,
    /// Instances after which instances / time was 99 % of the highest for the first time.
    pub instances: u64,
    /// The highest throughput per second: what instances / time tends to, or, where that is more, has reached.
    pub highest_per_s: f64,
}

/// Watches the sinks of a run and says when its throughput is steady.
#[derive(Debug, Default)]
pub struct UntilSteady {
    /// By sink, what it has taken.
    taken: Vec<u64>,
    /// Times in ps at which the slowest sink had taken so many instances.
    marks: Vec<(u64, u64)>,
    /// The next number of instances to look at.
    next: u64,
    found: Option<SteadyOutcome>,
}

impl UntilSteady {
    /// For a run with so many sinks.
    pub fn new(sinks: usize) -> Self {
        Self { taken: vec![0; sinks], next: LEAST, ..Self::default() }
    }

    /// A sink has taken so many instances at `ps`. Whether the run may end.
    pub fn took(&mut self, sink: usize, instances: u64, ps: u64) -> bool {
        self.taken[sink] = instances;
        let all = self.taken.iter().copied().min().unwrap_or(0);
        if all > self.marks.last().map_or(0, |m| m.0) {
            self.marks.push((all, ps));
        }
        if self.found.is_none() && all >= self.next {
            // A sixteenth more: looking costs little beside the run, and the run is hardly longer than it must be.
            self.next = all + all / 16;
            self.found = look(&self.marks).filter(|found| found.decided);
        }
        self.found.is_some()
    }

    /// What was found; where nothing was decided, what the run that is over says.
    pub fn outcome(&self) -> Option<SteadyOutcome> {
        self.found.clone().or_else(|| look(&self.marks))
    }
}

/// What the times at which so many instances were taken say.
fn look(marks: &[(u64, u64)]) -> Option<SteadyOutcome> {
    let last = *marks.last().filter(|m| m.0 >= LEAST)?;
    let at = |n: u64| marks[marks.partition_point(|m| m.0 < n)];
    let rate =
        |from: (u64, u64), to: (u64, u64)| (to.0 - from.0) as f64 * 1e12 / (to.1 - from.1).max(1) as f64;
    let (quarter, half) = (at(last.0 / 4), at(last.0 / 2));
    let (before, now) = (rate(quarter, half), rate(half, last));
    let from_start = |mark: &(u64, u64)| rate((0, 0), *mark);
    let highest_per_s = marks.iter().map(from_start).fold(now, f64::max);
    let first = marks.iter().find(|m| from_start(m) >= REACHED * highest_per_s);
    Some(SteadyOutcome {
        criterion: CRITERION.into(),
        decided: first.is_some() && (now / before - 1.0).abs() <= EQUAL,
        instances: first.unwrap_or(&last).0,
        highest_per_s,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a stream that takes `ps(n)` for `n` instances, and gives how many it took and what was found.
    fn watched(ps: impl Fn(u64) -> u64) -> (u64, SteadyOutcome) {
        let mut until = UntilSteady::new(1);
        let n = (1..STEADY_MOST).find(|&n| until.took(0, n, ps(n))).unwrap_or(STEADY_MOST);
        (n, until.outcome().unwrap())
    }

    #[test]
    fn a_stream_that_starts_late_is_steady_after_99_starts() {
        // n / (start + n) = 0.99 for n = 99 starts.
        let (n, found) = watched(|n| 10_000_000 + n * 1_000_000);
        assert!(found.decided && (found.highest_per_s / 1e6 - 1.0).abs() < 1e-9, "{found:?}");
        assert_eq!(found.instances, 990);
        assert!((1_000..=1_070).contains(&n), "{n}");
    }

    #[test]
    fn a_stream_that_becomes_faster_and_faster_is_never_steady() {
        let (n, found) = watched(|n| ((n as f64).powf(0.9) * 1e6) as u64);
        assert!(!found.decided && n == STEADY_MOST, "{found:?}");
    }

    #[test]
    fn a_stream_that_slows_down_has_its_highest_throughput_behind_it() {
        let (_, found) = watched(|n| n * 1_000_000 + n.saturating_sub(500) * 1_000_000);
        assert!(found.decided && found.instances == 1 && found.highest_per_s == 1e6, "{found:?}");
    }

    #[test]
    fn the_slowest_sink_counts() {
        let mut until = UntilSteady::new(2);
        assert!(!(1..=2_000).any(|n| until.took(0, n, n * 10)));
        assert_eq!(until.outcome(), None);
        assert!((1..=2_000).any(|n| until.took(1, n, 50 + n * 10)));
    }
}
