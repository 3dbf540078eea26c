//! Datatypes: how data lies in memory (MPI 5.0, chapter 5).

use crate::abi;

/// A datatype, predefined or derived. Sizes in bytes.
pub struct Datatype {
    /// Bytes of data.
    pub size: usize,
    /// Lower bound.
    pub lb: isize,
    /// Distance from one element to the next.
    pub extent: isize,
    /// Lowest byte of data.
    pub true_lb: isize,
    /// From the lowest byte of data to behind the highest.
    pub true_extent: isize,
    /// Any count of them is `count * size` bytes without a gap from the buffer's address on, in order.
    pub contiguous: bool,
    /// May be used to communicate.
    pub committed: std::sync::atomic::AtomicBool,
    /// The handle, when predefined.
    pub predefined: Option<abi::Datatype>,
}

/// A piece of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Where.
    pub address: *mut u8,
    /// How much.
    pub bytes: usize,
}

impl Datatype {
    /// Copies data of `count` elements at `base` into `into`, starting at byte `from` of the packed data; bytes copied.
    ///
    /// # Safety
    /// `base` must point to `count` elements of this datatype, all readable.
    pub unsafe fn pack(&self, base: *const u8, count: usize, from: usize, into: &mut [u8]) -> usize {
        let bytes = (self.size * count).saturating_sub(from).min(into.len());
        // SAFETY: contiguous data by the caller's word.
        unsafe { std::ptr::copy_nonoverlapping(base.add(from), into.as_mut_ptr(), bytes) };
        bytes
    }

    /// The other way.
    ///
    /// # Safety
    /// `base` must point to `count` elements of this datatype, all writable.
    pub unsafe fn unpack(&self, base: *mut u8, count: usize, from: usize, data: &[u8]) -> usize {
        let bytes = (self.size * count).saturating_sub(from).min(data.len());
        // SAFETY: contiguous data by the caller's word.
        unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), base.add(from), bytes) };
        bytes
    }

    /// Appends the pieces of memory that hold bytes `from .. from + most` of the packed data of `count` elements at `base`, in the
    /// order of the packed data, neighbours joined; stops at `pieces` of them. Returns the bytes they hold.
    pub fn spans(
        &self,
        base: *mut u8,
        count: usize,
        from: usize,
        most: usize,
        pieces: usize,
        into: &mut Vec<Span>,
    ) -> usize {
        let bytes = (self.size * count).saturating_sub(from).min(most);
        if bytes > 0 && pieces > 0 {
            into.push(Span { address: base.wrapping_add(from), bytes });
        }
        bytes
    }
}
