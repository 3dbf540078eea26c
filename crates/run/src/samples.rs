//! Samples without end in bounded memory: when it is full, every second one goes and the stride doubles.

use serde::{Deserialize, Serialize};

/// Evenly thinned samples; never allocates after it was made.
#[derive(Debug, Clone)]
pub struct Samples<T> {
    kept: Vec<T>,
    stride: u64,
    skip: u64,
}

impl<T: Copy> Samples<T> {
    /// Room for `room` samples, at least 2.
    pub fn new(room: usize) -> Samples<T> {
        Samples { kept: Vec::with_capacity(room.max(2)), stride: 1, skip: 0 }
    }

    /// Takes a sample.
    #[inline]
    pub fn push(&mut self, sample: T) {
        if self.skip > 0 {
            self.skip -= 1;
            return;
        }
        if self.kept.len() == self.kept.capacity() {
            let mut index = 0;
            self.kept.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.stride *= 2;
        }
        self.kept.push(sample);
        self.skip = self.stride - 1;
    }

    /// What was kept, in order.
    pub fn kept(&self) -> &[T] {
        &self.kept
    }
}

/// Minimum and quantiles of n samples.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Quantiles {
    /// How many samples.
    pub n: u64,
    /// Smallest.
    pub min: f64,
    /// A tenth is below.
    pub p10: f64,
    /// Half is below.
    pub p50: f64,
    /// Nine tenths are below.
    pub p90: f64,
}

impl Quantiles {
    /// Of `values`, in any order; `None` without any.
    ///
    /// ```
    /// let q = run::Quantiles::of((1..=100).map(f64::from).collect()).unwrap();
    /// assert_eq!((q.n, q.min, q.p10, q.p50, q.p90), (100, 1.0, 11.0, 51.0, 91.0));
    /// ```
    pub fn of(mut values: Vec<f64>) -> Option<Quantiles> {
        values.sort_by(f64::total_cmp);
        Some(Quantiles {
            n: values.len() as u64,
            min: *values.first()?,
            p10: quantile(&values, 0.1),
            p50: quantile(&values, 0.5),
            p90: quantile(&values, 0.9),
        })
    }
}

/// The value below which the part `q` of the sorted `values` lies; 0 without values.
pub(crate) fn quantile(values: &[f64], q: f64) -> f64 {
    match values.len() {
        0 => 0.0,
        n => values[((n as f64 * q) as usize).min(n - 1)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_stay_evenly_spread_and_bounded() {
        let mut samples = Samples::new(8);
        (0..1000u64).for_each(|i| samples.push(i));
        let kept = samples.kept();
        assert!(kept.len() <= 8 && kept.len() >= 4, "{kept:?}");
        assert!(kept.windows(2).all(|w| w[1] - w[0] == kept[1] - kept[0]), "{kept:?}");
        assert_eq!(kept[0], 0);
    }
}
