//! Random numbers that are the same for ever: xoshiro256++ and our own way from its bits to numbers.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

pub(super) struct Draw(Xoshiro256PlusPlus);

impl Draw {
    /// The state is four steps of splitmix64 from the seed, as xoshiro's authors advise.
    pub(super) fn new(seed: u64) -> Draw {
        let mut state = [0; 32];
        let mut x = seed;
        for word in state.chunks_exact_mut(8) {
            x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = x;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            word.copy_from_slice(&(z ^ (z >> 31)).to_le_bytes());
        }
        Draw(Xoshiro256PlusPlus::from_seed(state))
    }

    /// In 0 .. 1, 53 bits.
    fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// In `low` .. `high`.
    pub(super) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// In 0 .. `end`, without `end`; the high half of a product of 128 bits.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(end)) >> 64) as u64
    }

    /// Log-uniform over `octaves` octaves from `low` up.
    pub(super) fn octaves(&mut self, low: f64, octaves: f64) -> f64 {
        low * exp2(octaves * self.unit())
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
    fn powers_of_two_are_right_to_15_digits() {
        for i in 0..400 {
            let x = f64::from(i) / 100.0;
            assert!((exp2(x) / x.exp2() - 1.0).abs() < 1e-15, "{x}");
        }
    }

    #[test]
    fn draws_are_those_of_xoshiro256_plus_plus_for_ever() {
        let mut draw = Draw::new(1);
        let first: Vec<u64> = (0..4).map(|_| draw.below(1_000_000)).collect();
        // From the authors' published algorithms, written down independently in Python.
        assert_eq!(first, [811612, 747104, 100150, 746216]);
        assert!((0..1000).map(|_| draw.octaves(0.5, 3.0)).all(|x| (0.5..4.0).contains(&x)));
    }
}
