//! How long a search may go on: moves, seconds, a proved gap, or until its caller says stop.

use crate::{PlanOptions, PlanProgress};

/// When to stop. `clock` gives seconds; only differences count.
pub(crate) struct Budget<'c> {
    pub method: &'static str,
    pub clock: &'c dyn Fn() -> f64,
    pub progress: &'c mut dyn FnMut(&PlanProgress) -> bool,
    pub started: f64,
    pub options: &'c PlanOptions,
    /// Moves that were made.
    pub moves: u64,
    /// The next number of moves at which the clock is read, and how far apart readings are.
    next: u64,
    apart: u64,
    last: f64,
    /// Seconds of the limit that the search leaves to what comes after it.
    reserved_s: f64,
    stopped: bool,
}

/// Seconds between two readings of the clock, about.
const READING: f64 = 0.002;

impl<'c> Budget<'c> {
    pub(crate) fn new(
        method: &'static str,
        clock: &'c dyn Fn() -> f64,
        progress: &'c mut dyn FnMut(&PlanProgress) -> bool,
        started: f64,
        options: &'c PlanOptions,
    ) -> Budget<'c> {
        Budget {
            method,
            clock,
            progress,
            started,
            options,
            moves: 0,
            next: 1,
            apart: 1,
            last: started,
            reserved_s: 0.0,
            stopped: false,
        }
    }

    /// Leaves time to finish the plan: about half of what its beginning took.
    pub(crate) fn reserve(&mut self) {
        self.reserved_s = 0.5 * ((self.clock)() - self.started);
    }

    /// Whether [`Budget::spent`] should be asked now.
    #[inline]
    pub(crate) fn due(&self) -> bool {
        self.moves >= self.next || self.options.moves.is_some_and(|most| self.moves >= most)
    }

    /// Whether to stop with this period and bound.
    pub(crate) fn spent(&mut self, period_ns: f64, bound_ns: f64) -> bool {
        let moves = self.moves;
        if self.stopped || self.options.moves.is_some_and(|most| moves >= most) {
            return true;
        }
        let now = (self.clock)();
        let seconds = now - self.started;
        if now - self.last < READING {
            self.apart = (self.apart * 2).min(1 << 16);
        } else if now - self.last > 2.0 * READING {
            self.apart = (self.apart / 2).max(1);
        }
        self.last = now;
        self.next = moves + self.apart;
        let share = self.options.share(moves, seconds);
        let progress = PlanProgress { method: self.method, moves, seconds, period_ns, bound_ns, share };
        let go_on = (self.progress)(&progress);
        self.stopped =
            !go_on || (self.options.moves.is_none() && seconds + self.reserved_s >= self.options.seconds());
        self.stopped
    }

    /// Whether the gap is small enough. Asked whenever a better mapping is found, not when the clock is read, so that
    /// runs of so many moves repeat exactly.
    pub(crate) fn proved(&self, period_ns: f64, bound_ns: f64) -> bool {
        period_ns * (1.0 - self.options.gap) <= bound_ns * (1.0 + 1e-9)
    }
}
