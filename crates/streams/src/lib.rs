//! Runs a planned stream on the simulated Cell, with the scheduler of the host's runtime.
//!
//! | module | what it does | imports |
//! |---|---|---|
//! | `costs` | what the runtime's own code costs | |
//! | `error` | why a stream could not be run | |
//! | `memory` | where rings and flags are in local stores and main memory | error |
//! | `slots` | what local stores have left becomes slots | memory |
//! | `spent` | what the time of an element goes to | |
//! | `stream` | what all programs share; steps that take no time | costs, error, memory, spent |
//! | `spe` | the program of an SPE | memory, stream |
//! | `ppe` | the programs of a PPE's two threads | memory, spe, stream |
//! | `losses` | where a run loses against its plan | spent |
//! | `outcome` | what a run has to say | losses, spent, stream |
//! | `simulate` | [`run`](run()): puts the programs on the machine and watches it | all above |
//!
//! Every element has two of `run`'s state machines: one fires units, one starts fetches. An SPE fetches with `get`s
//! out of another local store or main memory, and `put`s what a PPE reads into main memory, where the PPE's managing
//! thread takes it in; a PPE copies what another PPE made. What an element produced, and what it freed, it tells the
//! elements that wait for it by a flag. Kernels run for real, and data moves through the simulated machine alone: a
//! sink gets the bytes that it gets on the host.
//!
//! It differs from `streaming-schedule` 5.1 in one point: there a PPE reads a local store through the SPE's proxy
//! queue, which takes six of its registers a transfer. Here SPEs push, and a PPE touches no register at all.
//!
//! Floor 5: imports `machine`, `work`, `sim` and `run`; never `model`, whose predictions it stands beside.

mod costs;
mod error;
mod losses;
mod memory;
mod outcome;
mod ppe;
mod simulate;
mod slots;
mod spe;
mod spent;
mod steps;
mod stream;

pub use costs::{CoreCosts, StreamCosts};
pub use error::StreamError;
pub use simulate::{is_simulated, run, run_on};
pub use spent::spent_parts;
