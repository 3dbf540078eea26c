//! Pieces of a message that two processes move together: the process that claims a piece moves it.
//!
//! A place for claims is used for one message after the other. A process that comes late, with the generation of a
//! finished message, gets nothing.

#[cfg(loom)]
use loom::sync::atomic::{AtomicU64, Ordering};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU64, Ordering};

/// The end from which a process claims pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimEnd {
    /// The first of those that nobody has claimed.
    First,
    /// The last one.
    Last,
}

/// The most pieces of which one process claims the first ones and the other one the last.
pub const MOST_FROM_ENDS: u32 = u16::MAX as u32;

/// The place, alone on its line.
#[repr(C, align(64))]
#[derive(Default)]
pub struct Claims {
    /// Generation (high half), and the next piece that nobody has claimed; where they are claimed from both ends, how
    /// many are from the last one on, and how many from the first one on.
    next: AtomicU64,
}

impl Claims {
    /// Opens the place for the pieces of a message. Only its owner does, and only when all pieces of the last one are
    /// claimed.
    pub fn open(&self, generation: u32) {
        self.next.store(u64::from(generation) << 32, Ordering::Release);
    }

    /// Claims a piece of `pieces`; nothing when all are claimed, or the message is over.
    pub fn claim(&self, generation: u32, pieces: u32) -> Option<u32> {
        self.add(generation, 1, |claimed| (claimed < pieces).then_some(claimed))
    }

    /// As `claim`, of at most `MOST_FROM_ENDS` pieces, from an end: so each process gets the same ones in one message
    /// after the other, or nearly, and finds them in its caches.
    pub fn claim_from(&self, end: ClaimEnd, generation: u32, pieces: u32) -> Option<u32> {
        let one = match end {
            ClaimEnd::First => 1,
            ClaimEnd::Last => 1 << 16,
        };
        self.add(generation, one, |claimed| {
            let [first, last] = from_ends(claimed);
            let piece = if end == ClaimEnd::First { first } else { pieces.wrapping_sub(1 + last) };
            (first + last < pieces).then_some(piece)
        })
    }

    /// Claims the piece that `next` finds given what is claimed, and adds to that.
    #[inline]
    fn add(&self, generation: u32, one: u64, next: impl Fn(u32) -> Option<u32>) -> Option<u32> {
        let mut seen = self.next.load(Ordering::Acquire);
        loop {
            if (seen >> 32) as u32 != generation {
                return None;
            }
            let piece = next(seen as u32)?;
            match self.next.compare_exchange_weak(seen, seen + one, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some(piece),
                Err(now) => seen = now,
            }
        }
    }

    /// Whether the place of a message of so many pieces has a value that no process writes.
    pub fn is_corrupt(&self, generation: u32, pieces: u32) -> bool {
        let next = self.next.load(Ordering::Relaxed);
        (next >> 32) as u32 != generation || next as u32 > pieces
    }

    /// The same where pieces are claimed from both ends.
    pub fn is_corrupt_from_ends(&self, generation: u32, pieces: u32) -> bool {
        let next = self.next.load(Ordering::Relaxed);
        (next >> 32) as u32 != generation || from_ends(next as u32).iter().sum::<u32>() > pieces
    }
}

/// How many are claimed from the first one on, and from the last one on.
fn from_ends(claimed: u32) -> [u32; 2] {
    [claimed & u32::from(u16::MAX), claimed >> 16]
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn of_pieces_that_are_claimed_from_both_ends_each_is_given_once_and_more_are_corrupt() {
        let claims = Claims::default();
        claims.open(7);
        let claim = |end| claims.claim_from(end, 7, 4);
        assert_eq!(
            [claim(ClaimEnd::First), claim(ClaimEnd::Last), claim(ClaimEnd::Last)],
            [Some(0), Some(3), Some(2)]
        );
        assert!(!claims.is_corrupt_from_ends(7, 4));
        assert_eq!(
            [claim(ClaimEnd::First), claim(ClaimEnd::First), claim(ClaimEnd::Last)],
            [Some(1), None, None]
        );
        assert!(!claims.is_corrupt_from_ends(7, 4) && claims.is_corrupt_from_ends(6, 4));
        claims.next.fetch_add(1, Ordering::Relaxed);
        assert!(claims.is_corrupt_from_ends(7, 4));
        claims.open(8);
        let most = MOST_FROM_ENDS;
        (0..most)
            .for_each(|piece| assert_eq!(claims.claim_from(ClaimEnd::Last, 8, most), Some(most - 1 - piece)));
        assert_eq!(claims.claim_from(ClaimEnd::First, 8, most), None);
    }
}
