//! Which receive gets which message (MPI 5.0, section 3.5: messages from one sender do not overtake each other).

use super::transfer::NONE;
use super::{Envelope, Pattern};
use std::collections::VecDeque;

/// Receives that were posted and messages that were not expected.
#[derive(Default)]
pub struct Matching {
    posted: VecDeque<(Pattern, u32)>,
    unexpected: VecDeque<(Envelope, u32)>,
}

impl Pattern {
    /// Whether a receive accepts a message. `MPI_ANY_TAG` takes no negative tags: they are the library's own.
    #[inline]
    pub fn accepts(&self, envelope: &Envelope) -> bool {
        self.context == envelope.context
            && self.source.is_none_or(|source| source == envelope.source)
            && self.tag.map_or(envelope.tag >= 0, |tag| tag == envelope.tag)
    }
}

impl Matching {
    /// Posts a receive.
    pub fn post(&mut self, pattern: Pattern, transfer: u32) {
        self.posted.push_back((pattern, transfer));
    }

    /// Takes the first posted receive that accepts a message.
    pub fn take_posted(&mut self, envelope: &Envelope) -> Option<u32> {
        let place = self.posted.iter().position(|(pattern, _)| pattern.accepts(envelope))?;
        self.posted.remove(place).map(|(_, transfer)| transfer)
    }

    /// Takes a receive out; false when it isn't posted.
    pub fn cancel(&mut self, transfer: u32) -> bool {
        let place = self.posted.iter().position(|&(_, posted)| posted == transfer);
        place.is_some_and(|place| self.posted.remove(place).is_some())
    }

    /// Keeps a message that nobody expected.
    pub fn keep(&mut self, envelope: Envelope, message: u32) {
        debug_assert!(message != NONE);
        self.unexpected.push_back((envelope, message));
    }

    /// The first unexpected message that a pattern accepts.
    pub fn find(&self, pattern: &Pattern) -> Option<u32> {
        self.unexpected.iter().find(|(envelope, _)| pattern.accepts(envelope)).map(|&(_, message)| message)
    }

    /// Takes an unexpected message out.
    pub fn remove(&mut self, message: u32) {
        self.unexpected.retain(|&(_, kept)| kept != message);
    }
}
