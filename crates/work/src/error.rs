//! What can be wrong with a graph, a plan or a file, and where.

use crate::{EdgeId, TaskId};
use std::fmt;

/// Which part of a graph is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
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
    /// Where.
    pub place: Place,
    /// Where, in words: `task "band3", cost_ns.ppe`.
    pub key: String,
    /// What is wrong, and what is allowed.
    pub message: String,
}

/// Why a file or a text could not be read. Its text is `app.toml:12: task "band3", cost_ns.ppe: -5 is ..`, with as much of this as is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadError {
    /// Name of the file, as the caller gave it.
    pub file: String,
    /// From 1.
    pub line: Option<usize>,
    /// Which part.
    pub key: Option<String>,
    /// What is wrong, what is allowed, and the nearest right name where one was unknown.
    pub message: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(key) = &self.key {
            write!(f, ": {key}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for ReadError {}

/// `text` in quotes, control characters escaped, cut where it is long: fit for a message.
pub(crate) fn quoted(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{:?}..", &text[..end]),
        None => format!("{text:?}"),
    }
}
