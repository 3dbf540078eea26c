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
        // Another thread may be at it, or this one in the program's code that the activity called.
        if !self.is_over()
            && let Ok(mut work) = self.work.try_lock()
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
