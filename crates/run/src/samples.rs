//! Samples without end in bounded memory: when it is full, every second one goes and the stride doubles.

/// Evenly thinned samples; never allocates after it was made.
#[derive(Debug, Clone)]
pub(crate) struct Samples<T> {
    kept: Vec<T>,
    stride: u64,
    skip: u64,
}

impl<T: Copy> Samples<T> {
    /// Room for `room` samples, at least 2.
    pub(crate) fn new(room: usize) -> Samples<T> {
        Samples { kept: Vec::with_capacity(room.max(2)), stride: 1, skip: 0 }
    }

    /// Takes a sample.
    #[inline]
    pub(crate) fn push(&mut self, sample: T) {
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
    pub(crate) fn kept(&self) -> &[T] {
        &self.kept
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
