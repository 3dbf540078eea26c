//! A plan: where each task runs, how large each buffer is, what period that gives and what no mapping can beat.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

mod check;
mod contribution;
mod costs;
mod json;
mod violation;
pub use check::BadPlan;
pub use contribution::{Contribution, ContributionKind};
pub use costs::{CostBasis, UnsteadyCost};
pub use violation::{Violation, ViolationKind};

/// [`Plan::format`] of the plans that this version writes and reads.
pub const FORMAT: u32 = 2;

/// A plan as its JSON holds it; names, not indices, so that a person can read it and another machine refuse it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Version of this format: [`FORMAT`].
    pub format: u32,
    /// [`Graph::name`](crate::Graph::name).
    pub application: String,
    /// The machine's name.
    pub machine: String,
    /// `greedy`, `cluster`, `delegate`, `anneal`, `exact`, `auto`, or `given`.
    pub method: String,
    /// `duplicated` or `shared`.
    pub buffering: String,
    /// Whether no hard limit is broken.
    pub feasible: bool,
    /// Whether the machine's limits and overheads were measured; if not, the period is a guess and said to be.
    pub measured: bool,
    /// The hard limits that are broken.
    pub violations: Vec<Violation>,
    /// ns per instance: the largest contribution.
    pub period_ns: f64,
    /// ns per instance that no mapping on this machine can beat.
    pub bound_ns: f64,
    /// `1 - bound / period`.
    pub gap: f64,
    /// `1e9 / period`.
    pub throughput_per_s: f64,
    /// What people call the largest contribution; the first of `contributions` has it as data.
    pub bottleneck: String,
    /// Task -> element.
    pub mapping: BTreeMap<String, String>,
    /// Largest first.
    pub contributions: Vec<Contribution>,
    /// Element -> bytes of stream buffers.
    pub buffers_bytes: BTreeMap<String, u64>,
    /// Instances per firing.
    pub batch: u64,
    /// Element -> its tasks in firing order.
    pub order: BTreeMap<String, Vec<String>>,
    /// Task -> firstPeriod, in batches. Tasks of one element with equal firstPeriod may fire as one unit.
    pub first_period: BTreeMap<String, u64>,
    /// In the application's order.
    pub edges: Vec<PlannedEdge>,
    /// What the costs rest on: whether they were measured, when, and how steady they were.
    #[serde(default)]
    pub costs: CostBasis,
    /// Moves that the search evaluated; the same number repeats the plan.
    pub moves: u64,
    /// Seed of the search.
    pub seed: u64,
    /// Seconds that planning took.
    pub seconds: f64,
}

/// An edge with the room it gets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedEdge {
    /// `split.3`.
    pub from: String,
    /// `band3.in`.
    pub to: String,
    /// Of one instance: an edge of another size needs another plan. Plans of older versions do not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Instances at the producer; 0 where both ends share one buffer.
    pub slots_out: u64,
    /// Instances at the consumer.
    pub slots_in: u64,
    /// firstPeriod of the consumer, in batches.
    pub first_period: u64,
    /// What made the ring deeper than the schedule needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth_from: Option<DepthSource>,
}

/// What the depth of a ring between two caches comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DepthSource {
    /// The computer's curve of hand-overs.
    Curve,
    /// The sizes of the caches at both ends, because no curve is known.
    Caches,
}
