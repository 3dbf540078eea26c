//! Memory for programs (MPI 5.0, section 9.2), and what happens when the library itself gets none.

use crate::abi;
use crate::abi::values::*;
use crate::call::{Declared, Out};
use crate::check::Failure;
use crate::comm::info::{self, Info};
use crate::comm::mpi;
use crate::runtime;
use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::c_void;
use std::fmt::Write;

/// The system's allocator; out of memory ends the job with a line that says so, instead of a signal.
struct Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

// SAFETY: hands everything to the system's allocator, and gives no null pointer.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises.
        given(unsafe { System.alloc(layout) }, layout.size())
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises.
        given(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: the caller's promises.
        given(unsafe { System.realloc(memory, layout, bytes) }, bytes)
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[inline]
fn given(memory: *mut u8, bytes: usize) -> *mut u8 {
    if memory.is_null() {
        exhausted(bytes);
    }
    memory
}

/// Text in a place of its own: there is no memory for it elsewhere.
struct FixedLine {
    text: [u8; 256],
    bytes: usize,
}

impl Write for FixedLine {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let bytes = text.len().min(self.text.len() - self.bytes);
        self.text[self.bytes..][..bytes].copy_from_slice(&text.as_bytes()[..bytes]);
        self.bytes += bytes;
        Ok(())
    }
}

#[cold]
fn exhausted(bytes: usize) -> ! {
    let mut line = FixedLine { text: [0; 256], bytes: 0 };
    // Writing to a `FixedLine` cannot fail.
    let _ = write!(
        line,
        "out of memory: the MPI library got no {bytes} bytes more for requests and messages that nobody has received; \
         see ulimit -v and the memory of the container"
    );
    let text = std::str::from_utf8(&line.text[..line.bytes]).unwrap_or("out of memory");
    launch::abort(MPI_ERR_NO_MEM, text)
}

/// Without a hint memory is aligned to a cache line.
const ALIGNMENT: usize = 64;

/// The alignment that a program asks for, or the cache line's when that is more.
fn alignment(hints: &Info) -> Result<usize, Failure> {
    let Some(value) = hints.get(b"mpi_minimum_memory_alignment") else { return Ok(ALIGNMENT) };
    let text = String::from_utf8_lossy(value);
    match text.parse::<usize>() {
        Ok(bytes) if bytes.is_power_of_two() => Ok(bytes.max(ALIGNMENT)),
        _ => Err(Failure::new(
            MPI_ERR_INFO_VALUE,
            format_args!("info has mpi_minimum_memory_alignment = \"{text}\"; allowed are powers of two"),
        )),
    }
}

mpi! {
    /// Memory that is aligned to a cache line, or to more when the hint says so.
    fn PMPI_Alloc_mem(size: abi::Aint, info: abi::Info, baseptr: Declared<*mut c_void, Out<*mut c_void>>) {
        baseptr.present()?;
        let alignment = alignment(&info::hints(&runtime::enter(), info)?)?;
        let bytes = usize::try_from(size)
            .map_err(|_| Failure::new(MPI_ERR_ARG, format_args!("size is {size}; allowed are 0 and more")))?;
        // SAFETY: an alignment that is a power of two; freed by `free`.
        let memory = unsafe { libc::memalign(alignment, bytes.max(1)) };
        if memory.is_null() {
            return Err(Failure::new(MPI_ERR_NO_MEM, format_args!("there is no memory for size = {size} bytes")));
        }
        baseptr.write(memory)
    }

    /// Frees what `MPI_Alloc_mem` gave.
    fn PMPI_Free_mem(base: *mut c_void) {
        // SAFETY: the caller passes what `MPI_Alloc_mem` gave, or null.
        unsafe { libc::free(base) };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_can_ask_for_more_alignment_and_not_for_nonsense() {
        let mut hints = Info::default();
        assert_eq!(alignment(&hints).unwrap(), 64);
        hints.set(b"mpi_minimum_memory_alignment", b"4096");
        assert_eq!(alignment(&hints).unwrap(), 4096);
        hints.set(b"mpi_minimum_memory_alignment", b"8");
        assert_eq!(alignment(&hints).unwrap(), 64);
        hints.set(b"mpi_minimum_memory_alignment", b"12");
        assert!(alignment(&hints).unwrap_err().text().contains("\"12\""));
    }

    #[test]
    fn a_line_that_is_too_long_is_cut() {
        let mut line = FixedLine { text: [0; 256], bytes: 0 };
        for _ in 0..100 {
            line.write_str("abc").unwrap();
        }
        assert_eq!(line.bytes, 256);
    }
}
