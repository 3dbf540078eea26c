//! Messages of up to a page, each of which lies in the page beside its line of the ring, or in the one in which the
//! message came that it answers.
//!
//! A page has its turn with its line, and nobody keeps it or gives it home, as slots of a pool. One that a receiver may
//! answer in goes to and fro (`ring::pages`), but not where messages cross on the way: there, nobody waits for one.
//! (Always beside lines, and so, by turns of processes in one run on a Xeon while a line takes 170 ns, us, medians of
//! 12: 256 B to and fro .417 and .326, 1 kB .522 and .427, 2 kB .593 and .607, 4 kB 1.27 and .903.)

use super::receive::IN_ORDER;
use super::send::{Piece, demoted, most_in_ring};
use super::{Engine, kind};
use crate::copy::{copy_by_lines, demote, fetch_to_read};
use crate::costs::Fill;
use crate::fills::TimedFill;
use crate::pool::{FETCHED, Pool, Receiver};
use crate::ring::{Area, INLINE, PieceHeader, PieceReader, PieceWriter};
use crate::segment::PAGE;
use std::ops::Range;

/// Messages in a row lie in the ring up to so many bytes where there are pages beside its lines, and others up to
/// `POOLED_FROM`. A choice. (Streams on an EPYC, us, in lines or in slots, and beside lines: 256 B .12 and .13, 512 B
/// .16 and .15, 1 kB .24 and .15, 2 kB .27 and .20, 4 kB .33 and .24; while a line takes 200 ns .28 and .25, .40 and
/// .29, .35 and .36, .56 and .49, .63 and .57.)
pub(super) const MOST_IN_ROW: usize = 256;
/// The page of the next answer is fetched for as many bytes as this one has, up to so many, while this rank waits. A
/// choice, where others have `FETCHED`. (By turns in one run on an EPYC, us, with that and with this: 1.5 kB to and fro
/// .32 and .29, and 1.10 and .81 while a line takes 200 ns; 2 kB .37 and .34, 1.36 and 1.02. With 3 kB, 3 kB .42 and
/// .39, but 1.27 and 1.39. All without pages that go to and fro.)
const FETCHED_FOR_ANSWERS: usize = 2 * FETCHED;
/// So many bytes of a piece that lies apart come while its message is matched. (By turns of blocks in one run on an
/// EPYC, us, without and so: 1.5 kB to and fro .324 and .309, 4 kB .557 and .530, 16 kB 1.23 and 1.20; .803 and .749,
/// 1.10 and 1.05, 3.01 and 2.95 while a line takes 200 ns. With 2 kB of them, 4 kB take .520 and 1.12.)
const FETCHED_FIRST: usize = 1024;

impl Piece<'_> {
    /// Whether it is to lie in the page beside its line: it is a whole message, and no short one. (Two ranks on an
    /// EPYC, us, in slots and beside lines: 1 kB to and fro .40 and .31, and .86 and .67 while a line takes 200 ns; 2
    /// kB .48 and .37, 1.05 and 1.07; 3 kB .49 and .47, 1.22 and 1.31; 4 kB .60 and .55, 1.33 and 1.22. Two each way: 1
    /// kB 1.11 and 1.08, 2.21 and 1.87; 2 kB 1.56 and 1.14, 2.61 and 2.64; 4 kB 1.94 and 1.73, 3.20 and 3.13; with only
    /// answers beside lines, 1 kB 2.47.)
    #[inline]
    pub(super) fn goes_beside(&self, producer: &PieceWriter<Area>) -> bool {
        let bytes = self.buffer.bytes;
        bytes <= PAGE
            && self.left == bytes
            && self.header.kind() == kind::EAGER
            && bytes > most_in_lines(producer, self.receiver == Receiver::Waits)
            && producer.has_page()
    }

    /// Writes it into the page beside a line, where it must fit; which bytes of the message it has. `lends`: as
    /// in the ring.
    #[inline]
    pub(super) fn put_beside(
        &self,
        producer: &mut PieceWriter<Area>,
        pool: &mut Pool,
        to: usize,
        lends: Option<u64>,
    ) -> Range<usize> {
        let bytes = self.buffer.bytes;
        let (header, fill) = self.in_page(pool, to, false);
        let most = if self.receiver == Receiver::Waits { FETCHED_FOR_ANSWERS } else { FETCHED };
        let fetched = if bytes <= most { bytes } else { 0 };
        producer.put_beside(header, fill.word(), bytes, lends, fetched, |page| self.fill(page, fill, pool));
        0..bytes
    }

    /// Writes it into the page that came from the rank, where its line must fit.
    #[inline]
    pub(super) fn put_in_page_that_came(
        &self,
        producer: &mut PieceWriter<Area>,
        consumer: &mut PieceReader<Area>,
        pool: &mut Pool,
        to: usize,
    ) {
        let bytes = self.buffer.bytes;
        let (header, fill) = self.in_page(pool, to, true);
        producer
            .put_in_page_that_came(consumer, header, fill.word(), bytes, |page| self.fill(page, fill, pool));
    }

    /// Its header, and how a page is filled. `came`: the page came with a message.
    #[inline]
    fn in_page(&self, pool: &mut Pool, to: usize, came: bool) -> (PieceHeader, TimedFill) {
        let fill = match self.buffer.layout {
            None => pool.choose_fill_of_page(to, self.buffer.bytes, came),
            Some(_) => TimedFill::untimed(Fill::default()),
        };
        (self.header.of_kind(kind::EAGER | kind::BESIDE), fill)
    }

    /// Fills a page with it.
    #[inline]
    fn fill(&self, page: &mut [u8], fill: TimedFill, pool: &Pool) {
        if page.len() <= FETCHED {
            self.buffer.read_by(copy_by_lines, 0, page);
        } else {
            fill.write(pool.costs(), page.len(), || self.buffer.read_by(fill.fill.copy(), 0, page));
        }
        if self.receiver == Receiver::Waits {
            demote(&page[..demoted(page.len())]);
        }
    }
}

