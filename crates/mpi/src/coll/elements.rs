//! Elements of a datatype in this process's memory.

use crate::datatype::Datatype;
use crate::engine::{Buffer, Layout};
use std::sync::Arc;

/// `count` elements of a datatype at an address.
#[derive(Clone, Copy)]
pub struct Elements<'a> {
    /// What the user passes as a buffer.
    pub address: *mut u8,
    /// How many.
    pub count: usize,
    /// Of which kind.
    pub datatype: &'a Arc<Datatype>,
}

impl<'a> Elements<'a> {
    /// Bytes of data.
    pub fn bytes(&self) -> usize {
        self.count * self.datatype.size
    }

    /// As the engine takes it.
    pub fn buffer(&self) -> Buffer {
        let layout = (!self.datatype.contiguous && self.bytes() > 0)
            .then(|| Layout { datatype: self.datatype.clone(), count: self.count });
        Buffer { address: self.address, bytes: self.bytes(), layout }
    }

    /// The `count` elements from the one at `start` on, which may lie behind the end.
    pub fn part(&self, start: usize, count: usize) -> Self {
        let address = self.address.wrapping_offset(start as isize * self.datatype.extent);
        Self { address, count, datatype: self.datatype }
    }

    /// The block of a rank, when every rank has as many elements as `self`.
    pub fn block(&self, rank: usize) -> Self {
        self.part(rank * self.count, self.count)
    }

    /// Lies at its address as the other at its own.
    pub fn is_like(&self, other: &Self) -> bool {
        if self.datatype.contiguous && other.datatype.contiguous {
            return self.bytes() == other.bytes();
        }
        self.count == other.count && Arc::ptr_eq(self.datatype, other.datatype)
    }

    /// From the address of `count` elements to their lowest byte, and the bytes from there to behind their highest.
    pub fn span(datatype: &Datatype, count: usize) -> (isize, usize) {
        if count == 0 || datatype.size == 0 {
            return (0, 0);
        }
        let last = (count - 1) as isize * datatype.extent;
        (datatype.true_lb + last.min(0), (datatype.true_extent + last.abs()) as usize)
    }

    /// Whether any byte of both is the same, as far as their spans tell.
    pub fn overlaps(&self, other: &Self) -> bool {
        let range = |elements: &Self| {
            let (lowest, bytes) = Self::span(elements.datatype, elements.count);
            let start = elements.address.wrapping_offset(lowest) as usize;
            start..start.wrapping_add(bytes)
        };
        let (a, b) = (range(self), range(other));
        !a.is_empty() && !b.is_empty() && a.start < b.end && b.start < a.end
    }
}

/// Bytes that are packed at once from one layout to another.
const PIECE: usize = 4096;

/// Copies the data of one buffer to another, at most as much as that holds.
///
/// # Safety
/// Both must be valid and not overlap.
pub unsafe fn copy(from: &Buffer, into: &Buffer) {
    let bytes = from.bytes.min(into.bytes);
    // SAFETY: valid by the caller's word; no more than either holds.
    unsafe {
        match (&from.layout, &into.layout) {
            (None, None) => std::ptr::copy(from.address, into.address, bytes),
            (Some(layout), None) => {
                let packed = std::slice::from_raw_parts_mut(into.address, bytes);
                layout.datatype.pack(from.address, layout.count, 0, packed);
            }
            (None, Some(layout)) => {
                let packed = std::slice::from_raw_parts(from.address, bytes);
                layout.datatype.unpack(into.address, layout.count, 0, packed);
            }
            (Some(source), Some(target)) => {
                let mut piece = [0; PIECE];
                for start in (0..bytes).step_by(PIECE) {
                    let some = (bytes - start).min(PIECE);
                    source.datatype.pack(from.address, source.count, start, &mut piece[..some]);
                    target.datatype.unpack(into.address, target.count, start, &piece[..some]);
                }
            }
        }
    }
}
