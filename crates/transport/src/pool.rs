//! Memory of a sender, in the segment, for pieces of messages that are too large for its rings: one line of a ring says
//! where.
//!
//! Cells are lent in turn, and are free again when the receiver has consumed the line. A ring alone would hold too few
//! bytes to keep both sides copying, and one of that size for each pair would be too much memory.
//!
//! Turns matter. A cell that was read a moment ago lies in the receiver's private cache, and a sender that writes it
//! has to fetch each line from there. A pool that is larger than both sides' private caches together has its oldest
//! cells in the cache that all share, where writing them disturbs nobody. And a receiver's cpu fetches ahead of what
//! it reads: it takes the lines behind a cell just when the sender writes them. So cells that follow one another in
//! turn do not lie side by side. Between two cores of an EPYC, writing 4 kB took 0.6 us next to the cell that was
//! just read, and 0.15 us elsewhere.

use crate::segment::Segment;

/// Bytes of a cell.
pub(crate) const CELL: usize = 4096;
/// Cells from one turn's to the next turn's; odd, so that each cell has its turn where their number is a power of two.
const STRIDE: u64 = 5;
/// The same for cells that are written past the caches: memory is read fastest in order.
const STRIDE_PAST: u64 = 1;
/// Cells that get their memory together: the kernel maps pages that are there in such blocks for the receiver, too.
const TOGETHER: usize = 16;
/// Messages with so many bytes left go through the pool.
pub(crate) const POOLED_FROM: usize = 256;

/// The most bytes of a piece: one line of the ring speaks of all its cells.
const MOST_PIECE: usize = 4 * CELL;

/// The order in which cells have their turns: how many cells on the next one is.
#[derive(Clone, Copy)]
pub(crate) struct CellOrder(pub(crate) u64);

impl CellOrder {
    /// The order for cells that are written past the caches, or through them.
    #[inline]
    pub(crate) fn of(past: bool) -> Self {
        Self(if past { STRIDE_PAST } else { STRIDE })
    }

    /// The cell whose turn is after another's, in a pool of so many.
    #[inline]
    fn after(self, cell: usize, cells: usize) -> usize {
        cell.wrapping_add(self.0 as usize) & (cells - 1)
    }

    /// The cells in turn, from one on, in a pool of so many.
    #[inline]
    fn turns(self, first: usize, cells: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(first), move |&cell| Some(self.after(cell, cells)))
    }
}

/// Bytes of the next piece of a message: small ones first come sooner, large ones cost fewer lines.
#[inline]
pub(crate) fn piece_bytes(message: usize, left: usize) -> usize {
    let piece = match message {
        0..=8192 => CELL,
        8193..=32768 => 2 * CELL,
        _ => MOST_PIECE,
    };
    left.min(piece)
}

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
    /// Which blocks of `TOGETHER` cells have memory.
    has_memory: Vec<bool>,
}

// SAFETY: shared memory that is never unmapped; a cell is written by its owner while nobody borrows it.
unsafe impl Send for Pool {}

impl Default for Pool {
    fn default() -> Self {
        Self { start: std::ptr::null_mut(), loans: Vec::new(), next: 0, has_memory: Vec::new() }
    }
}

impl Pool {
    /// The pool of a rank that sends from it.
    pub(crate) fn new(segment: &Segment, rank: usize) -> Self {
        let cells = cells(segment);
        let has_memory = vec![false; cells.div_ceil(TOGETHER)];
        Self { start: segment.pool(rank), loans: vec![None; cells], next: 0, has_memory }
    }

    /// Gets memory for a cell and its neighbours, which costs less than one page at a time.
    #[cold]
    fn get_memory(&mut self, block: usize) {
        self.has_memory[block] = true;
        if cfg!(miri) {
            return; // It does not know the advice.
        }
        let bytes = TOGETHER * CELL;
        // SAFETY: inside the pool. Advice that is refused changes nothing.
        unsafe { libc::madvise(self.start.add(block * bytes).cast(), bytes, libc::MADV_POPULATE_WRITE) };
    }

