//! A rank's own data, which it copies in a collective in which it sends data as well.
//!
//! The copy is made piece by piece, beside the pieces that go out. Where both are of the same data, as in an allgather,
//! the second copy finds it in the nearest cache; and while the lines that one copy writes are on their way, the other
//! one goes on. (Two ranks on an EPYC that fill slots, copy their own data and read the other one's, by hand, us, one
//! behind the other and so: the same data of 64 kB 4.8 and 4.2, of 1 MB 82 and 69; other data 4.8 and 4.6, 84 and 78.)

use super::Engine;
use super::send::leave_out;
use crate::buffer::Buffer;
use crate::copy::{copy, fence_past};
use crate::landing::{Landing, Origin};
use host::clock::kernel_ns;
use std::ops::Range;

/// A copy that has begun.
pub(super) struct OwnCopy {
    from: Buffer,
    into: Buffer,
    /// What is left of it.
    rest: Range<usize>,
}

impl OwnCopy {
    /// Copies those bytes, where they are the next ones from the start or from the end.
    fn copy(&mut self, range: Range<usize>) {
        let range = range.start..range.end.min(self.rest.end);
        if range.is_empty() || range.start != self.rest.start && range.end != self.rest.end {
            return;
        }
        let range = range.start.max(self.rest.start)..range.end;
        // SAFETY: inside both buffers, which are apart and lent until the copy's end, as `begin_to_copy_own` was
        // promised.
        unsafe {
            copy(self.from.address.add(range.start), self.into.address.add(range.start), range.len());
        }
        leave_out(&mut self.rest, range);
    }
}

impl Engine<'_> {
    /// Begins to copy this rank's own data to another place, beside what it sends next. `copy_own` of the same buffers
    /// is the end of it.
    ///
    /// # Safety
    /// Both buffers' memory may be used until then; nothing happens in between but sends.
    pub unsafe fn begin_to_copy_own(&mut self, from: &Buffer, into: &Buffer) {
        let bytes = from.bytes.min(into.bytes);
        if is_plain(from, into) && !self.landings.has_choice(bytes) {
            self.own_copy = Some(OwnCopy { from: from.clone(), into: into.clone(), rest: 0..bytes });
        }
    }

    /// Some bytes of data have gone out: as many of what has begun are copied.
    #[inline]
    pub(super) fn copy_beside(&mut self, range: &Range<usize>) {
        if let Some(own) = &mut self.own_copy {
            own.copy(range.clone());
        }
    }

    /// Copies this rank's own data to another place, or what is left of it.
    ///
    /// # Safety
    /// Both buffers' memory may be used now.
    pub unsafe fn copy_own(&mut self, from: &Buffer, into: &Buffer) {
        if let Some(own) = &mut self.own_copy {
            debug_assert!((own.from.address, own.into.address) == (from.address, into.address));
            own.copy(own.rest.start..own.rest.end);
            self.own_copy = None;
            return;
        }
        let bytes = from.bytes.min(into.bytes);
        if !is_plain(from, into) || !self.landings.has_choice(bytes) {
            // SAFETY: as the caller promised.
            return unsafe { into.copy_from(from) };
        }
        let start_ns = kernel_ns();
        let landing = match self.room.crowded() {
            true => self.landings.choose(Origin::Own, bytes),
            false => self.landings.choose_by_cycle(bytes, start_ns),
        };
        match landing {
            // SAFETY: as the caller promised.
            Landing::InCaches => unsafe { into.copy_from(from) },
            // SAFETY: the bytes that both have, in a row and apart.
            Landing::PastCaches => unsafe {
                into.land(landing, 0, std::slice::from_raw_parts(from.address, bytes));
                fence_past();
            },
        }
        self.landings.learn(Origin::Own, bytes, landing, bytes, kernel_ns() - start_ns);
    }
}

/// Both are in a row, and apart.
fn is_plain(from: &Buffer, into: &Buffer) -> bool {
    let is_apart = (from.address as usize).abs_diff(into.address as usize) >= from.bytes.min(into.bytes);
    is_apart && from.is_contiguous() && into.is_contiguous()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn own_data_is_copied_whole_whatever_goes_out_beside_it() {
        let pieces: &[&[Range<usize>]] = &[
            &[],
            &[0..400, 400..800, 800..1000],
            &[700..1000, 300..700, 0..300],
            &[0..100, 900..1000, 100..300],
            // Of a longer message, of a shorter one, and of one that went out before.
            &[0..600, 600..1200, 1200..1500],
            &[1100..1500, 600..1100, 0..600],
            &[300..500, 0..300],
            &[0..500, 500..1000, 0..500, 500..1000],
            &[0..0, 5000..6000],
        ];
        let from: Vec<u8> = (0..1000).map(|at| (at * 7 + at / 251) as u8).collect();
        for pieces in pieces {
            let mut into = vec![0u8; 1010];
            // SAFETY: both live to the end, and nobody else uses them.
            let [from_buffer, into_buffer] = unsafe {
                [Buffer::new(from.as_ptr().cast_mut(), 1000), Buffer::new(into.as_mut_ptr(), 1000)]
            };
            let mut own = OwnCopy { from: from_buffer, into: into_buffer, rest: 0..1000 };
            let mut copied = 0;
            for piece in pieces.iter() {
                let before = own.rest.len();
                own.copy(piece.clone());
                copied += before - own.rest.len();
            }
            let in_order = pieces.first().is_some_and(|first| first.start == 0 && !first.is_empty());
            assert!(copied > 0 || !in_order, "{pieces:?}");
            own.copy(own.rest.start..own.rest.end);
            assert!(into[..1000] == from && into[1000..] == [0; 10], "{pieces:?}");
        }
    }
}
