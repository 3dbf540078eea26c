//! Messages of up to a page, each of which lies in the page beside its line of the ring.
//!
//! A page has its turn with its line, and nobody lends it, keeps it or gives it home, as slots of a pool.

use super::receive::IN_ORDER;
use super::send::{Piece, demoted, most_in_ring};
use super::{Engine, kind};
use crate::copy::{copy_by_lines, demote, fetch_to_read};
use crate::costs::Fill;
use crate::fills::TimedFill;
use crate::pool::{FETCHED, Pool, Receiver};
use crate::ring::{Area, INLINE, PieceHeader, PieceWriter};
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
/// .39, but 1.27 and 1.39.)
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

    /// Writes it into the page beside a line, where it must fit; which bytes of the message it has.
    #[inline]
    pub(super) fn put_beside(
        &self,
        producer: &mut PieceWriter<Area>,
        pool: &mut Pool,
        to: usize,
    ) -> Range<usize> {
        let bytes = self.buffer.bytes;
        let fill = if self.buffer.layout.is_none() { pool.choose_fill_of_page(to, bytes) } else { None };
        let header = self.header.of_kind(kind::EAGER | kind::BESIDE);
        let (most, demoted) = match self.receiver {
            Receiver::Waits => (FETCHED_FOR_ANSWERS, demoted(bytes)),
            _ => (FETCHED, 0),
        };
        let fetched = if bytes <= most { bytes } else { 0 };
        match fill {
            None => producer.put_beside(
                header,
                TimedFill::untimed(Fill::default()).word(),
                bytes,
                fetched,
                |page| {
                    self.buffer.read_by(copy_by_lines, 0, page);
                    demote(&page[..demoted]);
                },
            ),
            Some(fill) => producer.put_beside(header, fill.word(), bytes, fetched, |page| {
                fill.write(pool.costs(), bytes, || self.buffer.read_by(fill.fill.copy(), 0, page));
                demote(&page[..demoted]);
            }),
        }
        0..bytes
    }
}

/// Bytes of a message that needs neither a page nor the pool.
#[inline]
pub(super) fn most_in_lines(producer: &PieceWriter<Area>, is_answer: bool) -> usize {
    if !is_answer && producer.is_in_row() && producer.has_page() {
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
    /// A message whose data lies in the page beside its line.
    pub(super) fn take_beside(&mut self, from: usize, header: PieceHeader) {
        let bytes = header.length() as usize;
        // SAFETY: `drain` peeked, and consumes below; a line of this kind is a piece alone.
        let beside = unsafe { self.incoming[from].consumer.beside(bytes) };
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
            && let Some((behind, [place, bytes])) = consumer.peek_behind()
        {
            if behind.kind() & kind::POOLED != 0 {
                self.pool.fetch_piece(from, place, bytes);
            } else if behind.kind() & kind::BESIDE != 0 && behind.length() as usize <= FETCHED {
                consumer.fetch_beside_next(behind.length() as usize);
            }
        }
    }
}
