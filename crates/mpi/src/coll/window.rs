//! A large allreduce of two ranks through memory that both see: each reduces one half, reading the other's operand where it was put.
//!
//! A rank's window has slots that it fills in turn and that the other reads in turn. Both counters only grow, whoever the other
//! is, and each has a line of its own. A rank fills its slots in this order, with pieces of the half that the other reduces (raw)
//! and of the half that it reduces itself:
//!
//! ```text
//! raw 0, raw 1, reduced 0, raw 2, reduced 1, raw 3, ...
//! ```
//!
//! and the other reads them in this order: so nobody waits for a slot that is not on its way, as long as there are more than four.
//! Each half is reduced by one rank only, so both get the same bits.

use super::algorithm::{SPLIT, share};
use super::quick::{Pair, few};
use crate::abi;
use crate::abi::values::MPI_IN_PLACE;
use crate::check::{self, Failure};
use crate::datatype::predefined_size;
use crate::engine::wait;
use crate::op::{Element, Kernel, Predefined, kernel};
use crate::runtime;
use crate::segment::{PAGE, Segment, WINDOW_BYTES};
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Bytes of a slot: two of them stay in a core's first cache.
const SLOT: usize = 16 * 1024;
const SLOTS: u64 = ((WINDOW_BYTES - PAGE) / SLOT) as u64;
/// The smallest piece that is worth a slot, in bytes.
const LEAST: usize = 4096;
/// Pieces that a half is split into when they are not too large.
const PIECES: usize = 4;
/// Raw pieces that go ahead.
const AHEAD: usize = 2;
/// Looks at a counter before it is waited for in the ordinary way.
const LOOKS: u32 = 20_000;

/// What is reduced at once, in bytes: it stays in the first cache from the slot to the result and to the next slot.
const CHUNK: usize = 2048;

/// Who reads this rank's window last, and how many slots it will have read then: before, the window is not free.
static LAST_READER: AtomicUsize = AtomicUsize::new(usize::MAX);
static LAST_READ: AtomicU64 = AtomicU64::new(0);

/// The first page of a window.
#[repr(C)]
struct Counters {
    /// Slots that its owner has filled so far.
    filled: AtomicU64,
    _filled_line: [u64; 7],
    /// Slots that its owner has read so far, of whomever's.
    read: AtomicU64,
    _read_line: [u64; 7],
}

/// A rank's window.
struct Window {
    start: *mut u8,
}

impl Window {
    fn of(segment: &Segment, rank: usize) -> Self {
        Self { start: segment.window(rank) }
    }

    fn counters(&self) -> &Counters {
        // SAFETY: a window starts with its counters, is aligned to a page and is never unmapped.
        unsafe { &*self.start.cast::<Counters>() }
    }

    fn slot(&self, number: u64) -> *mut u8 {
        // SAFETY: in the window.
        unsafe { self.start.add(PAGE + (number % SLOTS) as usize * SLOT) }
    }
}

/// Whether an allreduce goes this way when there are two ranks; the same on both.
pub fn takes(count: i64, datatype: abi::Datatype) -> bool {
    predefined_size(datatype).is_some_and(|size| count as usize >= SPLIT / size)
}

/// `MPI_Allreduce` of what `takes` says; false: not done.
///
/// # Errors
/// As `MPI_Allreduce`.
#[inline(never)]
pub fn allreduce(
    sendbuf: *const c_void,
    recvbuf: *const c_void,
    count: i64,
    datatype: abi::Datatype,
    op: abi::Op,
    comm: abi::Comm,
) -> Result<bool, Failure> {
    let found: Option<Kernel> =
        Predefined::of(op).and_then(|operation| kernel(operation, Element::of(datatype)?));
    let (Some(kernel), Some(size)) = (found, predefined_size(datatype)) else { return Ok(false) };
    let Some(bytes) = usize::try_from(count).ok().and_then(|count| count.checked_mul(size)) else {
        return Ok(false);
    };
    let in_place = sendbuf as usize == MPI_IN_PLACE;
    let operand = if in_place { recvbuf } else { sendbuf };
    let overlap = !in_place && (sendbuf as usize).abs_diff(recvbuf as usize) < bytes;
    if overlap || operand.is_null() || recvbuf.is_null() || recvbuf as usize == MPI_IN_PLACE {
        return Ok(false);
    }
    let state = check::running()?;
    // Alone, or more than two.
    if state.comm(comm).is_none_or(|found| found.size() != 2) {
        return Ok(false);
    }
    let Some(Some(pair)) = few(&state, comm) else { return Ok(false) };
    let segment = state.engine.segment().clone();
    // While one thread is at a window, another must not use it; and who shares a CPU does not wait for counters.
    let usable = !runtime::locks() && segment.ranks() <= segment.header().cpus as usize;
    let own_rank = state.rank() as usize;
    drop(state);
    let exchange = Exchange {
        own: Window::of(&segment, own_rank),
        other: Window::of(&segment, pair.other),
        segment: &segment,
        other_rank: pair.other,
        size,
        kernel,
    };
    let count = count as usize;
    let halves = [0, 1].map(|rank| {
        let (start, count) = share(count, 2, rank);
        (start * size, count)
    });
    let address =
        |buffer: *const c_void, half: (usize, usize)| buffer.cast::<u8>().wrapping_add(half.0).cast_mut();
    let half = |half| Half { operand: address(operand, half), result: address(recvbuf, half), count: half.1 };
    exchange.carry_out(&pair, usable, half(halves[pair.rank]), half(halves[1 - pair.rank]))
}

/// One half of operand and result, in elements.
#[derive(Clone, Copy)]
struct Half {
    operand: *mut u8,
    result: *mut u8,
    count: usize,
}

