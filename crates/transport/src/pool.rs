//! Memory of a sender, in the segment, for pieces of messages that are too large for its rings: one line of a ring says
//! where.
//!
//! Cells are lent in turn, and are free again when the receiver has consumed the line. A ring alone would hold too few
//! bytes to keep both sides copying, and one of that size for each pair would be too much memory.
//!
//! Turns matter: a cell that was read a moment ago lies in the receiver's private cache, and a sender that writes it
//! has to fetch each line from there. A pool that is larger than both sides' private caches together has its oldest
//! cells in the cache that all share, where writing them disturbs nobody.

use crate::segment::Segment;

/// Bytes of a cell, the most of a piece.
pub(crate) const CELL: usize = 16 * 1024;
/// Messages with so many bytes left go through the pool.
pub(crate) const POOLED_FROM: usize = 4096;

/// What a cell is lent for.
#[derive(Clone, Copy)]
pub(crate) struct Loan {
    /// The receiver.
    pub(crate) to: u16,
    /// The receiver is done when it has consumed so many lines.
    pub(crate) until: u64,
}

/// A rank's cells, as it lends them.
pub(crate) struct Pool {
    start: *mut u8,
    loans: Vec<Option<Loan>>,
    next: usize,
}

/// Bytes of the next piece of a message: small ones first come sooner, large ones cost fewer lines.
#[inline]
pub(crate) fn piece_bytes(message: usize, left: usize) -> usize {
    let piece = match message {
        0..=8192 => 4096,
        8193..=32768 => 8192,
        _ => CELL,
    };
    left.min(piece)
}

// SAFETY: shared memory that is never unmapped; a cell is written by its owner while nobody borrows it.
unsafe impl Send for Pool {}

impl Default for Pool {
    fn default() -> Self {
        Self { start: std::ptr::null_mut(), loans: Vec::new(), next: 0 }
    }
}

impl Pool {
    /// The pool of a rank that sends from it.
    pub(crate) fn new(segment: &Segment, rank: usize) -> Self {
        Self { start: segment.pool(rank), loans: vec![None; segment.pool_bytes() / CELL], next: 0 }
    }

    /// The first bytes of a cell that isn't lent.
    #[inline]
    pub(crate) fn cell(&mut self, number: usize, bytes: usize) -> &mut [u8] {
        assert!(number < self.loans.len() && bytes <= CELL && !self.start.is_null());
        // SAFETY: inside the pool by the check above; the receiver has consumed what was there.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(number * CELL), bytes) }
    }

    /// The next cell in turn: its number, and what it was lent for.
    #[inline]
    pub(crate) fn next(&self) -> (usize, Option<Loan>) {
        (self.next, self.loans[self.next])
    }

    /// Lends the next cell.
    #[inline]
    pub(crate) fn lend(&mut self, loan: Loan) {
        self.loans[self.next] = Some(loan);
        self.next = if self.next + 1 == self.loans.len() { 0 } else { self.next + 1 };
    }
}

/// The first bytes of a sender's cell; nothing when there is no such cell or it has not so many.
///
/// # Safety
/// The sender leaves it alone: the line that speaks of it isn't consumed.
#[inline]
pub(crate) unsafe fn lent<'a>(segment: &Segment, from: usize, number: u64, bytes: u64) -> Option<&'a [u8]> {
    if number >= (segment.pool_bytes() / CELL) as u64 || bytes > CELL as u64 {
        return None;
    }
    // SAFETY: inside the sender's pool by the check above.
    Some(unsafe {
        std::slice::from_raw_parts(segment.pool(from).add(number as usize * CELL), bytes as usize)
    })
}
