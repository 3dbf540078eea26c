//! Messages looked at before they are received (MPI 5.0, section 3.8).

use super::arguments::{self, buffer};
use super::counted;
use super::operation::finish;
use crate::abi::values::{MPI_ERR_REQUEST, MPI_MESSAGE_NO_PROC, MPI_MESSAGE_NULL};
use crate::abi::{self, Status};
use crate::call::{InOut, Out};
use crate::check::{self, Failure, not_an};
use crate::comm::mpi;
use crate::comm::valid;
use crate::datatype::{MessageData, message_data};
use crate::handles::Handles;
use crate::handles::Kind;
use crate::runtime::Guarded;
use crate::runtime::{self, State};
use crate::stuck;
use std::ffi::{c_int, c_void};
use transport::{Arrival, ClaimId, Completion, Criteria, FROM_NOBODY, RECEIVED_FROM_NOBODY};

impl Status {
    fn of_arrival(arrival: Arrival) -> Self {
        let Arrival { source, tag, bytes } = arrival;
        Self::of(&Completion { source: source.into(), tag, bytes, lost: 0, cancelled: false })
    }
}

/// A message that was taken out of matching.
#[derive(Clone, Copy)]
pub(crate) struct Claimed {
    id: ClaimId,
    /// Whose error handler is called.
    comm: abi::Comm,
}

/// Messages that were found and taken (`MPI_Mprobe`), by handle.
pub(crate) static CLAIMED: Guarded<Handles<Claimed>> = Guarded::new(Handles::new(Kind::Message));

/// The pattern of a probe; nothing for `MPI_PROC_NULL`.
fn pattern(source: c_int, tag: c_int, comm: abi::Comm) -> Result<Option<Criteria>, Failure> {
    let state = check::running()?;
    Ok(arguments::pattern(valid::comm(&state, comm)?, source, tag)?.map(|(pattern, _)| pattern))
}

/// Takes a message that is there out of matching.
fn claim(state: &mut State, pattern: Criteria, comm: abi::Comm) -> Option<(abi::Message, Status)> {
    let (id, arrival) = state.engine.claim(pattern)?;
    let message = abi::Message(CLAIMED.of_mut(state).insert(Claimed { id, comm }));
    Some((message, Status::of_arrival(arrival)))
}

/// Waits until a message of a pattern is found.
fn wait_for<T>(pattern: Criteria, found: impl FnMut(&mut State) -> Option<T>) -> T {
    stuck::probes(Some(pattern));
    let found = runtime::wait_until(found);
    stuck::probes(None);
    found
}

/// Starts to receive a message that was claimed.
fn receive(data: MessageData, message: InOut<'_, abi::Message>) -> Result<abi::Request, Failure> {
    let mut state = check::running()?;
    let handle = message.read()?;
    if handle.0 == MPI_MESSAGE_NO_PROC {
        message.write(abi::Message(MPI_MESSAGE_NULL))?;
        return Ok(arguments::request(Some(FROM_NOBODY)));
    }
    let Some(&Claimed { id, comm }) = CLAIMED.of(&state).get(handle.0) else {
        return Err(not_an("message", "message", handle.0, MPI_ERR_REQUEST));
    };
    let buffer = buffer(&state, data, false).map_err(|failure| failure.on(comm))?;
    CLAIMED.of_mut(&mut state).remove(handle.0);
    message.write(abi::Message(MPI_MESSAGE_NULL))?;
    Ok(arguments::request(Some(state.engine.receive_claimed(id, &buffer))))
}

mpi! {
    /// MPI 5.0, section 3.8.1.
    fn PMPI_Probe(source: c_int, tag: c_int, comm: abi::Comm, status: Out<Status>) on comm {
        let found = match pattern(source, tag, comm)? {
            None => Status::of(&RECEIVED_FROM_NOBODY),
            Some(pattern) => Status::of_arrival(wait_for(pattern, |state| state.engine.probe(pattern))),
        };
        status.give(found);
        Ok(())
    }

    /// MPI 5.0, section 3.8.1.
    fn PMPI_Iprobe(source: c_int, tag: c_int, comm: abi::Comm, flag: Out<c_int>, status: Out<Status>) on comm {
        flag.present()?;
        let found = match pattern(source, tag, comm)? {
            None => Some(Status::of(&RECEIVED_FROM_NOBODY)),
            Some(pattern) => {
                runtime::progress();
                check::running()?.engine.probe(pattern).map(Status::of_arrival)
            }
        };
        flag.write(found.is_some().into())?;
        if let Some(found) = found {
            status.give(found);
        }
        Ok(())
    }

    /// MPI 5.0, section 3.8.2.
    fn PMPI_Mprobe(
        source: c_int, tag: c_int, comm: abi::Comm, message: Out<abi::Message>, status: Out<Status>,
    ) on comm {
        message.present()?;
        let (claimed, found) = match pattern(source, tag, comm)? {
            None => (abi::Message(MPI_MESSAGE_NO_PROC), Status::of(&RECEIVED_FROM_NOBODY)),
            Some(pattern) => wait_for(pattern, |state| claim(state, pattern, comm)),
        };
        message.write(claimed)?;
        status.give(found);
        Ok(())
    }

    /// MPI 5.0, section 3.8.2.
    fn PMPI_Improbe(
        source: c_int, tag: c_int, comm: abi::Comm, flag: Out<c_int>, message: Out<abi::Message>,
        status: Out<Status>,
    ) on comm {
        flag.present()?;
        message.present()?;
        let found = match pattern(source, tag, comm)? {
            None => Some((abi::Message(MPI_MESSAGE_NO_PROC), Status::of(&RECEIVED_FROM_NOBODY))),
            Some(pattern) => {
                runtime::progress();
                claim(&mut *check::running()?, pattern, comm)
            }
        };
        flag.write(found.is_some().into())?;
        if let Some((claimed, found)) = found {
            message.write(claimed)?;
            status.give(found);
        }
        Ok(())
    }
}

counted! {
    /// MPI 5.0, section 3.8.3.
    fn PMPI_Mrecv / PMPI_Mrecv_c(
        buf: *mut c_void, count: N, datatype: abi::Datatype, message: InOut<abi::Message>, status: Out<Status>,
    ) {
        let outcome = finish(receive(message_data!(buf, count, datatype), message)?);
        status.give(outcome.status);
        outcome.result
    }

    /// MPI 5.0, section 3.8.3.
    fn PMPI_Imrecv / PMPI_Imrecv_c(
        buf: *mut c_void, count: N, datatype: abi::Datatype, message: InOut<abi::Message>,
        request: Out<abi::Request>,
    ) {
        request.present()?;
        request.write(receive(message_data!(buf, count, datatype), message)?)
    }
}
