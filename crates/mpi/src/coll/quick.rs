//! The shortest way for small data: no schedule. At most two ranks need no memory, and one exchange; for more of them
//! see `direct`. (Larger reductions of two ranks go on in `window` and `to_root`.)
//!
//! Each function does the same as the schedule would, or nothing at all when it has the slightest doubt about an
//! argument: then the ordinary way finds out what is wrong.

use super::algorithm::SMALL;
use super::blocks::Blocks;
use super::direct;
use super::to_root;
use super::two_ranks::{TwoRanks, few, rank_beside};
use super::window;
use crate::abi;
use crate::abi::values::MPI_IN_PLACE;
use crate::check::{self, Failure};
use crate::datatype::{MessageData, predefined_size};
use crate::op::{Reducer, reducer};
use crate::runtime::Entered;
use std::ffi::c_int;
use std::mem::MaybeUninit;

/// Bytes of small data; nothing when it is not so simple.
fn small(data: MessageData) -> Option<usize> {
    let bytes = predefined_size(data.datatype)?.checked_mul(usize::try_from(data.count).ok()?)?;
    let plain = !data.address.is_null() && data.address as usize != MPI_IN_PLACE;
    (plain && bytes > 0 && bytes <= SMALL).then_some(bytes)
}

/// Where even blocks of small data start; this rank's belongs to `bytes` bytes at `data`. Nothing when they are
/// not so simple, or not of so many bytes each, or this rank's is not apart from its data.
fn even_blocks(blocks: Blocks<'_>, own: usize, data: *const u8, bytes: usize) -> Option<*mut u8> {
    let Blocks::Even(block) = blocks else { return None };
    let first = block.address.cast::<u8>().cast_mut();
    let is_apart = (first.wrapping_add(own * bytes) as usize).abs_diff(data as usize) >= bytes;
    (small(block)? == bytes && is_apart).then_some(first)
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
    let Some(_) = rank_beside(&state, root, comm) else { return Ok(false) };
    let Some(pair) = few(&state, comm) else {
        return direct::bcast(state, comm, root as usize, data.address.cast_mut().cast(), bytes);
    };
    match pair {
        Some(pair) if pair.rank() == root as usize => drop(pair.send(state, data.address.cast(), bytes)),
        Some(pair) => drop(pair.receive(state, data.address.cast_mut().cast(), bytes)?),
        None => {}
    }
    Ok(true)
}

/// `MPI_Gather`; false: not done.
///
/// # Errors
/// As `MPI_Gather`.
pub(super) fn gather(
    send: MessageData,
    receive: Blocks<'_>,
    root: c_int,
    comm: abi::Comm,
) -> Result<bool, Failure> {
    let Some(bytes) = small(send) else { return Ok(false) };
    let state = check::running()?;
    let Some(own) = rank_beside(&state, root, comm) else { return Ok(false) };
    let data = send.address.cast::<u8>();
    if own != root as usize {
        let Some(pair) = few(&state, comm) else {
            return Ok(direct::send(state, comm, root as usize, data, bytes));
        };
        let Some(pair) = pair else { return Ok(false) };
        drop(pair.send(state, data, bytes));
        return Ok(true);
    }
    let Some(blocks) = even_blocks(receive, own, data, bytes) else { return Ok(false) };
    let pair = few(&state, comm);
    // SAFETY: the caller's buffers: the data, and a block of as many bytes for each rank; this rank's is apart from it.
    unsafe { data.copy_to_nonoverlapping(blocks.add(own * bytes), bytes) };
    match pair {
        None => return direct::gather(state, comm, blocks, bytes),
        Some(None) => {}
        Some(Some(pair)) => {
            pair.receive(state, blocks.wrapping_add((1 - own) * bytes), bytes)?;
        }
    }
    Ok(true)
}

/// `MPI_Scatter`; false: not done.
///
/// # Errors
/// As `MPI_Scatter`.
pub(super) fn scatter(
    send: Blocks<'_>,
    receive: MessageData,
    root: c_int,
    comm: abi::Comm,
) -> Result<bool, Failure> {
    let Some(bytes) = small(receive) else { return Ok(false) };
    let state = check::running()?;
    let Some(own) = rank_beside(&state, root, comm) else { return Ok(false) };
    let data = receive.address.cast::<u8>().cast_mut();
    if own != root as usize {
        let Some(pair) = few(&state, comm) else {
            return direct::receive(state, comm, root as usize, data, bytes);
        };
        let Some(pair) = pair else { return Ok(false) };
        pair.receive(state, data, bytes)?;
        return Ok(true);
    }
    let Some(blocks) = even_blocks(send, own, data, bytes) else { return Ok(false) };
    match few(&state, comm) {
        None => {
            if !direct::scatter(state, comm, blocks, bytes) {
                return Ok(false);
            }
        }
        Some(None) => {}
        Some(Some(pair)) => drop(pair.send(state, blocks.wrapping_add((1 - own) * bytes), bytes)),
    }
    // SAFETY: as for `gather`.
    unsafe { blocks.add(own * bytes).copy_to_nonoverlapping(data, bytes) };
    Ok(true)
}

