//! Waiting that spins, then yields, then parks, and wakes that cost almost nothing when nobody sleeps.
//!
//! Every worker has one [`Event`]. A thread that changes something that the worker may wait for (publishes, releases,
//! ends) calls [`Event::notify`] afterwards. The worker waits with [`Event::wait`] for a condition that it computes
//! itself from what was changed.
//!
//! # Why no wake-up is lost
//! The waiter announces itself (`AWAKE -> PARKED`), fences, and looks at its condition again before it sleeps. The
//! notifier changes the condition, fences, and looks for the announcement. Both fences are sequentially consistent, so
//! one of them comes first in their single order: either the waiter's second look sees the change, or the notifier sees
//! the announcement. The futex closes the rest of the gap: it sleeps only if the word still says `PARKED`, as one step.
//! `tests/loom.rs` explores every interleaving of it.
//!
//! ```
//! use std::sync::atomic::{AtomicBool, Ordering};
//! let (event, done) = (host::Event::new(), AtomicBool::new(false));
//! std::thread::scope(|s| {
//!     s.spawn(|| {
//!         done.store(true, Ordering::Release);
//!         event.notify();
//!     });
//!     let woken = event.wait(host::Patience::new(2, 2), None, || done.load(Ordering::Acquire));
//!     assert_eq!(woken, host::Woken::Ready);
//! });
//! ```

#[cfg(not(loom))]
use crate::clock::now_ns;
use crate::sync::{Futex, Ordering, fence};

/// Looks of [`spin_until`] before the cpu is offered to others: with more threads than cpus, whom we wait for may need
/// this very one.
#[cfg(not(loom))]
const LOOKS: u32 = 4096;

/// Spins until `done`; for measurements, where nobody waits long.
#[cfg(not(loom))]
pub(crate) fn spin_until(mut done: impl FnMut() -> bool) {
    let mut looks = 0u32;
    while !done() {
        looks = looks.wrapping_add(1);
        if looks.is_multiple_of(LOOKS) {
            std::thread::yield_now();
        } else {
            std::hint::spin_loop();
        }
    }
}

const AWAKE: u32 = 0;
const PARKED: u32 = 1;

/// One worker's bell: many may ring it, one waits for it.
#[derive(Debug)]
pub struct Event {
    state: Futex,
}

/// Why a wait is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Woken {
    /// The condition holds.
    Ready,
    /// The time is over and the condition did not hold.
    TimedOut,
}

/// How long a waiter burns its cpu before it gives it up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// ns of spinning on the condition.
    pub spin_ns: u64,
    /// ns of offering the cpu to others between two looks, after spinning.
    pub yield_ns: u64,
}

impl Patience {
    /// About twice what waking a parked thread costs on common machines (5 to 50 us), the classic bound: waiting then
    /// never costs more than twice what the better of spinning and parking would have cost.
    const SPIN_NS: u64 = 50_000;
    /// Time for a line to travel between two cores and back, no more: whom we wait for may need this very cpu.
    const CROWDED_SPIN_NS: u64 = 500;
    const YIELD_NS: u64 = 50_000;

    /// Long spinning when every worker has a cpu to itself, hardly any when there are more workers than cpus.
    ///
    /// ```
    /// use host::Patience;
    /// assert!(Patience::new(3, 2).spin_ns < Patience::new(2, 2).spin_ns);
    /// ```
    pub fn new(workers: usize, cpus: usize) -> Self {
        let spin_ns = if workers > cpus { Self::CROWDED_SPIN_NS } else { Self::SPIN_NS };
        Self { spin_ns, yield_ns: Self::YIELD_NS }
    }

    /// Parks at once: for threads that watch, such as a progress bar.
    pub const NONE: Self = Self { spin_ns: 0, yield_ns: 0 };
}

impl Default for Event {
    fn default() -> Self {
        Self::new()
    }
}

impl Event {
    /// An event without a waiter.
    pub fn new() -> Self {
        Self { state: Futex::new(AWAKE) }
    }

    /// Wakes the waiter if it is parked. Call it after the change that it may wait for, whose own ordering may be as
    /// weak as Release. Costs a fence and a relaxed load when nobody is parked; never blocks.
    pub fn notify(&self) {
        fence(Ordering::SeqCst);
        if self.state.word().load(Ordering::Relaxed) == PARKED
            && self.state.word().swap(AWAKE, Ordering::Release) == PARKED
        {
            self.state.wake();
        }
    }

    /// Waits until `ready()` holds or `timeout_ns` have passed, with `patience`. Only one thread at a time may wait.
    ///
    /// `ready` is called often, and always once more before the thread parks.
    #[cfg(not(loom))]
    pub fn wait(
        &self,
        patience: Patience,
        timeout_ns: Option<u64>,
        mut ready: impl FnMut() -> bool,
    ) -> Woken {
        if ready() {
            return Woken::Ready;
        }
        let start_ns = now_ns();
        let timeout_ns = timeout_ns.unwrap_or(u64::MAX);
        let spin_ns = patience.spin_ns.min(timeout_ns);
        let yield_ns = patience.spin_ns.saturating_add(patience.yield_ns).min(timeout_ns);
        let mut passed_ns = 0;
        while passed_ns < spin_ns {
            // A clock read per eight looks: the look is what matters.
            for _ in 0..8 {
                std::hint::spin_loop();
                if ready() {
                    return Woken::Ready;
                }
            }
            passed_ns = now_ns().saturating_sub(start_ns);
        }
        while passed_ns < yield_ns {
            std::thread::yield_now();
            if ready() {
                return Woken::Ready;
            }
            passed_ns = now_ns().saturating_sub(start_ns);
        }
        loop {
            let left_ns = match timeout_ns {
                u64::MAX => None,
                total => match total.saturating_sub(now_ns().saturating_sub(start_ns)) {
                    0 => return Woken::TimedOut,
                    left => Some(left),
                },
            };
            if self.park(left_ns, &mut ready) || ready() {
                return Woken::Ready;
            }
        }
    }

    /// Waits for `ready()` by parking alone, which is what loom explores.
    #[cfg(loom)]
    pub fn wait(
        &self,
        _patience: Patience,
        _timeout_ns: Option<u64>,
        mut ready: impl FnMut() -> bool,
    ) -> Woken {
        while !self.park(None, &mut ready) && !ready() {}
        Woken::Ready
    }

    /// Announces, looks again, sleeps. Returns true when that second look was enough; false after a sleep.
    fn park(&self, timeout_ns: Option<u64>, ready: &mut impl FnMut() -> bool) -> bool {
        // A swap and not a store: it takes its place after every notifier's swap in the word's order of changes.
        self.state.word().swap(PARKED, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let enough = ready();
        if !enough {
            self.state.sleep(PARKED, timeout_ns);
        }
        // A notifier that still sees PARKED now swaps and wakes nobody, or ends the next sleep early: both harmless.
        self.state.word().swap(AWAKE, Ordering::Relaxed);
        enough
    }
}
