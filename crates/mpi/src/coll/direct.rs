//! Small data of a communicator of more than two ranks, without a schedule: between the root and all others, or from
//! each rank to every other. Its messages are those of a schedule that is direct, too (see `algorithm`). False is: not
//! done, and this rank's part of the collective is to be a schedule.
//!
//! (2 cpus of a Xeon, by schedules and so, us: allgather of 8 bytes on 3 ranks 3.6 and 2.0, on 8 ranks 22 and 17.5;
//! allreduce on 8 ranks 15.9 and 10.7.)

use super::algorithm::{MOST_DIRECT, Ranks};
use super::messages::{Messages, Peer};
use crate::abi;
use crate::abi::values::MPI_COMM_NULL;
use crate::check::Failure;
use crate::op::Reducer;
use crate::runtime::{self, Entered};
use std::ptr;
use transport::Buffer;

/// `MPI_Bcast` of so many bytes.
///
/// # Errors
/// More has come.
#[inline(never)]
pub(super) fn bcast(
    state: Entered,
    comm: abi::Comm,
    root: usize,
    data: *mut u8,
    bytes: usize,
) -> Result<bool, Failure> {
    let Some(all) = Direct::of(&state, comm) else { return Ok(false) };
    if all.messages.rank == root {
        drop(all.send_to_all(state, |_| data, bytes));
    } else {
        all.receive(state, root, data, bytes)?;
    }
    Ok(true)
}

/// What another rank than the root does in `MPI_Gather` and in `MPI_Reduce`: it sends so many bytes.
#[inline(never)]
pub(super) fn send(state: Entered, comm: abi::Comm, root: usize, data: *const u8, bytes: usize) -> bool {
    let Some(all) = Direct::of(&state, comm) else { return false };
    drop(all.send(state, root, data, bytes));
    true
}

/// What another rank than the root does in `MPI_Scatter`: it receives so many bytes.
///
/// # Errors
/// More has come.
#[inline(never)]
pub(super) fn receive(
    state: Entered,
    comm: abi::Comm,
    root: usize,
    into: *mut u8,
    bytes: usize,
) -> Result<bool, Failure> {
    let Some(all) = Direct::of(&state, comm) else { return Ok(false) };
    all.receive(state, root, into, bytes).map(|()| true)
}

/// What the root does in `MPI_Gather`: it receives a block of so many bytes from each other rank.
///
/// # Errors
/// More has come from one.
#[inline(never)]
pub(super) fn gather(
    state: Entered,
    comm: abi::Comm,
    blocks: *mut u8,
    bytes: usize,
) -> Result<bool, Failure> {
    let Some(all) = Direct::of(&state, comm) else { return Ok(false) };
    all.receive_from_all(state, |rank| blocks.wrapping_add(rank * bytes), bytes).map(|()| true)
}

/// What the root does in `MPI_Scatter`: it sends a block of so many bytes to each other rank.
#[inline(never)]
pub(super) fn scatter(state: Entered, comm: abi::Comm, blocks: *const u8, bytes: usize) -> bool {
    let Some(all) = Direct::of(&state, comm) else { return false };
    drop(all.send_to_all(state, |rank| blocks.wrapping_add(rank * bytes), bytes));
    true
}

/// What the root does in `MPI_Reduce`: see `Direct::reduce`.
///
/// # Errors
/// More has come from one.
#[inline(never)]
pub(super) fn reduce(
    state: Entered,
    comm: abi::Comm,
    operand_and_result: (*const u8, *mut u8),
    size: (usize, usize),
    kernel: Reducer,
) -> Result<bool, Failure> {
    let Some(all) = Direct::of(&state, comm) else { return Ok(false) };
    all.reduce(state, operand_and_result, size, kernel).map(|()| true)
}

/// `MPI_Barrier`.
///
/// # Errors
/// Something has come.
#[inline(never)]
pub(super) fn barrier(state: Entered, comm: abi::Comm) -> Result<bool, Failure> {
    let Some(all) = Direct::of(&state, comm) else { return Ok(false) };
    let nothing = ptr::null_mut();
    if all.are_few {
        let state = all.send_to_all(state, |_| nothing, 0);
        all.receive_from_all(state, |_| nothing, 0)?;
    } else if all.messages.rank == ROOT {
        all.receive_from_all(state, |_| nothing, 0)?;
        drop(all.send_to_all(runtime::enter(), |_| nothing, 0));
    } else {
        let state = all.send(state, ROOT, nothing, 0);
        all.receive(state, ROOT, nothing, 0)?;
    }
    Ok(true)
}

/// `MPI_Allreduce`: see `Direct::reduce`.
///
/// # Errors
/// More has come from one.
#[inline(never)]
pub(super) fn allreduce(
    state: Entered,
    comm: abi::Comm,
    (operand, result): (*const u8, *mut u8),
    size: (usize, usize),
    kernel: Reducer,
) -> Result<bool, Failure> {
    let Some(all) = Direct::of(&state, comm) else { return Ok(false) };
    if all.are_few {
        let state = all.send_to_all(state, |_| operand, size.0);
        all.reduce(state, (operand, result), size, kernel)?;
    } else if all.messages.rank == ROOT {
        let reduced = all.reduce(state, (operand, result), size, kernel);
        drop(all.send_to_all(runtime::enter(), |_| result, size.0));
        reduced?;
    } else {
        let state = all.send(state, ROOT, operand, size.0);
        all.receive(state, ROOT, result, size.0)?;
    }
    Ok(true)
}

