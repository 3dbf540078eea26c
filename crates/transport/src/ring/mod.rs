//! The ring between an ordered pair of ranks: 64-byte lines in their area of the segment.
//!
//! ```text
//! counters | line 0 | line 1 | ... | line 239
//! line: stamp (lap, kind) u16, source u16, context u32, tag i32, length u32, 48 bytes of data
//! ```
//!
//! A *piece* is a line with a header, whose data may go on in the lines behind it, up to the end of the ring; or it
//! lies in the page beside the line, where there are such pages, or in one that came from the other side (`pages`). The
//! header's first word is written last and carries the lap, so that a message of up to 48 bytes costs the transfer of
//! one line: there is no head or tail that both sides touch. The receiver says now and then how far it has come, in the
//! counters. No piece starts in the last lines, where a short one would not fit.
//!
//! The bytes at the place of the next header must not look like one. An old header does not, because its lap is over.
//! Where the lap before had data, the sender clears the stamp before it publishes the piece in front.

mod pages;

use crate::copy::{copy_small, fetch_to_read, fetch_to_write};
use crate::early::{Early, EarlyLine};
use crate::segment::{PAGE, PAGES_OF_PAIR, Segment};
use host::clock::kernel_ns;
use pages::{LentPages, RingPage};
use std::sync::atomic::{AtomicU64, Ordering, fence};

/// Bytes of a line.
pub const LINE: usize = 64;
/// Bytes of data in a line with a header.
pub const INLINE: usize = LINE - HEADER;
/// Bytes of a header.
pub const HEADER: usize = 16;
/// Lines of a ring. Few when all interleavings are explored.
pub const LINES: u32 = if cfg!(loom) { 4 } else { 240 };
const _: () =
    assert!((LINES as usize + 1) * LINE + size_of::<crate::ways::AgreedWays>() <= crate::segment::PAIR_BYTES);
const _: () = assert!(LINES as usize <= PAGES_OF_PAIR);
/// The most lines of a piece: large enough that headers cost little, small enough that the receiver copies one piece
/// while the sender writes the next.
const PIECE_LINES: u32 = 64;
/// The receiver says how far it has come after so many lines.
const PUBLISH_LINES: u32 = if cfg!(loom) { 2 } else { 64 };

/// Messages with more bytes left go through a pool. A choice. (On an EPYC, us, from 256 B on in slots, with these in
/// the ring, and with 1 kB: 512 B to and fro .32, .26 and .26; in a stream .22, .16 and .14, and .45, .30 and .40 while
/// a line takes 200 ns; 1 kB .34, .42 and .36; .25, .25 and .24, and .51, .57 and .62.)
pub(crate) const POOLED_FROM: usize = 512;
/// Lines of the largest piece of a message that always lies here: a waiting rank fetches no more with the header.
const SHORT_LINES: u32 = lines_of(POOLED_FROM);
/// A row begins with this message behind another one, counted from 0. A choice: where each rank sends two and receives
/// two, two such pairs may follow one another when one rank is ahead.
const ROW_FROM: u32 = 4;
/// Pieces start in the first so many lines, so that a short one fits behind each. So short messages of one size are one
/// piece each, have their headers at the same places lap after lap, and nothing has to be cleared, which costs the
/// transfer of a line more. (64 bytes to and fro take 0.28 us instead of 0.40 with other places each lap, while a line
/// takes 0.14.)
pub(crate) const STARTS: u32 = if cfg!(loom) { LINES } else { LINES - SHORT_LINES + 1 };

/// Lines that are fetched ahead when messages come in a row: their transfers overlap.
const AHEAD: u32 = if cfg!(loom) { 1 } else { 8 };
/// The most lines that are taken at a time for the messages of a row. A choice. (By hand, a line is written in 40 ns
/// where each message takes its own, in 16, 11, 11 and 10 where 4, 8, 16 and 32 are taken at a time; in 140, 46, 30, 28
/// and 26 while a line takes 250 ns, on an EPYC.)
const TAKEN: u32 = if cfg!(loom) { 1 } else { 16 };

