//! Rates, times and shares as people read them.

use super::account::TaskAccount;

/// Costs of the two halves of a run that differ by this factor are not even.
const UNEVEN: f64 = 1.3;
/// Calls that take at most this many times as long as expected are as fast as expected.
const AS_EXPECTED: f64 = 1.05;

fn digits(x: f64) -> String {
    match x.abs() {
        a if a >= 100.0 => format!("{x:.0}"),
        a if a >= 10.0 => format!("{x:.1}"),
        _ => format!("{x:.2}"),
    }
}

fn scaled(x: f64, steps: &[(f64, &str)]) -> String {
    let (step, unit) = steps.iter().find(|(step, _)| x.abs() >= *step).unwrap_or(&steps[steps.len() - 1]);
    format!("{} {unit}", digits(x / step))
}

/// `23.1 k/s`
pub(super) fn rate(per_s: f64) -> String {
    scaled(per_s, &[(1e9, "G/s"), (1e6, "M/s"), (1e3, "k/s"), (1.0, "/s")])
}

/// `5.20 us`
pub(super) fn time(ns: f64) -> String {
    scaled(ns, &[(1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns")])
}

/// `1.05 MB`
pub(super) fn bytes(n: u64) -> String {
    scaled(n as f64, &[(1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")])
}

/// `12.0 %`
pub(super) fn percent(share: f64) -> String {
    format!("{} %", digits(share * 100.0))
}

/// `1.65 times`
pub(super) fn times(factor: f64) -> String {
    format!("{} times", digits(factor))
}

/// `1.65 times slower`
pub(super) fn factor(factor: f64) -> String {
    if factor >= 1.0 {
        format!("{} slower", times(factor))
    } else {
        format!("{} faster", times(1.0 / factor.max(f64::MIN_POSITIVE)))
    }
}

/// What the first and the second half of the instances cost, where they differ.
pub(super) fn halves(tasks: &[TaskAccount]) -> Option<String> {
    let sum = |half: fn(&TaskAccount) -> f64| tasks.iter().map(half).sum::<f64>();
    let (first, second) = (sum(|t| t.outcome.first_half_ns), sum(|t| t.outcome.second_half_ns));
    let uneven = first > 0.0 && second > 0.0 && !(1.0 / UNEVEN..=UNEVEN).contains(&(second / first));
    uneven.then(|| format!("{} in the first half of the stream, {} in the second", time(first), time(second)))
}

/// What a tenth of the calls took, where they were as fast as expected and the others were not.
pub(super) fn fast(tasks: &[TaskAccount]) -> Option<String> {
    let sum = |of: fn(&TaskAccount) -> f64| tasks.iter().map(of).sum::<f64>();
    let (cost, fast) = (sum(|t| t.cost_ns), sum(|t| t.outcome.fast_ns));
    let comes_and_goes = fast > 0.0 && fast <= AS_EXPECTED * cost;
    comes_and_goes
        .then(|| format!("a tenth of the calls took {} or less, and {} was expected", time(fast), time(cost)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_a_unit() {
        assert_eq!(
            (rate(23_110.0), time(5_200.0), bytes(1 << 20)),
            ("23.1 k/s".into(), "5.20 us".into(), "1.05 MB".into())
        );
        assert_eq!((percent(0.1234), percent(-0.5)), ("12.3 %".into(), "-50.0 %".into()));
        assert_eq!((factor(1.65), factor(0.5)), ("1.65 times slower".into(), "2.00 times faster".into()));
        assert_eq!(time(0.0), "0.00 ns");
    }
}
