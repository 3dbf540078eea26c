//! The memory of rings and scratch: zeroed, aligned, and first touched by the element that uses it.

use std::alloc::{Layout as Size, alloc_zeroed, dealloc};
use std::ptr::NonNull;

/// Every buffer starts on such a boundary: two cache lines, because the prefetcher fetches lines in pairs.
pub(crate) const ALIGN_BYTES: u64 = 128;

/// What the length of an instance takes, where it varies.
const LENGTH_BYTES: usize = size_of::<u64>();

const PAGE_BYTES: usize = 4096;

/// Zeroed memory.
#[derive(Debug)]
pub(crate) struct Pages {
    at: NonNull<u8>,
    bytes: usize,
    /// Bytes that are mapped, the page behind the block included; 0 where the block is of the heap.
    mapped: usize,
}

// SAFETY: this is memory and no more. A part of it is touched only by the worker that the counters of its ring allow,
// or whose scratch it is.
unsafe impl Send for Pages {}
// SAFETY: as above.
unsafe impl Sync for Pages {}

impl Pages {
    /// `bytes` zeros; a large block's pages come from the kernel and are placed by the first touch.
    ///
    /// # Errors
    /// When the system has no such memory.
    pub(crate) fn zeroed(bytes: u64) -> Result<Pages, String> {
        let refused = || format!("{} of buffers were refused by the system", in_words(bytes));
        let bytes_usize = usize::try_from(bytes.max(1)).map_err(|_| refused())?;
        if bytes_usize >= PAGE_BYTES && !cfg!(miri) {
            // SAFETY: asks, and changes nothing.
            let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(PAGE_BYTES);
            let inside = bytes_usize.checked_next_multiple_of(page).ok_or_else(refused)?;
            let mapped = inside.checked_add(page).ok_or_else(refused)?;
            // SAFETY: a fresh private mapping; nothing else is named.
            let at = unsafe {
                libc::mmap(
                    std::ptr::null_mut(),
                    mapped,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                    -1,
                    0,
                )
            };
            if at == libc::MAP_FAILED {
                return Err(refused());
            }
            // A kernel that runs far beyond its buffer crashes at once, where it can be named, and destroys nothing.
            // SAFETY: the mapping's last page, which nobody uses.
            unsafe { libc::mprotect(at.wrapping_byte_add(inside), page, libc::PROT_NONE) };
            return NonNull::new(at.cast())
                .map(|at| Pages { at, bytes: bytes_usize, mapped })
                .ok_or_else(refused);
        }
        let size = Size::from_size_align(bytes_usize, ALIGN_BYTES as usize).map_err(|_| refused())?;
        // SAFETY: the size is not zero.
        let at = NonNull::new(unsafe { alloc_zeroed(size) }).ok_or_else(refused)?;
        Ok(Pages { at, bytes: bytes_usize, mapped: 0 })
    }

    /// Where it starts.
    pub(crate) fn base(&self) -> *mut u8 {
        self.at.as_ptr()
    }

    /// Touches every page, so that they are on this thread's memory node and no page fault comes later.
    ///
    /// # Safety
    /// Nobody else may touch the block during the call.
    pub(crate) unsafe fn touch(&self) {
        for page in (0..self.bytes).step_by(PAGE_BYTES) {
            // SAFETY: inside the block, which the caller has alone; the value does not change.
            unsafe {
                let at = self.at.as_ptr().add(page);
                at.write_volatile(at.read_volatile());
            }
        }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        if self.mapped > 0 {
            // SAFETY: the mapping was made with this size and is given back once.
            unsafe { libc::munmap(self.at.as_ptr().cast(), self.mapped) };
        } else if let Ok(size) = Size::from_size_align(self.bytes, ALIGN_BYTES as usize) {
            // SAFETY: allocated with this layout, freed once.
            unsafe { dealloc(self.at.as_ptr(), size) };
        }
    }
}

/// How instances of one port lie in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InstanceShape {
    /// Of one instance, without its length.
    pub bytes: u64,
    /// From one instance to the next.
    pub stride: u64,
    /// Bytes before the first instance: room for its length, if there is one.
    pub before: u64,
}

impl InstanceShape {
    /// Instances of `bytes` bytes, side by side; variable ones have their length in the 8 bytes before.
    pub(crate) fn new(bytes: u64, variable: bool) -> Option<InstanceShape> {
        Some(match variable {
            false => InstanceShape { bytes, stride: bytes, before: 0 },
            true => InstanceShape {
                bytes,
                stride: bytes
                    .checked_add(LENGTH_BYTES as u64)?
                    .checked_next_multiple_of(LENGTH_BYTES as u64)?,
                before: ALIGN_BYTES,
            },
        })
    }

    /// Bytes of the length before each instance; 0 where the length is fixed.
    pub(crate) fn length_bytes(&self) -> usize {
        if self.before > 0 { LENGTH_BYTES } else { 0 }
    }

