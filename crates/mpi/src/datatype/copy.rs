//! What a walk through the blocks of a datatype does with them: copies to the packed data, copies from it, or lists
//! them.

use super::layout::{BlockSink, LayoutNode, Loop};
use transport::Span;

/// Copies blocks of lengths of one kind, so that a loop over blocks is loads and stores, without calls.
trait Width {
    /// # Safety
    /// `bytes` bytes at `from` are readable and at `into` writable, and don't overlap; `bytes` is of this kind.
    unsafe fn copy(from: *const u8, into: *mut u8, bytes: usize);
}

/// Exactly `N` bytes.
struct Exact<const N: usize>;

impl<const N: usize> Width for Exact<N> {
    #[inline(always)]
    unsafe fn copy(from: *const u8, into: *mut u8, _: usize) {
        // SAFETY: as the caller promises.
        unsafe { std::ptr::copy_nonoverlapping(from, into, N) };
    }
}

/// `N` bytes to twice as many: the first `N` and the last `N`.
struct TwoEnds<const N: usize>;

impl<const N: usize> Width for TwoEnds<N> {
    #[inline(always)]
    unsafe fn copy(from: *const u8, into: *mut u8, bytes: usize) {
        // SAFETY: as the caller promises; both ends are within.
        unsafe {
            std::ptr::copy_nonoverlapping(from, into, N);
            std::ptr::copy_nonoverlapping(from.add(bytes - N), into.add(bytes - N), N);
        }
    }
}

/// Any number of bytes.
struct Any;

impl Width for Any {
    #[inline(always)]
    unsafe fn copy(from: *const u8, into: *mut u8, bytes: usize) {
        // SAFETY: as the caller promises.
        unsafe { transport::copy(from, into, bytes) };
    }
}

/// Copies one block of any length, a short one without a call. Which branch is taken depends on the magnitude of the
/// length alone, which changes less from block to block than the length does.
///
/// # Safety
/// As `Width::copy`'s.
#[inline(always)]
unsafe fn copy_block(from: *const u8, into: *mut u8, bytes: usize) {
    // SAFETY: as the caller promises.
    unsafe {
        match bytes {
            0 => {}
            1 => Exact::<1>::copy(from, into, bytes),
            2..=3 => TwoEnds::<2>::copy(from, into, bytes),
            4..=7 => TwoEnds::<4>::copy(from, into, bytes),
            8..=15 => TwoEnds::<8>::copy(from, into, bytes),
            16..=31 => TwoEnds::<16>::copy(from, into, bytes),
            32..=64 => TwoEnds::<32>::copy(from, into, bytes),
            _ => Any::copy(from, into, bytes),
        }
    }
}

/// Calls a function with the kind of width that a number of bytes is.
macro_rules! by_width {
    ($bytes:expr, $function:ident($($argument:expr),*)) => {
        match $bytes {
            1 => $function::<Exact<1>>($($argument),*),
            2 => $function::<Exact<2>>($($argument),*),
            4 => $function::<Exact<4>>($($argument),*),
            8 => $function::<Exact<8>>($($argument),*),
            12 => $function::<Exact<12>>($($argument),*),
            16 => $function::<Exact<16>>($($argument),*),
            20 => $function::<Exact<20>>($($argument),*),
            24 => $function::<Exact<24>>($($argument),*),
            32 => $function::<Exact<32>>($($argument),*),
            40 => $function::<Exact<40>>($($argument),*),
            48 => $function::<Exact<48>>($($argument),*),
            56 => $function::<Exact<56>>($($argument),*),
            64 => $function::<Exact<64>>($($argument),*),
            3 => $function::<TwoEnds<2>>($($argument),*),
            5..=7 => $function::<TwoEnds<4>>($($argument),*),
            9..=15 => $function::<TwoEnds<8>>($($argument),*),
            17..=31 => $function::<TwoEnds<16>>($($argument),*),
            33..=63 => $function::<TwoEnds<32>>($($argument),*),
            65..=128 => $function::<TwoEnds<64>>($($argument),*),
            _ => $function::<Any>($($argument),*),
        }
    };
}

/// A place in memory and the distance to the next.
type Steps<P> = (P, isize);

/// # Safety
/// As `Width::copy`'s, for each of `count` blocks.
#[inline(always)]
unsafe fn blocks<W: Width>(
    (mut from, from_step): Steps<*const u8>,
    (mut into, into_step): Steps<*mut u8>,
    count: usize,
    bytes: usize,
) {
    for _ in 0..count {
        // SAFETY: as the caller promises.
        unsafe { W::copy(from, into, bytes) };
        from = from.wrapping_offset(from_step);
        into = into.wrapping_offset(into_step);
    }
}

/// Two dimensions of blocks, the first in batches: `outer` elements of `inner` blocks each.
struct Weave {
    outer: usize,
    inner: usize,
    batch: usize,
}

/// A place in memory, the distance to the next element, and to the next block of an element.
type Lattice<P> = (P, isize, isize);

