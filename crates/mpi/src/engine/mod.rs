//! The engine moves messages between this rank and all others. It knows contexts, tags and the ranks of the job, and no
//! communicator, no handle and no error handler.

use crate::datatype::Datatype;
use std::sync::Arc;

/// Where a message's data lies in this process.
#[derive(Clone)]
pub struct Buffer {
    /// What the user passed.
    pub address: *mut u8,
    /// Bytes of data, packed.
    pub bytes: usize,
    /// How the data lies when it isn't `bytes` contiguous bytes from `address` on.
    pub layout: Option<Layout>,
}

/// `count` elements of a datatype that is not contiguous.
#[derive(Clone)]
pub struct Layout {
    /// The datatype.
    pub datatype: Arc<Datatype>,
    /// How many of it.
    pub count: usize,
}

/// By what the receiving side finds a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The communicator's context (one for point-to-point, another for its collectives).
    pub context: u32,
    /// The sender's rank in the communicator (in its own group, for an intercommunicator).
    pub source: u16,
    /// The tag.
    pub tag: i32,
}

/// What a receive accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// The communicator's context.
    pub context: u32,
    /// The sender's rank in the communicator; nothing: any.
    pub source: Option<u16>,
    /// The tag; nothing: any that is not negative.
    pub tag: Option<i32>,
}

/// When a send is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// When the buffer may be used again (ready sends are these too).
    Standard,
    /// When the receive has started.
    Synchronous,
}

/// A send or receive that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferId(pub u64);

/// A message that was found but not received (`MPI_Probe`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The sender's rank in the communicator.
    pub source: u16,
    /// The tag.
    pub tag: i32,
    /// Bytes of data.
    pub bytes: usize,
}

/// How a transfer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The sender's rank in the communicator; of a send, `MPI_ANY_SOURCE`.
    pub source: i32,
    /// The tag; of a send, `MPI_ANY_TAG`.
    pub tag: i32,
    /// Bytes received, at most what the buffer holds.
    pub bytes: usize,
    /// Bytes that were sent, when they were more than the buffer holds (`MPI_ERR_TRUNCATE`).
    pub truncated: Option<usize>,
    /// Cancelled before it matched.
    pub cancelled: bool,
}

/// Moves the messages of this rank.
pub struct Engine {}

impl Engine {
    /// Before Init.
    pub fn detached() -> Self {
        Self {}
    }

    /// Moves what can move without waiting; true when anything did.
    pub fn progress(&mut self) -> bool {
        false
    }
}
