//! Activities that are under way: what non-blocking collectives are between their start and their end.

use super::{Outcome, Request, insert};
use crate::abi;
use crate::runtime::{self, Activity, State};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// An activity, and whether it is over.
pub struct Ongoing {
    work: Mutex<Box<dyn Activity>>,
    over: AtomicBool,
}

impl Ongoing {
    /// Whether it is over.
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    /// How it ended.
    pub fn outcome(&self) -> Outcome {
        self.work.lock().unwrap_or_else(PoisonError::into_inner).outcome()
    }

    /// Goes on, unless somebody is at it: another thread, or this one in user code that the activity called. True when
    /// over.
    fn advance(&self) -> bool {
        if !self.is_over()
            && let Ok(mut work) = self.work.try_lock()
            && work.advance()
        {
            self.over.store(true, Ordering::Release);
        }
        self.is_over()
    }
}

/// Starts an activity; from now on it advances whenever messages are moved.
pub fn start(state: &mut State, activity: Box<dyn Activity>) -> abi::Request {
    let ongoing = Arc::new(Ongoing { work: Mutex::new(activity), over: AtomicBool::new(false) });
    state.ongoing.push(ongoing.clone());
    insert(state, Request::Activity(ongoing))
}

/// Advances every activity once; true when one ended. Call this only while not holding the state.
pub fn advance_all() -> bool {
    // An activity may start others meanwhile: the state must be free, and the list not borrowed.
    let ongoing = runtime::enter().ongoing.clone();
    let mut ended = false;
    for one in &ongoing {
        ended |= one.advance();
    }
    if ended {
        runtime::enter().ongoing.retain(|one| !one.is_over());
    }
    ended
}
