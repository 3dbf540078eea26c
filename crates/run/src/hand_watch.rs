//! A kernel that is fired by hand and does not return hangs nothing: another thread watches, names it, and leaves it
//! behind.

use crate::crash::Rescues;
use crate::options::{DRAIN, RUN, RunError, STOP};
use crate::shared::{DRAIN_NS, GRACE_NS, Hang, SharedState, left_behind};
use host::now_ns;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// What a thread sees that does not fire kernels itself.
pub struct HandWatch {
    shared: Arc<SharedState>,
    /// Per task: a call of its kernel may wait for the outside world.
    may_wait: Vec<bool>,
    rescues: Rescues,
    /// Calls of kernels that have returned, and when that changed last.
    last: (u64, u64),
    /// When the run was told to stop.
    stopped_ns: Option<u64>,
    warnings: Vec<String>,
}

impl HandWatch {
    pub(crate) fn new(shared: Arc<SharedState>, may_wait: Vec<bool>, rescues: Rescues) -> HandWatch {
        HandWatch { shared, may_wait, rescues, last: (u64::MAX, 0), stopped_ns: None, warnings: Vec::new() }
    }

    /// Looks whether the kernel that is being called has not returned for `patience_s`. `asked` is what the caller of
    /// the run asks for: [`RUN`], [`DRAIN`] or [`STOP`].
    ///
    /// # Errors
    /// [`RunError::Stuck`]: the kernel was told to return and did not. Its thread is left behind; sinks are flushed.
    pub fn look(&mut self, patience_s: f64, asked: u32) -> Result<(), RunError> {
        let shared = &self.shared;
        let now_ns = now_ns();
        let inside = (0..shared.boards.len()).find(|&b| shared.kernel_of(b).is_some());
        let returned = shared.boards.iter().map(|b| b.steps.load(Relaxed)).sum();
        if returned != self.last.0 || inside.is_none() {
            self.last = (returned, now_ns);
            self.stopped_ns = None;
        }
        let Some(inside) = inside else { return Ok(()) };
        // Its own thread says what it was, and ends the process.
        if shared.crashed.load(Acquire) {
            return Ok(());
        }
        if asked == STOP || shared.control.load(Acquire) == STOP {
            let since_ns = *self.stopped_ns.get_or_insert(now_ns);
            return if now_ns.saturating_sub(since_ns) > GRACE_NS {
                Err(self.leave_behind(inside))
            } else {
                Ok(())
            };
        }
        let watchdog_ns = (patience_s.clamp(0.01, 1e9) * 1e9) as u64;
        let patience_ns = if asked == DRAIN { watchdog_ns.min(DRAIN_NS) } else { watchdog_ns };
        if now_ns.saturating_sub(self.last.1) <= patience_ns {
            return Ok(());
        }
        self.last.1 = now_ns;
        match shared.hang(inside, &self.may_wait) {
            None => {}
            Some(Hang::Source(why)) if asked == RUN => {
                self.warnings.retain(|told| *told != why);
                self.warnings.push(why);
            }
            Some(Hang::Source(why) | Hang::Stuck(why)) => {
                shared.fail(RunError::Stuck { seconds: patience_ns as f64 / 1e9, why });
            }
        }
        Ok(())
    }

    /// What is worth saying of a run that went on.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn leave_behind(&self, inside: usize) -> RunError {
        self.shared.abandoned.store(true, Release);
        for rescue in &*self.rescues {
            // What a sink cannot write now was said when it tried.
            let _ = rescue.flush();
        }
        let failure = self.shared.failure.lock().unwrap_or_else(|e| e.into_inner()).clone();
        failure.unwrap_or_else(|| left_behind(self.shared.kernel_of(inside)))
    }
}
