//! The two things that can go wrong: the request, and the work.

use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

create_exception!(cellweave._core, RequestError, PyValueError, "The request was wrong: says what, where and what is allowed.");
create_exception!(cellweave._core, RunError, PyRuntimeError, "The work failed: says what and where.");

/// A wrong request.
pub fn request(e: impl std::fmt::Display) -> PyErr {
    RequestError::new_err(e.to_string())
}

/// Failed work.
pub fn failed(e: impl std::fmt::Display) -> PyErr {
    RunError::new_err(e.to_string())
}
