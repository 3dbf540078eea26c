//! Pages that go to and fro between the two sides of two rings.
//!
//! **A page goes with its message**, as a slot of a pool does: who has read what lies there has its lines in its own
//! cache, and nothing has to be fetched from the other one to write them. So messages that answer one another stay in
//! one page.
//!
//! A receiver may answer in a page that was lent until it next says how far it has read the page's ring. With that, it
//! says how far its own ring was written when it last answered in such a page. A sender that has read so far knows that
//! nothing is in the pages which it had lent, and whose messages were read, but what it keeps itself for its next
//! message: they have their turn with their lines again.

use super::{INLINE, LINES};

/// A page beside a line of one of the two rings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RingPage {
    pub(super) line: u32,
    /// Of the ring that this side writes.
    pub(super) own: bool,
}

/// What a line says of data that lies in a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Beside {
    /// A word of who wrote it.
    pub(super) word: u64,
    pub(super) page: RingPage,
    /// Who reads it may answer there; and how far its ring to who wrote it was read before.
    pub(super) lent: Option<u64>,
}

const LENT: u64 = 1;
const OWN: u64 = 2;
const LINE: u32 = 2;
const _: () = assert!(size_of::<[u64; 3]>() <= INLINE);

impl Beside {
    /// As words of a line.
    #[inline]
    pub(super) fn words(self) -> [u64; 3] {
        let RingPage { line, own } = self.page;
        let bits = if self.lent.is_some() { LENT } else { 0 } | if own { OWN } else { 0 };
        [self.word, u64::from(line) << LINE | bits, self.lent.unwrap_or(0)]
    }

    /// Of such words, as the other side sees it; nothing: there is no such page.
    #[inline]
    pub(super) fn of([word, place, read]: [u64; 3]) -> Option<Self> {
        let line = u32::try_from(place >> LINE).ok().filter(|&line| line < LINES)?;
        let lent = (place & LENT != 0).then_some(read);
        Some(Self { word, page: RingPage { line, own: place & OWN == 0 }, lent })
    }
}

/// The pages of a ring that its sender has lent.
#[derive(Default)]
pub(super) struct LentPages {
    /// A bit each.
    lent: [u64; LINES.div_ceil(64) as usize],
    /// How far the ring was written when each was lent the last time; of none before the first one.
    since: Vec<u64>,
}

impl LentPages {
    #[inline]
    pub(super) fn is_lent(&self, line: u32) -> bool {
        self.lent[line as usize / 64] >> (line % 64) & 1 != 0
    }

    /// The page beside a line goes out, by the line up to which the ring was written.
    #[inline]
    pub(super) fn lend(&mut self, line: u32, produced: u64) {
        if self.since.is_empty() {
            self.since.resize(LINES as usize, 0);
        }
        self.since[line as usize] = produced;
        self.lent[line as usize / 64] |= 1 << (line % 64);
    }

    /// Takes one back that was lent, if its message was read: the ring was, up to so many lines. Whether it did.
    pub(super) fn take_back(&mut self, line: u32, consumed: u64) -> bool {
        let is_read = self.since[line as usize] < consumed;
        if is_read {
            self.lent[line as usize / 64] &= !(1 << (line % 64));
        }
        is_read
    }
}