    /// How many of the next cells in turn nobody borrows, up to `most`; `is_done` says whether a loan is over.
    #[inline]
    pub(crate) fn free(&self, most: usize, order: CellOrder, mut is_done: impl FnMut(Loan) -> bool) -> usize {
        order
            .turns(self.next, self.loans.len())
            .take(most)
            .take_while(|&cell| self.loans[cell].is_none_or(&mut is_done))
            .count()
    }

    /// The next cell in turn; a piece starts there.
    #[inline]
    pub(crate) fn next(&self) -> usize {
        self.next
    }

    /// The first bytes of the next cell in turn, which is lent. It has to be free.
    #[inline]
    pub(crate) fn lend(&mut self, bytes: usize, order: CellOrder, loan: Loan) -> &mut [u8] {
        let cell = self.next;
        assert!(bytes <= CELL && !self.start.is_null());
        if !self.has_memory[cell / TOGETHER] {
            self.get_memory(cell / TOGETHER);
        }
        self.loans[cell] = Some(loan);
        self.next = order.after(cell, self.loans.len());
        // SAFETY: inside the pool, which has `loans.len()` cells; the receiver has consumed what was there.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(cell * CELL), bytes) }
    }
}

/// Cells of a rank's pool: a power of two, for `STRIDE`.
#[inline]
fn cells(segment: &Segment) -> usize {
    1 << (segment.pool_bytes() / CELL).ilog2()
}

/// A piece in a sender's cells, cell by cell; nothing when there is no such cell or a piece never has so many bytes.
///
/// # Safety
/// The sender leaves it alone: the line that speaks of it isn't consumed.
#[inline]
pub(crate) unsafe fn lent<'a>(
    segment: &Segment,
    from: usize,
    [first, bytes, order]: [u64; 3],
) -> Option<impl Iterator<Item = &'a [u8]> + use<'a>> {
    let (start, cells) = (segment.pool(from), cells(segment));
    if first >= cells as u64 || bytes > MOST_PIECE as u64 {
        return None;
    }
    let bytes = bytes as usize;
    // SAFETY: inside the sender's pool: an order gives no number from `cells` on.
    let cell = move |(at, cell): (usize, usize)| unsafe {
        std::slice::from_raw_parts(start.add(cell * CELL), (bytes - at * CELL).min(CELL))
    };
    Some(CellOrder(order).turns(first as usize, cells).take(bytes.div_ceil(CELL)).enumerate().map(cell))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn each_cell_has_its_turn_in_both_orders_and_pieces_are_found_where_they_were_put() {
        let segment = Segment::private(2, 2).unwrap();
        let cells = cells(&segment);
        for order in [false, true].map(CellOrder::of) {
            let mut met = vec![false; cells];
            order.turns(0, cells).take(cells).for_each(|cell| met[cell] = true);
            assert!(met.iter().all(|&met| met));
            let mut pool = Pool::new(&segment, 1);
            for (number, bytes) in [(1u8, 700), (2, CELL), (3, 3 * CELL + 5), (4, MOST_PIECE)] {
                let first = pool.next();
                let loan = Loan { to: 0, until: 1 };
                for at in (0..bytes).step_by(CELL) {
                    pool.lend((bytes - at).min(CELL), order, loan).fill(number);
                }
                // SAFETY: nobody writes these cells meanwhile.
                let piece = unsafe { lent(&segment, 1, [first as u64, bytes as u64, order.0]) }.unwrap();
                assert_eq!(piece.flatten().filter(|&&byte| byte == number).count(), bytes);
            }
            assert_eq!(pool.free(2 * cells, order, |_| false), cells - 10);
            assert_eq!(pool.free(3, order, |_| true), 3);
        }
    }

    #[test]
    fn a_piece_that_no_sender_can_have_put_lies_nowhere_or_in_the_pool() {
        let segment = Segment::private(2, 2).unwrap();
        let at = |place| {
            // SAFETY: nobody writes to the segment.
            unsafe { lent(&segment, 0, place) }.map(|piece| piece.map(<[u8]>::len).sum::<usize>())
        };
        assert_eq!(at([cells(&segment) as u64, 1, 5]), None);
        assert_eq!(at([0, MOST_PIECE as u64 + 1, 5]), None);
        assert_eq!(at([3, MOST_PIECE as u64, u64::MAX]), Some(MOST_PIECE));
        assert_eq!(at([3, 0, 0]), Some(0));
    }
}
