//! A large allreduce of two ranks: each reduces one half of the vector. They read each other's operands by the kernel,
//! where that takes less (see `by_kernel`), or see them in windows of memory that both see.
//!
//! By windows, a rank puts its operand of the half that the other reduces into the slots of its window, piece by piece.
//! The other reduces each piece where it lies, takes a copy, and counts it; then the owner takes its copy, and the slot
//! is free again. So a piece crosses from core to core once each way, and no rank waits for a piece that is not on its
//! way. Both counts only grow, across all pairs, and each has a line of its own. Each half is reduced by one rank only:
//! both get the same bits.

use super::algorithm::{SMALL, share};
use super::by_kernel::{Operand, Theirs, reduce_half};
use super::offers;
use super::two_ranks::{TwoRanks, few, operand_and_result};
use crate::abi;
use crate::check::{self, Failure};
use crate::datatype::{MessageData, predefined_size};
use crate::op::{Reducer, reducer};
use crate::runtime;
use transport::ReductionOfTwo::ToBoth;
use transport::asleep::Asleep;
use transport::segment::Segment;
use transport::slots::{SLOT_BYTES, SlotCount};

const _: () = assert!(AHEAD + 1 < SLOTS && SLOTS <= Segment::MOST_SLOTS);
/// The smallest piece that is worth a slot, in bytes.
const LEAST: usize = 32 * 1024;
/// Pieces that a half is split into when they are neither too small nor too large.
const PIECES: usize = 2;
/// Slots that a rank fills in turn. A choice.
const SLOTS: usize = 8;
/// Pieces that go ahead of the one that is reduced; fewer than slots.
const AHEAD: usize = 2;
/// Looks at a counter before the ordinary waiting starts.
const LOOKS: u32 = 20_000;
/// The same where others want this rank's cpu.
const LOOKS_SHARED: u32 = 500;

/// Whether a reduction of two ranks goes this way: every one that is not small; the same on both.
pub(super) fn takes(count: i64, datatype: abi::Datatype) -> bool {
    predefined_size(datatype).is_some_and(|size| count as usize > SMALL / size)
}

/// `MPI_Allreduce` of what `takes` says; false: not done.
///
/// # Errors
/// As `MPI_Allreduce`.
#[inline(never)]
pub(super) fn allreduce(
    (operand, result): (MessageData, MessageData),
    op: abi::Op,
    comm: abi::Comm,
) -> Result<bool, Failure> {
    let MessageData { count, datatype, .. } = operand;
    let (Some(kernel), Some(size)) = (reducer(op, datatype), predefined_size(datatype)) else {
        return Ok(false);
    };
    let Some((operand, result)) = operand_and_result((operand, result), size) else { return Ok(false) };
    let mut state = check::running()?;
    let segment = state.engine.segment();
    // Alone, or more than two; and a rank that shares a cpu does not look at counters for long.
    if state.comm(comm).is_none_or(|found| found.size() != 2) || segment.is_crowded() {
        return Ok(false);
    }
    let Some(Some(pair)) = few(&state, comm) else { return Ok(false) };
    // While one thread is at a window, another must not use it.
    let usable = !runtime::locks() && !segment.is_carried();
    let (own_rank, count) = (state.rank() as usize, count as usize);
    let bytes = count * size;
    let says = if pair.rank() == 0 { own_rank } else { pair.other.member };
    let is_unseen = offers::is_unseen(&state.engine);
    let mut reads = is_unseen && state.engine.operand_is_read(ToBoth, says, bytes);
    if reads {
        state.engine.allow_reading();
        let can = state.engine.can_read_and_write(pair.other.member);
        if can == Some(false) {
            state.engine.could_not_be_copied(bytes);
        }
        reads = can == Some(true);
    }
    drop(state);
    let exchange = Exchange { segment: &segment, own: own_rank, other: pair.other.member, size, kernel };
    let half = |rank: usize| {
        let (start, count) = share(count, 2, rank);
        let at = start * size;
        Half { operand: operand.wrapping_add(at), result: result.wrapping_add(at), count }
    };
    let whole = Whole { operand, result, bytes };
    let (done, was_read) =
        exchange.carry_out(&pair, (usable, reads), &whole, half(pair.rank()), half(pair.other.rank))?;
    if is_unseen && says == own_rank {
        runtime::enter().engine.operand_came(ToBoth, bytes, was_read);
    }
    Ok(done)
}

/// The caller's operand and result.
struct Whole {
    operand: *const u8,
    result: *mut u8,
    bytes: usize,
}

/// One half of operand and result, in elements.
#[derive(Clone, Copy)]
struct Half {
    operand: *const u8,
    result: *mut u8,
    count: usize,
}

struct Exchange<'a> {
    segment: &'a Segment,
    /// Both ranks in the job.
    own: usize,
    other: usize,
    size: usize,
    kernel: Reducer,
}

/// How both ranks do it.
enum Agreed {
    /// By windows: the slots that the other rank had filled and reduced before.
    Windows { filled: u64, reduced: u64 },
    /// By the kernel.
    ByKernel(Theirs),
    /// Not here: one of them can't.
    Otherwise,
}

