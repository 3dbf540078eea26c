//! What is to be placed: task graphs, mappings, schedules and plans, and the files that hold them.
//!
//! | module | what it knows |
//! |---|---|
//! | [`graph`] | tasks, edges, ports; validation |
//! | [`read`] | TOML, JSON, GraphML, DOT and DagGen's text -> [`Graph`] |
//! | [`mod@write`] | [`Graph`] -> TOML, JSON; files that appear whole or not at all |
//! | [`daggen`] | random graphs after DagGen, the same for a seed for ever |
//! | [`schedule`] | firstPeriod, slots and order of a mapped graph: the one place that computes them |
//! | [`plan`] | a plan and its JSON |
//! | [`error`], [`sizes`] | what is wrong and where, the largest numbers |
//!
//! Floor 1: imports `ground` only.

pub mod daggen;
pub mod error;
pub mod graph;
pub mod plan;
pub mod read;
pub mod schedule;
pub mod sizes;
pub mod write;

pub use error::{Invalid, Part};
pub use graph::{Edge, EdgeId, Graph, Port, Profile, ProfiledCost, ProfiledSpeed, Task, TaskId, Value};
pub use plan::Plan;
pub use schedule::{Buffering, Mapping, NoSchedule, Schedule, ScheduleBuilder, Slots};
