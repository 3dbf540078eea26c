//! Random numbers that are the same on every computer for a seed.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Uniform numbers below a bound, and exponential ones; no function whose last bit depends on the platform.
#[derive(Debug, Clone)]
pub(crate) struct Random(Xoshiro256PlusPlus);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Below `n`, which is at least 1 and below 2^32.
    #[inline]
    pub fn below(&mut self, n: usize) -> usize {
        (((self.0.next_u64() >> 32) * n as u64) >> 32) as usize
    }

    /// Exponential with mean 1, to about three digits: `-ln(u)` by the number of leading zeros and a cubic.
    #[inline]
    pub fn exponential(&mut self) -> f64 {
        let bits = self.0.next_u64() | 1;
        let zeros = bits.leading_zeros();
        // u = (1 + x) * 2^-(zeros + 1), x in [0, 1)
        let x = ((bits << zeros) << 1) as f64 / 18_446_744_073_709_551_616.0;
        let ln = x * (0.996_5 + x * (-0.466_9 + x * 0.163_5));
        (f64::from(zeros) + 1.0) * std::f64::consts::LN_2 - ln.min(std::f64::consts::LN_2)
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn numbers_stay_below_their_bound_and_reach_every_value() {
        let mut random = Random::new(7);
        let mut seen = [0; 5];
        (0..5_000).for_each(|_| seen[random.below(5)] += 1);
        assert!(seen.iter().all(|&n| (800..1_200).contains(&n)), "{seen:?}");
    }

    #[test]
    fn exponential_numbers_have_mean_one_and_the_right_tail() {
        let mut random = Random::new(3);
        let list: Vec<f64> = (0..100_000).map(|_| random.exponential()).collect();
        let mean = list.iter().sum::<f64>() / list.len() as f64;
        let tail = list.iter().filter(|&&x| x > 3.0).count() as f64 / list.len() as f64;
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
        assert!((tail - 0.0498).abs() < 0.005, "{tail}");
        assert!(list.iter().all(|&x| x >= 0.0));
    }

    #[test]
    fn a_seed_gives_the_same_numbers_for_ever() {
        let mut random = Random::new(1);
        let list: Vec<usize> = (0..6).map(|_| random.below(1_000)).collect();
        assert_eq!(list, GOLDEN);
    }

    const GOLDEN: [usize; 6] = [811, 747, 100, 746, 184, 590];
}
