//! The pages beside the lines of a ring, and how they go to and fro between the sides of two rings.
//!
//! **A page goes with its message**, as a slot of a pool does: who has read what lies there has its lines in its own
//! cache, and nothing has to be fetched from the other one to write them. So messages that answer one another stay in
//! one page.
//!
//! A receiver may answer in a page that was lent until it next says how far it has read the page's ring. With that, it
//! says how far its own ring was written when it last answered in such a page. A sender that has read so far knows that
//! nothing is in the pages which it had lent, and whose messages were read, but what it keeps itself for its next
//! message: they have their turn with their lines again.

use super::{INLINE, LINES, PieceHeader, PieceReader, PieceWriter, RingLines};
use crate::copy::{fetch_to_read, fetch_to_write};
use crate::segment::PAGE;

/// So many pages beside the lines get memory together.
const PAGES_TOGETHER: u32 = 16;
const _: () = assert!(LINES.is_multiple_of(PAGES_TOGETHER) || cfg!(loom));

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

/// Bits of the second word: the page is lent; it is of the ring that its writer writes. Above them lies the number of
/// its line.
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

impl<M: RingLines> PieceWriter<M> {
    /// Whether there is a page beside the next line, as beside all others, or beside none.
    #[inline]
    pub fn has_pages(&self) -> bool {
        self.memory.page(self.line).is_some()
    }

    /// Whether there is one that is not lent.
    #[inline]
    pub fn has_page(&self) -> bool {
        self.has_pages() && !self.lent.is_lent(self.line)
    }

    /// The same; one that is lent is taken back if nothing will come there, as `reader` of the ring back knows.
    #[inline]
    pub fn gets_page(&mut self, reader: &PieceReader<M>) -> bool {
        self.has_page() || self.has_pages() && self.takes_page_back(reader)
    }

    #[cold]
    fn takes_page_back(&mut self, reader: &PieceReader<M>) -> bool {
        let is_here = reader.came == Some(RingPage { line: self.line, own: true });
        !is_here
            && reader.consumed >= self.said.answered
            && self.lent.take_back(self.line, self.said.consumed)
    }

    /// Writes a piece of up to a page, whose `bytes` lie beside its line, filled by `fill`, with a word in the line. It
    /// must fit. `lends`: the receiver, whose ring was read so far, may answer there. Fetches the next page before it
    /// is filled, when so many bytes are to be `fetched`.
    ///
    /// # Panics
    /// There is no page that is not lent, or it has more bytes.
    #[inline]
    pub fn put_beside(
        &mut self,
        header: PieceHeader,
        word: u64,
        bytes: usize,
        lends: Option<u64>,
        fetched: usize,
        fill: impl FnOnce(&mut [u8]),
    ) {
        assert!(self.has_page(), "a page that is not lent");
        let part = self.line / PAGES_TOGETHER;
        if self.has_memory & 1 << part == 0 {
            self.get_memory(part);
        }
        let page = RingPage { line: self.line, own: true };
        self.put_in(self.memory.page(self.line), header, Beside { word, page, lent: lends }, bytes, fill);
        if let Some(next) = self.memory.page(self.line).filter(|_| fetched > 0) {
            fetch_to_write(next, fetched);
        }
    }

    /// The same in the page that came with a message of the other side, which `reader` has read. It is lent again.
    ///
    /// # Panics
    /// None came that is still here, or it has more bytes.
    #[inline]
    pub fn put_in_page_that_came(
        &mut self,
        reader: &mut PieceReader<M>,
        header: PieceHeader,
        word: u64,
        bytes: usize,
        fill: impl FnOnce(&mut [u8]),
    ) {
        let page = reader.came.take().expect("a page came");
        let start = if page.own { self.memory.page(page.line) } else { reader.memory.page(page.line) };
        self.put_in(start, header, Beside { word, page, lent: Some(reader.consumed) }, bytes, fill);
        if !page.own {
            reader.answered = self.produced;
        }
    }

    /// Writes a piece into a page that starts there and is this side's.
    #[inline]
    fn put_in(
        &mut self,
        start: Option<*mut u8>,
        header: PieceHeader,
        beside: Beside,
        bytes: usize,
        fill: impl FnOnce(&mut [u8]),
    ) {
        debug_assert!(self.free > 1);
        let start = start.filter(|_| bytes <= PAGE).expect("a page of so many bytes");
        // The line that will speak of it comes meanwhile.
        self.memory.fetch(self.line);
        // SAFETY: inside the page, which is this side's until the line is published, as the line is: see the module.
        unsafe {
            fill(std::slice::from_raw_parts_mut(start, bytes));
            self.memory.data(self.line).cast::<[u64; 3]>().write_unaligned(beside.words());
        }
        if beside.lent.is_some() && beside.page.own {
            self.lent.lend(beside.page.line, self.produced);
        }
        self.publish(header, 1);
        if beside.lent.is_some() {
            self.last_lent = self.produced;
        }
    }

    #[cold]
    fn get_memory(&mut self, part: u32) {
        self.has_memory |= 1 << part;
        self.memory.get_pages(part * PAGES_TOGETHER, PAGES_TOGETHER);
    }
}

impl<M: RingLines> PieceReader<M> {
    /// The data of the piece that is there, so many bytes of a page, and the word in its line; nothing: there is no
    /// such page, or it has less room. `writer` writes the ring back.
    ///
    /// # Safety
    /// `peek` saw a piece of one line, and the slice is gone before `consume`.
    #[inline]
    pub unsafe fn beside(&mut self, writer: &PieceWriter<M>, bytes: usize) -> Option<(u64, &[u8])> {
        // SAFETY: as the caller promised.
        let (Beside { word, page, lent }, start) =
            unsafe { self.data_beside(writer) }.filter(|_| bytes <= PAGE)?;
        // Who sends before it has read what was sent to it, as in an exchange, does not wait for an answer.
        if lent.is_some_and(|read| read >= writer.last_lent) {
            self.came = Some(page);
        }
        // SAFETY: inside the page, which the sender leaves alone until it was answered there, or the line is consumed.
        Some((word, unsafe { std::slice::from_raw_parts(start, bytes) }))
    }

    /// What the line of the piece that is there says of its data, and where that starts, as for `beside`.
    ///
    /// # Safety
    /// `peek` saw a piece of one line.
    #[inline]
    pub(crate) unsafe fn data_beside(&self, writer: &PieceWriter<M>) -> Option<(Beside, *mut u8)> {
        // SAFETY: inside the line, which the sender leaves alone until it is consumed.
        let words = unsafe { self.memory.data(self.line).cast::<[u64; 3]>().read_unaligned() };
        let beside = Beside::of(words)?;
        let memory = if beside.page.own { &writer.memory } else { &self.memory };
        Some((beside, memory.page(beside.page.line)?))
    }

    /// Whether a page came in which this side may answer.
    #[inline]
    pub fn has_page_that_came(&self) -> bool {
        self.came.is_some()
    }

    /// Fetches so many bytes of the page of which these words of a line speak, if it is one of this ring.
    #[inline]
    pub fn fetch_beside(&self, words: [u64; 3], bytes: usize) {
        if let Some(Beside { page: RingPage { line, own: false }, .. }) = Beside::of(words)
            && let Some(start) = self.memory.page(line)
        {
            fetch_to_read(start, bytes);
        }
    }
}
