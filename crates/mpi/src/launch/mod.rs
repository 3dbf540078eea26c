//! Joining a job, or being one alone; the launcher's work.
//!
//! | module | what it does |
//! |---|---|
//! | `join` | a process becomes a rank; how it ends the job |
//! | `options` | the launcher's command line |
//! | `place` | which cpus each rank gets |
//! | `foreign` | other MPIs' programs and launchers, told with words |
//! | `front` | the process that the user sees: signals, exit code |
//! | `supervise` | the ranks' parent: their output, their ends |
//! | `spawn` | finding and starting a program |
//! | `lines` | output line by line |
//! | `offer` | the socket by which a rank gets the job's memory when it lost it |
//! | `poll`, `processes` | the kernel's side of it |

pub mod foreign;
pub mod front;
pub mod join;
pub mod lines;
pub mod offer;
pub mod options;
pub mod place;
pub mod poll;
pub mod processes;
pub mod spawn;
pub mod supervise;

pub use join::{Job, abort, job, join, say};

/// The name of this computer.
pub fn host_name() -> String {
    let mut name = [0u8; 256];
    // SAFETY: at most as many bytes as `name` has but one, which stays 0.
    unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) };
    let bytes = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
    String::from_utf8_lossy(&name[..bytes]).into_owned()
}
