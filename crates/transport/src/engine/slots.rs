//! Data that goes to some ranks through the slots of this rank's window, or comes through those of another one.

use super::Engine;
use super::reading::Decisions;
use crate::asleep::Asleep;
use crate::buffer::Buffer;
use crate::copy::{can_copy_past, fence_past};
use crate::landing::Landing;
use crate::segment::Segment;
use crate::slots::SLOT_BYTES;
use host::clock::kernel_ns;

/// The slots of a rank hold an eighth of what a core's own cache holds, so that a piece is still there when its reader
/// gets the cpu; `turnover_bytes` is four times as much as that cache. A choice. (2 cpus of a Xeon with 2 MB of that
/// cache, us, with 2, 4 and 8 slots: 8 ranks, reduce of 1 MB 407, 433 and 607, bcast of 1 MB 380, 335 and 435; 4 ranks,
/// bcast of 64 kB 13.5, 10.6 and 9.9.)
const OF_TURNOVER: usize = 32;
const LEAST_SLOTS: usize = 2;
/// Less data than this always lands in the caches.
const LEAST_PAST: usize = 2 * SLOT_BYTES;

/// Where data lands that comes through slots.
#[derive(Default)]
pub(super) struct FromSlots {
    /// Past the caches or not, as a program's cycles tell.
    past: Decisions,
    /// The last answer.
    pub(super) landing: Landing,
}

/// From so many bytes on, data that comes through slots may land past the caches, and does at first: the buffers of all
/// ranks on a cpu would fill its own cache, where the slots are. The copies cost the same, but what follows does not:
/// the time from one collective to the next tells. (On 2 cpus of a Xeon with 2 MB of that cache, us, in the caches and
/// past them: 8 ranks, bcast of 512 kB 223 and 157, of 1 MB 492 and 322; 4 ranks, of 1 MB 234 and 184.)
fn lands_past_from(segment: &Segment) -> usize {
    let sharers = segment.ranks().div_ceil((segment.header().cpus as usize).max(1));
    (segment.turnover_bytes() / 4 / sharers).max(LEAST_PAST)
}

/// How many slots a rank of this job has.
fn slots(segment: &Segment) -> u64 {
    let fitting = segment.turnover_bytes() / OF_TURNOVER / SLOT_BYTES;
    fitting.clamp(LEAST_SLOTS, Segment::MOST_SLOTS) as u64
}

impl Engine<'_> {
    /// How many slots a rank of this job has.
    pub fn slots(&self) -> usize {
        slots(&self.segment()) as usize
    }

    /// Begins to pass so many pieces to some ranks, which have to be told the number of the first slot. None of them
    /// need come before this rank waits for a slot.
    pub fn begin_to_fill(&mut self, pieces: u64) -> u64 {
        let counts = self.segment().counts(self.rank);
        let first = counts.filled.own();
        counts.promised.publish(first.wrapping_add(pieces));
        first
    }

    /// The next slot of this rank: `SLOT_BYTES` bytes, which are its own until it has counted the slot by `filled`.
    /// Nothing: somebody has yet to take what is in it.
    pub fn free_slot(&mut self) -> Option<*mut u8> {
        let segment = self.segment();
        let (number, slots) = (segment.counts(self.rank).filled.own(), slots(&segment));
        let taken = |reader: usize| segment.counts(reader).taken[self.rank].read();
        let is_free = self.owed.may_fill(number, slots, taken);
        is_free.then(|| segment.slot(self.rank, (number % slots) as usize))
    }

    /// Counts the next slot, which is filled and which these readers are to take, and wakes those that sleep.
    pub fn filled(&mut self, readers: &[usize]) {
        let segment = self.segment();
        let filled = &segment.counts(self.rank).filled;
        let number = filled.own();
        readers.iter().for_each(|&reader| self.owed.add(reader, number));
        filled.publish(number.wrapping_add(1));
        readers.iter().for_each(|&reader| segment.rank(reader).ring());
    }

    /// Copies a piece of a buffer to a slot of this rank, at most `SLOT_BYTES` bytes.
    ///
    /// # Safety
    /// `slot` is what `free_slot` gave last.
    pub unsafe fn fill_slot(&mut self, slot: *mut u8, data: &Buffer, from: usize) {
        let bytes = SLOT_BYTES.min(data.bytes - from);
        // SAFETY: as the caller promised.
        data.read(from, unsafe { std::slice::from_raw_parts_mut(slot, bytes) });
    }

    /// The slot of this number of a rank that has told it to this one: `SLOT_BYTES` bytes, which are left alone until
    /// this rank has counted the slot by `took`. Nothing: it is not filled.
    pub fn slot_of(&self, rank: usize, number: u64) -> Option<*const u8> {
        let segment = self.segment();
        let is_filled = segment.counts(rank).filled.read() > number;
        is_filled.then(|| segment.slot(rank, (number % slots(&segment)) as usize).cast_const())
    }

    /// This rank has taken what it was to take of another one's slots up to this number, and does not look at them any
    /// more; that rank is woken if it sleeps.
    pub fn took(&mut self, rank: usize, number: u64) {
        let segment = self.segment();
        segment.counts(self.rank).taken[rank].publish(number.wrapping_add(1));
        segment.rank(rank).ring();
    }

    /// This rank does not want what another one passes to it: an error of the program, which called something else.
    #[cold]
    pub fn want_none(&mut self, rank: usize) {
        let segment = self.segment();
        segment.counts(self.rank).taken[rank].publish(segment.counts(rank).promised.read());
        segment.rank(rank).ring();
    }

    /// Decides where data of so many bytes in all lands that comes through slots from now on.
    pub fn begin_to_take(&mut self, bytes: usize) {
        let has_choice = bytes >= lands_past_from(&self.segment()) && can_copy_past();
        let is_past = has_choice && self.from_slots.past.answer(bytes, Ok(true), kernel_ns());
        self.from_slots.landing = if is_past { Landing::PastCaches } else { Landing::InCaches };
    }

    /// Copies so many bytes of what lies in a slot to a buffer, from a byte on, as far as there is room.
    ///
    /// # Safety
    /// `slot` is what `slot_of` gave, and its rank has filled as many bytes.
    pub unsafe fn take_slot(&mut self, slot: *const u8, bytes: usize, into: &Buffer, from: usize) {
        let bytes = bytes.min(SLOT_BYTES).min(into.bytes.saturating_sub(from));
        // SAFETY: as the caller promised.
        let piece = unsafe { std::slice::from_raw_parts(slot, bytes) };
        into.land(self.from_slots.landing, from, piece);
        fence_past();
    }
}
