//! What the first words of pieces say, by their kind, and the words of their lines.

use super::kind;
use crate::matching::Envelope;
use crate::ring::PieceHeader;

/// The header of a piece of a message, or of its announcement; its length is what the kind says.
#[inline]
pub(super) fn header(kind: u8, envelope: Envelope, length: usize) -> PieceHeader {
    PieceHeader::new(kind, envelope.source(), envelope.context(), envelope.tag(), length as u32)
}

/// The header of data of a matched message, to the receiver's transfer.
pub(super) fn data_header(receiver: u64, left: usize) -> PieceHeader {
    PieceHeader::new(kind::DATA, 0, receiver as u32, (receiver >> 32) as i32, left as u32)
}

/// The header of news.
pub(super) fn plain(kind: u8, words: &[u64; 6]) -> PieceHeader {
    PieceHeader::new(kind, 0, 0, 0, sum(words))
}

/// A checksum of the words of an announcement or of news, for its header. Some words are addresses, which cannot be
/// checked in another way.
pub(super) fn sum(words: &[u64; 6]) -> u32 {
    let sum =
        words.iter().fold(1u64, |sum, word| (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29));
    (sum >> 32) as u32
}

/// The words of a line.
#[inline]
pub(super) fn words(piece: &[u8]) -> [u64; 6] {
    let mut words = [0; 6];
    for (word, bytes) in words.iter_mut().zip(piece.chunks_exact(8)) {
        *word = u64::from_ne_bytes(bytes.try_into().expect("eight bytes"));
    }
    words
}
