//! The shortest way for small data: no schedule. At most two ranks need no memory, and one exchange; for more of them
//! see `direct`. (Larger reductions of two ranks go on in `window` and `to_root`.) What is in place is as short. (Two
//! ranks on a Xeon, allreduce of 8 bytes in place: 0.29 us, as apart, and 0.64 by a schedule.)
//!
//! Each function does the same as the schedule would, or nothing at all when it has the slightest doubt about an
//! argument: then the ordinary way finds out what is wrong.

use super::algorithm::SMALL;
use super::blocks::Blocks;
use super::direct;
use super::to_root;
use super::two_ranks::{TwoRanks, few, operand_and_result, rank_beside};
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

/// Even blocks of small data, one for each rank, and where this rank's data is.
#[derive(Clone, Copy)]
struct SmallBlocks {
    first: *mut u8,
    /// Of each block.
    bytes: usize,
    /// This rank.
    own: usize,
    /// In its block (in place), or apart from it.
    data: *const u8,
}

impl SmallBlocks {
    /// Nothing when they are not so simple, or this rank's data is of another size or not apart from its block.
    fn of(blocks: Blocks<'_>, own: usize, data: MessageData) -> Option<Self> {
        let found = Self::in_place(blocks, own)?;
        if data.address as usize == MPI_IN_PLACE {
            return Some(found);
        }
        let (is_as_large, data) = (small(data)? == found.bytes, data.address.cast());
        (is_as_large && found.is_apart(data)).then_some(Self { data, ..found })
    }

    fn in_place(blocks: Blocks<'_>, own: usize) -> Option<Self> {
        let Blocks::Even(block) = blocks else { return None };
        let (bytes, first) = (small(block)?, block.address.cast::<u8>().cast_mut());
        Some(Self { first, bytes, own, data: first.wrapping_add(own * bytes) })
    }

    fn block(&self, rank: usize) -> *mut u8 {
        self.first.wrapping_add(rank * self.bytes)
    }

    fn is_apart(&self, data: *const u8) -> bool {
        (self.block(self.own) as usize).abs_diff(data as usize) >= self.bytes
    }

    fn are_in_place(&self) -> bool {
        self.data == self.block(self.own)
    }

    /// Copies this rank's data to its block.
    ///
    /// # Safety
    /// Both are the caller's, who lends them.
    unsafe fn fill_own(&self) {
        if !self.are_in_place() {
            // SAFETY: as the caller promised; they are apart.
            unsafe { self.data.copy_to_nonoverlapping(self.block(self.own), self.bytes) };
        }
    }
}

