//! Random numbers that are the same on every computer for a seed.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The stream of a seed: xoshiro256++, and our own way from its bits to numbers.
///
/// No function here has a last bit that depends on the platform, and none will ever change: graphs, plans and patterns
/// are known by their seeds.
#[derive(Debug, Clone)]
pub struct Draws(Xoshiro256PlusPlus);

impl Draws {
    /// The stream of `seed`. The state is four steps of splitmix64, as xoshiro's authors advise.
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// The next 64 bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `n`, which is at least 1 and below 2^32: from the upper 32 bits of a draw.
    #[inline]
    pub fn below(&mut self, n: usize) -> usize {
        (((self.bits() >> 32) * n as u64) >> 32) as usize
    }

    /// A number below `n`, which is at least 1 and may have 64 bits: from all bits of a draw, so that it can differ
    /// from what [`below`](Self::below) gives.
    #[inline]
    pub fn below_u64(&mut self, n: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u64
    }

    /// From 0 (inclusive) to 1 (exclusive), in steps of 2^-53.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform from `low` (inclusive) to `high` (exclusive).
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Log-uniform over `octaves` octaves (at most 63) from `low` up.
    pub fn octaves(&mut self, low: f64, octaves: f64) -> f64 {
        low * exp2(octaves * self.unit())
    }

    /// Exponential with mean 1, to about three digits: `-ln(u)` by the number of leading zeros and a cubic.
    #[inline]
    pub fn exponential(&mut self) -> f64 {
        let bits = self.bits() | 1;
        let zeros = bits.leading_zeros();
        // u = (1 + x) * 2^-(zeros + 1), x in [0, 1)
        let x = ((bits << zeros) << 1) as f64 / 18_446_744_073_709_551_616.0;
        let ln = x * (0.996_5 + x * (-0.466_9 + x * 0.163_5));
        (f64::from(zeros) + 1.0) * std::f64::consts::LN_2 - ln.min(std::f64::consts::LN_2)
    }

    /// Puts `items` (fewer than 2^32) into an order in which each is as likely as any other: Fisher and Yates, from the
    /// end.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

/// 2 to the power of `x`, 0 <= x < 64, from sums and products alone: libraries differ in the last bit.
fn exp2(x: f64) -> f64 {
    let whole = x.floor();
    let t = (x - whole) * std::f64::consts::LN_2;
    let series = (1..=20).rev().fold(1.0, |sum, k| 1.0 + sum * t / f64::from(k));
    series * (1u64 << whole as u32) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_numbers_for_ever() {
        // From the authors' published algorithms, written down independently in Python.
        let mut draws = Draws::new(1);
        let wide: Vec<u64> = (0..4).map(|_| draws.below_u64(1_000_000)).collect();
        assert_eq!(wide, [811_612, 747_104, 100_150, 746_216]);
        let mut draws = Draws::new(1);
        let narrow: Vec<usize> = (0..6).map(|_| draws.below(1_000)).collect();
        assert_eq!(narrow, [811, 747, 100, 746, 184, 590]);
    }

    #[test]
    fn numbers_stay_below_their_bound_and_reach_every_value() {
        let mut draws = Draws::new(7);
        let mut seen = [0; 5];
        (0..5_000).for_each(|_| seen[draws.below(5)] += 1);
        assert!(seen.iter().all(|&n| (800..1_200).contains(&n)), "{seen:?}");
        assert!((0..1_000).map(|_| draws.octaves(0.5, 3.0)).all(|x| (0.5..4.0).contains(&x)));
        assert!((0..1_000).map(|_| draws.between(-1.0, 2.0)).all(|x| (-1.0..2.0).contains(&x)));
    }

    #[test]
    fn powers_of_two_are_right_to_15_digits() {
        for i in 0..400 {
            let x = f64::from(i) / 100.0;
            assert!((exp2(x) / x.exp2() - 1.0).abs() < 1e-15, "{x}");
        }
    }

    #[test]
    fn exponential_numbers_have_mean_one_and_the_right_tail() {
        let mut draws = Draws::new(3);
        let list: Vec<f64> = (0..100_000).map(|_| draws.exponential()).collect();
        let mean = list.iter().sum::<f64>() / list.len() as f64;
        let tail = list.iter().filter(|&&x| x > 3.0).count() as f64 / list.len() as f64;
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
        assert!((tail - 0.0498).abs() < 0.005, "{tail}");
        assert!(list.iter().all(|&x| x >= 0.0));
    }

    #[test]
    fn a_shuffle_keeps_every_item_and_reaches_every_order() {
        let mut draws = Draws::new(4);
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..6_000 {
            let mut items = [1, 2, 3];
            draws.shuffle(&mut items);
            *seen.entry(items).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|n| (850..1_150).contains(n)), "{seen:?}");
    }
}