/// Bytes of a message that needs neither a page nor the pool.
#[inline]
pub(super) fn most_in_lines(producer: &PieceWriter<Area>, is_answer: bool) -> usize {
    if !is_answer && producer.is_in_row() && producer.has_pages() {
        MOST_IN_ROW
    } else {
        most_in_ring(is_answer)
    }
}

/// Fetches the first bytes of a piece that lies apart.
#[inline]
pub(super) fn fetch_first(piece: &[u8]) {
    fetch_to_read(piece.as_ptr(), piece.len().min(FETCHED_FIRST));
}

impl Engine<'_> {
    /// Writes a piece into the page that came from the rank, or else into the one beside its line, where it must fit.
    #[inline(never)]
    pub(super) fn put_in_page(&mut self, to: usize, piece: &Piece<'_>) {
        let (producer, consumer) = (&mut self.outgoing[to].producer, &mut self.incoming[to].consumer);
        if consumer.has_page_that_came() {
            piece.put_in_page_that_came(producer, consumer, &mut self.pool, to);
        } else {
            let lends = (piece.receiver == Receiver::Waits).then(|| consumer.consumed());
            piece.put_beside(producer, &mut self.pool, to, lends);
        }
    }

    /// A message whose data lies in a page.
    pub(super) fn take_beside(&mut self, from: usize, header: PieceHeader) {
        let bytes = header.length() as usize;
        let (consumer, producer) = (&mut self.incoming[from].consumer, &self.outgoing[from].producer);
        // SAFETY: `drain` peeked, and consumes below; a line of this kind is a piece alone.
        let beside = unsafe { consumer.beside(producer, bytes) };
        let Some((word, piece)) = beside.filter(|_| header.kind() == kind::EAGER) else {
            self.corrupt(from, "a message that lies nowhere")
        };
        // SAFETY: as above: the page is the ring's, and nothing of the engine's is in it.
        let piece = unsafe { std::mem::transmute::<&[u8], &[u8]>(piece) };
        fetch_first(piece);
        self.fill_of(from, word).read(self.pool.costs(), bytes, || {
            self.take_data(from, header, IN_ORDER, piece, &mut None);
            true
        });
        self.consumed(from, INLINE);
    }

    /// Fetches a small piece that lies apart and follows one that does: it comes while that one is copied.
    #[inline]
    pub(super) fn fetch_behind(&self, from: usize, header: PieceHeader) {
        let lies_apart = |header: PieceHeader| header.kind() & (kind::POOLED | kind::BESIDE) != 0;
        let consumer = &self.incoming[from].consumer;
        if lies_apart(header)
            && let Some((behind, words)) = consumer.peek_behind()
        {
            if behind.kind() & kind::POOLED != 0 {
                self.pool.fetch_piece(from, words[0], words[1]);
            } else if behind.kind() & kind::BESIDE != 0 && behind.length() as usize <= FETCHED {
                consumer.fetch_beside(words, behind.length() as usize);
            }
        }
    }
}
