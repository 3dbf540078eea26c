//! Joining a job, or being one alone; the launcher's work.

pub mod foreign;
pub mod join;

pub use join::{Job, abort, job, join};
