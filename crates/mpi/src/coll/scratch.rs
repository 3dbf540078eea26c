//! Memory of a schedule's own, taken piece by piece and given back all at once.

use std::mem::MaybeUninit;

/// A cache line, so that pieces don't share one.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct CacheLine([MaybeUninit<u8>; LINE]);
/// Bytes of a cache line.
const LINE: usize = 64;
/// More than this many bytes are not kept from one use to the next.
const MOST_KEPT: usize = 8 << 20;

/// Memory that is taken piece by piece. Pieces stay where they are until all are given back; they are not initialised.
#[derive(Default)]
pub(super) struct Scratch {
    chunks: Vec<Box<[CacheLine]>>,
    /// Lines taken of the last chunk.
    taken: usize,
}

impl Scratch {
    /// `bytes` bytes, aligned to a cache line.
    pub(super) fn take(&mut self, bytes: usize) -> *mut u8 {
        let lines = bytes.div_ceil(LINE);
        let left = self.chunks.last().map_or(0, |chunk| chunk.len() - self.taken);
        if left < lines || self.chunks.is_empty() {
            self.chunks.push(vec![CacheLine([MaybeUninit::uninit(); LINE]); lines.max(1)].into_boxed_slice());
            self.taken = 0;
        }
        let chunk = self.chunks.last_mut().expect("one was just made");
        let start = self.taken;
        self.taken += lines;
        chunk[start..].as_mut_ptr().cast()
    }

    /// All pieces are given back. The next use finds the memory of this one in one chunk.
    pub(super) fn clear(&mut self) {
        if self.chunks.len() > 1 {
            let lines: usize = self.chunks.iter().map(|chunk| chunk.len()).sum();
            self.chunks.clear();
            if lines * LINE <= MOST_KEPT {
                self.chunks.push(vec![CacheLine([MaybeUninit::uninit(); LINE]); lines].into_boxed_slice());
            }
        } else if self.chunks.first().is_some_and(|chunk| chunk.len() * LINE > MOST_KEPT) {
            self.chunks.clear();
        }
        self.taken = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_do_not_overlap_and_stay_where_they_are() {
        let mut scratch = Scratch::default();
        for round in 0..3 {
            let pieces: Vec<(*mut u8, usize)> =
                [1, 64, 1000, 0, 65, 4096].map(|bytes| (scratch.take(bytes), bytes)).to_vec();
            for (i, &(piece, bytes)) in pieces.iter().enumerate() {
                assert_eq!(piece as usize % LINE, 0);
                // SAFETY: a piece of that many bytes.
                unsafe { piece.write_bytes(i as u8 + round, bytes) };
            }
            for (i, &(piece, bytes)) in pieces.iter().enumerate() {
                // SAFETY: as above, and written.
                let found = unsafe { std::slice::from_raw_parts(piece, bytes) };
                assert!(found.iter().all(|&byte| byte == i as u8 + round));
            }
            scratch.clear();
        }
    }

    #[test]
    fn the_second_use_allocates_nothing() {
        let mut scratch = Scratch::default();
        scratch.take(100);
        scratch.take(5000);
        scratch.clear();
        let chunk = scratch.chunks[0].as_ptr();
        scratch.take(100);
        scratch.take(5000);
        assert_eq!((scratch.chunks.len(), scratch.chunks[0].as_ptr()), (1, chunk));
    }
}