/// `MPI_Barrier`; false: not done.
///
/// # Errors
/// As `MPI_Barrier`.
pub(super) fn barrier(comm: abi::Comm) -> Result<bool, Failure> {
    let state = check::running()?;
    let Some(pair) = few(&state, comm) else { return direct::barrier(state, comm) };
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
    let state = check::running()?;
    let Some(own) = rank_beside(&state, root, comm) else { return Ok(false) };
    if own != root as usize {
        let Some(bytes) = small(send) else { return Ok(false) };
        let data = send.address.cast::<u8>();
        let Some(pair) = few(&state, comm) else {
            return Ok(direct::send(state, comm, root as usize, data, bytes));
        };
        let Some(pair) = pair else { return Ok(false) };
        drop(pair.send(state, data, bytes));
        return Ok(true);
    }
    let Some(blocks) = SmallBlocks::of(receive, own, send) else { return Ok(false) };
    let pair = few(&state, comm);
    // SAFETY: the caller's buffers.
    unsafe { blocks.fill_own() };
    match pair {
        None => return direct::gather(state, comm, blocks.first, blocks.bytes),
        Some(None) => {}
        Some(Some(pair)) => {
            pair.receive(state, blocks.block(1 - own), blocks.bytes)?;
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
    let state = check::running()?;
    let Some(own) = rank_beside(&state, root, comm) else { return Ok(false) };
    let data = receive.address.cast::<u8>().cast_mut();
    if own != root as usize {
        let Some(bytes) = small(receive) else { return Ok(false) };
        let Some(pair) = few(&state, comm) else {
            return direct::receive(state, comm, root as usize, data, bytes);
        };
        let Some(pair) = pair else { return Ok(false) };
        pair.receive(state, data, bytes)?;
        return Ok(true);
    }
    let Some(blocks) = SmallBlocks::of(send, own, receive) else { return Ok(false) };
    match few(&state, comm) {
        None => {
            if !direct::scatter(state, comm, blocks.first, blocks.bytes) {
                return Ok(false);
            }
        }
        Some(None) => {}
        Some(Some(pair)) => drop(pair.send(state, blocks.block(1 - own), blocks.bytes)),
    }
    if !blocks.are_in_place() {
        // SAFETY: the caller's buffers, and this rank's block is apart from its data.
        unsafe { blocks.block(own).copy_to_nonoverlapping(data, blocks.bytes) };
    }
    Ok(true)
}

/// `MPI_Allgather`; false: not done.
///
/// # Errors
/// As `MPI_Allgather`.
pub(super) fn allgather(send: MessageData, receive: Blocks<'_>, comm: abi::Comm) -> Result<bool, Failure> {
    let state = check::running()?;
    let Some(own) = rank_beside(&state, 0, comm) else { return Ok(false) };
    let Some(blocks) = SmallBlocks::of(receive, own, send) else { return Ok(false) };
    exchange(state, comm, &blocks, |_| blocks.data)
}

/// `MPI_Alltoall`; false: not done.
///
/// # Errors
/// As `MPI_Alltoall`.
pub(super) fn alltoall(send: Blocks<'_>, receive: Blocks<'_>, comm: abi::Comm) -> Result<bool, Failure> {
    let state = check::running()?;
    let Some(own) = rank_beside(&state, 0, comm) else { return Ok(false) };
    let Some(mut blocks) = SmallBlocks::in_place(receive, own) else { return Ok(false) };
    if send.address() as usize == MPI_IN_PLACE {
        return exchange(state, comm, &blocks, |rank| blocks.block(rank).cast_const());
    }
    let Some(sent) = SmallBlocks::in_place(send, own) else { return Ok(false) };
    if sent.bytes != blocks.bytes || !blocks.is_apart(sent.data) {
        return Ok(false);
    }
    blocks.data = sent.data;
    exchange(state, comm, &blocks, |rank| sent.block(rank).cast_const())
}

/// Data of this rank goes to its own block and to each other rank, whose data comes into its block.
fn exchange(
    state: Entered,
    comm: abi::Comm,
    blocks: &SmallBlocks,
    sent: impl Fn(usize) -> *const u8,
) -> Result<bool, Failure> {
    let other = 1usize.wrapping_sub(blocks.own);
    let pair = few(&state, comm);
    let state = match &pair {
        Some(Some(pair)) => pair.send(state, sent(other), blocks.bytes),
        _ => state,
    };
    // SAFETY: the caller's buffers.
    unsafe { blocks.fill_own() };
    match pair {
        None => return direct::exchange(state, comm, sent, blocks.first, blocks.bytes),
        Some(None) => {}
        Some(Some(pair)) => {
            pair.receive(state, blocks.block(other), blocks.bytes)?;
        }
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
    let Some(bytes) = small(result) else { return Ok(false) };
    let Some((own, result)) = operand_and_result((operand, result), bytes / count as usize) else {
        return Ok(false);
    };
    let Some(kernel) = reducer(op, datatype) else { return Ok(false) };
    let state = check::running()?;
    let size = (bytes, count as usize);
    let Some(pair) = few(&state, comm) else {
        return direct::allreduce(state, comm, (own, result), size, kernel);
    };
    let Some(pair) = pair else {
        // SAFETY: the caller's buffers hold that many bytes, and are the same or do not overlap.
        unsafe { std::ptr::copy(own, result, bytes) };
        return Ok(true);
    };
    let state = pair.send(state, own, bytes);
    // Both ranks compute the operand of rank 0 `op` that of rank 1: the same bits.
    receive_operand(state, &pair, (own, result), size, kernel)?;
    Ok(true)
}

/// Receives the other rank's operand, and reduces it and this rank's, which may lie where the result goes, in the order
/// of ranks.
fn receive_operand(
    state: Entered,
    pair: &TwoRanks,
    (own, result): (*const u8, *mut u8),
    (bytes, count): (usize, usize),
    kernel: Reducer,
) -> Result<(), Failure> {
    if pair.rank() == 0 && own != result {
        pair.receive(state, result, bytes)?;
        // SAFETY: the caller's buffers hold `count` elements of this type each.
        unsafe { kernel(own, result, result, count) };
        return Ok(());
    }
    let mut other = MaybeUninit::<[u8; SMALL]>::uninit();
    let other = other.as_mut_ptr().cast::<u8>();
    let received = pair.receive(state, other, bytes)?;
    let [first, second] = if pair.rank() == 0 { [own, other] } else { [other, own] };
    // SAFETY: as above, and the other operand is received (should its rank have sent less of it, zeros are the rest).
    unsafe {
        other.add(received).write_bytes(0, bytes - received);
        kernel(first, second, result, count);
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
    let Some(kernel) = reducer(op, datatype) else { return Ok(false) };
    let state = check::running()?;
    let Some(own) = rank_beside(&state, root, comm) else { return Ok(false) };
    if own != root as usize {
        let Some(bytes) = small(operand) else { return Ok(false) };
        let data = operand.address.cast::<u8>();
        let Some(pair) = few(&state, comm) else {
            return Ok(direct::send(state, comm, root as usize, data, bytes));
        };
        let Some(pair) = pair else { return Ok(false) };
        drop(pair.send(state, data, bytes));
        return Ok(true);
    }
    let Some(bytes) = small(result) else { return Ok(false) };
    let Some((data, into)) = operand_and_result((operand, result), bytes / count as usize) else {
        return Ok(false);
    };
    let size = (bytes, count as usize);
    match few(&state, comm) {
        None => return direct::reduce(state, comm, (data, into), size, kernel),
        // SAFETY: the caller's buffers hold that many bytes, and are the same or do not overlap.
        Some(None) => unsafe { data.copy_to(into, bytes) },
        Some(Some(pair)) => receive_operand(state, &pair, (data, into), size, kernel)?,
    }
    Ok(true)
}