/// What remains of `MPI_Allgather` and `MPI_Alltoall` when this rank's data is in its block: data of so many bytes goes
/// to each other rank, whose data comes into its block.
///
/// # Errors
/// More has come from one.
#[inline(never)]
pub(super) fn exchange(
    state: Entered,
    comm: abi::Comm,
    sent: impl Fn(usize) -> *const u8,
    blocks: *mut u8,
    bytes: usize,
) -> Result<bool, Failure> {
    let Some(all) = Direct::of(&state, comm) else { return Ok(false) };
    let state = all.send_to_all(state, sent, bytes);
    all.receive_from_all(state, |rank| blocks.wrapping_add(rank * bytes), bytes).map(|()| true)
}

/// The rank to which all others report, and which releases them, where there are too many to tell each other.
const ROOT: usize = 0;

/// The ranks of a communicator, as one of them deals with the root or with all others.
struct Direct {
    messages: Messages,
    ranks: usize,
    /// Every rank tells every other what all have to hear.
    are_few: bool,
    /// Of each the rank in the job.
    members: [u32; MOST_DIRECT],
}

impl Direct {
    /// The next collective of a communicator; nothing: its ranks do something else.
    fn of(state: &Entered, handle: abi::Comm) -> Option<Self> {
        let comm = state.comm(handle).filter(|_| handle.0 != MPI_COMM_NULL)?;
        let ranks = comm.size();
        let crowded = state.engine.segment().is_crowded();
        let all = Ranks { own: comm.rank, count: ranks, between_groups: false, crowded };
        if comm.remote.is_some() || ranks <= 2 || !all.are_direct() || state.engine.is_carried() {
            return None;
        }
        let mut members = [0; MOST_DIRECT];
        members[..ranks].copy_from_slice(&comm.group.members);
        Some(Self { messages: Messages::next(comm), ranks, are_few: all.few(), members })
    }

    fn peer(&self, rank: usize) -> Peer {
        Peer { rank, member: self.members[rank] as usize }
    }

    /// The others, from the rank behind this one on.
    fn others(&self) -> impl Iterator<Item = Peer> {
        let (own, ranks) = (self.messages.rank, self.ranks);
        (1..ranks).map(move |distance| self.peer((own + distance) % ranks))
    }

    /// Sends so many bytes to a rank; until they are away.
    fn send(&self, state: Entered, to: usize, data: *const u8, bytes: usize) -> Entered {
        // SAFETY: the caller's data, which it lends until this returns.
        let buffer = unsafe { Buffer::new(data.cast_mut(), bytes) };
        let to = self.peer(to);
        self.messages.send(runtime::until_credit(state, to.member, bytes), to, &buffer)
    }

    /// Sends so many bytes to each other rank, which lie somewhere.
    fn send_to_all(&self, mut state: Entered, data: impl Fn(usize) -> *const u8, bytes: usize) -> Entered {
        for to in self.others() {
            state = self.send(state, to.rank, data(to.rank), bytes);
        }
        state
    }

    /// Receives at most so many bytes from a rank.
    ///
    /// # Errors
    /// More has come.
    fn receive(&self, mut state: Entered, from: usize, into: *mut u8, bytes: usize) -> Result<(), Failure> {
        // SAFETY: the caller's room, which it lends until this returns.
        let buffer = unsafe { Buffer::new(into, bytes) };
        let from = self.peer(from);
        let id = self.messages.receive(&mut state, from, &buffer);
        self.messages.received(state, id, from, &buffer).map(drop)
    }

    /// Receives at most so many bytes from each other rank, each to a place of its own; of less, the rest is left
    /// alone.
    ///
    /// # Errors
    /// More has come from one of them; all have come.
    fn receive_from_all(
        &self,
        mut state: Entered,
        place: impl Fn(usize) -> *mut u8,
        bytes: usize,
    ) -> Result<(), Failure> {
        // SAFETY: the caller's room, which it lends until this returns.
        let buffer = |from: Peer| unsafe { Buffer::new(place(from.rank), bytes) };
        let mut started = [const { None }; MOST_DIRECT];
        for from in self.others() {
            started[from.rank] = Some(self.messages.receive(&mut state, from, &buffer(from)));
        }
        let mut result = Ok(());
        for from in self.others() {
            let Some(id) = started[from.rank] else { continue };
            if let Err(failure) = self.messages.received(state, id, from, &buffer(from)) {
                result = Err(failure);
            }
            state = runtime::enter();
        }
        result
    }

    /// Receives the others' operands, `bytes` bytes and `count` elements each, and reduces them with this rank's, from
    /// the last rank down.
    ///
    /// # Errors
    /// As for `receive_from_all`.
    fn reduce(
        &self,
        state: Entered,
        (own, result): (*const u8, *mut u8),
        (bytes, count): (usize, usize),
        kernel: Reducer,
    ) -> Result<(), Failure> {
        let ranks = self.ranks;
        let mut room = vec![0u8; bytes * ranks];
        let start = room.as_mut_ptr();
        let place = |rank: usize| start.wrapping_add(rank * bytes);
        // Of an operand that has less, zeros are the rest.
        self.receive_from_all(state, place, bytes)?;
        // SAFETY: the caller's buffers, the same or apart, and the room hold `count` elements each.
        unsafe {
            place(self.messages.rank).copy_from_nonoverlapping(own, bytes);
            let last = place(ranks - 1).cast_const();
            kernel(place(ranks - 2), last, result, count);
            (0..ranks - 2).rev().for_each(|rank| kernel(place(rank), result, result, count));
        }
        Ok(())
    }
}
