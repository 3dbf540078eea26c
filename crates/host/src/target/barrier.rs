//! Where the threads of an experiment start together.

use crate::wait::spin_until;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Holds every thread until all have arrived; for as many rounds as wanted.
#[derive(Debug)]
pub(crate) struct Barrier {
    threads: usize,
    arrived: AtomicUsize,
    round: AtomicUsize,
}

impl Barrier {
    pub(crate) fn new(threads: usize) -> Self {
        Self { threads, arrived: AtomicUsize::new(0), round: AtomicUsize::new(0) }
    }

    /// Spins until all threads have called it. Afterwards each thread sees all that the others wrote before.
    pub(crate) fn wait(&self) {
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            self.round.store(round.wrapping_add(1), Ordering::Release);
            return;
        }
        spin_until(|| self.round.load(Ordering::Acquire) != round);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_a_round_ahead() {
        const THREADS: usize = 3;
        let (barrier, count) = (Barrier::new(THREADS), AtomicUsize::new(0));
        std::thread::scope(|s| {
            for _ in 0..THREADS {
                s.spawn(|| {
                    for round in 0..200 {
                        count.fetch_add(1, Ordering::Relaxed);
                        barrier.wait();
                        assert_eq!(count.load(Ordering::Relaxed), (round + 1) * THREADS);
                        barrier.wait();
                    }
                });
            }
        });
    }
}
