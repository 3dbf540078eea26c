//! The Cell Broadband Engine as a target: real programs run, real bytes move, only time is simulated.
//!
//! | module | what it is |
//! |---|---|
//! | [`parameters`], `settings`, [`rules`] | what a machine is like, also by name; how the bus's arbiter decides |
//! | [`simulation`] | a machine with programs on it, and the loop that runs it |
//! | [`spe`], [`ppe`] | the handles of programs; [`op`]: the operations that they ask for |
//! | `mfc` | queues, tags, lists, fences |
//! | `bus`, [`layout`] | ramps, rings, the data arbiter; where things sit |
//! | `controller`, `link` | main memory's banks; what joins two Cells |
//! | `transfer`, `perform`, `check` | lines on their way; what operations do, and what the hardware traps |
//! | `allocated` | the parts of a memory that were handed out |
//! | [`mod@target`] | transfers of any pattern, as programs: the simulated machine as a `Target` |
//! | [`watch`], `race` | a look from another thread; the race detector |
//! | [`outcome`], [`trace`], `perfetto` | the counters; the trace, also as a file |
//!
//! Deterministic to the bit: integer time in bus cycles of 625 ps, one thread, a fixed order of what happens at once.
//! Floor 2: imports `machine`, and never `model`, whose predictions it tests.

pub mod address;
pub mod error;
pub mod layout;
pub mod op;
pub mod outcome;
pub mod parameters;
pub mod ppe;
pub mod rules;
pub mod simulation;
pub mod spe;
pub mod target;
pub mod trace;
pub mod watch;

mod allocated;
mod bus;
mod check;
mod controller;
mod line;
mod link;
mod mfc;
mod perfetto;
mod perform;
mod program;
mod race;
mod settings;
mod store;
mod transfer;
mod unit;
mod wheel;
mod words;

pub use address::Address;
pub use check::{DMA_BYTES_MAX, LIST_MAX, PPE_BYTES_MAX};
pub use error::SimError;
pub use op::{Dma, ListElement, Ordering};
pub use outcome::Simulated;
pub use parameters::{BEATS, CYCLE_PS, LINE_BYTES, LOCAL_STORE_BYTES, Parameters};
pub use ppe::Ppe;
pub use rules::Rules;
pub use simulation::Simulation;
pub use spe::Spe;
pub use target::SimTarget;
pub use watch::{SimTurn, SimWatch};
