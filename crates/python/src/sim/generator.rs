//! A Python generator as a program that is asked step by step.

use super::guard::{NeverYields, Notice};
use super::unit::{Answered, Handle, Operation, ProgramUnit, ReadAnswer};
use crate::kernels::said;
use cellweave::sim::op::{Reply, Stepped, Stepper};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyIterator;
use pyo3::types::iterator::PySendResult;
use std::sync::{Arc, Mutex, PoisonError};

/// Steps of a program after which it looks for Ctrl-C, also where it runs no Python code that would.
const STEPS_PER_LOOK: u32 = 256;

/// What a program raised, for the one who runs the simulation.
#[derive(Clone, Default)]
pub(crate) struct Failure(Arc<Mutex<Option<PyErr>>>);

impl Failure {
    /// The exception, once.
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn set(&self, e: PyErr) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(e);
    }
}

/// A program.
pub(crate) struct Generator {
    generator: Py<PyAny>,
    handle: Arc<Handle>,
    /// How the reply to the last operation is read.
    answer: ReadAnswer,
    failure: Failure,
    told: Notice,
    steps: u32,
}

impl Generator {
    /// The program that `generator` is, made with the handle `unit`.
    pub(crate) fn new(generator: Py<PyAny>, unit: &ProgramUnit, failure: &Failure, told: &Notice) -> Self {
        let handle = Arc::clone(unit.handle());
        Self {
            generator,
            handle,
            answer: |_| Answered::Nothing,
            failure: failure.clone(),
            told: told.clone(),
            steps: 0,
        }
    }

    fn go_on(&mut self, py: Python<'_>, reply: Reply) -> PyResult<Stepped> {
        self.steps += 1;
        if self.steps.is_multiple_of(STEPS_PER_LOOK) {
            py.check_signals()?;
        }
        let reply = (self.answer)(reply).into_python(py)?;
        let generator = self.generator.bind(py).cast::<PyIterator>()?;
        let sent = generator.send(&reply);
        if self.told.take(py)? && sent.is_ok() {
            // It caught the exception, or was just about to yield.
            return Err(NeverYields::new_err(()));
        }
        let step = match sent? {
            PySendResult::Return(_) => Stepped::Done,
            PySendResult::Next(made) => match made.cast::<Operation>() {
                Ok(operation) => {
                    let (op, answer) = operation.get().take(&self.handle)?;
                    self.answer = answer;
                    Stepped::Op(op)
                }
                Err(_) => return Err(not_an_operation(&made)),
            },
        };
        match self.handle.forgotten() {
            Some(what) => {
                Err(PyTypeError::new_err(format!("{what} was called and not yielded: write `yield {what}`")))
            }
            None => Ok(step),
        }
    }
}

impl Stepper for Generator {
    fn step(&mut self, reply: Reply, cycle: u64) -> Stepped {
        self.handle.set_cycle(cycle);
        Python::attach(|py| {
            self.go_on(py, reply).unwrap_or_else(|e| {
                let message = said(py, &e);
                self.failure.set(e);
                Stepped::Failed(message)
            })
        })
    }
}

fn not_an_operation(made: &Bound<'_, PyAny>) -> PyErr {
    let kind = made.get_type().name().map_or_else(|_| "?".into(), |name| name.to_string());
    let instead = if kind == "generator" {
        "for a generator of your own write `yield from`".into()
    } else {
        format!("not {}", made.repr().map_or_else(|_| kind.clone(), |text| short(&text.to_string())))
    };
    PyTypeError::new_err(format!(
        "a program yields what the calls of its handle return ({kind} was yielded): {instead}"
    ))
}

fn short(text: &str) -> String {
    if text.chars().count() <= 60 { text.into() } else { text.chars().take(57).collect::<String>() + "..." }
}

/// ` (demo.py:12)`: the line at which a generator stands, or the one that it yields from.
pub(crate) fn place(generator: &Bound<'_, PyAny>) -> Option<String> {
    let mut inner = generator.clone();
    while let Ok(next) = inner.getattr("gi_yieldfrom") {
        if next.is_none() || next.getattr("gi_frame").is_err() {
            break;
        }
        inner = next;
    }
    let frame = inner.getattr("gi_frame").ok()?;
    let file: String = frame.getattr("f_code").ok()?.getattr("co_filename").ok()?.extract().ok()?;
    let line: u32 = frame.getattr("f_lineno").ok()?.extract().ok()?;
    Some(format!(" ({file}:{line})"))
}