struct Exchange<'a> {
    own: Window,
    other: Window,
    segment: &'a Arc<Segment>,
    other_rank: usize,
    size: usize,
    kernel: Kernel,
}

/// What the other had filled and read before.
struct Bases {
    filled: u64,
    read: u64,
}

impl Exchange<'_> {
    /// Both are there and use their windows for this; nothing: one of them can't. `filled` is what this one had filled before.
    fn agree(&self, pair: &Pair, usable: bool, filled: u64) -> Result<Option<Bases>, Failure> {
        let said = [u64::from(usable), filled, self.own.counters().read.load(Ordering::Relaxed)];
        let mut heard = [0u64; 3];
        let state = pair.send(runtime::enter(), said.as_ptr().cast(), size_of_val(&said));
        pair.receive(state, heard.as_mut_ptr().cast(), size_of_val(&heard))?;
        let [other_usable, filled, read] = heard;
        Ok((usable && other_usable != 0).then_some(Bases { filled, read }))
    }

    /// Waits until a counter of the other's has come to a value.
    fn until(&self, counter: &AtomicU64, value: u64) {
        let there = || counter.load(Ordering::Acquire).wrapping_sub(value) as i64 >= 0;
        for _ in 0..LOOKS {
            if there() {
                return;
            }
            std::hint::spin_loop();
        }
        runtime::wait_until(|_| there().then_some(()));
    }

    /// Counts one more, and wakes the other should it sleep.
    fn count(&self, counter: &AtomicU64) {
        counter.store(counter.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
        let asleep = &self.segment.rank(self.other_rank).asleep;
        if asleep.load(Ordering::Relaxed) != 0 {
            wait::wake(asleep);
        }
    }

    /// Does it; false: one of the ranks can't.
    fn carry_out(&self, pair: &Pair, usable: bool, mine: Half, theirs: Half) -> Result<bool, Failure> {
        let most = mine.count.max(theirs.count);
        let piece = (most * self.size / PIECES).clamp(LEAST, SLOT) / self.size;
        let pieces = most.div_ceil(piece);
        // Where a piece starts, in bytes, and its bytes.
        let part = |half: &Half, index: usize| {
            let start = (index * piece).min(half.count);
            (start * self.size, (half.count - start).min(piece) * self.size)
        };
        let (own, other) = (self.own.counters(), self.other.counters());
        let before = own.filled.load(Ordering::Relaxed);
        let mut filled = before;
        let put = |filled: u64, index: usize| {
            let (start, bytes) = part(&theirs, index);
            // SAFETY: a piece of the caller's buffer, and a slot that is this rank's now.
            unsafe {
                std::ptr::copy_nonoverlapping(theirs.operand.add(start), self.own.slot(filled), bytes);
            }
        };
        if usable {
            let reader = LAST_READER.load(Ordering::Relaxed);
            if reader != usize::MAX {
                let last = Window::of(self.segment, reader);
                self.until(&last.counters().read, LAST_READ.load(Ordering::Relaxed));
            }
            // The first pieces are there when the other hears of them.
            for index in 0..AHEAD.min(pieces) {
                put(filled, index);
                filled += 1;
                self.count(&own.filled);
            }
        }
        let Some(bases) = self.agree(pair, usable, before)? else { return Ok(false) };
        // Until a slot's last data has been read.
        let free =
            |filled: u64| self.until(&other.read, bases.read + (filled - before + 1).saturating_sub(SLOTS));
        let mut read = bases.filled;
        let mut next = || {
            let slot = self.other.slot(read).cast_const();
            read += 1;
            self.until(&other.filled, read);
            slot
        };
        let copy_result = |slot: *const u8, index: usize| {
            let (start, bytes) = part(&theirs, index);
            // SAFETY: a slot that the other rank filled, and a piece of the caller's buffer.
            unsafe { std::ptr::copy_nonoverlapping(slot, theirs.result.add(start), bytes) };
            self.count(&own.read);
        };
        for index in 0..pieces {
            let slot = next();
            free(filled);
            self.reduce(&mine, part(&mine, index), slot, self.own.slot(filled));
            filled += 1;
            self.count(&own.read);
            self.count(&own.filled);
            if index + AHEAD < pieces {
                free(filled);
                put(filled, index + AHEAD);
                filled += 1;
                self.count(&own.filled);
            }
            // What the other filled after its second raw piece: reduced and raw in turn.
            if index + 1 >= AHEAD {
                let slot = next();
                copy_result(slot, index + 1 - AHEAD);
            }
        }
        for index in pieces.saturating_sub(AHEAD - 1)..pieces {
            let slot = next();
            copy_result(slot, index);
        }
        // The window is free for the next collective when the other has read all.
        LAST_READER.store(self.other_rank, Ordering::Relaxed);
        LAST_READ.store(bases.read + (filled - before), Ordering::Relaxed);
        Ok(true)
    }

    /// Reduces a piece (its start and its bytes) with the other's operand in `slot`; the result goes to `put` too.
    fn reduce(&self, mine: &Half, (start, bytes): (usize, usize), slot: *const u8, put: *mut u8) {
        for at in (0..bytes).step_by(CHUNK) {
            let some = (bytes - at).min(CHUNK);
            // SAFETY: a piece of the caller's buffers, a slot that the other rank filled, and one that is this rank's now; operand and
            // result are the same place or do not overlap.
            unsafe {
                let (operand, result) = (mine.operand.add(start + at), mine.result.add(start + at));
                if operand == result {
                    (self.kernel)(slot.add(at), result, some / self.size);
                } else {
                    std::ptr::copy_nonoverlapping(slot.add(at), result, some);
                    (self.kernel)(operand, result, some / self.size);
                }
                std::ptr::copy_nonoverlapping(result, put.add(at), some);
            }
        }
    }
}
