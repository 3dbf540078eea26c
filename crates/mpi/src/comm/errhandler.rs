//! Error handlers (MPI 5.0, section 9.3).

use crate::abi;
use std::ffi::c_int;

/// Calls the error handler of a communicator, or of `MPI_COMM_SELF` when a failure belongs to none, and gives the code to return.
#[cold]
pub fn raise(comm: Option<abi::Comm>, class: c_int, function: &'static str, text: &str) -> c_int {
    let _ = comm;
    crate::launch::abort(class, &format!("{function}: {text}"))
}
