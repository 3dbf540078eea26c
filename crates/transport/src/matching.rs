//! Which receive gets which message. Messages from one sender do not overtake each other (as MPI 5.0 wants it, section
//! 3.5).
//!
//! Receives wait in lists by what they accept: a message looks into the four lists that may hold one for it (of its
//! source and tag, of any source, of any tag, of any of both) and takes the receive that was posted first. Messages
//! that came before their receive wait in a list by source and tag, and, once a receive or probe with a wildcard asks,
//! in a list by what it asks for.

use crate::lists::{Key, Lists};

/// The fields by which the receiving side finds a message: as a key, which stays in registers on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope(Key);

/// What a receive accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Criteria {
    /// The context.
    pub context: u32,
    /// The sender's rank in it; nothing: any.
    pub source: Option<u16>,
    /// The tag; nothing: any that is not negative.
    pub tag: Option<i32>,
}

/// What a key leaves open.
const ANY_SOURCE: u32 = 1 << 16;
const ANY_TAG: u32 = 1 << 17;
const EXACT: usize = 0;
const OPEN: [u32; 4] = [0, ANY_SOURCE, ANY_TAG, ANY_SOURCE | ANY_TAG];

/// Receives that were posted and messages that were not expected.
pub(crate) struct Matching {
    posted: Lists,
    /// Posted receives by what they leave open.
    wildcards: [usize; 4],
    /// Unexpected messages, by what is left open. All but the first are made when they are needed.
    unexpected: [Lists; 4],
    indexed: [bool; 4],
    envelopes: Vec<Envelope>,
    next: u64,
}

impl Default for Matching {
    fn default() -> Self {
        Self {
            posted: Lists::default(),
            wildcards: [0; 4],
            unexpected: Default::default(),
            indexed: [true, false, false, false],
            envelopes: Vec::new(),
            next: 0,
        }
    }
}

#[inline]
fn key(context: u32, source: u16, tag: i32, open: u32) -> Key {
    let tag = if open & ANY_TAG == 0 { tag as u32 } else { 0 };
    let source = if open & ANY_SOURCE == 0 { u32::from(source) } else { 0 };
    Key { words: u64::from(context) << 32 | u64::from(tag), more: source | open }
}

impl Key {
    /// What a receive leaves open, as an index into `OPEN`.
    #[inline]
    fn class(self) -> usize {
        (self.more / ANY_SOURCE) as usize & 3
    }
}

impl Envelope {
    /// A number that separates messages of one purpose from those of another (in MPI: of a communicator), the sender's
    /// rank in that context, and a number that sender and receiver agree on.
    #[inline]
    pub fn new(context: u32, source: u16, tag: i32) -> Self {
        Self(key(context, source, tag, OPEN[EXACT]))
    }

    /// What separates messages of one purpose from those of another.
    #[inline]
    pub fn context(self) -> u32 {
        (self.0.words >> 32) as u32
    }

    /// The sender's rank in the context.
    #[inline]
    pub fn source(self) -> u16 {
        self.0.more as u16
    }

    /// What sender and receiver agree on.
    #[inline]
    pub fn tag(self) -> i32 {
        self.0.words as u32 as i32
    }

    #[inline]
    pub(crate) fn key(self, open: u32) -> Key {
        if open == OPEN[EXACT] { self.0 } else { key(self.context(), self.source(), self.tag(), open) }
    }

    /// The envelope of a key that leaves nothing open.
    #[inline]
    pub(crate) fn of(key: Key) -> Self {
        Self(Key { more: key.more & 0xffff, ..key })
    }
}

impl Criteria {
    /// Whether a receive accepts a message. Criteria without a tag take no negative tags: those are the user's own.
    #[inline]
    pub fn accepts(&self, envelope: Envelope) -> bool {
        self.context == envelope.context()
            && self.source.is_none_or(|source| source == envelope.source())
            && self.tag.map_or(envelope.tag() >= 0, |tag| tag == envelope.tag())
    }

    /// The criteria of a key.
    pub(crate) fn of(key: Key) -> Self {
        let envelope = Envelope::of(key);
        let open = OPEN[key.class()];
        Self {
            context: envelope.context(),
            source: (open & ANY_SOURCE == 0).then_some(envelope.source()),
            tag: (open & ANY_TAG == 0).then_some(envelope.tag()),
        }
    }

    #[inline]
    pub(crate) fn key(&self) -> Key {
        let class = usize::from(self.source.is_none()) | usize::from(self.tag.is_none()) << 1;
        key(self.context, self.source.unwrap_or(0), self.tag.unwrap_or(0), OPEN[class])
    }
}

impl Matching {
    /// Posts a receive.
    #[inline]
    pub(crate) fn post(&mut self, key: Key, transfer: u32) {
        self.wildcards[key.class()] += 1;
        self.posted.push(key, transfer, self.next);
        self.next += 1;
    }

    /// Takes the first posted receive that accepts a message.
    #[inline]
    pub(crate) fn take_posted(&mut self, envelope: Envelope) -> Option<u32> {
        let exact = envelope.key(OPEN[EXACT]);
        if self.posted.entries() == self.wildcards[EXACT] {
            let receive = self.posted.take_first(exact)?;
            self.wildcards[EXACT] -= 1;
            return Some(receive);
        }
        self.take_among_wildcards(envelope)
    }

