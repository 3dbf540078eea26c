//! The types of the ABI's functions, made from `abi/functions.txt` and `abi/callbacks.txt`. The compiler compares every
//! definition with its own:
//!
//! ```compile_fail,E0308
//! use mpi::abi::{Comm, prototypes};
//! use std::ffi::c_int;
//!
//! unsafe extern "C" fn size(_: Comm, _: *mut i64) -> c_int { // The ABI says `int *`.
//!     0
//! }
//! const _: prototypes::PMPI_Comm_size = size;
//! ```
#![allow(missing_docs, non_camel_case_types, reason = "the standard's own names")]

use super::values::Handle;
use super::{
    Aint, Comm, Count, Datatype, Errhandler, File, Group, Info, Message, Op, Request, Session, Status, Win,
};
use std::ffi::{c_char, c_int, c_void};

include!(concat!(env!("OUT_DIR"), "/prototypes.rs"));
