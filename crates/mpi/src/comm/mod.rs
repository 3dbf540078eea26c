//! Groups and communicators (MPI 5.0, chapter 7), their attributes and error handlers.

pub mod errhandler;

use std::sync::Arc;

/// An ordered set of ranks of the job.
#[derive(Debug, PartialEq, Eq)]
pub struct Group {
    /// The job's rank of each member.
    pub members: Vec<u32>,
}

/// A communicator as one of its ranks sees it.
pub struct Comm {
    /// The context of point-to-point messages; the next one is the collectives'.
    pub context: u32,
    /// This process's rank in `group`.
    pub rank: usize,
    /// The (local) group.
    pub group: Arc<Group>,
    /// Of an intercommunicator: the other group.
    pub remote: Option<Arc<Group>>,
}

impl Comm {
    /// The context of point-to-point messages.
    pub fn point_to_point(&self) -> u32 {
        self.context
    }

    /// The context of collectives.
    pub fn collective(&self) -> u32 {
        self.context + 1
    }

    /// Ranks in the (local) group.
    pub fn size(&self) -> usize {
        self.group.members.len()
    }

    /// The group that messages go to: the remote one of an intercommunicator.
    pub fn peers(&self) -> &Group {
        self.remote.as_deref().unwrap_or(&self.group)
    }
}
