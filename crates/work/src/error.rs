//! What can be wrong with a graph, and where.

use crate::{EdgeId, TaskId};

/// Which part of a graph is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The whole.
    Graph,
    /// A task.
    Task(TaskId),
    /// An edge.
    Edge(EdgeId),
}

/// What is wrong with a graph.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {message}")]
pub struct Invalid {
    /// Which part.
    pub part: Part,
    /// Where, in words: `task "band3", cost_ns.ppe`.
    pub key: String,
    /// What is wrong, and what is allowed.
    pub message: String,
}
