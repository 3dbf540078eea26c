//! Elements of a datatype in this process's memory.

use super::Datatype;
use std::sync::Arc;
use transport::{Buffer, Layout};

/// `count` elements of a datatype at an address.
#[derive(Clone, Copy)]
pub(crate) struct Elements<'a> {
    /// What the user passes as a buffer.
    pub address: *mut u8,
    /// How many.
    pub count: usize,
    /// Of which kind.
    pub datatype: &'a Arc<Datatype>,
}

impl<'a> Elements<'a> {
    /// Bytes of data.
    pub(crate) fn bytes(&self) -> usize {
        self.count * self.datatype.size
    }

    /// As the engine takes it.
    pub(crate) fn buffer(&self) -> Buffer {
        // SAFETY: the program lends the elements until the collective is over.
        unsafe {
            if self.datatype.contiguous || self.bytes() == 0 {
                return Buffer::new(self.address, self.bytes());
            }
            let layout = Layout { shape: self.datatype.clone(), count: self.count };
            Buffer::of_layout(self.address, self.bytes(), layout)
        }
    }

    /// The `count` elements from the one at `start` on, which may lie behind the end.
    pub(crate) fn part(&self, start: usize, count: usize) -> Self {
        let address = self.address.wrapping_offset(start as isize * self.datatype.extent);
        Self { address, count, datatype: self.datatype }
    }

    /// The block of a rank, when every rank has as many elements as `self`.
    pub(crate) fn block(&self, rank: usize) -> Self {
        self.part(rank * self.count, self.count)
    }

    /// Lies at its address as the other at its own.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        if self.datatype.contiguous && other.datatype.contiguous {
            return self.bytes() == other.bytes();
        }
        self.count == other.count && Arc::ptr_eq(self.datatype, other.datatype)
    }

    /// From the address of `count` elements to their lowest byte, and the bytes from there to behind their highest.
    pub(crate) fn span(datatype: &Datatype, count: usize) -> (isize, usize) {
        if count == 0 || datatype.size == 0 {
            return (0, 0);
        }
        let last = (count - 1) as isize * datatype.extent;
        (datatype.true_lb + last.min(0), (datatype.true_extent + last.abs()) as usize)
    }

    /// Whether any byte of both is the same, as far as their spans tell.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        let range = |elements: &Self| {
            let (lowest, bytes) = Self::span(elements.datatype, elements.count);
            let start = elements.address.wrapping_offset(lowest) as usize;
            start..start.wrapping_add(bytes)
        };
        let (a, b) = (range(self), range(other));
        !a.is_empty() && !b.is_empty() && a.start < b.end && b.start < a.end
    }
}
