//! The place of a message's data in this process.

use crate::copy::{SMALL, copy, copy_in, copy_out, copy_past_unfenced, copy_small};
use crate::landing::Landing;
use std::sync::Arc;

/// Bytes that are packed at a time on the way from one layout to another.
const BETWEEN: usize = 4096;

/// How the data of one element lies when it is not contiguous. The engine packs and unpacks it piece by piece, or has
/// the kernel copy it span by span.
pub trait Shape: Send + Sync {
    /// Copies data of `count` elements at `base` to `into`, from byte `from` of the packed data on; how many bytes.
    ///
    /// # Safety
    /// The elements lie at `base` and may be read.
    unsafe fn pack(&self, base: *const u8, count: usize, from: usize, into: &mut [u8]) -> usize;

    /// Copies packed `data` to `count` elements at `base`, from byte `from` of the packed data on; how many bytes.
    ///
    /// # Safety
    /// There is room for the elements at `base`, and nobody else uses it.
    unsafe fn unpack(&self, base: *mut u8, count: usize, from: usize, data: &[u8]) -> usize;

    /// Whether `spans` says where the data lies. Otherwise it goes through `pack` and `unpack` alone, and some of it
    /// may be unpacked more than once.
    fn has_spans(&self) -> bool {
        true
    }

    /// Lists where the data lies, from byte `from` of the packed data on, until it has listed `most` bytes or `pieces`
    /// spans; how many bytes.
    fn spans(
        &self,
        base: *mut u8,
        count: usize,
        from: usize,
        most: usize,
        pieces: usize,
        into: &mut Vec<Span>,
    ) -> usize;
}

/// Bytes in a row, in this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Span {
    /// Where they start.
    pub address: *mut u8,
    /// How many.
    pub bytes: usize,
}

/// Where a message's data lies in this process. Its maker has promised that the engine may use the data until the
/// transfer is complete.
#[derive(Clone)]
pub struct Buffer {
    /// Where it starts.
    pub(crate) address: *mut u8,
    /// Bytes of data, packed.
    pub(crate) bytes: usize,
    /// How the data lies when it isn't `bytes` contiguous bytes from `address` on.
    pub(crate) layout: Option<Layout>,
}

// SAFETY: an address alone; its maker promised that the engine may use the data, on whichever thread it is.
unsafe impl Send for Buffer {}
// SAFETY: as above; what reads or writes through a shared buffer is the engine or unsafe.
unsafe impl Sync for Buffer {}

/// `count` elements that are not contiguous.
#[derive(Clone)]
pub struct Layout {
    /// How one element lies.
    pub shape: Arc<dyn Shape>,
    /// How many of them.
    pub count: usize,
}

impl Buffer {
    /// No bytes.
    pub const EMPTY: Self = Self { address: std::ptr::null_mut(), bytes: 0, layout: None };

    /// `bytes` bytes in a row.
    ///
    /// # Safety
    /// They are readable until each send of them is complete; writable, and used by nobody else, until each receive is.
    #[inline]
    pub const unsafe fn new(address: *mut u8, bytes: usize) -> Self {
        Self { address, bytes, layout: None }
    }

    /// Elements that are not contiguous: `bytes` bytes of data in all.
    ///
    /// # Safety
    /// As for `new`, of the bytes that the layout's shape packs and unpacks from `address` on.
    pub unsafe fn of_layout(address: *mut u8, bytes: usize, layout: Layout) -> Self {
        Self { address, bytes, layout: Some(layout) }
    }

    /// Where the data starts, bytes of it, and how it lies.
    #[inline]
    pub fn into_parts(self) -> (*mut u8, usize, Option<Layout>) {
        (self.address, self.bytes, self.layout)
    }

    /// The buffer of these parts.
    ///
    /// # Safety
    /// As for `new`, or for `of_layout` where there is a layout.
    #[inline]
    pub const unsafe fn of_parts(address: *mut u8, bytes: usize, layout: Option<Layout>) -> Self {
        Self { address, bytes, layout }
    }

    /// Bytes of data, packed.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Where the data starts.
    #[inline]
    pub fn address(&self) -> *mut u8 {
        self.address
    }

    /// The data lies in a row, `bytes` bytes from `address` on.
    #[inline]
    pub fn is_contiguous(&self) -> bool {
        self.layout.is_none()
    }

