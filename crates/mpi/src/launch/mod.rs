//! Joining a job, or being one alone; the launcher's work.

pub mod join;

pub use join::{Job, abort, job, join};
