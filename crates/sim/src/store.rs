//! An SPE's local store, seen by its program and by the engine in turns.

use crate::LOCAL_STORE_BYTES;
use std::cell::UnsafeCell;

/// 256 kB that a program and the engine use in turns: a program runs only inside `resume`, during which the engine does
/// not touch any store, and everything is on one thread (the type is not `Sync`).
pub(crate) struct Store(UnsafeCell<Box<[u8]>>);

impl Store {
    pub fn new() -> Self {
        Self(UnsafeCell::new(vec![0; LOCAL_STORE_BYTES as usize].into_boxed_slice()))
    }

    /// Bytes from `at` on.
    ///
    /// # Safety
    /// Nobody writes them while the slice lives: the caller gives it up before it yields (a program) or resumes (the
    /// engine).
    #[inline]
    pub unsafe fn bytes(&self, at: u32, bytes: u32) -> &[u8] {
        // SAFETY: the caller's promise; one thread.
        unsafe { &(&*self.0.get())[at as usize..(at + bytes) as usize] }
    }

    /// Bytes from `at` on, to be written.
    ///
    /// # Safety
    /// Nobody else uses any byte of the store while the slice lives.
    #[inline]
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn bytes_mut(&self, at: u32, bytes: u32) -> &mut [u8] {
        // SAFETY: the caller's promise; one thread.
        unsafe { &mut (&mut *self.0.get())[at as usize..(at + bytes) as usize] }
    }
}
