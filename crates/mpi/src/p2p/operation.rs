//! Sends and receives that are checked now and started later, perhaps more than once.

use super::arguments::{buffer, pattern, request};
use crate::abi;
use crate::check::{self, Failure};
use crate::comm::valid;
use crate::datatype::MessageData;
use crate::request::{self, Outcome, Poll};
use crate::runtime::{self, State};
use std::ffi::c_int;
use transport::{Buffer, Criteria, Envelope, FROM_NOBODY, Mode, TransferId};

/// A send as it is asked for.
#[derive(Clone)]
pub(crate) struct Sending {
    /// The job's rank; nothing for `MPI_PROC_NULL`.
    pub to: Option<usize>,
    /// What the receiver matches.
    pub envelope: Envelope,
    /// The data.
    pub buffer: Buffer,
}

/// A receive as it is asked for.
#[derive(Clone)]
pub(super) struct Receiving {
    /// What it accepts, and the job's rank it comes from when that is known; nothing for `MPI_PROC_NULL`.
    pub from: Option<(Criteria, Option<usize>)>,
    /// Where the data goes.
    pub buffer: Buffer,
}

/// The arguments of a send.
///
/// # Errors
/// What is wrong with one of them.
#[inline]
pub(super) fn sending(
    state: &State,
    data: MessageData,
    dest: c_int,
    tag: c_int,
    comm: abi::Comm,
) -> Result<Sending, Failure> {
    let found = valid::comm(state, comm)?;
    let to = valid::destination(found, dest)?;
    check::tag(tag)?;
    let envelope = Envelope::new(found.point_to_point(), found.rank as u16, tag);
    Ok(Sending { to, envelope, buffer: buffer(state, data, to.is_none())? })
}

/// The arguments of a receive.
///
/// # Errors
/// What is wrong with one of them.
#[inline]
pub(super) fn receiving(
    state: &State,
    data: MessageData,
    source: c_int,
    tag: c_int,
    comm: abi::Comm,
) -> Result<Receiving, Failure> {
    let from = pattern(valid::comm(state, comm)?, source, tag)?;
    Ok(Receiving { from, buffer: buffer(state, data, from.is_none())? })
}

impl Sending {
    /// Starts it. Nothing: it is complete already.
    #[inline]
    pub(crate) fn post(&self, state: &mut State, mode: Mode) -> Option<TransferId> {
        self.to.and_then(|to| state.engine.send(to, self.envelope, &self.buffer, mode))
    }

    /// Starts it.
    pub(crate) fn start(&self, state: &mut State, mode: Mode) -> abi::Request {
        let id = self.to.map(|to| state.engine.send_by_id(to, self.envelope, &self.buffer, mode));
        request(id)
    }
}

impl Receiving {
    /// Starts it; with the job's rank that it is from, when that is known. Nothing: it is from `MPI_PROC_NULL`.
    #[inline]
    pub(super) fn post(&self, state: &mut State) -> Option<(TransferId, Option<usize>)> {
        self.from.map(|(pattern, job)| (state.engine.receive(pattern, job, &self.buffer), job))
    }

    /// Starts it.
    pub(super) fn start(&self, state: &mut State) -> abi::Request {
        request(Some(self.post(state).map_or(FROM_NOBODY, |(id, _)| id)))
    }
}

/// Waits for a request that was started here. Call this only while not holding the state.
pub(super) fn finish(handle: abi::Request) -> Outcome {
    runtime::wait_until(|state| match request::poll(state, handle, "request") {
        Ok(Poll::Pending) => None,
        _ => Some(()),
    });
    request::take(handle).0
}
