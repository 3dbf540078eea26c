//! What n samples come to: never only a mean.

use serde::Serialize;

/// Minimum and quantiles.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Quantiles {
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
    /// let q = probe::Quantiles::of((1..=100).map(f64::from).collect()).unwrap();
    /// assert_eq!((q.min, q.p10, q.p50, q.p90), (1.0, 11.0, 51.0, 91.0));
    /// ```
    pub fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let at = |part: usize| values[(values.len() * part / 10).min(values.len() - 1)];
        let min = *values.first()?;
        Some(Self { min, p10: at(1), p50: at(5), p90: at(9) })
    }
}
