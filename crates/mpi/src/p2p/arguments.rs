//! What all sends and receives have in common: a buffer, an envelope, and what is wrong with them.

use crate::abi;
use crate::abi::values::MPI_DATATYPE_NULL;
use crate::check::{self, Failure};
use crate::comm::Comm;
use crate::comm::valid;
use crate::comm::valid::Source;
use crate::datatype::{MessageData, predefined_size};
use crate::handles;
use crate::runtime::State;
use std::ffi::{c_int, c_void};
use std::sync::Arc;
use transport::{Buffer, COMPLETE_AT_ONCE, Criteria, Engine, Envelope, TransferId};

/// The handle of a request for a transfer; of one that was complete at once, the shared one.
#[inline]
pub(crate) fn request(transfer: Option<TransferId>) -> abi::Request {
    abi::Request(handles::of_transfer(transfer.unwrap_or(COMPLETE_AT_ONCE)))
}

/// The buffer of a message's data. `nobody`: the other side is `MPI_PROC_NULL`. No element needs no datatype there.
///
/// # Errors
/// `MPI_ERR_COUNT`, `MPI_ERR_TYPE`, `MPI_ERR_BUFFER`.
#[inline(always)]
pub(crate) fn buffer(state: &State, data: MessageData, nobody: bool) -> Result<Buffer, Failure> {
    let MessageData { address, count, datatype, names } = data;
    let count = check::count(count, names[1])?;
    // Made of its parts, which stay in registers. Moved as a whole, parts that nobody wrote are read, too, and a load
    // of what was written in parts waits until all stores before are done.
    let (address, bytes, layout) = match predefined_size(datatype) {
        Some(size) => {
            let bytes = size * count;
            check::buffer(address, bytes, false, names[0])?;
            (address.cast_mut().cast(), bytes, None)
        }
        None => derived(state, address, count, datatype, nobody)?.into_parts(),
    };
    // SAFETY: the program lends the buffer until the transfer is complete.
    Ok(unsafe { Buffer::of_parts(address, bytes, layout) })
}

#[inline(never)]
fn derived(
    state: &State,
    address: *const c_void,
    count: usize,
    datatype: abi::Datatype,
    nobody: bool,
) -> Result<Buffer, Failure> {
    if nobody && count == 0 && datatype.0 == MPI_DATATYPE_NULL {
        // SAFETY: no byte lies there.
        return Ok(unsafe { Buffer::new(address.cast_mut().cast(), 0) });
    }
    // The data of a derived datatype may lie at absolute addresses: a null pointer is MPI_BOTTOM.
    Ok(state.committed_datatype(datatype)?.buffer(address.cast_mut().cast(), count))
}

/// Starts a send, by `start`; what that gives. Nothing: to `MPI_PROC_NULL`.
///
/// # Errors
/// What is wrong with an argument.
#[inline(always)]
pub(crate) fn send<T>(
    state: &mut State,
    data: MessageData,
    dest: c_int,
    tag: c_int,
    comm: abi::Comm,
    start: impl FnOnce(&mut Engine<'static>, usize, Envelope, &Buffer) -> T,
) -> Result<Option<T>, Failure> {
    let found = valid::comm(state, comm)?;
    let to = valid::destination(found, dest)?;
    check::tag(tag)?;
    let envelope = Envelope::new(found.point_to_point(), found.rank as u16, tag);
    let buffer = buffer(state, data, to.is_none())?;
    Ok(to.map(|to| start(&mut state.engine, to, envelope, &buffer)))
}

/// What a receive accepts, and the job's rank it comes from when that is known; nothing: `MPI_PROC_NULL`.
///
/// # Errors
/// What is wrong with source or tag.
#[inline(always)]
pub(crate) fn pattern(
    comm: &Arc<Comm>,
    source: c_int,
    tag: c_int,
) -> Result<Option<(Criteria, Option<usize>)>, Failure> {
    let tag = check::receive_tag(tag)?;
    let (source, job) = match valid::source(comm, source)? {
        Source::Nobody => return Ok(None),
        Source::Any => (None, None),
        Source::Rank { rank, job } => (Some(rank), Some(job)),
    };
    Ok(Some((Criteria { context: comm.point_to_point(), source, tag }, job)))
}

/// Posts a receive; with the job's rank of the sender, when it is known. Nothing: it is from `MPI_PROC_NULL`.
///
/// # Errors
/// What is wrong with an argument.
#[inline(always)]
pub(crate) fn receive(
    state: &mut State,
    data: MessageData,
    source: c_int,
    tag: c_int,
    comm: abi::Comm,
) -> Result<Option<(TransferId, Option<usize>)>, Failure> {
    let receiving = receiving(state, data, source, tag, comm)?;
    Ok(receiving.map(|(pattern, from, buffer)| (state.engine.receive(pattern, from, &buffer), from)))
}

/// What a receive accepts, the job's rank of the sender, when it is known, and where the data goes. Nothing: it is from
/// `MPI_PROC_NULL`.
///
/// # Errors
/// What is wrong with an argument.
#[inline(always)]
pub(crate) fn receiving(
    state: &mut State,
    data: MessageData,
    source: c_int,
    tag: c_int,
    comm: abi::Comm,
) -> Result<Option<(Criteria, Option<usize>, Buffer)>, Failure> {
    let pattern = pattern(valid::comm(state, comm)?, source, tag)?;
    let buffer = buffer(state, data, pattern.is_none())?;
    Ok(pattern.map(|(pattern, from)| (pattern, from, buffer)))
}
