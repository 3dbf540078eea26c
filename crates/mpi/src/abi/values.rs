//! The values of the MPI-5 ABI, under their C names (MPI 5.0, chapter 20 and annex A), made from `abi/constants.txt`.
#![allow(missing_docs, reason = "the standard's own names")]

use std::ffi::c_int;

/// A handle, or an address with a meaning of its own, as C passes it.
pub type Handle = usize;

include!(concat!(env!("OUT_DIR"), "/values.rs"));
