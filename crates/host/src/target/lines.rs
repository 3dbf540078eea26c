//! Memory whose pages nobody has touched yet: whoever writes first decides which memory holds them.

use std::io;
use std::sync::atomic::AtomicU64;

/// Two of these never share a line, nor the neighbour that a prefetcher fetches with it.
const LINE_BYTES: usize = 128;
const WORD_BYTES: usize = size_of::<AtomicU64>();

/// Pages of words, all zero.
#[derive(Debug)]
pub(super) struct Lines {
    start: *mut AtomicU64,
    bytes: usize,
}

// SAFETY: the words are atomics, and `Lines` gives out shared references to them only.
unsafe impl Send for Lines {}
// SAFETY: as above.
unsafe impl Sync for Lines {}

impl Lines {
    /// Room for `count` lines.
    ///
    /// # Errors
    /// When the kernel has no memory for them.
    pub(super) fn new(count: usize) -> io::Result<Self> {
        let bytes = count.max(1) * LINE_BYTES;
        // SAFETY: an anonymous mapping at an address of the kernel's choice touches nothing that is there.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { start: start.cast(), bytes })
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.bytes / LINE_BYTES
    }

    /// Word `word` of line `line`; both are taken modulo what there is.
    pub(super) fn word(&self, line: usize, word: usize) -> &AtomicU64 {
        let at = line % self.count() * (LINE_BYTES / WORD_BYTES) + word % (LINE_BYTES / 2 / WORD_BYTES);
        // SAFETY: `at` is below `bytes / WORD_BYTES`; the mapping is aligned, zeroed by the kernel, lives as long as
        // `self` and is touched through atomics alone.
        unsafe { &*self.start.add(at) }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        // SAFETY: the mapping that `new` made; no reference to it outlives `self`.
        unsafe { libc::munmap(self.start.cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn every_word_of_every_line_is_its_own() {
        let lines = Lines::new(100).unwrap();
        for line in 0..100 {
            for word in 0..8 {
                assert_eq!(lines.word(line, word).fetch_add(1, Ordering::Relaxed), 0);
            }
        }
        assert_eq!(lines.word(100, 8).load(Ordering::Relaxed), 1, "line 0, word 0 again");
    }
}