/// What a receiver says of a ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// How far it has come: lines since the start.
    pub consumed: u64,
    /// Eager bytes that it has handed on since the start.
    pub handed_on: u64,
    /// How far its own ring to the sender was written when it last answered in a page of this one.
    pub answered: u64,
}

/// The memory of a ring: in the segment, or a model of it.
pub trait RingLines {
    /// First word of a line; everything written before it was published is visible.
    fn stamp(&self, line: u32) -> u64;
    /// Second word of a line.
    fn rest(&self, line: u32) -> u64;
    /// Writes the second word.
    fn set_rest(&self, line: u32, word: u64);
    /// Writes the first word, after everything before.
    fn publish(&self, line: u32, word: u64);
    /// Makes the first word no stamp.
    fn clear(&self, line: u32);
    /// The data of a line, going on in the lines behind it.
    fn data(&self, line: u32) -> *mut u8;
    /// Fetches a line that will be read soon.
    fn fetch_to_read(&self, _line: u32) {}
    /// The page beside a line, if there is one.
    fn page(&self, _line: u32) -> Option<*mut u8> {
        None
    }
    /// Gets memory for the page beside a line and for those behind it, so many.
    fn get_pages(&self, _line: u32, _pages: u32) {}
    /// What the receiver last said.
    fn counters(&self) -> Counters;
    /// Says it, after everything that the receiver read and wrote before.
    fn publish_counters(&self, counters: Counters);
    /// Tells the receiver that this ring is in use.
    fn connect(&self);
    /// Gets a line into this cpu's cache, to be written soon.
    fn fetch(&self, _line: u32) {}
    /// Takes a free line from the other cpu, by writing into it, where a `fetch` may be left undone.
    fn take(&self, _line: u32) {}
}

/// The area of a pair in the segment.
#[derive(Clone, Copy)]
pub struct Area {
    start: *mut u8,
    pages: Option<*mut u8>,
    /// Where the sender says that it uses the ring: a bit of the receiver's page.
    connected: (*const AtomicU64, u64),
}
// SAFETY: shared memory by design; what two sides touch is atomic or handed over by an atomic.
unsafe impl Send for Area {}

impl Area {
    /// The area that starts here, the pages beside its lines, if there are some, and the word and its bit that say that
    /// it's in use.
    ///
    /// # Safety
    /// `PAIR_BYTES` bytes of shared memory, aligned to a line, `PAGES_OF_PAIR` pages of a segment, and a word, that are
    /// never unmapped.
    unsafe fn new(start: *mut u8, pages: Option<*mut u8>, connected: (*const AtomicU64, u64)) -> Self {
        Self { start, pages, connected }
    }

    /// The area of a segment through which `from` sends to `to`.
    pub fn of(segment: &Segment, from: usize, to: usize) -> Self {
        let connected = (&raw const segment.rank(to).connected[from / 64], 1 << (from % 64));
        // SAFETY: the segment is never unmapped, and its areas are as large.
        unsafe { Self::new(segment.pair(from, to), segment.pages(from, to), connected) }
    }

    #[inline]
    fn word(&self, line: u32, word: usize) -> &AtomicU64 {
        debug_assert!(line < LINES && word < 8);
        // SAFETY: inside the area, as `new` was promised and lines are below LINES; aligned.
        unsafe { &*self.start.add((line as usize + 1) * LINE + word * 8).cast() }
    }

    #[inline]
    fn counter(&self, index: usize) -> &AtomicU64 {
        // SAFETY: the first line of the area.
        unsafe { &*self.start.add(index * 8).cast() }
    }
}

impl RingLines for Area {
    #[inline]
    fn stamp(&self, line: u32) -> u64 {
        self.word(line, 0).load(Ordering::Acquire)
    }

    #[inline]
    fn rest(&self, line: u32) -> u64 {
        self.word(line, 1).load(Ordering::Relaxed)
    }

    #[inline]
    fn set_rest(&self, line: u32, word: u64) {
        self.word(line, 1).store(word, Ordering::Relaxed);
    }

    #[inline]
    fn publish(&self, line: u32, word: u64) {
        self.word(line, 0).store(word, Ordering::Release);
    }

    #[inline]
    fn clear(&self, line: u32) {
        self.word(line, 0).store(0, Ordering::Relaxed);
    }