    /// Copies data out of the buffer, from a byte on.
    #[inline]
    pub(crate) fn read(&self, from: usize, into: &mut [u8]) {
        self.read_by(copy_out, from, into);
    }

    /// As `read`; contiguous data is copied as the caller says.
    #[inline]
    pub(crate) fn read_by(&self, copy: unsafe fn(*const u8, *mut u8, usize), from: usize, into: &mut [u8]) {
        debug_assert!(from + into.len() <= self.bytes);
        // SAFETY: the buffer holds `bytes` bytes of data, lent until the transfer is complete.
        unsafe {
            match &self.layout {
                None => copy(self.address.add(from), into.as_mut_ptr(), into.len()),
                Some(layout) => {
                    layout.shape.pack(self.address, layout.count, from, into);
                }
            }
        }
    }

    /// Copies data into the buffer, from a byte on; what is beyond its end is left out.
    #[inline]
    pub(crate) fn write(&self, from: usize, data: &[u8]) {
        let bytes = data.len().min(self.bytes.saturating_sub(from));
        // SAFETY: as for `read`.
        unsafe {
            match &self.layout {
                None if bytes <= SMALL => copy_small(data.as_ptr(), self.address.wrapping_add(from), bytes),
                None => copy_in(data.as_ptr(), self.address.wrapping_add(from), bytes),
                Some(layout) => {
                    layout.shape.unpack(self.address, layout.count, from, &data[..bytes]);
                }
            }
        }
    }

    /// As `write`, of at most a line from the first byte on.
    #[inline(always)]
    pub(crate) fn write_line(&self, data: &[u8]) {
        if self.layout.is_some() || data.len() > SMALL {
            return self.write(0, data);
        }
        // SAFETY: as for `read`.
        unsafe { copy_small(data.as_ptr(), self.address, data.len().min(self.bytes)) };
    }

    /// As `write`; contiguous data lands where the caller says. What lands past the caches is there after `fence_past`,
    /// for other cpus too.
    #[inline]
    pub(crate) fn land(&self, landing: Landing, from: usize, data: &[u8]) {
        match landing {
            Landing::PastCaches if self.layout.is_none() => {
                let bytes = data.len().min(self.bytes.saturating_sub(from));
                // SAFETY: as for `read`.
                unsafe { copy_past_unfenced(data.as_ptr(), self.address.wrapping_add(from), bytes) };
            }
            _ => self.write(from, data),
        }
    }

    /// Copies the data of another buffer of this process into this one; at most what it holds.
    ///
    /// # Safety
    /// Both buffers' memory may be used now.
    pub unsafe fn copy_from(&self, other: &Buffer) {
        let bytes = self.bytes.min(other.bytes);
        if bytes == 0 {
            return;
        }
        // SAFETY: each buffer has room for its bytes, as its maker promised.
        unsafe {
            match (&other.layout, &self.layout) {
                (None, None) if (other.address as usize).abs_diff(self.address as usize) >= bytes => {
                    copy(other.address, self.address, bytes);
                }
                (None, None) => std::ptr::copy(other.address, self.address, bytes),
                (None, Some(_)) => self.write(0, std::slice::from_raw_parts(other.address, bytes)),
                (Some(_), None) => other.read(0, std::slice::from_raw_parts_mut(self.address, bytes)),
                (Some(_), Some(_)) => {
                    let mut between = [0; BETWEEN];
                    for from in (0..bytes).step_by(BETWEEN) {
                        let piece = &mut between[..(bytes - from).min(BETWEEN)];
                        other.read(from, piece);
                        self.write(from, piece);
                    }
                }
            }
        }
    }

    /// A copy of the data, packed.
    ///
    /// # Safety
    /// The buffer's memory may be read now.
    pub unsafe fn packed(&self) -> Box<[u8]> {
        let mut data = vec![0; self.bytes].into_boxed_slice();
        if self.bytes > 0 {
            self.read(0, &mut data);
        }
        data
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn data_is_packed_as_it_lies() {
        let mut data = [1_u8, 2, 3];
        // SAFETY: three bytes, alive in the next line.
        assert_eq!(*unsafe { Buffer::new(data.as_mut_ptr(), 3).packed() }, [1, 2, 3]);
        // SAFETY: no bytes.
        assert!(unsafe { Buffer::EMPTY.packed() }.is_empty());
    }
}
