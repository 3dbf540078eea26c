//! One exchange between the two ranks of a communicator, without a schedule: the ground of `quick`, `window` and
//! `to_root`.

use super::messages::{AnswerWords, Messages, OfferAnswer, Peer};
use super::offers::Offer;
use crate::abi;
use crate::abi::values::{MPI_COMM_NULL, MPI_IN_PLACE};
use crate::check::Failure;
use crate::comm::Comm;
use crate::datatype::MessageData;
use crate::request;
use crate::runtime::{self, Entered};
use std::ffi::c_int;
use transport::Buffer;

/// This rank and the other one of a communicator of two.
pub(super) struct TwoRanks {
    messages: Messages,
    /// The other one.
    pub other: Peer,
}

/// The communicator of one rank, or of two and the next collective on it. Nothing: neither, or a simulator carries the
/// messages, which charges what schedules do.
// Inlined always: the answer stays in registers.
#[inline(always)]
pub(super) fn few(state: &Entered, handle: abi::Comm) -> Option<Option<TwoRanks>> {
    let comm: &Comm = state.comm(handle).filter(|_| handle.0 != MPI_COMM_NULL)?;
    let members = &comm.group.members;
    if comm.remote.is_some() || members.len() > 2 || state.engine.is_carried() {
        return None;
    }
    if members.len() == 1 {
        return Some(None);
    }
    let messages = Messages::next(comm);
    let rank = 1 - messages.rank;
    Some(Some(TwoRanks { messages, other: Peer { rank, member: members[rank] as usize } }))
}

/// This rank in a communicator of one group, which has a rank `root`.
pub(super) fn rank_beside(state: &Entered, root: c_int, comm: abi::Comm) -> Option<usize> {
    let comm = state.comm(comm).filter(|found| (0..found.size() as i64).contains(&i64::from(root)))?;
    comm.remote.is_none().then_some(comm.rank)
}

/// Where data starts; nothing: it is no memory.
pub(super) fn memory(data: MessageData) -> Option<*const u8> {
    let is_memory = !data.address.is_null() && data.address as usize != MPI_IN_PLACE;
    is_memory.then_some(data.address.cast())
}

/// Where operand and result of a rank that gets one start, the same place for `MPI_IN_PLACE`. Nothing: they overlap, or
/// are no memory.
pub(super) fn operand_and_result(
    (operand, result): (MessageData, MessageData),
    size: usize,
) -> Option<(*const u8, *mut u8)> {
    let bytes = usize::try_from(operand.count).ok()?.checked_mul(size)?;
    let result = memory(result)?;
    if operand.address as usize == MPI_IN_PLACE {
        return Some((result, result.cast_mut()));
    }
    let operand = memory(operand)?;
    ((operand as usize).abs_diff(result as usize) >= bytes).then_some((operand, result.cast_mut()))
}

impl TwoRanks {
    /// This rank in the communicator.
    #[inline]
    pub(super) fn rank(&self) -> usize {
        self.messages.rank
    }

    /// Sends to the other rank; until the data is away.
    pub(super) fn send(&self, state: Entered, data: *const u8, bytes: usize) -> Entered {
        // SAFETY: the caller's data, which it lends until this returns.
        self.send_buffer(state, &unsafe { Buffer::new(data.cast_mut(), bytes) })
    }

    /// As `send`.
    pub(super) fn send_buffer(&self, state: Entered, buffer: &Buffer) -> Entered {
        self.messages.send(state, self.other, buffer)
    }

    /// Receives from the other rank; bytes received.
    pub(super) fn receive(&self, mut state: Entered, into: *mut u8, bytes: usize) -> Result<usize, Failure> {
        // SAFETY: the caller's room, which it lends until this returns.
        let buffer = unsafe { Buffer::new(into, bytes) };
        let id = self.messages.receive(&mut state, self.other, &buffer);
        self.messages.received(state, id, self.other, &buffer)
    }

    /// Offers data to the other rank, and waits for its answer.
    pub(super) fn offer(&self, state: Entered, data: &Buffer) -> (Entered, OfferAnswer) {
        self.messages.offer(state, self.other, data)
    }

    /// Waits for the other rank's next answer.
    pub(super) fn next_answer(&self, state: Entered) -> (Entered, OfferAnswer) {
        self.messages.next_answer(state, self.other)
    }

    /// Answers what the other rank has offered: it was read, or has to be sent.
    pub(super) fn answer(&self, state: &mut Entered, is_done: bool) {
        self.messages.answer(state, self.other, is_done);
    }

    /// Answers it with words. `answer` has to follow.
    pub(super) fn answer_words(&self, state: Entered, words: &AnswerWords) -> Entered {
        self.messages.answer_words(state, self.other, words)
    }

    /// Receives what the other rank sends; or its offer, which has to be answered.
    pub(super) fn receive_or_offer(
        &self,
        mut state: Entered,
        buffer: &Buffer,
    ) -> Result<(Entered, Option<Offer>), Failure> {
        let id = self.messages.receive_or_offer(&mut state, self.other, buffer);
        let offer = self.messages.take_offer(state, id, self.other)?;
        Ok((runtime::enter(), offer))
    }

    /// Receives what the other rank sends as messages without offers.
    pub(super) fn receive_buffer(&self, mut state: Entered, buffer: &Buffer) -> Result<Entered, Failure> {
        let id = self.messages.receive(&mut state, self.other, buffer);
        request::failure(&runtime::wait_for_receive(state, id, Some(self.other.member)))?;
        Ok(runtime::enter())
    }
}