    #[inline]
    fn data(&self, line: u32) -> *mut u8 {
        debug_assert!(line < LINES);
        // SAFETY: inside the area.
        unsafe { self.start.add((line as usize + 1) * LINE + HEADER) }
    }

    #[inline]
    fn page(&self, line: u32) -> Option<*mut u8> {
        debug_assert!(line < LINES);
        // SAFETY: of `PAGES_OF_PAIR`, as `new` was promised.
        self.pages.map(|pages| unsafe { pages.add(line as usize * PAGE) })
    }

    fn get_pages(&self, line: u32, pages: u32) {
        debug_assert!(line + pages <= LINES);
        if let Some(first) = self.page(line) {
            // SAFETY: `PAGES_OF_PAIR` pages lie in a segment, as `new` was promised.
            unsafe { Segment::get_memory(first, pages as usize * PAGE) };
        }
    }

    #[inline]
    fn fetch_to_read(&self, line: u32) {
        fetch_to_read(self.word(line, 0).as_ptr().cast(), LINE);
    }

    #[inline]
    fn counters(&self) -> Counters {
        let consumed = self.counter(0).load(Ordering::Acquire);
        let [handed_on, answered] = [1, 2].map(|index| self.counter(index).load(Ordering::Relaxed));
        Counters { consumed, handed_on, answered }
    }

    #[inline]
    fn publish_counters(&self, counters: Counters) {
        self.counter(1).store(counters.handed_on, Ordering::Relaxed);
        self.counter(2).store(counters.answered, Ordering::Relaxed);
        self.counter(0).store(counters.consumed, Ordering::Release);
    }

    #[inline]
    fn fetch(&self, line: u32) {
        fetch_to_write(self.word(line, 0).as_ptr().cast(), LINE);
    }

    #[inline]
    fn take(&self, line: u32) {
        self.word(line, 7).store(0, Ordering::Relaxed);
    }

    fn connect(&self) {
        // SAFETY: a word that is never unmapped, by `new`.
        unsafe { &*self.connected.0 }.fetch_or(self.connected.1, Ordering::Release);
    }
}

/// The header of a piece: its two words as they lie in the ring, without the lap, which stay in registers on their way.
/// (Fields are written one by one and read together, and a load of what was written in parts waits until all stores
/// before are done, those of the last message's line among them.) What the fields mean depends on the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieceHeader {
    first: u64,
    second: u64,
}

impl PieceHeader {
    /// What it is, a rank in a communicator, a context, a tag, and bytes.
    #[inline]
    pub fn new(kind: u8, source: u16, context: u32, tag: i32, length: u32) -> Self {
        let first = u64::from(kind) << 8 | u64::from(source) << 16 | u64::from(context) << 32;
        Self { first, second: u64::from(tag as u32) | u64::from(length) << 32 }
    }

    /// What it is.
    #[inline]
    pub fn kind(self) -> u8 {
        (self.first >> 8) as u8
    }

    /// The same, of another kind.
    #[inline]
    pub fn of_kind(self, kind: u8) -> Self {
        Self { first: self.first & !0xff00 | u64::from(kind) << 8, ..self }
    }

    /// The same, of so many bytes less.
    #[inline]
    pub fn shorter(self, bytes: u32) -> Self {
        Self { second: self.second - (u64::from(bytes) << 32), ..self }
    }

    /// A rank in a communicator.
    #[inline]
    pub fn source(self) -> u16 {
        (self.first >> 16) as u16
    }

    /// A context.
    #[inline]
    pub fn context(self) -> u32 {
        (self.first >> 32) as u32
    }

    /// A tag.
    #[inline]
    pub fn tag(self) -> i32 {
        self.second as u32 as i32
    }

    /// Bytes.
    #[inline]
    pub fn length(self) -> u32 {
        (self.second >> 32) as u32
    }
}

/// Bytes of the piece that starts at a line when so many are left: both sides know it.
#[inline]
pub fn piece_bytes(line: u32, left: usize) -> usize {
    if left <= INLINE {
        return left;
    }
    let lines = PIECE_LINES.min(LINES - line) as usize;
    left.min(lines * LINE - HEADER)
}