    #[inline(never)]
    fn take_among_wildcards(&mut self, envelope: Envelope) -> Option<u32> {
        let mut best: Option<(u64, u32, usize)> = None;
        for (class, &open) in OPEN.iter().enumerate() {
            if self.wildcards[class] == 0 || (open & ANY_TAG != 0 && envelope.tag() < 0) {
                continue;
            }
            if let Some((receive, order)) = self.posted.first(envelope.key(open))
                && best.is_none_or(|(earliest, ..)| order < earliest)
            {
                best = Some((order, receive, class));
            }
        }
        let (_, receive, class) = best?;
        self.wildcards[class] -= 1;
        self.posted.remove(receive);
        Some(receive)
    }

    /// Takes a receive out; false when it isn't posted.
    pub(crate) fn cancel(&mut self, key: Key, transfer: u32) -> bool {
        let was_posted = self.posted.remove(transfer);
        self.wildcards[key.class()] -= usize::from(was_posted);
        was_posted
    }

    /// Keeps a message that came before its receive.
    pub(crate) fn keep(&mut self, envelope: Envelope, message: u32) {
        if message as usize >= self.envelopes.len() {
            self.envelopes.resize(message as usize + 1, envelope);
        }
        self.envelopes[message as usize] = envelope;
        for class in 0..4 {
            if self.indexed[class] {
                self.index(class, message, self.next);
            }
        }
        self.next += 1;
    }

    fn index(&mut self, class: usize, message: u32, order: u64) {
        let envelope = &self.envelopes[message as usize];
        if OPEN[class] & ANY_TAG == 0 || envelope.tag() >= 0 {
            self.unexpected[class].push(envelope.key(OPEN[class]), message, order);
        }
    }

    /// Whether there are posted receives or unexpected messages.
    #[inline]
    pub(crate) fn has_any(&self) -> bool {
        self.posted.entries() != 0 || self.has_kept()
    }

    /// Whether there are unexpected messages.
    #[inline]
    pub(crate) fn has_kept(&self) -> bool {
        self.unexpected[EXACT].entries() != 0
    }

    /// The first unexpected message that a receive accepts.
    #[inline]
    pub(crate) fn find(&mut self, key: Key) -> Option<u32> {
        if !self.has_kept() {
            return None;
        }
        let class = key.class();
        if !self.indexed[class] {
            for (message, order) in self.unexpected[EXACT].in_order() {
                self.index(class, message, order);
            }
            self.indexed[class] = true;
        }
        self.unexpected[class].first(key).map(|(message, _)| message)
    }

    /// Takes an unexpected message out; false when it isn't there.
    pub(crate) fn remove(&mut self, message: u32) -> bool {
        let was_kept = self.unexpected[EXACT].remove(message);
        for class in 1..4 {
            if self.indexed[class] {
                self.unexpected[class].remove(message);
            }
        }
        was_kept
    }

    /// Receives that wait, and messages that wait.
    pub(crate) fn lengths(&self) -> (usize, usize) {
        (self.posted.entries(), self.unexpected[EXACT].entries())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// Matching as the standard says it: everything in one row.
    #[derive(Default)]
    struct Model {
        posted: VecDeque<(Criteria, u32)>,
        unexpected: VecDeque<(Envelope, u32)>,
    }

    fn random(seed: &mut u64, below: u64) -> u64 {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*seed >> 33) % below
    }

    fn take<T>(row: &mut VecDeque<(T, u32)>, is: impl Fn(&(T, u32)) -> bool) -> Option<u32> {
        row.iter().position(is).and_then(|place| row.remove(place)).map(|(_, number)| number)
    }

    #[test]
    fn matching_is_what_a_simple_model_says() {
        for case in 0..200 {
            let mut seed = case;
            let (mut matching, mut model) = (Matching::default(), Model::default());
            let (sources, tags) = (1 + random(&mut seed, 4), 1 + random(&mut seed, 5));
            let wildcards = random(&mut seed, 4);
            for number in 0..1500u32 {
                let tag = random(&mut seed, tags) as i32 - i32::from(random(&mut seed, 8) == 0);
                let envelope =
                    Envelope::new(random(&mut seed, 2) as u32, random(&mut seed, sources) as u16, tag);
                let criteria = Criteria {
                    context: envelope.context(),
                    source: (random(&mut seed, 4) >= wildcards).then_some(envelope.source()),
                    tag: (random(&mut seed, 4) >= wildcards).then_some(tag),
                };
                match random(&mut seed, 10) {
                    0..4 => {
                        let expected = take(&mut model.posted, |(criteria, _)| criteria.accepts(envelope));
                        assert_eq!(matching.take_posted(envelope), expected);
                        if expected.is_none() {
                            matching.keep(envelope, number);
                            model.unexpected.push_back((envelope, number));
                        }
                    }
                    4..8 => {
                        let expected =
                            take(&mut model.unexpected, |&(envelope, _)| criteria.accepts(envelope));
                        let found = matching.find(criteria.key());
                        assert_eq!(found, expected);
                        match found {
                            Some(message) => assert!(matching.remove(message) && !matching.remove(message)),
                            None => {
                                matching.post(criteria.key(), number);
                                model.posted.push_back((criteria, number));
                            }
                        }
                    }
                    8 if !model.posted.is_empty() => {
                        let place = random(&mut seed, model.posted.len() as u64) as usize;
                        let (criteria, number) = model.posted.remove(place).unwrap();
                        assert!(
                            matching.cancel(criteria.key(), number)
                                && !matching.cancel(criteria.key(), number)
                        );
                    }
                    _ => {
                        let found = model.unexpected.iter().find(|(envelope, _)| criteria.accepts(*envelope));
                        assert_eq!(matching.find(criteria.key()), found.map(|&(_, number)| number));
                    }
                }
                assert_eq!(matching.lengths(), (model.posted.len(), model.unexpected.len()));
            }
        }
    }
}
