//! The 16 bytes of an entry of a queue.

use crate::calls::{RankEnvelope, RankNote};

/// Bytes of an entry, as in `buffered-mpi`: a quadword.
pub(crate) const ENTRY_BYTES: u32 = 16;
/// Contexts are below this: an entry has 26 bits for one.
pub(crate) const CONTEXTS: u32 = 1 << 26;
/// Blocks that one entry can name.
pub(crate) const MOST_FREED: usize = 6;

/// What an entry says. A message's has what `buffered-mpi` 3.2 lists: where it is, tag, bytes, communicator and flag.
/// (The data type, which is there too, is not needed: data is packed.)
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// A message.
    Message(SentMessage),
    /// To the sender of a synchronous message: it was received. Which entry it had.
    Received(u32),
    /// Something of an entry.
    Note(u32, RankNote),
    /// To the owner of a buffer: these blocks of it are free.
    Freed(Vec<u16>),
}

/// A message as its entry says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SentMessage {
    /// Where its data is in main memory.
    pub(crate) address: u32,
    pub(crate) envelope: RankEnvelope,
    pub(crate) bytes: u32,
    /// The data is the sender's own, which waits for its copy.
    pub(crate) synchronous: bool,
}

// The lowest two bits of the last word.
const BUFFERED: u32 = 1;
const SYNCHRONOUS: u32 = 2;
const NEWS: u32 = 3;
// Of news, the next bits: how many blocks are named; more than there can be: a message was received.
const RECEIVED: u32 = 15;
const NOTES: [(u32, RankNote); 3] =
    [(12, RankNote::AskedBack), (13, RankNote::Forgotten), (14, RankNote::Kept)];

impl Entry {
    /// As it lies in the queue, valid.
    pub(crate) fn to_bytes(&self) -> [u8; ENTRY_BYTES as usize] {
        let mut bytes = [0; ENTRY_BYTES as usize];
        let words = match self {
            Self::Message(SentMessage { address, envelope, bytes, synchronous }) => {
                let RankEnvelope { context, source, tag } = *envelope;
                let kind = if *synchronous { SYNCHRONOUS } else { BUFFERED };
                [*address, tag as u32, *bytes, kind | u32::from(source) << 2 | context << 6]
            }
            Self::Received(entry) => [*entry, 0, 0, NEWS | RECEIVED << 2],
            Self::Note(entry, note) => {
                let kind = NOTES.iter().find(|(_, known)| known == note).map_or(RECEIVED, |&(kind, _)| kind);
                [*entry, 0, 0, NEWS | kind << 2]
            }
            Self::Freed(blocks) => [0, 0, 0, NEWS | (blocks.len() as u32) << 2],
        };
        for (place, word) in bytes.chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        if let Self::Freed(blocks) = self {
            for (place, block) in bytes.chunks_exact_mut(2).zip(blocks) {
                place.copy_from_slice(&block.to_le_bytes());
            }
        }
        bytes
    }

    /// The entry of a place in a queue; nothing: it is free.
    pub(crate) fn of(place: &[u8]) -> Option<Self> {
        let mut words = place.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("four")));
        let [address, tag, bytes, last] = std::array::from_fn(|_| words.next().unwrap_or(0));
        let envelope = RankEnvelope { context: last >> 6, source: (last >> 2 & 15) as u16, tag: tag as i32 };
        let message = SentMessage { address, envelope, bytes, synchronous: last & 3 == SYNCHRONOUS };
        match (last & 3, last >> 2) {
            (0, _) => None,
            (NEWS, RECEIVED) => Some(Self::Received(address)),
            (NEWS, kind) if let Some(&(_, note)) = NOTES.iter().find(|known| known.0 == kind) => {
                Some(Self::Note(address, note))
            }
            (NEWS, count) => {
                let blocks = place.chunks_exact(2).take(MOST_FREED.min(count as usize));
                let number = |bytes: &[u8]| u16::from_le_bytes(bytes.try_into().expect("two bytes"));
                Some(Self::Freed(blocks.map(number).collect()))
            }
            _ => Some(Self::Message(message)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_says_what_was_written_and_a_free_place_says_nothing() {
        let envelope = RankEnvelope { context: CONTEXTS - 1, source: 15, tag: -7 };
        let message = SentMessage { address: 0xfedc_ba98, envelope, bytes: u32::MAX, synchronous: true };
        for entry in [
            Entry::Message(message),
            Entry::Message(SentMessage { synchronous: false, ..message }),
            Entry::Received(u32::MAX),
            Entry::Note(7, RankNote::AskedBack),
            Entry::Note(u32::MAX, RankNote::Forgotten),
            Entry::Note(0, RankNote::Kept),
            Entry::Freed((0..MOST_FREED as u16).collect()),
            Entry::Freed(vec![u16::MAX]),
        ] {
            assert_eq!(Entry::of(&entry.to_bytes()), Some(entry));
        }
        assert_eq!(Entry::of(&[0; 16]), None);
    }
}
