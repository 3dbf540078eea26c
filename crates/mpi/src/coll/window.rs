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
use std::sync::atomic::{AtomicU64, Ordering};

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
    let Some(bases) = exchange.agree(&pair, usable)? else { return Ok(false) };
    let count = count as usize;
    let halves = [0, 1].map(|rank| {
        let (start, count) = share(count, 2, rank);
        (start * size, count)
    });
    let address =
        |buffer: *const c_void, half: (usize, usize)| buffer.cast::<u8>().wrapping_add(half.0).cast_mut();
    let (mine, theirs) = (halves[pair.rank], halves[1 - pair.rank]);
    let half = |half| Half { operand: address(operand, half), result: address(recvbuf, half), count: half.1 };
    exchange.carry_out(bases, half(mine), half(theirs));
    Ok(true)
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

/// What was filled and read before.
struct Bases {
    own_filled: u64,
    other_filled: u64,
    other_read: u64,
}

impl Exchange<'_> {
    /// Both are there and use their windows for this; nothing: one of them can't.
    fn agree(&self, pair: &Pair, usable: bool) -> Result<Option<Bases>, Failure> {
        let counters = self.own.counters();
        let (own_filled, own_read) =
            (counters.filled.load(Ordering::Relaxed), counters.read.load(Ordering::Relaxed));
        let said = [u64::from(usable), own_filled, own_read];
        let mut heard = [0u64; 3];
        let state = pair.send(runtime::enter(), said.as_ptr().cast(), size_of_val(&said));
        pair.receive(state, heard.as_mut_ptr().cast(), size_of_val(&heard))?;
        let [other_usable, other_filled, other_read] = heard;
        let bases = Bases { own_filled, other_filled, other_read };
        Ok((usable && other_usable != 0).then_some(bases))
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

    fn carry_out(&self, bases: Bases, mine: Half, theirs: Half) {
        let most = mine.count.max(theirs.count);
        let piece = (most * self.size / PIECES).clamp(LEAST, SLOT) / self.size;
        let pieces = most.div_ceil(piece);
        // Where a piece starts, in bytes, and its bytes.
        let part = |half: &Half, index: usize| {
            let start = (index * piece).min(half.count);
            (start * self.size, (half.count - start).min(piece) * self.size)
        };
        let (own, other) = (self.own.counters(), self.other.counters());
        let mut filled = 0;
        let mut fill = |data: *const u8, (start, bytes): (usize, usize)| {
            // The slot's last data has been read.
            self.until(
                &other.read,
                (bases.other_read + filled + 1).saturating_sub(SLOTS).max(bases.other_read),
            );
            // SAFETY: a piece of the caller's buffer, and a slot that is this rank's now.
            unsafe {
                let slot = self.own.slot(bases.own_filled + filled);
                std::ptr::copy_nonoverlapping(data.add(start), slot, bytes);
            }
            filled += 1;
            self.count(&own.filled);
        };
        let mut read = 0;
        let mut next = || {
            let slot = self.other.slot(bases.other_filled + read);
            read += 1;
            self.until(&other.filled, bases.other_filled + read);
            slot.cast_const()
        };
        for index in 0..AHEAD.min(pieces) {
            fill(theirs.operand, part(&theirs, index));
        }
        let copy_result = |slot: *const u8, index: usize| {
            let (start, bytes) = part(&theirs, index);
            // SAFETY: a slot that the other rank filled, and a piece of the caller's buffer.
            unsafe { std::ptr::copy_nonoverlapping(slot, theirs.result.add(start), bytes) };
            self.count(&own.read);
        };
        for index in 0..pieces {
            let slot = next();
            let (start, bytes) = part(&mine, index);
            // SAFETY: as above; operand and result are the same place or do not overlap.
            unsafe {
                let (operand, result) = (mine.operand.add(start), mine.result.add(start));
                if operand == result {
                    (self.kernel)(slot, result, bytes / self.size);
                } else {
                    std::ptr::copy_nonoverlapping(slot, result, bytes);
                    (self.kernel)(operand, result, bytes / self.size);
                }
            }
            self.count(&own.read);
            fill(mine.result, (start, bytes));
            if index + AHEAD < pieces {
                fill(theirs.operand, part(&theirs, index + AHEAD));
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
        self.until(&other.read, bases.other_read + filled);
    }
}
