//! The streaming runtime: executes a plan on this computer's cores.
//!
//! | module | what it does | imports |
//! |---|---|---|
//! | `samples` | evenly thinned samples in bounded memory | |
//! | `memory` | the slots of rings: a window is always contiguous | |
//! | [`layout`] | what a plan says, by index: units, rings and who reads them | |
//! | [`fetches`] | layouts for elements that have memories of their own | layout |
//! | [`scheduler`] | the paper's scheduler as a state machine without threads or clocks | layout |
//! | [`kernel`] | the code of tasks: three tiers over one ABI | |
//! | [`builtin`] | kernels that are always there: files, WAV, copies, sources and sinks | kernel |
//! | `lengths` | what a kernel must say of outputs of variable length | kernel |
//! | `options` | what a caller may ask of a run, and what can go wrong | layout |
//! | `until` | when the throughput of a simulated run is steady | |
//! | `outcome` | what a run has to say | until |
//! | `stamps` | when sampled batches left the source and reached a sink | samples |
//! | `recorder` | sampled costs of tasks, and events of a trace when asked for | samples |
//! | `waits` | what a worker waited for, how often and how long | scheduler |
//! | `shared` | what all threads of a run share | layout, memory, options, recorder, stamps, waits |
//! | `view` | a worker's ends of the rings between elements | scheduler, shared |
//! | `scratch` | memory that lives for one firing of a unit | |
//! | `setup` | makes what each worker needs | kernel, layout, lengths, memory, options, scheduler, scratch |
//! | `worker` | an element's thread | all but builtin, layout, outcome, samples, scratch |
//! | `summary` | what the workers left behind, as one outcome | kernel, layout, outcome, recorder, shared, waits |
//! | `trace` | a trace as a file | kernel, layout, recorder, shared |
//! | `crash` | what a kernel's crash says and saves | kernel, memory, options, shared |
//! | `hand_watch` | a kernel fired by hand that does not return hangs nothing | crash, options, shared |
//! | `by_hand` | fired by a caller who decides when | all but builtin, outcome, recorder, worker |
//! | `runtime` | [`run`](run()): starts the workers, watches them, reports | all but builtin, lengths |
//! | [`testing`] | graphs and plans for tests | kernel |
//!
//! What never happens: an instance is never lost, doubled or out of order on its edge; a worker that has work never
//! allocates, locks or calls the system (kernels may); a worker never waits while one of its units could fire; a run
//! never hangs, whatever a kernel does: a kernel that fails, panics, breaks the rules or does not return ends it with
//! the task's name, after the sinks were flushed.
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
mod by_hand;
mod crash;
pub mod fetches;
mod hand_watch;
pub mod kernel;
pub mod layout;
mod lengths;
mod memory;
mod options;
mod outcome;
mod recorder;
mod runtime;
mod samples;
pub mod scheduler;
mod scratch;
mod setup;
mod shared;
mod stamps;
mod summary;
pub mod testing;
mod trace;
mod until;
mod view;
mod waits;
mod worker;

pub use builtin::Standard;
pub use by_hand::{ByHand, HandFired, HandSeed};
pub use fetches::{Fetch, FetchLayout};
pub use hand_watch::HandWatch;
pub use kernel::{
    Batch, Connected, Data, Failed, Fired, InPlace, Input, Kernel, Kernels, Opened, Output, PortSpec,
    TaskInfo, VariableInput, VariableOutput,
};
pub use layout::{LayoutError, RunLayout};
pub use options::{DRAIN, RUN, RunError, RunOptions, RunProgress, STOP};
pub use outcome::{
    Bottleneck, Bottlenecks, Difference, ElementOutcome, ElementSpeed, Latency, RunOutcome, SpeedLook,
    Stalls, TaskOutcome, WaitFor, WaitOutcome,
};
pub use runtime::run;
pub use setup::check;
pub use until::{STEADY_MOST, SteadyOutcome, UntilSteady};