/// `MPI_Allgather`; false: not done.
///
/// # Errors
/// As `MPI_Allgather`.
pub(super) fn allgather(send: MessageData, receive: Blocks<'_>, comm: abi::Comm) -> Result<bool, Failure> {
    let Some(bytes) = small(send) else { return Ok(false) };
    let state = check::running()?;
    let Some(own) = rank_beside(&state, 0, comm) else { return Ok(false) };
    let data = send.address.cast::<u8>();
    let Some(blocks) = even_blocks(receive, own, data, bytes) else { return Ok(false) };
    let Some(pair) = few(&state, comm) else { return Ok(false) };
    exchange(state, pair, (data, data), blocks, own, bytes)
}

/// `MPI_Alltoall`; false: not done.
///
/// # Errors
/// As `MPI_Alltoall`.
pub(super) fn alltoall(send: Blocks<'_>, receive: Blocks<'_>, comm: abi::Comm) -> Result<bool, Failure> {
    let Blocks::Even(data) = send else { return Ok(false) };
    let Some(bytes) = small(data) else { return Ok(false) };
    let state = check::running()?;
    let Some(own) = rank_beside(&state, 0, comm) else { return Ok(false) };
    let block = |rank: usize| data.address.cast::<u8>().wrapping_add(rank * bytes);
    let Some(blocks) = even_blocks(receive, own, block(own), bytes) else { return Ok(false) };
    let Some(pair) = few(&state, comm) else { return Ok(false) };
    exchange(state, pair, (block(own), block(1 - own)), blocks, own, bytes)
}

/// Data of this rank goes to its own block and to the other rank, whose data comes into its block.
fn exchange(
    state: Entered,
    pair: Option<TwoRanks>,
    (kept, sent): (*const u8, *const u8),
    blocks: *mut u8,
    own: usize,
    bytes: usize,
) -> Result<bool, Failure> {
    let state = match &pair {
        Some(pair) => pair.send(state, sent, bytes),
        None => state,
    };
    // SAFETY: the caller's buffers: data of so many bytes, and a block of as many for each rank; this rank's is apart.
    unsafe { kept.copy_to_nonoverlapping(blocks.add(own * bytes), bytes) };
    if let Some(pair) = pair {
        pair.receive(state, blocks.wrapping_add((1 - own) * bytes), bytes)?;
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
        return window::allreduce((operand, result), op, comm);
    }
    let Some(bytes) = small(operand).and_then(|_| small(result)) else { return Ok(false) };
    if (operand.address as usize).abs_diff(result.address as usize) < bytes {
        return Ok(false);
    }
    let Some(kernel) = reducer(op, datatype) else { return Ok(false) };
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
    receive_operand(state, &pair, own, result, (bytes, count as usize), kernel)?;
    Ok(true)
}

/// Receives the other rank's operand, and reduces it and this rank's, in the order of ranks.
fn receive_operand(
    state: Entered,
    pair: &TwoRanks,
    own: *const u8,
    result: *mut u8,
    (bytes, count): (usize, usize),
    kernel: Reducer,
) -> Result<(), Failure> {
    if pair.rank() == 0 {
        pair.receive(state, result, bytes)?;
        // SAFETY: the caller's buffers hold `count` elements of this type each.
        unsafe { kernel(own, result, result, count) };
        return Ok(());
    }
    let mut first = MaybeUninit::<[u8; SMALL]>::uninit();
    let first = first.as_mut_ptr().cast::<u8>();
    let received = pair.receive(state, first, bytes)?;
    // SAFETY: as above, and the first operand is received (should the other rank have sent less of it, zeros are the
    // rest).
    unsafe {
        first.add(received).write_bytes(0, bytes - received);
        kernel(first, own, result, count);
    }
    Ok(())
}

/// `MPI_Reduce`; false: not done.
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
    if window::takes(count, datatype) {
        return to_root::reduce((operand, result), op, root, comm);
    }
    let Some(bytes) = small(operand) else { return Ok(false) };
    let Some(kernel) = reducer(op, datatype) else { return Ok(false) };
    let state = check::running()?;
    let Some(own) = rank_beside(&state, root, comm) else { return Ok(false) };
    let data = operand.address.cast::<u8>();
    if own != root as usize {
        let Some(pair) = few(&state, comm) else {
            return Ok(direct::send(state, comm, root as usize, data, bytes));
        };
        let Some(pair) = pair else { return Ok(false) };
        drop(pair.send(state, data, bytes));
        return Ok(true);
    }
    let into = result.address.cast_mut().cast::<u8>();
    if small(result).is_none() || (data as usize).abs_diff(into as usize) < bytes {
        return Ok(false);
    }
    match few(&state, comm) {
        None => return direct::reduce(state, comm, data, into, (bytes, count as usize), kernel),
        // SAFETY: the caller's buffers hold that many bytes and do not overlap.
        Some(None) => unsafe { data.copy_to_nonoverlapping(into, bytes) },
        Some(Some(pair)) => receive_operand(state, &pair, data, into, (bytes, count as usize), kernel)?,
    }
    Ok(true)
}