impl Exchange<'_> {
    /// Both ranks have come, and can use their windows for this, or each other's memory. `filled` counts the slots that
    /// this one has filled before.
    fn agree(
        &self,
        pair: &TwoRanks,
        (usable, reads): (bool, bool),
        whole: &Whole,
        filled: u64,
    ) -> Result<Agreed, Failure> {
        let reduced = self.segment.counts(self.own).reduced.own();
        let can = u64::from(usable) | u64::from(reads) << 1;
        let said =
            [can | (whole.bytes as u64) << 2, filled, reduced, whole.operand as u64, whole.result as u64];
        let mut heard = [0u64; 5];
        let state = pair.send(runtime::enter(), said.as_ptr().cast(), size_of_val(&said));
        pair.receive(state, heard.as_mut_ptr().cast(), size_of_val(&heard))?;
        let [other, filled, reduced, operand, result] = heard;
        let both = can & other;
        Ok(if both & 2 != 0 && other >> 2 == whole.bytes as u64 {
            Agreed::ByKernel(Theirs { operand, result })
        } else if both & 1 != 0 {
            Agreed::Windows { filled, reduced }
        } else {
            Agreed::Otherwise
        })
    }

    /// Waits until a counter of the other's, which was `before`, has grown by so many.
    fn until(&self, counter: &SlotCount, before: u64, more: usize) {
        let grown = || counter.read().wrapping_sub(before) as i64;
        let looks = if runtime::shares_cpu() { LOOKS_SHARED } else { LOOKS };
        for _ in 0..looks {
            if grown() >= more as i64 {
                return;
            }
            std::hint::spin_loop();
        }
        runtime::wait_until(|state| {
            if grown() < 0 {
                state.engine.corrupt(self.other, "a counter of a window went back");
            }
            (grown() >= more as i64).then_some(())
        });
    }

    /// Counts one more, and wakes the other rank if it sleeps.
    fn count(&self, counter: &SlotCount) {
        counter.publish(counter.own().wrapping_add(1));
        self.segment.rank(self.other).ring();
    }

    /// A slot of a rank, by its number.
    fn slot(&self, rank: usize, number: u64) -> *mut u8 {
        self.segment.slot(rank, (number % SLOTS as u64) as usize)
    }

    /// Carries it out, by the kernel if both ranks want that. Whether it did, and so.
    fn carry_out(
        &self,
        pair: &TwoRanks,
        can: (bool, bool),
        whole: &Whole,
        mine: Half,
        theirs: Half,
    ) -> Result<(bool, bool), Failure> {
        let most = mine.count.max(theirs.count);
        let piece = (most * self.size / PIECES).clamp(LEAST, SLOT_BYTES) / self.size;
        let pieces = most.div_ceil(piece);
        // Where a piece starts, in bytes, and its bytes.
        let part = |half: &Half, index: usize| {
            let start = (index * piece).min(half.count);
            (start * self.size, (half.count - start).min(piece) * self.size)
        };
        let [own, other] = [self.own, self.other].map(|rank| self.segment.counts(rank));
        let before = own.filled.own();
        let put = |index: usize| {
            let (start, bytes) = part(&theirs, index);
            // SAFETY: a piece of the caller's buffer, and a slot that is free: this rank has taken all that was in it.
            unsafe {
                let slot = self.slot(self.own, before.wrapping_add(index as u64));
                transport::copy(theirs.operand.add(start), slot, bytes);
            }
            self.count(&own.filled);
        };
        let (usable, reads) = can;
        let first = 0..AHEAD.min(pieces);
        if usable && !reads {
            // The first pieces are in place before the other rank hears of them.
            first.clone().for_each(put);
        }
        let (filled, reduced) = match self.agree(pair, can, whole, before)? {
            Agreed::Windows { filled, reduced } => (filled, reduced),
            Agreed::ByKernel(theirs) => {
                let Whole { operand: data, result, bytes } = *whole;
                let operand = Operand { data, bytes, size: self.size, kernel: self.kernel, is_first: true };
                let start = (mine.operand as usize).wrapping_sub(data as usize);
                // SAFETY: the caller's operand and result, which it lends until this returns; the other rank does the
                // other half.
                unsafe {
                    reduce_half(pair, &operand, result, &theirs, start..start + mine.count * self.size)
                }?;
                return Ok((true, true));
            }
            Agreed::Otherwise => return Ok((false, false)),
        };
        if reads {
            first.for_each(put);
        }
        let take = |index: usize| {
            self.until(&other.reduced, reduced, index + 1);
            let (start, bytes) = part(&theirs, index);
            // SAFETY: this rank's slot, which the other rank does not use any more, and a piece of the caller's buffer.
            unsafe {
                let slot = self.slot(self.own, before.wrapping_add(index as u64));
                transport::copy_in(slot, theirs.result.add(start), bytes);
            }
        };
        for index in 0..pieces {
            self.until(&other.filled, filled, index + 1);
            let (start, bytes) = part(&mine, index);
            // SAFETY: a slot that the other has filled and does not touch before it is counted as reduced, and a piece
            // of the caller's buffers; operand and result may be the same place.
            unsafe {
                let slot = self.slot(self.other, filled.wrapping_add(index as u64));
                (self.kernel)(mine.operand.add(start), slot, slot, bytes / self.size);
                transport::copy_in(slot, mine.result.add(start), bytes);
            }
            self.count(&own.reduced);
            if index + AHEAD < pieces {
                put(index + AHEAD);
            }
            if index > 0 {
                take(index - 1);
            }
        }
        take(pieces - 1);
        Ok((true, false))
    }
}
