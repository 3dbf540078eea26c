//! Activities that are under way: what non-blocking collectives are between their start and their end.

use super::{Outcome, Request, insert};
use crate::abi;
use crate::runtime::{State, Stepwise};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A request that goes on beside the program in steps.
pub(crate) trait Activity: Send {
    /// Goes as far as it can without waiting. Called while this thread does not hold the state: it enters by itself,
    /// and may run the program's code. True when it is over.
    fn advance(&mut self) -> bool;

    /// How it ended, once it is over.
    fn outcome(&mut self) -> Outcome {
        Outcome::empty()
    }
}

/// An activity, and whether it is over.
pub(crate) struct Ongoing {
    work: Mutex<Box<dyn Activity>>,
    over: AtomicBool,
}

impl Ongoing {
    pub(crate) fn outcome(&self) -> Outcome {
        self.work.lock().unwrap_or_else(PoisonError::into_inner).outcome()
    }
}

impl Stepwise for Ongoing {
    fn advance(&self) -> bool {
        // Another thread may be at it, or this one in the program's code that the activity called. A thread that gets
        // the lock looks again: another may have ended it meanwhile.
        if !self.is_over()
            && let Ok(mut work) = self.work.try_lock()
            && !self.is_over()
            && work.advance()
        {
            self.over.store(true, Ordering::Release);
        }
        self.is_over()
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }
}

/// Starts an activity; from now on it advances whenever messages are moved.
pub(crate) fn start(state: &mut State, activity: Box<dyn Activity>) -> abi::Request {
    let ongoing = Arc::new(Ongoing { work: Mutex::new(activity), over: AtomicBool::new(false) });
    state.add_ongoing(ongoing.clone());
    insert(state, Request::Activity(ongoing))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Over at the first step; there is no second.
    struct OneStep {
        over: bool,
    }

    impl Activity for OneStep {
        fn advance(&mut self) -> bool {
            assert!(!std::mem::replace(&mut self.over, true), "advanced after its end");
            true
        }
    }

    #[test]
    fn threads_that_advance_an_activity_at_once_end_it_once() {
        let rounds = if cfg!(miri) { 20 } else { 500_000 };
        let all: Vec<_> = (0..rounds)
            .map(|_| Ongoing {
                work: Mutex::new(Box::new(OneStep { over: false })),
                over: AtomicBool::new(false),
            })
            .collect();
        // A thread that finds another at one goes on to the next, so they meet again and again.
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for one in &all {
                        one.advance();
                    }
                });
            }
        });
        assert!(all.iter().all(Ongoing::is_over));
    }
}
