//! The 16 bytes of an entry of a queue.

use crate::calls::RankEnvelope;

/// Bytes of an entry.
pub(crate) const ENTRY_BYTES: u32 = 16;
/// Contexts are below this: an entry has 26 bits for one.
pub(crate) const CONTEXTS: u32 = 1 << 26;
const VALID: u32 = 1;
const SYNCHRONOUS: u32 = 2;

/// What an entry says of a message: where it is, tag, bytes, communicator and flag, as in `buffered-mpi` 3.2. (The data
/// type, which is there too, is not needed: data is packed.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Where its data is in main memory.
    pub(crate) address: u32,
    pub(crate) envelope: RankEnvelope,
    pub(crate) bytes: u32,
    /// The data is the sender's own, which waits for its copy.
    pub(crate) synchronous: bool,
}

impl Entry {
    /// As it lies in the queue, valid.
    pub(crate) fn to_bytes(self) -> [u8; ENTRY_BYTES as usize] {
        let RankEnvelope { context, source, tag } = self.envelope;
        let flags = VALID | if self.synchronous { SYNCHRONOUS } else { 0 };
        let last = flags | u32::from(source) << 2 | context << 6;
        let mut bytes = [0; ENTRY_BYTES as usize];
        for (place, word) in bytes.chunks_exact_mut(4).zip([self.address, tag as u32, self.bytes, last]) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// The entry of a place in a queue; nothing: it is free.
    pub(crate) fn of(bytes: &[u8]) -> Option<Self> {
        let mut words = bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("four")));
        let [address, tag, bytes, last] = std::array::from_fn(|_| words.next().unwrap_or(0));
        let envelope = RankEnvelope { context: last >> 6, source: (last >> 2 & 15) as u16, tag: tag as i32 };
        (last & VALID != 0).then_some(Self { address, envelope, bytes, synchronous: last & SYNCHRONOUS != 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_says_what_was_written_and_a_free_place_says_nothing() {
        let envelope = RankEnvelope { context: CONTEXTS - 1, source: 15, tag: -7 };
        let entry = Entry { address: 0xfedc_ba98, envelope, bytes: u32::MAX, synchronous: true };
        assert_eq!(Entry::of(&entry.to_bytes()), Some(entry));
        assert_eq!(Entry::of(&[0; 16]), None);
    }
}