/// Copies, of a batch of elements, one block after the other.
///
/// # Safety
/// As `Width::copy`'s, for each block.
unsafe fn weave<W: Width>(from: Lattice<*const u8>, into: Lattice<*mut u8>, weave: &Weave, bytes: usize) {
    let &Weave { outer, inner, batch } = weave;
    if batch == 1 {
        for i in 0..outer as isize {
            let from_block = from.0.wrapping_offset(from.1.wrapping_mul(i));
            let into_block = into.0.wrapping_offset(into.1.wrapping_mul(i));
            // SAFETY: as the caller promises.
            unsafe { blocks::<W>((from_block, from.2), (into_block, into.2), inner, bytes) };
        }
        return;
    }
    let (mut from_batch, mut into_batch) = (from.0, into.0);
    for first in (0..outer).step_by(batch) {
        let elements = batch.min(outer - first);
        let (mut from_block, mut into_block) = (from_batch, into_batch);
        for _ in 0..inner {
            let (from_element, into_element) = ((from_block, from.1), (into_block, into.1));
            // SAFETY: as the caller promises.
            unsafe {
                if elements == FAR_BATCH {
                    // So many that the compiler knows: without a loop.
                    blocks::<W>(from_element, into_element, FAR_BATCH, bytes);
                } else {
                    blocks::<W>(from_element, into_element, elements, bytes);
                }
            }
            from_block = from_block.wrapping_offset(from.2);
            into_block = into_block.wrapping_offset(into.2);
        }
        from_batch = from_batch.wrapping_offset(from.1.wrapping_mul(batch as isize));
        into_batch = into_batch.wrapping_offset(into.1.wrapping_mul(batch as isize));
    }
}

/// # Safety
/// As `Width::copy`'s, for each block.
unsafe fn gather<W: Width>(from: *const u8, at: &[isize], mut into: *mut u8, bytes: usize) {
    for &at in at {
        // SAFETY: as the caller promises.
        unsafe { W::copy(from.wrapping_offset(at), into, bytes) };
        into = into.wrapping_add(bytes);
    }
}

/// # Safety
/// As `Width::copy`'s, for each block.
unsafe fn scatter<W: Width>(mut from: *const u8, into: *mut u8, at: &[isize], bytes: usize) {
    for &at in at {
        // SAFETY: as the caller promises.
        unsafe { W::copy(from, into.wrapping_offset(at), bytes) };
        from = from.wrapping_add(bytes);
    }
}

/// So many elements are copied one block after the other (`BlockSink::grid`) where they lie close together, ...
const CLOSE_BATCH: usize = 64;
/// ... which is within so many bytes of each other, in user data and packed data, ...
const CLOSE: usize = 256;
/// ... and so many where they don't: a line of each, at a distance that may be a power of two, must stay in the first
/// cache.
const FAR_BATCH: usize = 8;

/// An element of so many blocks and more is copied before the next one, when its blocks are nearer to one another than
/// to those of the next.
const WHOLE_BLOCKS: usize = 4;

/// Elements that are copied together, of `size` bytes, `stride` apart, with blocks as `inner` says.
fn weave_batch(stride: isize, size: usize, inner: &Loop) -> usize {
    let is_woven = inner.stride.unsigned_abs() >= stride.unsigned_abs();
    if is_woven || inner.count < WHOLE_BLOCKS { batch(stride, size) } else { 1 }
}

/// Elements of `size` bytes, `stride` apart, that are copied together.
fn batch(stride: isize, size: usize) -> usize {
    if stride.unsigned_abs().max(size) <= CLOSE { CLOSE_BATCH } else { FAR_BATCH }
}

/// Calls `each` with batches of `count` elements of `size` bytes, `stride` apart: the first and how many.
fn batches(count: usize, stride: isize, size: usize, mut each: impl FnMut(usize, usize)) {
    let batch = batch(stride, size);
    for first in (0..count).step_by(batch) {
        each(first, batch.min(count - first));
    }
}

/// Copies blocks one behind the other.
pub(super) struct Pack {
    into: *mut u8,
    left: usize,
}

impl Pack {
    pub(super) fn new(into: &mut [u8]) -> Self {
        Self { into: into.as_mut_ptr(), left: into.len() }
    }

    #[inline]
    fn advance(&mut self, bytes: usize) {
        self.into = self.into.wrapping_add(bytes);
        self.left -= bytes;
    }
}

// In all of them: the caller of `Shape::pack` promises readable user data, at most `left` bytes are left at
// `into`, and user data and packed data don't overlap.
impl BlockSink for Pack {
    #[inline]
    fn left(&self) -> usize {
        self.left
    }

    #[inline]
    fn block(&mut self, address: *mut u8, bytes: usize) {
        // SAFETY: as said above.
        unsafe { copy_block(address, self.into, bytes) };
        self.advance(bytes);
    }

