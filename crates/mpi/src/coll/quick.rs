//! The shortest way for small messages between at most two ranks: no schedule, no memory, one exchange. (Larger
//! reductions of two ranks go on in `window`.)
//!
//! Each function does the same as the schedule would, or nothing at all when it has the slightest doubt about an
//! argument: then the ordinary way finds out what is wrong.

use super::algorithm::SMALL;
use super::two_ranks::few;
use super::window::{self, Reduction};
use crate::abi;
use crate::abi::values::MPI_IN_PLACE;
use crate::check::{self, Failure};
use crate::datatype::{MessageData, predefined_size};
use crate::op::{ElementType, Predefined, Reducer, kernel};
use std::ffi::c_int;
use std::mem::MaybeUninit;

/// Bytes of small data; nothing when it is not so simple.
fn small(data: MessageData) -> Option<usize> {
    let bytes = predefined_size(data.datatype)?.checked_mul(usize::try_from(data.count).ok()?)?;
    let plain = !data.address.is_null() && data.address as usize != MPI_IN_PLACE;
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
#[inline(always)]
pub(super) fn bcast(data: MessageData, root: c_int, comm: abi::Comm) -> Result<bool, Failure> {
    let Some(bytes) = small(data) else { return Ok(false) };
    let state = check::running()?;
    // A rank of two; of one rank there is but rank 0.
    let known = state.comm(comm).is_some_and(|found| (0..found.size() as i64).contains(&i64::from(root)));
    let Some(pair) = known.then(|| few(&state, comm)).flatten() else { return Ok(false) };
    match pair {
        Some(pair) if pair.rank == root as usize => drop(pair.send(state, data.address.cast(), bytes)),
        Some(pair) => drop(pair.receive(state, data.address.cast_mut().cast(), bytes)?),
        None => {}
    }
    Ok(true)
}

/// `MPI_Allreduce`; false: not done.
///
/// # Errors
/// As `MPI_Allreduce`.
#[inline(always)]
pub(super) fn allreduce(
    (operand, result): (MessageData, MessageData),
    op: abi::Op,
    comm: abi::Comm,
) -> Result<bool, Failure> {
    let MessageData { count, datatype, .. } = operand;
    if window::takes(count, datatype) {
        let (operand, result) = (operand.address, result.address);
        return window::reduce(&Reduction { operand, result, count, datatype, op, root: None }, comm);
    }
    let Some(bytes) = small(operand).and_then(|_| small(result)) else { return Ok(false) };
    if (operand.address as usize).abs_diff(result.address as usize) < bytes {
        return Ok(false);
    }
    let found: Option<Reducer> =
        Predefined::of(op).and_then(|operation| kernel(operation, ElementType::of(datatype)?));
    let Some(kernel) = found else { return Ok(false) };
    let state = check::running()?;
    let Some(pair) = few(&state, comm) else { return Ok(false) };
    let (own, result) = (operand.address.cast::<u8>(), result.address.cast_mut().cast::<u8>());
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

/// `MPI_Reduce` of large data; false: not done.
///
/// # Errors
/// As `MPI_Reduce`.
#[inline]
pub(super) fn reduce(
    (operand, result): (MessageData, MessageData),
    op: abi::Op,
    root: c_int,
    comm: abi::Comm,
) -> Result<bool, Failure> {
    let MessageData { count, datatype, .. } = operand;
    if !window::takes(count, datatype) {
        return Ok(false);
    }
    let (operand, result) = (operand.address, result.address);
    window::reduce(&Reduction { operand, result, count, datatype, op, root: Some(root) }, comm)
}