#[inline]
const fn lines_of(bytes: usize) -> u32 {
    (bytes + HEADER).div_ceil(LINE) as u32
}

/// Where the next piece starts behind one, and the lines that it is further: all are in use until this piece is read.
#[inline]
fn behind(line: u32, lines: u32) -> (u32, u32) {
    let end = line + lines;
    if end < STARTS { (end, lines) } else { (0, LINES - line) }
}

/// Laps are 1 to 255 and start again: memory that was never written is of no lap.
#[inline]
fn next_lap(lap: u8) -> u8 {
    if lap == u8::MAX { 1 } else { lap + 1 }
}

/// The sender's side.
pub struct PieceWriter<M> {
    memory: M,
    /// The line of the next header, and its lap.
    line: u32,
    lap: u8,
    /// Lines that are known to be free.
    free: u32,
    /// Lines written since the start.
    produced: u64,
    /// What the receiver last said.
    said: Counters,
    lent: LentPages,
    /// How far the ring was written when the last message was that lies in a page which it lent.
    last_lent: u64,
    /// Lines in which data lies, a bit each.
    raw: [u64; 4],
    /// Which of the pages have memory, a bit for so many each.
    has_memory: u16,
    /// The receiver's counters said something impossible.
    pub corrupt: bool,
    /// Nothing fits: messages go another way.
    closed: bool,
    /// Pieces in a row, one behind the other, and of the lines from the next one on, how many were taken for them.
    row: u32,
    taken: u32,
    early: EarlyLine,
}

impl<M: RingLines> PieceWriter<M> {
    /// The sender's side of a ring in memory that is all zero.
    pub fn new(memory: M) -> Self {
        Self {
            memory,
            line: 0,
            lap: 1,
            free: 0,
            produced: 0,
            said: Counters::default(),
            lent: LentPages::default(),
            last_lent: 0,
            raw: [0; 4],
            has_memory: 0,
            corrupt: false,
            closed: false,
            row: 0,
            taken: 0,
            early: EarlyLine::default(),
        }
    }

    /// From now on nothing fits. Call this before anything was written.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Whether the next piece with so many bytes left to send fits now.
    #[inline]
    pub fn fits(&mut self, left: usize) -> bool {
        let lines = lines_of(piece_bytes(self.line, left));
        self.fits_lines(lines)
    }

    /// Whether pieces of so many lines fit now, and one line more: the line behind a piece is cleared.
    #[inline]
    pub fn fits_lines(&mut self, lines: u32) -> bool {
        let lines = lines + (LINES - STARTS);
        self.free > lines || self.look(lines)
    }

    #[cold]
    fn look(&mut self, lines: u32) -> bool {
        if self.closed {
            return false;
        }
        if self.produced == 0 {
            self.memory.connect();
        }
        self.refresh();
        self.free > lines
    }

    /// Fetches the next line for writing, early, because that takes as long as a message.
    #[inline]
    pub fn fetch(&self) {
        self.memory.fetch(self.line);
    }

    /// A short message came, which the next piece may answer: takes its line, where that pays.
    #[inline]
    pub fn expect_answer(&mut self) {
        if self.free == 0 {
            return;
        }
        match self.early.next() {
            Early::No => self.memory.fetch(self.line),
            Early::Take => self.memory.take(self.line),
            Early::Timed => {
                let began_ns = kernel_ns();
                self.memory.take(self.line);
                fence(Ordering::SeqCst);
                self.early.is_here(began_ns, kernel_ns());
            }
        }
    }

    /// Reads how far the receiver has come.
    pub fn refresh(&mut self) {
        self.said = self.memory.counters();
        match self.produced.checked_sub(self.said.consumed) {
            Some(used) if used <= u64::from(LINES - self.free) => self.free = LINES - used as u32,
            _ => self.corrupt = true,
        }
    }

