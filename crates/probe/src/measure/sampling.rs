//! How many samples are enough: until the confidence interval of the median is narrow.

use crate::ProbeOptions;
use ground::quantile;

/// Samples of each experiment, of which so many are taken at least and at most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sampling {
    pub(crate) least: u32,
    pub(crate) most: u32,
    /// Half of the width of the median's 95 % confidence interval, as a part of the median, that is narrow enough.
    precision: f64,
}

/// Of the standard normal distribution: between plus and minus this lie 95 %.
const Z_95: f64 = 1.96;
/// Fewer samples have no interval: its ends would lie beyond the smallest and the largest.
const INTERVAL_SAMPLES: usize = 6;

impl Sampling {
    const EXACT: Self = Self { least: 1, most: 1, precision: 0.0 };
    const QUICK: Self = Self { least: 10, most: 60, precision: 0.05 };
    const THOROUGH: Self = Self { least: 30, most: 1000, precision: 0.01 };
    /// From this many experiments on, the quick form takes fewer samples of each.
    const MANY: usize = 5000;
    const OF_MANY: Self = Self { least: 6, most: 20, precision: 0.05 };

    pub(crate) fn of(options: &ProbeOptions, exact: bool, jobs: usize) -> Self {
        match options.samples {
            _ if exact => Self::EXACT,
            Some(n) => Self { least: n, most: n, precision: 0.0 },
            None if options.thorough => Self::THOROUGH,
            None if jobs > Self::MANY => Self::OF_MANY,
            None => Self::QUICK,
        }
    }

    /// Whether these values tell their median well enough.
    pub(crate) fn enough(&self, values: &[f64]) -> bool {
        values.len() >= self.least as usize && interval(values).is_some_and(|half| half <= self.precision)
    }
}

/// Half of the width of the 95 % confidence interval of the median, as a part of the median: from the order of the
/// values alone (the ranks of a binomial distribution, by its normal approximation), whatever their distribution.
/// `None` for fewer than six values.
pub(crate) fn interval(values: &[f64]) -> Option<f64> {
    let n = values.len();
    if n < INTERVAL_SAMPLES {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (middle, reach) = (n as f64 / 2.0, Z_95 * (n as f64).sqrt() / 2.0);
    let low = (middle - reach).floor().max(0.0) as usize;
    let high = ((middle + reach).ceil() as usize).min(n - 1);
    let median = quantile(&sorted, 0.5);
    (median > 0.0).then(|| (sorted[high] - sorted[low]) / (2.0 * median))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_that_of_the_binomial_distribution() {
        // 100 values 1 .. 100: ranks 40 and 60 (counted from 0) of the sorted values.
        let values: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!(interval(&values), Some((61.0 - 41.0) / (2.0 * 51.0)));
        assert_eq!(interval(&[1.0; 5]), None);
        assert_eq!(interval(&[2.0; 6]), Some(0.0));
    }

    #[test]
    fn the_interval_holds_the_median_of_what_is_drawn_as_often_as_it_says() {
        let mut draws = ground::Draws::new(7);
        let (mut held, rounds, n) = (0, 400, 40);
        for _ in 0..rounds {
            // A skewed distribution with a median of 1: 2^(4 u - 2).
            let values: Vec<f64> = (0..n)
                .map(|_| 2f64.powf(4.0 * draws.below(1 << 20) as f64 / (1 << 20) as f64 - 2.0))
                .collect();
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            let reach = Z_95 * f64::from(n).sqrt() / 2.0;
            let middle = f64::from(n) / 2.0;
            let (low, high) =
                (sorted[(middle - reach).floor() as usize], sorted[(middle + reach).ceil() as usize]);
            held += usize::from((low..=high).contains(&1.0));
            assert!(interval(&values).unwrap() >= (high - low) / (2.0 * sorted[n as usize / 2]) - 1e-12);
        }
        assert!(held * 100 >= 93 * rounds, "{held} of {rounds}");
    }

    #[test]
    fn steady_values_need_few_samples_and_scattered_ones_more() {
        let quick = Sampling::QUICK;
        assert!(!quick.enough(&[1.0; 9]) && quick.enough(&[1.0; 10]));
        let scattered: Vec<f64> = (0..40).map(|i| 1.0 + f64::from(i % 10) / 10.0).collect();
        assert!(!quick.enough(&scattered));
        let given = Sampling::of(&ProbeOptions { samples: Some(3), ..Default::default() }, false, 1);
        assert_eq!((given.least, given.most), (3, 3));
    }
}
