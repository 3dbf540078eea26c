//! The launcher of MPI programs, `cellrun`, and how the processes that it starts become ranks of a job.
//!
//! | module | what it does | imports |
//! |---|---|---|
//! | `foreign` | messages about other MPIs' programs and launchers | |
//! | `library` | where the MPI library is | |
//! | `lines` | output line by line | |
//! | `offer` | the socket by which a rank gets the job's memory when it lost it | |
//! | `poll` | waiting for any of many descriptors | |
//! | `processes` | children, what is below them, and how they ended | |
//! | `profile` | what ranks counted, as a file | |
//! | `stuck` | ranks that wait for one another | |
//! | `options` | the launcher's command line | processes |
//! | `computing` | what ranks on a simulated Cell are charged for computing, and its record | options |
//! | `carried` | the simulator of a job on a simulated Cell | lines, computing |
//! | `join` | a process becomes a rank; how it ends the job | foreign, offer, processes |
//! | `placing` | which cpus, or which SPE, each rank gets | offer, options |
//! | `spawn` | finding and starting a program | offer |
//! | `supervise` | the ranks' parent: their output, their ends | all but placing |
//! | `front` | the process that the user sees: signals, exit code | all |
//!
//! To the launcher a job is a segment of memory with ranks in it. Of MPI it knows only names for messages.
//!
//! Floor 4: imports `ground`, `machine`, `host`, `sim`, `place`, `ranks` and `transport`.

mod carried;
mod computing;
mod foreign;
pub mod front;
mod join;
mod library;
mod lines;
mod offer;
pub mod options;
mod placing;
mod poll;
mod processes;
mod profile;
mod spawn;
mod stuck;
mod supervise;

pub use join::{Job, abort, job, join, say};
pub use processes::host_name;
