//! Generated from abi/constants.txt.
use std::ffi::c_int;
pub const MPI_SUCCESS: c_int = 0;
pub const MPI_ERR_ARG: c_int = 13;
pub const MPI_ERR_OTHER: c_int = 16;
pub const MPI_COMM_WORLD: usize = 0x101;
pub const MPI_COMM_SELF: usize = 0x102;