    #[inline]
    fn strided(&mut self, address: *mut u8, count: usize, stride: isize, bytes: usize) {
        let (from, into) = ((address.cast_const(), stride), (self.into, bytes as isize));
        // SAFETY: as said above.
        unsafe { by_width!(bytes, blocks(from, into, count, bytes)) };
        self.advance(count * bytes);
    }

    #[inline]
    fn scattered(&mut self, address: *mut u8, at: &[isize], bytes: usize) {
        // SAFETY: as said above.
        unsafe { by_width!(bytes, gather(address, at, self.into, bytes)) };
        self.advance(at.len() * bytes);
    }

    fn grid(&mut self, address: *mut u8, count: usize, stride: isize, body: &LayoutNode) {
        let size = body.size();
        if let Some((inner, bytes)) = body.of_blocks() {
            let from = (address.cast_const(), stride, inner.stride);
            let into = (self.into, size as isize, bytes as isize);
            let both = Weave { outer: count, inner: inner.count, batch: weave_batch(stride, size, inner) };
            // SAFETY: as said above.
            unsafe { by_width!(bytes, weave(from, into, &both, bytes)) };
            return self.advance(count * size);
        }
        batches(count, stride, size, |first, elements| {
            let address = address.wrapping_offset(stride.wrapping_mul(first as isize)).cast_const();
            let into = self.into.wrapping_add(first * size);
            body.each_block(0, 0, &mut |at, start, bytes| {
                let from = (address.wrapping_offset(at), stride);
                let into = (into.wrapping_add(start), size as isize);
                // SAFETY: as said above.
                unsafe { by_width!(bytes, blocks(from, into, elements, bytes)) };
            });
        });
        self.advance(count * size);
    }
}

/// Copies packed data to the blocks.
pub(super) struct Unpack {
    from: *const u8,
    left: usize,
}

impl Unpack {
    pub(super) fn new(from: &[u8]) -> Self {
        Self { from: from.as_ptr(), left: from.len() }
    }

    #[inline]
    fn advance(&mut self, bytes: usize) {
        self.from = self.from.wrapping_add(bytes);
        self.left -= bytes;
    }
}

// In all of them: the caller of `Shape::unpack` promises writable user data, at most `left` bytes are left at
// `from`, and user data and packed data don't overlap.
impl BlockSink for Unpack {
    #[inline]
    fn left(&self) -> usize {
        self.left
    }

    #[inline]
    fn block(&mut self, address: *mut u8, bytes: usize) {
        // SAFETY: as said above.
        unsafe { copy_block(self.from, address, bytes) };
        self.advance(bytes);
    }

    #[inline]
    fn strided(&mut self, address: *mut u8, count: usize, stride: isize, bytes: usize) {
        let (from, into) = ((self.from, bytes as isize), (address, stride));
        // SAFETY: as said above.
        unsafe { by_width!(bytes, blocks(from, into, count, bytes)) };
        self.advance(count * bytes);
    }

    #[inline]
    fn scattered(&mut self, address: *mut u8, at: &[isize], bytes: usize) {
        // SAFETY: as said above.
        unsafe { by_width!(bytes, scatter(self.from, address, at, bytes)) };
        self.advance(at.len() * bytes);
    }

    fn grid(&mut self, address: *mut u8, count: usize, stride: isize, body: &LayoutNode) {
        let size = body.size();
        if let Some((inner, bytes)) = body.of_blocks() {
            let from = (self.from, size as isize, bytes as isize);
            let into = (address, stride, inner.stride);
            let both = Weave { outer: count, inner: inner.count, batch: weave_batch(stride, size, inner) };
            // SAFETY: as said above.
            unsafe { by_width!(bytes, weave(from, into, &both, bytes)) };
            return self.advance(count * size);
        }
        batches(count, stride, size, |first, elements| {
            let address = address.wrapping_offset(stride.wrapping_mul(first as isize));
            let from = self.from.wrapping_add(first * size);
            body.each_block(0, 0, &mut |at, start, bytes| {
                let from = (from.wrapping_add(start), size as isize);
                let into = (address.wrapping_offset(at), stride);
                // SAFETY: as said above.
                unsafe { by_width!(bytes, blocks(from, into, elements, bytes)) };
            });
        });
        self.advance(count * size);
    }
}

/// Lists blocks, neighbours joined.
pub(super) struct PieceList<'a> {
    into: &'a mut Vec<Span>,
    /// The most entries of the list.
    most: usize,
    /// Neighbours are joined from this entry on: those before are the caller's.
    first: usize,
    left: usize,
    /// Bytes listed.
    pub listed: usize,
}

impl<'a> PieceList<'a> {
    /// At most `pieces` more blocks of at most `bytes` bytes together.
    pub(super) fn new(into: &'a mut Vec<Span>, pieces: usize, bytes: usize) -> Self {
        let first = into.len();
        Self { most: first + pieces, first, into, left: bytes, listed: 0 }
    }
}

impl BlockSink for PieceList<'_> {
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
