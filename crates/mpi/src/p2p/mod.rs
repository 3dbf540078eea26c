//! The functions of point-to-point communication and requests (MPI 5.0, chapter 3).

pub mod arguments;
mod receive;
mod send;
