//! Programs: closures in coroutines of their own, or steppers.

use crate::SimError;
use crate::op::{Op, Reply, Stepped, Stepper};
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Room for a program's own calls and variables, beside its local store; pages that it never uses cost nothing.
const STACK_BYTES: usize = 8 << 20;

/// The body of a program.
pub(crate) enum Body {
    Closure(Box<Coroutine<Reply, Op, ()>>),
    Stepper(Box<dyn Stepper>),
}

impl Body {
    /// A closure in a coroutine of its own.
    pub(crate) fn closure(program: impl FnOnce(&Yielder<Reply, Op>) + 'static) -> Result<Self, SimError> {
        let stack = DefaultStack::new(STACK_BYTES)
            .map_err(|e| SimError::Request(format!("no stack of {STACK_BYTES} bytes for a program: {e}")))?;
        let body = Coroutine::with_stack(stack, move |yielder: &Yielder<Reply, Op>, _| program(yielder));
        Ok(Self::Closure(Box::new(body)))
    }

    /// Goes on with the answer to the last operation. An error is a panic's message.
    #[inline]
    pub(crate) fn resume(&mut self, reply: Reply, cycle: u64) -> Result<Option<Op>, String> {
        match self {
            Self::Closure(coroutine) => match catch_unwind(AssertUnwindSafe(|| coroutine.resume(reply))) {
                Ok(CoroutineResult::Yield(op)) => Ok(Some(op)),
                Ok(CoroutineResult::Return(())) => Ok(None),
                Err(panic) => Err(message(&*panic)),
            },
            Self::Stepper(stepper) => match catch_unwind(AssertUnwindSafe(|| stepper.step(reply, cycle))) {
                Ok(Stepped::Op(op)) => Ok(Some(op)),
                Ok(Stepped::Done) => Ok(None),
                Ok(Stepped::Failed(message)) => Err(message),
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
