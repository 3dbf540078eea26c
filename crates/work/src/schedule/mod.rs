//! firstPeriod, slots and order of a mapped graph. Everything else reads them from here or from the plan.
//!
//! The rules, for batches of B instances (`p = ceil(peek / B)`, `d = floor(delay / B)`, `D` = firstPeriod of the
//! consumer less firstPeriod of the producer; `streaming-schedule` 3.2.2, and its "future optimisation"):
//!
//! | edge | adds to firstPeriod | slots out | slots in |
//! |---|---|---|---|
//! | [`Duplicated`][1], or between elements | `p + 2 - d` | `B * max(D, 1)` | `B * max(D, p + 1) + delay` |
//! | [`Shared`][2] on one element | `p - d` | 0 | `B * (max(D, p) + 1) + delay` |
//!
//! [1]: Buffering::Duplicated
//! [2]: Buffering::Shared
//!
//! Without delays `D >= p + 2` (or `D >= p`), so that these are `B * D` at each end, and `B * (D + 1)` once. A
//! firstPeriod is never negative. An element's buffers are the slots times the bytes, with two exceptions for edges
//! that share one output port (a broadcast): the producer's end counts once, and so does the consumers' end on each
//! element that has some of the consumers; each with the largest slots among its edges. All edges that share a buffer
//! get that figure as their slots.
//!
//! A cycle has a schedule when its delays make up for what its edges add. One whose edges are all free of transfers
//! needs a batch more than that: its tasks would otherwise wait for each other within one batch.
//!
//! **Liveness.** With these slots no run can deadlock, whatever the mapping, the peeks and the batch: both ends of an
//! edge hold at least `B * (D + 1) + delay` instances ([`minimum_slots`]). Seen as a marked graph, a cycle's tokens are
//! `sum over its back edges of (D + 1) - sum over its forward edges of (p - d)`; firstPeriod rises by at least `p - d`
//! along forward edges and returns to itself around the cycle, so that there is at least one token per back edge.

use crate::{Edge, EdgeId, Graph, TaskId};
use ground::options::Word;

mod builder;
pub use builder::ScheduleBuilder;

/// `mapping[task]` = index of the element that it runs on.
pub type Mapping = Vec<usize>;

/// Which rule sizes the buffers (`streaming-schedule` 3.2.2 and its "future optimisation").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Buffering {
    /// The paper's: an edge takes bytes x D at each end, also when both are the same element; firstPeriod does not
    /// depend on the mapping.
    Duplicated,
    /// On one element an edge adds `peek` and no more to firstPeriod, and takes bytes x (D + 1) once.
    #[default]
    Shared,
}

impl Word for Buffering {
    const WORDS: &'static [(&'static str, Buffering)] =
        &[("shared", Buffering::Shared), ("duplicated", Buffering::Duplicated)];
}

/// When each task first fires and how much room each edge needs. The unit of periods is a batch.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Schedule {
    /// Instances per firing.
    pub batch: u64,
    /// Per task, in batches.
    pub first_period: Vec<u64>,
    /// Per edge.
    pub slots: Vec<Slots>,
    /// Bytes of stream buffers per element, by the rule. Absurd sums stop at `u64::MAX`.
    pub buffers_bytes: Vec<u64>,
    /// Per element, its tasks by (firstPeriod, topological place). Tasks of equal firstPeriod may fire as one unit:
    /// their set is convex, because a path out and back would raise firstPeriod.
    pub order: Vec<Vec<TaskId>>,
}

/// Room of an edge, in instances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Slots {
    /// At the producer; 0 where both ends share one buffer.
    pub out: u64,
    /// At the consumer (the whole buffer, where it is shared).
    pub r#in: u64,
}

/// Why a mapped graph has no schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the cycle {} needs delays of at least {needed} batches with this mapping and batch, and has {delay}",
    tasks.join(" -> ")
)]
pub struct NoSchedule {
    /// Names of the tasks of the cycle, the first repeated at the end.
    pub tasks: Vec<String>,
    /// Batches that the cycle would need.
    pub needed: u64,
    /// Batches that it has.
    pub delay: u64,
    /// An edge of the cycle.
    pub edge: EdgeId,
}

/// Computes the schedule of `graph` on `elements` elements under `mapping`; a batch of 0 counts as 1.
///
/// Linear in tasks and edges when the graph has no cycle; with cycles, times the delayed edges on the longest path.
/// [`ScheduleBuilder`] does the same for many mappings of one graph without allocating anew.
///
/// # Errors
/// [`NoSchedule`] when a cycle's delay is too short for the mapping and the batch.
///
/// # Panics
/// When `mapping` does not give each task an element below `elements`, or the graph is not [valid](Graph::validate).
///
/// ```
/// use work::{Buffering, Edge, Graph, Port, Task, schedule::schedule};
/// let task = |name: &str| Task { name: name.into(), ..Task::default() };
/// let port = |task, name: &str| Port { task, name: name.into() };
/// let edge = Edge { from: port(0, "0"), to: port(1, "0"), bytes: 100, peek: 1, delay: 0 };
/// let graph = Graph { tasks: vec![task("a"), task("b")], edges: vec![edge], ..Graph::default() };
///
/// let apart = schedule(&graph, &[0, 1], 2, Buffering::Shared, 1).unwrap();
/// assert_eq!((apart.first_period, apart.buffers_bytes), (vec![0, 3], vec![300, 300]));
/// let together = schedule(&graph, &[0, 0], 2, Buffering::Shared, 1).unwrap();
/// assert_eq!((together.first_period, together.buffers_bytes), (vec![0, 1], vec![200, 0]));
/// ```
pub fn schedule(
    graph: &Graph,
    mapping: &[usize],
    elements: usize,
    buffering: Buffering,
    batch: u64,
) -> Result<Schedule, NoSchedule> {
    let mut schedule = Schedule::default();
    ScheduleBuilder::new(graph).run(mapping, elements, buffering, batch, &mut schedule)?;
    Ok(schedule)
}

/// What liveness needs of one edge, in instances: both ends together, the consumer's end, the producer's end. The last
/// is 0 where `local`: there a single buffer serves. `first_period` is the producer's and the consumer's, in batches.
pub fn minimum_slots(edge: &Edge, first_period: (u64, u64), local: bool, batch: u64) -> (u64, u64, u64) {
    let batch = batch.max(1);
    let apart = (first_period.1 + 1).saturating_sub(first_period.0);
    let both = batch.saturating_mul(apart).saturating_add(edge.delay);
    let window = batch.saturating_mul(edge.peek.div_ceil(batch) + 1).saturating_add(edge.delay);
    (both, window, if local { 0 } else { batch })
}
