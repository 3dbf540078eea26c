//! One collective as messages, without a schedule: the ground of `two_ranks` and `direct`.

use super::offers::{OFFER_BYTES, Offer};
use super::run::tag_of;
use super::schedule::{ANSWERS, Truncated};
use crate::check::Failure;
use crate::comm::Comm;
use crate::request;
use crate::runtime::{self, Entered};
use std::sync::atomic::Ordering;
use transport::{Buffer, Criteria, Envelope, Mode, TransferId};

/// The messages of a collective, as one rank of the communicator sends and receives them.
pub(super) struct Messages {
    /// This rank in the communicator.
    pub rank: usize,
    context: u32,
    tag: i32,
}

/// A rank of the communicator, and of the job.
#[derive(Clone, Copy)]
pub(super) struct Peer {
    pub rank: usize,
    pub member: usize,
}

impl Messages {
    /// Of the next collective of a communicator.
    #[inline]
    pub(super) fn next(comm: &Comm) -> Self {
        // Only the thread that holds the state starts a collective.
        let number = comm.collectives.load(Ordering::Relaxed);
        comm.collectives.store(number.wrapping_add(1), Ordering::Relaxed);
        Self { rank: comm.rank, context: comm.collective(), tag: tag_of(number) }
    }

    /// Sends; until the data is away.
    #[inline]
    pub(super) fn send(&self, mut state: Entered, to: Peer, buffer: &Buffer) -> Entered {
        let envelope = Envelope::new(self.context, self.rank as u16, self.tag);
        if let Some(id) = state.engine.send(to.member, envelope, buffer, Mode::Standard) {
            runtime::wait_for(state, id, None);
            state = runtime::enter();
        }
        state
    }

    /// Starts receiving. `received` has to follow, and the buffer is lent until then.
    #[inline]
    pub(super) fn receive(&self, state: &mut Entered, from: Peer, buffer: &Buffer) -> TransferId {
        let pattern = Criteria { context: self.context, source: Some(from.rank as u16), tag: Some(self.tag) };
        state.engine.receive(pattern, Some(from.member), buffer)
    }

    /// Waits until it has come; bytes received. So little is expected that nobody offers it.
    ///
    /// # Errors
    /// More has come, or the offer of more.
    #[inline]
    pub(super) fn received(
        &self,
        state: Entered,
        id: TransferId,
        from: Peer,
        buffer: &Buffer,
    ) -> Result<usize, Failure> {
        let ended = runtime::wait_for_receive(state, id, Some(from.member));
        if ended.truncated() == Some(OFFER_BYTES) {
            // It may have been an offer, whose sender waits for an answer.
            self.answer(from);
        }
        request::failure(&ended)?;
        if ended.bytes == OFFER_BYTES {
            let segment = runtime::enter().engine.segment();
            if let Some(offer) = Offer::found_in(&segment, buffer) {
                self.answer(from);
                let (source, sent) = (from.rank as i32, offer.bytes());
                return Err(Truncated { source, sent, expected: buffer.bytes() }.failure());
            }
        }
        Ok(ended.bytes)
    }

    /// Answers an offer that is too much, also one of data that comes through slots.
    #[cold]
    fn answer(&self, to: Peer) {
        let mut state = runtime::enter();
        state.engine.want_none(to.member);
        let tag = self.tag | i32::from(ANSWERS);
        let envelope = Envelope::new(self.context, self.rank as u16, tag);
        if let Some(id) = state.engine.send(to.member, envelope, &Buffer::EMPTY, Mode::Standard) {
            state.engine.detach(id);
        }
    }
}
