//! What a walk through the blocks of a datatype does with them: copies to the packed data, copies from it, or lists them.

use super::Span;
use super::layout::Sink;

/// Copies blocks of a length known to the compiler: the loop is loads and stores, not calls.
macro_rules! by_length {
    ($bytes:expr, $copy:ident, [$($length:literal)*]) => {
        match $bytes {
            $($length => $copy!($length),)*
            bytes => $copy!(bytes),
        }
    };
}

/// Copies blocks one behind the other.
pub(super) struct Pack {
    into: *mut u8,
    left: usize,
}

impl Pack {
    pub fn new(into: &mut [u8]) -> Self {
        Self { into: into.as_mut_ptr(), left: into.len() }
    }
}

impl Sink for Pack {
    #[inline]
    fn left(&self) -> usize {
        self.left
    }

    #[inline]
    fn block(&mut self, address: *mut u8, bytes: usize) {
        // SAFETY: the datatype's data is readable by the word of `pack`'s caller; at most `left` bytes are left at `into`, and
        // user data and packed data don't overlap.
        unsafe {
            std::ptr::copy_nonoverlapping(address, self.into, bytes);
            self.into = self.into.add(bytes);
        }
        self.left -= bytes;
    }

    #[inline]
    fn strided(&mut self, address: *mut u8, count: usize, stride: isize, bytes: usize) {
        let (mut from, mut into) = (address.cast_const(), self.into);
        macro_rules! copy {
            ($length:expr) => {
                for _ in 0..count {
                    // SAFETY: as in `block`, for each of `count` blocks.
                    unsafe {
                        std::ptr::copy_nonoverlapping(from, into, $length);
                        into = into.add($length);
                    }
                    from = from.wrapping_offset(stride);
                }
            };
        }
        by_length!(bytes, copy, [1 2 4 8 12 16 24 32 48 64]);
        self.into = into;
        self.left -= count * bytes;
    }

    #[inline]
    fn scattered(&mut self, address: *mut u8, at: &[isize], bytes: usize) {
        let mut into = self.into;
        macro_rules! copy {
            ($length:expr) => {
                for &at in at {
                    // SAFETY: as in `block`, for each of the blocks.
                    unsafe {
                        std::ptr::copy_nonoverlapping(address.wrapping_offset(at), into, $length);
                        into = into.add($length);
                    }
                }
            };
        }
        by_length!(bytes, copy, [1 2 4 8 12 16 24 32 48 64]);
        self.into = into;
        self.left -= at.len() * bytes;
    }
}

/// Copies packed data to the blocks.
pub(super) struct Unpack {
    from: *const u8,
    left: usize,
}

impl Unpack {
    pub fn new(from: &[u8]) -> Self {
        Self { from: from.as_ptr(), left: from.len() }
    }
}

impl Sink for Unpack {
    #[inline]
    fn left(&self) -> usize {
        self.left
    }

    #[inline]
    fn block(&mut self, address: *mut u8, bytes: usize) {
        // SAFETY: the datatype's data is writable by the word of `unpack`'s caller; at most `left` bytes are left at `from`, and
        // user data and packed data don't overlap.
        unsafe {
            std::ptr::copy_nonoverlapping(self.from, address, bytes);
            self.from = self.from.add(bytes);
        }
        self.left -= bytes;
    }

    #[inline]
    fn strided(&mut self, address: *mut u8, count: usize, stride: isize, bytes: usize) {
        let (mut from, mut into) = (self.from, address);
        macro_rules! copy {
            ($length:expr) => {
                for _ in 0..count {
                    // SAFETY: as in `block`, for each of `count` blocks.
                    unsafe {
                        std::ptr::copy_nonoverlapping(from, into, $length);
                        from = from.add($length);
                    }
                    into = into.wrapping_offset(stride);
                }
            };
        }
        by_length!(bytes, copy, [1 2 4 8 12 16 24 32 48 64]);
        self.from = from;
        self.left -= count * bytes;
    }

    #[inline]
    fn scattered(&mut self, address: *mut u8, at: &[isize], bytes: usize) {
        let mut from = self.from;
        macro_rules! copy {
            ($length:expr) => {
                for &at in at {
                    // SAFETY: as in `block`, for each of the blocks.
                    unsafe {
                        std::ptr::copy_nonoverlapping(from, address.wrapping_offset(at), $length);
                        from = from.add($length);
                    }
                }
            };
        }
        by_length!(bytes, copy, [1 2 4 8 12 16 24 32 48 64]);
        self.from = from;
        self.left -= at.len() * bytes;
    }
}

/// Lists blocks, neighbours joined.
pub(super) struct List<'a> {
    into: &'a mut Vec<Span>,
    /// The list's length that is not to be exceeded.
    most: usize,
    /// Neighbours are joined from this entry on: those before are the caller's.
    first: usize,
    left: usize,
    /// Bytes listed.
    pub listed: usize,
}

impl<'a> List<'a> {
    /// At most `pieces` more blocks of at most `bytes` bytes together.
    pub fn new(into: &'a mut Vec<Span>, pieces: usize, bytes: usize) -> Self {
        let first = into.len();
        Self { most: first + pieces, first, into, left: bytes, listed: 0 }
    }
}

impl Sink for List<'_> {
    fn left(&self) -> usize {
        self.left
    }

    fn block(&mut self, address: *mut u8, bytes: usize) {
        if bytes == 0 {
            return;
        }
        let full = self.into.len() == self.most;
        match self.into[self.first..].last_mut() {
            Some(last) if last.address.wrapping_add(last.bytes) == address => last.bytes += bytes,
            _ if full => {
                self.left = 0;
                return;
            }
            _ => self.into.push(Span { address, bytes }),
        }
        self.left -= bytes;
        self.listed += bytes;
    }
}
