//! The shortest way for small messages between at most two ranks: no schedule, no memory, one exchange. (Larger
//! reductions of two ranks go on in `window`.)
//!
//! Each function does the same as the schedule would, or nothing at all when it has the slightest doubt about an
//! argument: then the ordinary way finds out what is wrong.

use super::algorithm::SMALL;
use super::run::tag_of;
use super::window;
use crate::abi;
use crate::abi::values::{MPI_COMM_NULL, MPI_IN_PLACE};
use crate::check::{self, Failure};
use crate::comm::Comm;
use crate::datatype::predefined_size;
use crate::op::{ElementType, Predefined, Reducer, kernel};
use crate::request;
use crate::runtime::{self, Entered};
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::sync::atomic::Ordering;
use transport::{Buffer, Criteria, Envelope, Mode};

/// This rank and the other one of a communicator of two.
pub(super) struct TwoRanks {
    /// This rank in the communicator.
    pub rank: usize,
    context: u32,
    tag: i32,
    /// The other one in the job.
    pub other: usize,
}

/// The communicator of one rank, or of two and the next collective on it. Nothing: neither.
pub(super) fn few(state: &Entered, handle: abi::Comm) -> Option<Option<TwoRanks>> {
    let comm: &Comm = state.comm(handle).filter(|_| handle.0 != MPI_COMM_NULL)?;
    let members = &comm.group.members;
    if comm.remote.is_some() || members.len() > 2 {
        return None;
    }
    if members.len() == 1 {
        return Some(None);
    }
    // Only the thread that holds the state starts a collective.
    let number = comm.collectives.load(Ordering::Relaxed);
    comm.collectives.store(number.wrapping_add(1), Ordering::Relaxed);
    let (context, other) = (comm.collective(), members[1 - comm.rank] as usize);
    Some(Some(TwoRanks { rank: comm.rank, context, tag: tag_of(number), other }))
}

impl TwoRanks {
    /// Sends to the other rank; until the data is away.
    pub(super) fn send(&self, mut state: Entered, data: *const u8, bytes: usize) -> Entered {
        // SAFETY: the caller's data, which it lends until this returns.
        let buffer = unsafe { Buffer::new(data.cast_mut(), bytes) };
        let envelope = Envelope { context: self.context, source: self.rank as u16, tag: self.tag };
        if let Some(id) = state.engine.send(self.other, envelope, &buffer, Mode::Standard) {
            runtime::wait_for(state, id, None);
            state = runtime::enter();
        }
        state
    }

    /// Receives from the other rank; bytes received.
    pub(super) fn receive(&self, mut state: Entered, into: *mut u8, bytes: usize) -> Result<usize, Failure> {
        // SAFETY: the caller's room, which it lends until this returns.
        let buffer = unsafe { Buffer::new(into, bytes) };
        let source = Some(1 - self.rank as u16);
        let pattern = Criteria { context: self.context, source, tag: Some(self.tag) };
        let id = state.engine.receive(pattern, Some(self.other), &buffer);
        let ended = runtime::wait_for(state, id, Some(self.other));
        request::failure(&ended)?;
        Ok(ended.bytes)
    }
}

/// Bytes of small data; nothing when it is not so simple.
fn small(buffer: *const c_void, count: i64, datatype: abi::Datatype) -> Option<usize> {
    let bytes = predefined_size(datatype)?.checked_mul(usize::try_from(count).ok()?)?;
    let plain = !buffer.is_null() && buffer as usize != MPI_IN_PLACE;
    (plain && bytes > 0 && bytes <= SMALL).then_some(bytes)
}

/// `MPI_Barrier`; false: not done.
///
/// # Errors
/// As `MPI_Barrier`.
pub(super) fn barrier(comm: abi::Comm) -> Result<bool, Failure> {
    let state = check::running()?;
    let Some(pair) = few(&state, comm) else { return Ok(false) };
    if let Some(pair) = pair {
        let nothing = std::ptr::null_mut();
        let state = pair.send(state, nothing, 0);
        pair.receive(state, nothing, 0)?;
    }
    Ok(true)
}

/// `MPI_Bcast`; false: not done.
///
/// # Errors
/// As `MPI_Bcast`.
pub(super) fn bcast(
    buffer: *const c_void,
    count: i64,
    datatype: abi::Datatype,
    root: c_int,
    comm: abi::Comm,
) -> Result<bool, Failure> {
    let Some(bytes) = small(buffer, count, datatype) else { return Ok(false) };
    let state = check::running()?;
    // A rank of two; of one rank there is but rank 0.
    let known = state.comm(comm).is_some_and(|found| (0..found.size() as i64).contains(&i64::from(root)));
    let Some(pair) = known.then(|| few(&state, comm)).flatten() else { return Ok(false) };
    match pair {
        Some(pair) if pair.rank == root as usize => drop(pair.send(state, buffer.cast(), bytes)),
        Some(pair) => drop(pair.receive(state, buffer.cast_mut().cast(), bytes)?),
        None => {}
    }
    Ok(true)
}

/// `MPI_Allreduce`; false: not done.
///
/// # Errors
/// As `MPI_Allreduce`.
pub(super) fn allreduce(
    sendbuf: *const c_void,
    recvbuf: *const c_void,
    count: i64,
    datatype: abi::Datatype,
    op: abi::Op,
    comm: abi::Comm,
) -> Result<bool, Failure> {
    if window::takes(count, datatype) {
        return window::allreduce(sendbuf, recvbuf, count, datatype, op, comm);
    }
    let Some(bytes) = small(sendbuf, count, datatype).and_then(|_| small(recvbuf, count, datatype)) else {
        return Ok(false);
    };
    if (sendbuf as usize).abs_diff(recvbuf as usize) < bytes {
        return Ok(false);
    }
    let found: Option<Reducer> =
        Predefined::of(op).and_then(|operation| kernel(operation, ElementType::of(datatype)?));
    let Some(kernel) = found else { return Ok(false) };
    let state = check::running()?;
    let Some(pair) = few(&state, comm) else { return Ok(false) };
    let (own, result) = (sendbuf.cast::<u8>(), recvbuf.cast_mut().cast::<u8>());
    let Some(pair) = pair else {
        // SAFETY: the caller's buffers hold that many bytes and do not overlap.
        unsafe { std::ptr::copy_nonoverlapping(own, result, bytes) };
        return Ok(true);
    };
    let state = pair.send(state, own, bytes);
    // Both ranks compute the operand of rank 0 `op` that of rank 1: the same bits.
    if pair.rank == 0 {
        pair.receive(state, result, bytes)?;
        // SAFETY: the caller's buffers hold `count` elements of this type each.
        unsafe { kernel(own, result, count as usize) };
    } else {
        let mut first = MaybeUninit::<[u8; SMALL]>::uninit();
        let first = first.as_mut_ptr().cast::<u8>();
        let received = pair.receive(state, first, bytes)?;
        // SAFETY: as above, and the first operand is received (should the other rank have sent less of it, zeros are
        // the rest).
        unsafe {
            first.add(received).write_bytes(0, bytes - received);
            std::ptr::copy_nonoverlapping(own, result, bytes);
            kernel(first, result, count as usize);
        }
    }
    Ok(true)
}