    /// Bytes of `instances` of them, a multiple of [`ALIGN_BYTES`].
    pub(crate) fn total(&self, instances: u64) -> Option<u64> {
        self.stride.checked_mul(instances)?.checked_add(self.before)?.checked_next_multiple_of(ALIGN_BYTES)
    }
}

/// The ring's instances: slots, and behind them copies of the first `peek`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RingSlots {
    base: *mut u8,
    /// How they lie.
    pub shape: InstanceShape,
    capacity: u64,
    peek: u64,
}

impl RingSlots {
    /// At `offset` of `block`, which must have [`InstanceShape::total`]`(capacity + peek)` bytes there.
    pub(crate) fn new(
        block: &Pages,
        offset: u64,
        shape: InstanceShape,
        capacity: u64,
        peek: u64,
    ) -> RingSlots {
        assert!(shape.total(capacity + peek).is_some_and(|t| offset + t <= block.bytes as u64));
        let base = block.base().wrapping_add((offset + shape.before) as usize);
        RingSlots { base, shape, capacity, peek }
    }

    /// Where instance `slot` is.
    #[inline]
    pub(crate) fn at(&self, slot: u64) -> *mut u8 {
        debug_assert!(slot < self.capacity + self.peek);
        self.base.wrapping_add((slot * self.shape.stride) as usize)
    }

    /// After slots `slot .. slot + count` were written: brings the copies behind the last slot up to date.
    ///
    /// # Safety
    /// The caller must be the ring's producer, and own these slots.
    #[inline]
    pub(crate) unsafe fn mirror(&self, slot: u64, count: u64) {
        if slot < self.peek {
            let count = count.min(self.peek - slot);
            let (from, to) = (self.start(slot), self.start(self.capacity + slot));
            // SAFETY: both ranges are inside the block and do not overlap (count <= peek <= capacity); the producer
            // owns the slots, and a copy belongs to the owner of the slot that it copies.
            unsafe { std::ptr::copy_nonoverlapping(from, to, (count * self.shape.stride) as usize) };
        }
    }

    /// Where all of an instance starts: at its length, if it has one.
    pub(crate) fn start(&self, slot: u64) -> *mut u8 {
        self.at(slot).wrapping_sub(self.shape.length_bytes())
    }

    /// Writes zeros into slots `slot .. slot + count`.
    ///
    /// # Safety
    /// As [`mirror`](Self::mirror).
    pub(crate) unsafe fn zero(&self, slot: u64, count: u64) {
        // SAFETY: inside the block; the producer owns the slots.
        unsafe {
            std::ptr::write_bytes(self.start(slot), 0, (count * self.shape.stride) as usize);
            self.mirror(slot, count);
        }
    }
}

/// `3.2 GB`.
pub(crate) fn in_words(bytes: u64) -> String {
    let b = bytes as f64;
    match bytes {
        0..1000 => format!("{bytes} bytes"),
        1000..1_000_000 => format!("{:.1} kB", b / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", b / 1e6),
        _ => format!("{:.1} GB", b / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_copies_behind_the_last_slot_follow_every_write() {
        let shape = InstanceShape::new(3, false).unwrap();
        let block = Pages::zeroed(shape.total(4 + 2).unwrap()).unwrap();
        let slots = RingSlots::new(&block, 0, shape, 4, 2);
        for i in 0..11u64 {
            let slot = i % 4;
            // SAFETY: this thread alone has the block.
            unsafe {
                std::ptr::write_bytes(slots.at(slot), i as u8 + 1, 3);
                slots.mirror(slot, 1);
                if slot < 2 {
                    assert_eq!(*slots.at(4 + slot).add(2), i as u8 + 1);
                }
            }
        }
        // SAFETY: as above.
        unsafe {
            slots.zero(1, 1);
            assert_eq!((*slots.at(1), *slots.at(5), *slots.at(4)), (0, 0, 9));
        }
    }

    #[test]
    fn a_variable_instance_has_room_for_its_length_and_is_mirrored_with_it() {
        let shape = InstanceShape::new(5, true).unwrap();
        assert_eq!(shape.stride % 8, 0);
        let block = Pages::zeroed(shape.total(2 + 1).unwrap()).unwrap();
        let slots = RingSlots::new(&block, 0, shape, 2, 1);
        // SAFETY: this thread alone has the block.
        unsafe {
            slots.at(0).cast::<u64>().sub(1).write(4);
            slots.at(0).write(77);
            slots.mirror(0, 1);
            assert_eq!((slots.at(2).cast::<u64>().sub(1).read(), slots.at(2).read()), (4, 77));
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri ends the program when memory is refused")]
    fn memory_that_nobody_has_is_an_error() {
        assert!(Pages::zeroed(1 << 62).unwrap_err().contains("refused"));
        assert_eq!(InstanceShape::new(u64::MAX, true), None);
        assert_eq!(InstanceShape::new(1 << 40, false).unwrap().total(1 << 40), None);
    }
}
