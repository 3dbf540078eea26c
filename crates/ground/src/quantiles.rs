//! What n samples come to: never only a mean.

use serde::{Deserialize, Serialize};

/// Minimum and quantiles of n samples, in the samples' unit.
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
    /// let q = ground::Quantiles::of((1..=100).map(f64::from).collect()).unwrap();
    /// assert_eq!((q.n, q.min, q.p10, q.p50, q.p90), (100, 1.0, 11.0, 51.0, 91.0));
    /// ```
    pub fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        Some(Self {
            n: values.len() as u64,
            min: *values.first()?,
            p10: quantile(&values, 0.1),
            p50: quantile(&values, 0.5),
            p90: quantile(&values, 0.9),
        })
    }
}

/// The value below which the part `q` (0 to 1) of the sorted `values` lies: always one of them; 0 without values.
///
/// ```
/// assert_eq!(ground::quantile(&[1.0, 2.0, 3.0, 4.0], 0.5), 3.0);
/// ```
pub fn quantile(values: &[f64], q: f64) -> f64 {
    match values.len() {
        0 => 0.0,
        n => values[((n as f64 * q) as usize).min(n - 1)],
    }
}
