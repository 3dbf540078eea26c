//! How long a rank that shares its cpu with others of its job passes the cpu on before it sleeps.
//!
//! Who sleeps leaves the cpu to a rank that computes there. But who is woken comes late, and when ranks wait for one
//! another in a row, all that follow come late, too: then each of them sleeps, because each waits longer. So a rank is
//! patient where its last long wait was over soon and nothing else ran on its cpu. (8 ranks on 2 cpus of an EPYC, 256
//! kB from rank to rank and once around, while a line takes 220 ns: 541 us when a rank sleeps after 200 us, 301 when it
//! is patient.)

use std::sync::atomic::{AtomicBool, Ordering};

/// A rank waits so many ns in any case. A choice, as are the next ones.
pub(crate) const LEAST_NS: u64 = 200_000;
/// It is patient for so many times what a sleep and a wake-up cost: then they are little beside the wait, even when
/// several ranks in a row are woken.
const WAKE_UPS: u64 = 32;
/// A yield that takes longer gave the cpu to a program that computes, which Linux gives 2 to 4 ms, or to a rank that
/// copies much: one that is woken then comes no later than one that waits.
const BUSY_NS: u64 = 100_000;

/// What one wait has seen.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LongWait {
    /// It has lasted longer than `LEAST_NS`.
    is_long: bool,
    /// A yield took longer than `BUSY_NS`.
    is_busy: bool,
}

impl LongWait {
    /// The wait has lasted so long, and its last yield took so long.
    pub(super) fn saw_yield(&mut self, waited_ns: u64, yielded_ns: u64) {
        self.is_long |= waited_ns > LEAST_NS;
        self.is_busy |= yielded_ns > BUSY_NS;
    }
}

/// What the long waits of one rank have shown.
pub(super) struct LongWaits {
    is_patient: AtomicBool,
}

impl LongWaits {
    pub(super) const fn new() -> Self {
        Self { is_patient: AtomicBool::new(false) }
    }

    /// When this wait is to end in a sleep, where a sleep and a wake-up cost so much.
    pub(super) fn sleeps_after_ns(&self, wait: LongWait, wake_up_ns: u64) -> u64 {
        match self.is_patient.load(Ordering::Relaxed) && !wait.is_busy {
            true => Self::most_ns(wake_up_ns),
            false => LEAST_NS,
        }
    }

    fn most_ns(wake_up_ns: u64) -> u64 {
        LEAST_NS.max(WAKE_UPS * wake_up_ns)
    }

    /// A wait is over; `took_ns` is asked for only where it was long.
    #[inline]
    pub(super) fn learn(&self, wait: LongWait, wake_up_ns: u64, took_ns: impl FnOnce() -> u64) {
        if wait.is_long {
            let is_patient = !wait.is_busy && took_ns() <= Self::most_ns(wake_up_ns);
            self.is_patient.store(is_patient, Ordering::Relaxed);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const WAKE_UP_NS: u64 = 30_000;
    const MOST_NS: u64 = WAKE_UPS * WAKE_UP_NS;

    /// A wait of so many ns, with yields of so many ns each; and when it would have slept.
    fn wait(waits: &LongWaits, took_ns: u64, yield_ns: u64) -> u64 {
        let mut wait = LongWait::default();
        for waited_ns in (0..=took_ns).step_by(yield_ns as usize) {
            wait.saw_yield(waited_ns, yield_ns);
        }
        let sleeps_after_ns = waits.sleeps_after_ns(wait, WAKE_UP_NS);
        waits.learn(wait, WAKE_UP_NS, || took_ns);
        sleeps_after_ns
    }

    #[test]
    fn a_rank_is_patient_after_a_long_wait_that_was_over_soon() {
        let waits = LongWaits::new();
        assert_eq!(wait(&waits, 100_000, 2_000), LEAST_NS);
        assert_eq!(wait(&waits, 100_000, 2_000), LEAST_NS, "short waits say nothing");
        assert_eq!(wait(&waits, MOST_NS, 2_000), LEAST_NS);
        assert_eq!(wait(&waits, MOST_NS + 1, 2_000), MOST_NS);
        assert_eq!(wait(&waits, 300_000, 2_000), LEAST_NS, "the one before took too long");
        assert_eq!(wait(&waits, 100_000, 2_000), MOST_NS);
        assert_eq!(wait(&waits, 300_000, 2_000), MOST_NS, "short waits say nothing");
    }

    #[test]
    fn a_rank_is_not_patient_where_something_else_runs() {
        let waits = LongWaits::new();
        wait(&waits, 300_000, 2_000);
        assert_eq!(wait(&waits, 300_000, BUSY_NS + 1), LEAST_NS);
        assert_eq!(wait(&waits, 300_000, BUSY_NS), LEAST_NS, "nor in the next wait");
        assert_eq!(wait(&waits, 300_000, BUSY_NS), MOST_NS);
    }

    #[test]
    fn where_a_wake_up_costs_little_no_rank_waits_longer() {
        let waits = LongWaits::new();
        waits.learn(LongWait { is_long: true, is_busy: false }, 1_000, || LEAST_NS);
        assert_eq!(waits.sleeps_after_ns(LongWait::default(), 1_000), LEAST_NS);
        assert_eq!(waits.sleeps_after_ns(LongWait::default(), 10_000), 320_000);
    }
}
