//! Least squares for two coefficients that cannot be negative.

/// One measurement: `value = a * x + b * y`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    /// Multiplies the first coefficient.
    pub x: f64,
    /// Multiplies the second coefficient.
    pub y: f64,
    /// What was measured.
    pub value: f64,
}

/// The coefficients (a, b), neither below 0, with the least sum of squared errors relative to `scale`.
///
/// Each error is divided by the point's `scale`, so that a 5 % miss on a fast point weighs as much as on a slow one.
pub(crate) fn two(points: &[Point], scale: impl Fn(&Point) -> f64) -> (f64, f64) {
    let (mut xx, mut xy, mut yy, mut xv, mut yv) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for p in points {
        let weight = 1.0 / scale(p).max(f64::MIN_POSITIVE).powi(2);
        xx += weight * p.x * p.x;
        xy += weight * p.x * p.y;
        yy += weight * p.y * p.y;
        xv += weight * p.x * p.value;
        yv += weight * p.y * p.value;
    }
    let determinant = xx * yy - xy * xy;
    if determinant > 1e-12 * xx * yy {
        let a = (xv * yy - yv * xy) / determinant;
        let b = (yv * xx - xv * xy) / determinant;
        if a >= 0.0 && b >= 0.0 {
            return (a, b);
        }
    }
    // The best point of the quadrant lies on one of its edges.
    let only_a = (if xx > 0.0 { (xv / xx).max(0.0) } else { 0.0 }, 0.0);
    let only_b = (0.0, if yy > 0.0 { (yv / yy).max(0.0) } else { 0.0 });
    let error = |(a, b): (f64, f64)| -> f64 {
        points.iter().map(|p| ((a * p.x + b * p.y - p.value) / scale(p).max(f64::MIN_POSITIVE)).powi(2)).sum()
    };
    if error(only_a) <= error(only_b) { only_a } else { only_b }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(f: impl Fn(f64, f64) -> f64) -> Vec<Point> {
        let grid = [1.0, 0.25, 0.01];
        grid.iter()
            .flat_map(|&x| [64.0, 1024.0, 4096.0].map(|y| (x, y)))
            .map(|(x, y)| Point { x, y, value: f(x, y) })
            .collect()
    }

    #[test]
    fn exact_data_gives_its_own_coefficients() {
        let (a, b) = two(&points(|x, y| 300.0 * x + 0.06 * y), |p| p.value);
        assert!((a - 300.0).abs() < 1e-6 && (b - 0.06).abs() < 1e-9, "{a} {b}");
    }

    #[test]
    fn a_coefficient_that_would_be_negative_becomes_zero() {
        let (a, b) = two(&points(|x, y| 0.06 * y - 5.0 * x), |_| 1.0);
        assert!(a == 0.0 && (b - 0.06).abs() < 0.01, "{a} {b}");
        assert_eq!(two(&points(|_, _| -1.0), |_| 1.0), (0.0, 0.0));
        assert_eq!(two(&[], |_| 1.0), (0.0, 0.0));
    }
}
