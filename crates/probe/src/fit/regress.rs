//! Capacities from patterns: the time of a pattern is that of its slowest limit, `max(bytes / capacity)`.
//!
//! That is the model of `streaming-schedule`, section 3.1.2. Its capacities are found one after the other, over and
//! over: each gets the value with the least mean error `|predicted / measured - 1|` while the others stay. The error is
//! not squared, so that a disturbed measurement pulls nothing after it.

/// Passes over all capacities; they settle in three or four.
const PASSES: usize = 8;
/// So many values are tried of each capacity, of those at which a pattern would be predicted exactly.
const TRIED: usize = 40;
/// Parts of the patterns that are kept out of a fit in turn.
const FOLDS: usize = 4;

/// Something with one capacity: for patterns that load it, the largest bytes of any one of its sets.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Shared {
    /// Pattern and bytes, in rising order of patterns.
    pub loads: Vec<(usize, f64)>,
}

/// What all patterns took, and what is known of them before any shared capacity is.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Patterns {
    /// Measured.
    pub ns: Vec<f64>,
    /// What the slowest of the known limits takes.
    pub known_ns: Vec<f64>,
}

impl Patterns {
    /// `ns per byte` of each, 0 where it holds nothing up; by the patterns that `counts` keeps.
    pub(super) fn fit(&self, shared: &[&Shared], counts: impl Fn(usize) -> bool) -> Vec<f64> {
        let mut ns_per_byte = vec![0.0; shared.len()];
        for _ in 0..PASSES {
            let mut changed = false;
            for i in 0..shared.len() {
                let others = self.predicted(shared, &ns_per_byte, Some(i));
                let loads: Vec<(usize, f64)> =
                    shared[i].loads.iter().copied().filter(|(p, _)| counts(*p)).collect();
                let error = |x: f64| -> f64 {
                    loads.iter().map(|&(p, b)| ((b * x).max(others[p]) / self.ns[p] - 1.0).abs()).sum()
                };
                let mut best = (ns_per_byte[i], error(ns_per_byte[i]));
                for x in self.tried(&loads).into_iter().chain([0.0]) {
                    let e = error(x);
                    if e < best.1 * (1.0 - 1e-9) {
                        best = (x, e);
                        changed = true;
                    }
                }
                ns_per_byte[i] = best.0;
            }
            if !changed {
                break;
            }
        }
        ns_per_byte
    }

    /// Values at which some pattern is predicted exactly, evenly from the sorted ones.
    fn tried(&self, loads: &[(usize, f64)]) -> Vec<f64> {
        let mut exact: Vec<f64> = loads.iter().map(|&(p, b)| self.ns[p] / b).collect();
        exact.sort_by(f64::total_cmp);
        let step = exact.len().div_ceil(TRIED).max(1);
        exact.into_iter().step_by(step).collect()
    }

    /// ns of each pattern, without the limit `but`.
    pub(super) fn predicted(&self, shared: &[&Shared], ns_per_byte: &[f64], but: Option<usize>) -> Vec<f64> {
        let mut ns = self.known_ns.clone();
        for (i, (one, x)) in shared.iter().zip(ns_per_byte).enumerate() {
            if Some(i) != but && *x > 0.0 {
                one.loads.iter().for_each(|&(p, b)| ns[p] = ns[p].max(b * x));
            }
        }
        ns
    }

    /// Predicted by measured time of each pattern, each predicted by a fit that did not see it.
    pub(super) fn held_out(&self, shared: &[&Shared]) -> Vec<f64> {
        let mut ratios = vec![0.0; self.ns.len()];
        for fold in 0..FOLDS {
            let ns_per_byte = self.fit(shared, |p| p % FOLDS != fold);
            let predicted = self.predicted(shared, &ns_per_byte, None);
            for p in (fold..self.ns.len()).step_by(FOLDS) {
                ratios[p] = predicted[p] / self.ns[p];
            }
        }
        ratios
    }
}

/// Mean of `|ratio - 1|`; 0 without any.
pub(super) fn error(ratios: &[f64]) -> f64 {
    ratios.iter().map(|r| (r - 1.0).abs()).sum::<f64>() / ratios.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Patterns of bytes over two wires, as a machine with these capacities would take them.
    fn made(ns_per_byte: [f64; 2]) -> (Patterns, [Shared; 2]) {
        let bytes = |p: usize, wire: usize| ((7 * p + 5 * wire) % 11 + 1) as f64 * 1000.0;
        let loads = |wire| (0..44).map(|p| (p, bytes(p, wire))).collect();
        let wires = [0, 1].map(|wire| Shared { loads: loads(wire) });
        let known_ns = vec![1500.0; 44];
        let ns = (0..44).map(|p| (0..2).map(|w| bytes(p, w) * ns_per_byte[w]).fold(known_ns[p], f64::max));
        (Patterns { ns: ns.collect(), known_ns }, wires)
    }

    #[test]
    fn capacities_that_made_the_times_are_found_again() {
        let (patterns, [a, b]) = made([0.5, 0.9]);
        let found = patterns.fit(&[&a, &b], |_| true);
        assert!((found[0] - 0.5).abs() < 1e-9 && (found[1] - 0.9).abs() < 1e-9, "{found:?}");
        assert!(error(&patterns.held_out(&[&a, &b])) < 1e-9);
        assert!(error(&patterns.held_out(&[&a])) > 0.05);
    }

    #[test]
    fn what_holds_nothing_up_gets_no_capacity_and_one_wild_pattern_moves_none() {
        let (mut patterns, [a, b]) = made([0.5, 0.0]);
        let found = patterns.fit(&[&a, &b], |_| true);
        assert!((found[0] - 0.5).abs() < 1e-9 && found[1] == 0.0, "{found:?}");
        patterns.ns[3] *= 50.0;
        assert!((patterns.fit(&[&a], |_| true)[0] - 0.5).abs() < 1e-9);
    }
}
