//! firstPeriod, slots, segments and order of a mapped graph. Everything else reads them from here or from the plan.

use crate::{EdgeId, Graph, TaskId};

/// `mapping[task]` = index of the element that it runs on.
pub type Mapping = Vec<usize>;

/// Which rule sizes the buffers (`streaming-schedule` 3.2.2 and its "future optimisation").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Buffering {
    /// The paper's: an edge takes bytes x D at each end, also when both are the same element; firstPeriod does not depend on the mapping.
    Duplicated,
    /// On one element an edge adds `peek` and no more to firstPeriod, and takes bytes x (D + 1) once.
    #[default]
    Shared,
}

/// When each task first fires and how much room each edge needs. The unit of periods is a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    /// Instances per firing.
    pub batch: u64,
    /// Per task, in batches.
    pub first_period: Vec<u64>,
    /// Per edge.
    pub slots: Vec<Slots>,
    /// Bytes of stream buffers per element, by the rule.
    pub buffers_bytes: Vec<u64>,
    /// Per element, its tasks by (firstPeriod, topological place); tasks of equal firstPeriod are a segment.
    pub order: Vec<Vec<TaskId>>,
}

/// Room of an edge, in instances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slots {
    /// At the producer; 0 where both ends share one buffer.
    pub out: u64,
    /// At the consumer (the whole buffer, where it is shared).
    pub r#in: u64,
}

/// Why a mapped graph has no schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the cycle {} needs a delay of at least {needed} with this mapping and batch, and has {delay}", tasks.join(" -> "))]
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

/// Computes the schedule of `graph` on `elements` elements under `mapping`.
///
/// # Errors
/// [`NoSchedule`] when a cycle's delay is too short for the mapping and the batch.
pub fn schedule(
    graph: &Graph,
    mapping: &[usize],
    elements: usize,
    buffering: Buffering,
    batch: u64,
) -> Result<Schedule, NoSchedule> {
    let _ = (graph, mapping, elements, buffering, batch);
    unimplemented!()
}
