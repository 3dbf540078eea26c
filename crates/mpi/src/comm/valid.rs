//! Arguments that name communicators, groups and their ranks.

use super::table::GROUPS;
use super::{Comm, Group};
use crate::abi;
use crate::abi::values::*;
use crate::check::{Failure, not_an};
use crate::runtime::State;
use std::ffi::c_int;
use std::sync::Arc;

/// The communicator of a handle.
///
/// # Errors
/// Null, freed, or something else.
#[inline]
pub(crate) fn comm(state: &State, handle: abi::Comm) -> Result<&Arc<Comm>, Failure> {
    comm_named(state, handle, "comm")
}

/// The communicator of a handle that the function calls by another name than `comm`.
///
/// # Errors
/// Null, freed, or something else.
#[inline]
pub(crate) fn comm_named<'a>(
    state: &'a State,
    handle: abi::Comm,
    name: &str,
) -> Result<&'a Arc<Comm>, Failure> {
    state.comm(handle).ok_or_else(|| not_an(name, "communicator", handle.0, MPI_ERR_COMM))
}

/// The communicator of a handle, which must be an intracommunicator.
///
/// # Errors
/// Null, freed, something else, or an intercommunicator.
pub(crate) fn intracomm<'a>(
    state: &'a State,
    handle: abi::Comm,
    name: &str,
) -> Result<&'a Arc<Comm>, Failure> {
    let found = comm_named(state, handle, name)?;
    if found.remote.is_some() {
        let text = format_args!("{name} is an intercommunicator; allowed is an intracommunicator");
        return Err(Failure::new(MPI_ERR_COMM, text));
    }
    Ok(found)
}

/// The communicator of a handle, which must be an intercommunicator.
///
/// # Errors
/// Null, freed, something else, or an intracommunicator.
pub(crate) fn intercomm<'a>(
    state: &'a State,
    handle: abi::Comm,
    name: &str,
) -> Result<&'a Arc<Comm>, Failure> {
    let found = comm_named(state, handle, name)?;
    if found.remote.is_none() {
        let text = format_args!("{name} is an intracommunicator; allowed is an intercommunicator");
        return Err(Failure::new(MPI_ERR_COMM, text));
    }
    Ok(found)
}

/// The group of a handle.
///
/// # Errors
/// Null, freed, or something else.
pub(crate) fn group(state: &State, handle: abi::Group, name: &str) -> Result<Arc<Group>, Failure> {
    if handle.0 == MPI_GROUP_EMPTY {
        return Ok(Arc::new(Group { members: Vec::new() }));
    }
    GROUPS.of(state).get(handle.0).cloned().ok_or_else(|| not_an(name, "group", handle.0, MPI_ERR_GROUP))
}

/// The job's rank that a message to `rank` goes to; nothing for `MPI_PROC_NULL`.
///
/// # Errors
/// Any other number that is no rank of the group that messages go to.
#[inline]
pub(crate) fn destination(comm: &Comm, rank: c_int) -> Result<Option<usize>, Failure> {
    match comm.peers().members.get(rank as usize) {
        Some(&member) => Ok(Some(member as usize)),
        None if rank == MPI_PROC_NULL => Ok(None),
        None => Err(not_a_rank(comm, rank, "dest", " and MPI_PROC_NULL")),
    }
}

/// Whom a receive is from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Source {
    /// `MPI_PROC_NULL`: completes at once, with nothing.
    Nobody,
    /// `MPI_ANY_SOURCE`
    Any,
    /// A rank of the communicator, and its rank in the job.
    Rank {
        /// In the communicator.
        rank: u16,
        /// In the job.
        job: usize,
    },
}

/// Whom a receive from `rank` is from.
///
/// # Errors
/// A number that is no rank of the group that messages come from, nor one of the two special ones.
#[inline]
pub(crate) fn source(comm: &Comm, rank: c_int) -> Result<Source, Failure> {
    match comm.peers().members.get(rank as usize) {
        Some(&member) => Ok(Source::Rank { rank: rank as u16, job: member as usize }),
        None if rank == MPI_ANY_SOURCE => Ok(Source::Any),
        None if rank == MPI_PROC_NULL => Ok(Source::Nobody),
        None => Err(not_a_rank(comm, rank, "source", ", MPI_ANY_SOURCE and MPI_PROC_NULL")),
    }
}

#[cold]
fn not_a_rank(comm: &Comm, rank: c_int, name: &str, others: &str) -> Failure {
    let last = comm.peers().members.len() - 1;
    let of = if comm.remote.is_some() { " (ranks of the remote group)" } else { "" };
    Failure::new(MPI_ERR_RANK, format_args!("{name} is {rank}; allowed are 0 to {last}{of}{others}"))
}
