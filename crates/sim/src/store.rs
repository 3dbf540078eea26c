//! An SPE's local store, used by its program and by the engine in turns.

use crate::LOCAL_STORE_BYTES;
use std::cell::Cell;

/// 256 kB of cells: the engine copies bytes in and out, and makes no references. Only a program has slices, through
/// [`Spe`](crate::Spe), and it has them only while it runs: the engine does not run then, and everything is on one
/// thread (the type is not `Sync`).
pub(crate) struct LocalStore(Box<[Cell<u8>]>);

impl LocalStore {
    pub(crate) fn new() -> Self {
        // Zeros that the operating system hands out: pages that nobody uses cost nothing.
        let bytes = vec![0u8; LOCAL_STORE_BYTES as usize].into_boxed_slice();
        // SAFETY: a `Cell<u8>` has the layout of a `u8`, and the box is the only owner of its bytes.
        Self(unsafe { Box::from_raw(Box::into_raw(bytes) as *mut [Cell<u8>]) })
    }

    /// Fills `into` with the bytes from `at` on.
    #[inline]
    pub(crate) fn read(&self, at: u32, into: &mut [u8]) {
        for (cell, byte) in self.cells(at, into.len()).iter().zip(into) {
            *byte = cell.get();
        }
    }

    /// A copy of the bytes from `at` on.
    pub(crate) fn copied(&self, at: u32, bytes: u32) -> Vec<u8> {
        self.cells(at, bytes as usize).iter().map(Cell::get).collect()
    }

    /// Writes `data` from `at` on.
    #[inline]
    pub(crate) fn write(&self, at: u32, data: &[u8]) {
        for (cell, byte) in self.cells(at, data.len()).iter().zip(data) {
            cell.set(*byte);
        }
    }

    /// Copies bytes from another place of any store, this one included.
    #[inline]
    pub(crate) fn copy(&self, at: u32, source: &LocalStore, from: u32, bytes: u32) {
        let (to, from) = (self.range(at, bytes), source.range(from, bytes));
        // SAFETY: both ranges were checked, cells may be written through shared references, and `copy` allows overlap.
        unsafe { std::ptr::copy(from, to, bytes as usize) };
    }

    /// Where the bytes from `at` on are; panics when there are not so many.
    #[inline]
    pub(crate) fn range(&self, at: u32, bytes: u32) -> *mut u8 {
        self.cells(at, bytes as usize).as_ptr().cast_mut().cast()
    }

    fn cells(&self, at: u32, bytes: usize) -> &[Cell<u8>] {
        &self.0[at as usize..at as usize + bytes]
    }
}

/// Whether so many bytes of a local store are there.
pub(crate) fn store_range(at: u32, bytes: u64) -> Result<(), String> {
    if u64::from(at) + bytes <= u64::from(LOCAL_STORE_BYTES) {
        return Ok(());
    }
    Err(format!("{bytes} bytes at {at:#x} of a local store of {LOCAL_STORE_BYTES} bytes"))
}
