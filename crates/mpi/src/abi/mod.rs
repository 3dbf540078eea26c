//! The types and values of the MPI 5.0 ABI (MPI 5.0, chapter 20).

pub mod prototypes;
pub mod values;

use std::ffi::c_int;

// Every function's name without P.
#[cfg(not(test))]
core::arch::global_asm!(include_str!(concat!(env!("OUT_DIR"), "/twins.s")), options(raw));

/// A signed integer that holds an address (`MPI_Aint`).
pub type Aint = isize;
/// A signed integer for large counts (`MPI_Count`).
pub type Count = i64;

macro_rules! handle {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[repr(transparent)]
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
        pub struct $name(pub usize);
    )*};
}

handle! {
    /// `MPI_Comm`
    Comm,
    /// `MPI_Group`
    Group,
    /// `MPI_Datatype`
    Datatype,
    /// `MPI_Op`
    Op,
    /// `MPI_Request`
    Request,
    /// `MPI_Message`
    Message,
    /// `MPI_Errhandler`
    Errhandler,
    /// `MPI_Info`
    Info,
    /// `MPI_Win`
    Win,
    /// `MPI_File`
    File,
    /// `MPI_Session`
    Session,
}

/// `MPI_Status`: 32 bytes. `internal` is ours: bytes received (two words, low first), 1 when cancelled.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(non_snake_case, missing_docs)]
pub struct Status {
    pub MPI_SOURCE: c_int,
    pub MPI_TAG: c_int,
    pub MPI_ERROR: c_int,
    pub internal: [c_int; 5],
}
