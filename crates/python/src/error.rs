//! The two things that can go wrong: the request, and the work.

use cellweave::run::RunError as Run;
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

create_exception!(
    cellweave,
    RequestError,
    PyValueError,
    "The request was wrong: says what, where and what is allowed."
);
create_exception!(cellweave, RunError, PyRuntimeError, "The work failed: says what and where.");

/// The end of a message about a wrong name: what may have been meant, or nothing.
#[pyfunction]
pub(crate) fn did_you_mean(wrong: &str, names: Vec<String>) -> String {
    cellweave::ground::did_you_mean(wrong, names.iter().map(String::as_str))
}

/// A wrong request.
pub(crate) fn request(e: impl std::fmt::Display) -> PyErr {
    RequestError::new_err(e.to_string())
}

/// A run's error: what was known before the first instance is the request's, everything else the work's.
fn run(e: Run) -> PyErr {
    match e {
        Run::Option(_) | Run::Plan(_) | Run::Kernel { .. } => request(e),
        Run::Memory(_) | Run::Failed { .. } | Run::Finish { .. } | Run::Stuck { .. } | Run::System(_) => {
            RunError::new_err(e.to_string())
        }
    }
}

/// A verb's error.
pub(crate) fn verb(e: cellweave::Error) -> PyErr {
    match e {
        cellweave::Error::Run(e) => run(e),
        cellweave::Error::Failed(_) => RunError::new_err(e.to_string()),
        cellweave::Error::Stopped => PyKeyboardInterrupt::new_err("stopped"),
        cellweave::Error::Option(_) | cellweave::Error::Plan(_) | cellweave::Error::Profile(_) => request(e),
    }
}