    /// A message was written; `in_row`: behind another one, to which nothing was answered. Takes the lines of the next
    /// ones, as many as the row has had so far, all at a time: their transfers overlap. Each line that a message must
    /// wait for keeps the ones behind it waiting, as writes leave the cpu in order.
    #[inline]
    pub fn take_ahead(&mut self, in_row: bool) {
        self.row = if in_row { self.row.saturating_add(1) } else { 0 };
        let lines = self.row.min(TAKEN);
        if self.taken == 0 && lines > 0 && self.free > lines + (LINES - STARTS) {
            for line in self.line..self.line + lines {
                self.memory.take(if line < STARTS { line } else { line - STARTS });
            }
            self.taken = lines;
        }
    }

    /// Eager bytes that the receiver has handed on since the start, as last seen.
    pub fn handed_on(&self) -> u64 {
        self.said.handed_on
    }

    /// Writes a piece of up to 48 bytes. It must fit.
    ///
    /// # Panics
    /// It has more bytes.
    #[inline]
    pub fn put_line(&mut self, header: PieceHeader, data: &[u8]) {
        assert!(data.len() <= INLINE, "{} bytes in a line of {INLINE}", data.len());
        debug_assert!(self.free > 1);
        // SAFETY: the line has INLINE bytes of data, and is the sender's until it is published.
        unsafe { copy_small(data.as_ptr(), self.memory.data(self.line), data.len()) };
        self.publish(header, 1);
    }

    /// Writes a line of six words. It must fit.
    // Inlined, and written word by word: the cpu cannot forward words that were just written one by one to a load of
    // two, which then waits until all stores before are done, those of a slot's copy among them.
    #[inline(always)]
    pub fn put_words(&mut self, header: PieceHeader, words: &[u64; 6]) {
        debug_assert!(self.free > 1);
        let line = self.memory.data(self.line).cast::<u64>();
        for (place, &word) in words.iter().enumerate() {
            // SAFETY: a line has room for six words of data, and is the sender's until it is published.
            unsafe { line.add(place).write_unaligned(word) };
        }
        self.publish(header, 1);
    }

    /// Whether the next message, if it answers none either, is in a row.
    #[inline]
    pub fn is_in_row(&self) -> bool {
        self.row >= ROW_FROM
    }

    /// Lines written since the start.
    pub fn produced(&self) -> u64 {
        self.produced
    }

    /// Writes the next piece with `left` bytes to send, filled by `fill`; bytes it carries. It must fit.
    #[inline]
    pub fn put_piece(&mut self, header: PieceHeader, left: usize, fill: impl FnOnce(&mut [u8])) -> usize {
        let bytes = piece_bytes(self.line, left);
        let lines = lines_of(bytes);
        debug_assert!(self.free > lines);
        // SAFETY: `bytes` fit into the lines up to the end of the ring, which are the sender's until the piece is
        // published.
        fill(unsafe { std::slice::from_raw_parts_mut(self.memory.data(self.line), bytes) });
        for raw in self.line + 1..self.line + lines {
            self.raw[raw as usize / 64] |= 1 << (raw % 64);
        }
        self.publish(header, lines);
        bytes
    }

    #[inline]
    fn publish(&mut self, header: PieceHeader, lines: u32) {
        let (line, lap) = (self.line, self.lap);
        let (next, further) = behind(line, lines);
        self.line = next;
        if next == 0 {
            self.lap = next_lap(lap);
        }
        self.free -= further;
        self.taken = self.taken.saturating_sub(further);
        self.produced += u64::from(further);
        let (word, bit) = (self.line as usize / 64, 1 << (self.line % 64));
        if self.raw[word] & bit != 0 {
            self.raw[word] &= !bit;
            self.memory.clear(self.line);
        }
        self.memory.set_rest(line, header.second);
        self.memory.publish(line, header.first | u64::from(lap));
        if self.early.is_timed() {
            self.early.is_written(kernel_ns());
        }
    }
}

/// The receiver's side.
pub struct PieceReader<M> {
    memory: M,
    line: u32,
    lap: u8,
    consumed: u64,
    /// Lines consumed since the counters were published.
    unpublished: u32,
    /// Lines of the last piece.
    last: u32,
    /// Eager bytes handed on since the start.
    pub handed_on: u64,
    /// How far the ring back was written when this side last answered in a page of this one.
    answered: u64,
    /// The page that came last, if this side may still answer there.
    came: Option<RingPage>,
}

