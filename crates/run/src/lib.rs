//! The streaming runtime: executes a plan on this computer's cores.
//!
//! | module | what it does |
//! |---|---|
//! | [`run`](run()) | the caller's thread: starts the workers, watches them, reports |
//! | [`layout`] | what a plan says, by index: units, rings and who reads them |
//! | [`scheduler`] | the paper's scheduler as a state machine without threads or clocks |
//! | [`kernel`] | the code of tasks: three tiers over one ABI |
//! | [`builtin`] | kernels that are always there: files, WAV, copies, sources and sinks |
//! | `memory` | rings' slots: one window is always contiguous |
//!
//! What never happens: an instance is never lost, doubled or out of order on its edge; a worker that has work never
//! allocates, locks or calls the system (kernels may); a worker never waits while one of its units could fire; a run never
//! hangs, whatever a kernel does: a kernel that fails, panics, breaks the rules or does not return ends it with the task's
//! name, after the sinks were flushed.
//!
//! Floor 4: imports `machine`, `work` and `host`.
//!
//! ```
//! use run::{RunOptions, Standard, run};
//! # use run::testing;
//! # let (graph, machine, plan) = testing::chain(3, 64, 16, 1);
//! let outcome = run(&graph, &machine, &plan, &Standard::default(), RunOptions {
//!     instances: Some(10_000),
//!     ..RunOptions::default()
//! })?;
//! assert_eq!(outcome.instances, 10_000);
//! # Ok::<(), run::RunError>(())
//! ```

pub mod builtin;
pub mod kernel;
pub mod layout;
mod lengths;
mod memory;
mod options;
mod outcome;
mod runtime;
mod samples;
pub mod scheduler;
mod scratch;
mod setup;
mod shared;
mod stamps;
pub mod testing;
mod trace;
mod view;
mod worker;

pub use builtin::Standard;
pub use kernel::{
    Batch, Connected, Data, Failed, Fired, InPlace, Input, Kernel, Kernels, Opened, Output, PortSpec,
    TaskInfo, VariableInput, VariableOutput,
};
pub use layout::{LayoutError, RunLayout};
pub use options::{DRAIN, RUN, RunError, RunOptions, RunProgress, STOP};
pub use outcome::{ElementOutcome, Latency, RunOutcome};
pub use runtime::run;
