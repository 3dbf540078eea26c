//! Programs in Python that never yield: a thread finds them, and raises an exception where they are.

use cellweave::SimGuard;
use cellweave::sim::{SimTurn, SimWatch};
use pyo3::create_exception;
use pyo3::exceptions::PyBaseException;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::c_ulong;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

create_exception!(cellweave, NeverYields, PyBaseException, "Ends a program that never yields.");

/// Whether an exception is on its way to the program whose turn it is.
#[derive(Clone, Default)]
pub(crate) struct Notice(Arc<AtomicBool>);

impl Notice {
    /// The program's turn is over: whether it was told to end. If so, no exception is on its way any more.
    pub(crate) fn take(&self, py: Python<'_>) -> PyResult<bool> {
        let told = self.0.swap(false, Relaxed);
        if told {
            raise_in(py, this_thread(py)?, None);
        }
        Ok(told)
    }
}

/// Raises [`NeverYields`] in the calling thread when one turn of a program takes longer than `limit` there.
pub(crate) fn watch(py: Python<'_>, watch: SimWatch, limit: Duration, told: &Notice) -> PyResult<SimGuard> {
    let (thread, told, looks) = (this_thread(py)?, told.clone(), watch.clone());
    let found = move |turn: SimTurn| {
        Python::attach(|py| {
            // With the interpreter's lock no program goes on: if it is still this turn now, it is when the exception
            // is on its way.
            if looks.turn() == Some(turn) {
                told.0.store(true, Relaxed);
                raise_in(py, thread, Some(py.get_type::<NeverYields>().into_any()));
            }
        });
    };
    Ok(SimGuard::new(watch, limit, found)?)
}

fn this_thread(py: Python<'_>) -> PyResult<c_ulong> {
    py.import("threading")?.call_method0("get_ident")?.extract()
}

/// Sets the exception that a thread raises at its next instruction; none takes it back.
fn raise_in(_py: Python<'_>, thread: c_ulong, exception: Option<Bound<'_, PyAny>>) {
    let exception = exception.as_ref().map_or(null_mut(), |e| e.as_ptr());
    // SAFETY: `_py` proves that the interpreter's lock is held; `exception` is null or a live exception class, of which
    // the interpreter takes a reference of its own; it looks the thread up and does nothing when there is none.
    unsafe { ffi::PyThreadState_SetAsyncExc(thread as _, exception) };
}