impl<M: RingLines> PieceReader<M> {
    /// The receiver's side of a ring in memory that is all zero.
    pub fn new(memory: M) -> Self {
        Self {
            memory,
            line: 0,
            lap: 1,
            consumed: 0,
            unpublished: 0,
            last: 1,
            handed_on: 0,
            answered: 0,
            came: None,
        }
    }

    /// The header of the next piece, when it is there.
    #[inline]
    pub fn peek(&self) -> Option<PieceHeader> {
        let first = self.memory.stamp(self.line);
        if first as u8 != self.lap {
            return None;
        }
        Some(PieceHeader { first: first & !0xff, second: self.memory.rest(self.line) })
    }

    /// Nothing is there, and what lies in its place is neither a header of the lap before nor cleared: the next piece,
    /// if it was written, will never be seen.
    pub fn is_corrupt(&self) -> bool {
        let before = if self.lap == 1 { u8::MAX } else { self.lap - 1 };
        let first = self.memory.stamp(self.line);
        first != 0 && ![self.lap, before].contains(&(first as u8))
    }

    /// Fetches a line some way behind the piece that is there: several messages come at once.
    #[inline]
    pub fn fetch_ahead(&self) {
        let line = self.line + AHEAD;
        self.memory.fetch_to_read(if line < STARTS { line } else { line - STARTS });
    }

    /// The header and the first words of the next line, when it is there, behind a piece of one line.
    #[inline]
    pub fn peek_behind(&self) -> Option<(PieceHeader, [u64; 3])> {
        let (line, lines) = behind(self.line, 1);
        let first = self.memory.stamp(line);
        if lines > 1 || first as u8 != self.lap {
            return None;
        }
        // SAFETY: a line has room for them; the sender leaves it alone until it is consumed.
        let words = unsafe { self.memory.data(line).cast::<[u64; 3]>().read_unaligned() };
        Some((PieceHeader { first: first & !0xff, second: self.memory.rest(line) }, words))
    }

    /// Fetches the line behind that of the piece that is there.
    #[inline]
    pub fn fetch_next(&self) {
        self.memory.fetch_to_read(behind(self.line, 1).0);
    }

    /// Fetches the lines behind the next header, as many as the last piece had: for a rank that waits for one as long.
    /// Then they come at the same time as the header, and not after it. (To and fro on an EPYC, 64 B take 0.14 us and
    /// not 0.17, 256 B 0.19 and 0.20, 8 B as long as before.)
    #[inline]
    pub fn fetch_alike(&self) {
        for line in self.line + 1..LINES.min(self.line + self.last.min(SHORT_LINES)) {
            self.memory.fetch_to_read(line);
        }
    }

    /// The data of the piece that is there, when the message has `left` bytes from it on.
    ///
    /// # Safety
    /// `peek` saw a piece, and the slice is gone before `consume`.
    #[inline]
    pub unsafe fn data(&self, left: usize) -> &[u8] {
        // SAFETY: inside the ring by `piece_bytes`; the sender leaves it alone until it is consumed.
        unsafe { std::slice::from_raw_parts(self.memory.data(self.line), piece_bytes(self.line, left)) }
    }

    /// Goes on behind the piece that is there. True when the sender was told how far.
    #[inline]
    pub fn consume(&mut self, left: usize) -> bool {
        let lines = lines_of(piece_bytes(self.line, left));
        let (next, further) = behind(self.line, lines);
        self.line = next;
        if next == 0 {
            self.lap = next_lap(self.lap);
        }
        self.last = lines;
        self.consumed += u64::from(further);
        self.unpublished += further;
        if self.unpublished >= PUBLISH_LINES {
            self.publish();
            return true;
        }
        false
    }

    /// Lines consumed since the start.
    #[inline]
    pub fn consumed(&self) -> u64 {
        self.consumed
    }

    /// Tells the sender how far.
    #[inline]
    pub fn publish(&mut self) {
        self.unpublished = 0;
        // From now on the sender may take its pages back.
        self.came = self.came.filter(|page| page.own);
        let Self { consumed, handed_on, answered, .. } = *self;
        self.memory.publish_counters(Counters { consumed, handed_on, answered });
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
