//! Programs: closures in coroutines of their own, or steppers.

use crate::op::{Op, Reply, Step, Stepper};
use corosensei::{Coroutine, CoroutineResult};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a program's body is.
pub(crate) enum Body {
    Closure(Box<Coroutine<Reply, Op, ()>>),
    Stepper(Box<dyn Stepper>),
}

impl Body {
    /// Goes on with the answer to the last operation. An error is a panic's message.
    #[inline]
    pub fn resume(&mut self, reply: Reply, cycle: u64) -> Result<Option<Op>, String> {
        match self {
            Self::Closure(coroutine) => match catch_unwind(AssertUnwindSafe(|| coroutine.resume(reply))) {
                Ok(CoroutineResult::Yield(op)) => Ok(Some(op)),
                Ok(CoroutineResult::Return(())) => Ok(None),
                Err(panic) => Err(message(&*panic)),
            },
            Self::Stepper(stepper) => match catch_unwind(AssertUnwindSafe(|| stepper.step(reply, cycle))) {
                Ok(Step::Op(op)) => Ok(Some(op)),
                Ok(Step::Done) => Ok(None),
                Ok(Step::Failed(message)) => Err(message),
                Err(panic) => Err(message(&*panic)),
            },
        }
    }
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    if let Some(text) = panic.downcast_ref::<&str>() {
        (*text).into()
    } else if let Some(text) = panic.downcast_ref::<String>() {
        text.clone()
    } else {
        "without a message".into()
    }
}
