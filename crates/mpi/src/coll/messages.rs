//! One collective as messages, without a schedule: the ground of `two_ranks` and `direct`.

use super::offers::{OFFER_BYTES, Offer};
use super::run::tag_of;
use super::schedule::{ANSWERS, REFUSAL, Truncated};
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

/// Words of an answer.
pub(super) type AnswerWords = [u64; 4];

/// What became of an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OfferAnswer {
    /// The data was read, or its receiver needs it no more.
    Done,
    /// It can't be read, and has to be sent.
    Refused,
    /// Another answer follows, and before it the rank is asked for something.
    Words(AnswerWords),
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
    pub(super) fn send(&self, state: Entered, to: Peer, buffer: &Buffer) -> Entered {
        self.send_in(state, to, Envelope::new(self.context, self.rank as u16, self.tag), buffer)
    }

    #[inline]
    fn send_in(&self, mut state: Entered, to: Peer, envelope: Envelope, buffer: &Buffer) -> Entered {
        if let Some(id) = state.engine.send(to.member, envelope, buffer, Mode::Standard) {
            runtime::wait_for(state, id, None);
            state = runtime::enter();
        }
        state
    }

    /// Sends an offer of data that is in memory of this process, and waits for the answer.
    pub(super) fn offer(&self, mut state: Entered, to: Peer, data: &Buffer) -> (Entered, OfferAnswer) {
        state.engine.allow_reading();
        let mut offer = Offer::of(&state.engine.segment(), data);
        let mut words = AnswerWords::default();
        let id = self.receive_answer(&mut state, to, &mut words);
        // SAFETY: the offer's bytes.
        let buffer = unsafe { Buffer::new((&raw mut offer).cast(), OFFER_BYTES) };
        let state = self.send(state, to, &buffer);
        self.answered(state, id, to, &words)
    }

    /// Waits for another answer of a rank.
    pub(super) fn next_answer(&self, mut state: Entered, from: Peer) -> (Entered, OfferAnswer) {
        let mut words = AnswerWords::default();
        let id = self.receive_answer(&mut state, from, &mut words);
        self.answered(state, id, from, &words)
    }

    fn receive_answer(&self, state: &mut Entered, from: Peer, words: &mut AnswerWords) -> TransferId {
        let tag = Some(self.tag | i32::from(ANSWERS));
        let pattern = Criteria { context: self.context, source: Some(from.rank as u16), tag };
        // SAFETY: room that the caller keeps until `answered`.
        let buffer = unsafe { Buffer::new(words.as_mut_ptr().cast(), size_of_val(words)) };
        state.engine.receive(pattern, Some(from.member), &buffer)
    }

    fn answered(
        &self,
        state: Entered,
        id: TransferId,
        from: Peer,
        words: &AnswerWords,
    ) -> (Entered, OfferAnswer) {
        let ended = runtime::wait_for_receive(state, id, Some(from.member));
        let answer = match ended.bytes {
            0 => OfferAnswer::Done,
            bytes if bytes == size_of_val(words) => OfferAnswer::Words(*words),
            _ => OfferAnswer::Refused,
        };
        (runtime::enter(), answer)
    }

    /// Answers an offer: the data was read, or the receiver needs it no more; or it can't be read, and has to be sent.
    pub(super) fn answer(&self, state: &mut Entered, to: Peer, is_done: bool) {
        let envelope = Envelope::new(self.context, self.rank as u16, self.tag | i32::from(ANSWERS));
        let answer = if is_done { &Buffer::EMPTY } else { &REFUSAL };
        if let Some(id) = state.engine.send(to.member, envelope, answer, Mode::Standard) {
            state.engine.detach(id);
        }
    }

    /// Answers an offer with words. `answer` has to follow.
    pub(super) fn answer_words(&self, state: Entered, to: Peer, words: &AnswerWords) -> Entered {
        let envelope = Envelope::new(self.context, self.rank as u16, self.tag | i32::from(ANSWERS));
        // SAFETY: the words, which are only read, until they are away.
        let buffer = unsafe { Buffer::new(words.as_ptr().cast_mut().cast(), size_of_val(words)) };
        self.send_in(state, to, envelope, &buffer)
    }

    /// Starts receiving. `received` has to follow, and the buffer is lent until then.
    #[inline]
    pub(super) fn receive(&self, state: &mut Entered, from: Peer, buffer: &Buffer) -> TransferId {
        let pattern = Criteria { context: self.context, source: Some(from.rank as u16), tag: Some(self.tag) };
        state.engine.receive(pattern, Some(from.member), buffer)
    }

    /// As `receive`, of what may come as an offer; `take_offer` has to follow.
    pub(super) fn receive_or_offer(&self, state: &mut Entered, from: Peer, buffer: &Buffer) -> TransferId {
        let pattern = Criteria { context: self.context, source: Some(from.rank as u16), tag: Some(self.tag) };
        state.engine.receive_or_set_aside(pattern, buffer, None)
    }

    /// Waits until it has come; the offer, if it is one. `answer` has to follow then.
    ///
    /// # Errors
    /// More has come.
    pub(super) fn take_offer(
        &self,
        state: Entered,
        id: TransferId,
        from: Peer,
    ) -> Result<Option<Offer>, Failure> {
        let ended = runtime::wait_for_receive(state, id, Some(from.member));
        request::failure(&ended)?;
        let mut state = runtime::enter();
        let segment = state.engine.segment();
        Ok(state.engine.take_aside(id).and_then(|aside| Offer::found(&segment, &aside)))
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
            self.answer_too_much(from);
        }
        request::failure(&ended)?;
        if ended.bytes == OFFER_BYTES {
            let segment = runtime::enter().engine.segment();
            if let Some(offer) = Offer::found_in(&segment, buffer) {
                self.answer_too_much(from);
                let (source, sent) = (from.rank as i32, offer.bytes());
                return Err(Truncated { source, sent, expected: buffer.bytes() }.failure());
            }
        }
        Ok(ended.bytes)
    }

    /// Answers an offer that is too much, also one of data that comes through slots.
    #[cold]
    fn answer_too_much(&self, to: Peer) {
        let mut state = runtime::enter();
        state.engine.want_none(to.member);
        self.answer(&mut state, to, true);
    }
}
