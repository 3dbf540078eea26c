//! The Cell Broadband Engine as a target: real programs run, real bytes move, only time is simulated.
//!
//! | module | what it is | imports |
//! |---|---|---|
//! | [`sizes`] | sizes and times that every Cell has | |
//! | [`layout`] | where things sit on the ring, and the shortest ways | |
//! | [`rules`] | how the bus's arbiter decides | |
//! | `ids` | numbers that are never mixed up: units, lines, commands | |
//! | [`address`] | effective addresses | ids, sizes |
//! | `store` | local stores | sizes |
//! | [`error`] | what ends a simulation | sizes |
//! | [`parameters`] | what a machine is like | error, rules |
//! | `settings` | parameters by name | error, parameters |
//! | `allocated` | the parts of a memory that were handed out | |
//! | [`numbers`] | what programs pass to calls: tags, sizes, places | |
//! | [`dma`] | DMA commands | address, numbers |
//! | [`op`] | the operations that programs ask for | address, dma, numbers |
//! | `words` | operations in words | dma, numbers, op |
//! | [`watch`] | a look from another thread | |
//! | `race` | the race detector | address, dma, ids, numbers |
//! | [`trace`] | what each unit did, and when | layout |
//! | `perfetto` | the trace as a file | sizes, trace |
//! | [`outcome`] | the counters | layout, sizes, trace |
//! | [`shown`] | machine, counters and loads as JSON | layout, outcome, parameters, sizes |
//! | [`spe`] | the handle of a program on an SPE | address, allocated, dma, ids, op, race, sizes, store, watch |
//! | [`ppe`] | the handle of a program on a PPE | dma, numbers, op, sizes, spe |
//! | [`table`] | the calls of both handles, each written once | address, dma, numbers, op, ppe, spe |
//! | `program` | programs: coroutines, or asked step by step | error, op |
//! | `unit` | units that run programs | ids, op, program |
//! | `wheel` | what happens when | ids |
//! | `line` | the packets under way | address, ids, layout |
//! | `mfc` | queues, tags, lists, fences | address, dma, ids, line, parameters |
//! | `bus` | ramps, rings, the data arbiter | ids, layout, line, outcome, rules, sizes |
//! | `controller` | main memory's banks | ids, parameters, sizes |
//! | `memory` | main memory, and what was taken of it | allocated, error |
//! | `copies` | lines in the PPEs' caches, and reserved ones | |
//! | `record` | counters, digest and trace of a run | outcome, trace |
//! | `link` | what joins two Cells | parameters, sizes |
//! | [`simulation`] | a machine with programs on it | all above but perfetto, rules, settings, shown, words |
//! | [`mod@target`] | simulated `Target`s | address, error, parameters, ppe, rules, simulation, sizes, spe |
//!
//! Deterministic to the bit: integer time in bus cycles of 625 ps, one thread, a fixed order of what happens at once.
//! Floor 2: imports `machine`, and never `model`, whose predictions it tests.

pub mod address;
pub mod dma;
pub mod error;
pub mod layout;
pub mod numbers;
pub mod op;
pub mod outcome;
pub mod parameters;
pub mod ppe;
pub mod rules;
pub mod shown;
pub mod simulation;
pub mod sizes;
pub mod spe;
pub mod table;
pub mod target;
pub mod trace;
pub mod watch;

mod allocated;
mod bus;
mod controller;
mod copies;
mod ids;
mod line;
mod link;
mod memory;
mod mfc;
mod perfetto;
mod program;
mod race;
mod record;
mod settings;
mod store;
mod unit;
mod wheel;
mod words;

pub use address::Address;
pub use dma::{Dma, DmaKind, ListElement, Ordering};
pub use error::SimError;
pub use outcome::Simulated;
pub use parameters::Parameters;
pub use ppe::Ppe;
pub use rules::Rules;
pub use simulation::{DMA_BYTES_MAX, LIST_MAX, PPE_BYTES_MAX, Simulation};
pub use sizes::{BANKS, BEATS, CYCLE_PS, LINE_BYTES, LOCAL_STORE_BYTES};
pub use spe::Spe;
pub use target::SimTarget;
pub use watch::{SimTurn, SimWatch};
