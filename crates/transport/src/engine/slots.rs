//! Data that goes to some ranks through the slots of this rank's window, or comes through those of another one.

use super::Engine;
use super::decisions::{Answers, Decisions, said, say};
use super::reading::Among;
use crate::asleep::Asleep;
use crate::buffer::Buffer;
use crate::copy::{can_copy_past, copy_past_unfenced, fence_past};
use crate::costs::{DataUse, SlotSort, class_of, known_from};
use crate::landing::Landing;
use crate::segment::Segment;
use crate::slots::{SLOT_BYTES, SlotFlow};
use host::clock::kernel_ns;
use std::array;

/// The ranks of a cpu have so many slots together, so that a piece is still near when its reader gets the cpu; but each
/// has at least as many as follow. Choices. (2 cpus, us, with 2, 4, 8 and 16 slots of a rank. A Xeon: 8 ranks, reduce
/// of 1 MB 407, 433 and 607 with 2, 4 and 8, bcast of 1 MB 380, 335 and 435; 4 ranks, bcast of 64 kB 13.5, 10.6 and
/// 9.9. An EPYC: 4 ranks, reduce of 64 kB 11.6, 9.8, 6.7 and 6.0, of 1 MB 184, 129, 98 and 88, allreduce of 1 MB 357,
/// 286, 214 and 216; 8 ranks, reduce of 1 MB 285, 233, 243 and 316.)
const SLOTS_OF_CPU: usize = 16;
const LEAST_SLOTS: usize = 4;
const USUAL_SLOTS: usize = 8;
/// The first of each class of data get memory, and tell nothing of what copies cost.
const WARM_UP: u32 = 2;
/// Of what is known, one of so many is timed: all ranks write to the same lines what their pieces cost. A choice. (4
/// ranks on 2 cpus of an EPYC, allgather of 16 kB: 11.5 us with 1 and 10.0 with this.)
const TIMED_EACH: u32 = 8;
/// So many pieces tell what the other landing costs, if they come sooner than as much data as a cost needs to be known.
const TOLD_BY: usize = 64;
/// The turns of where data lands in slots, and of where it lands that comes through them, come so many answers before
/// those of other questions, for the cycles of each: first after 36 and 8.
const LANDING_AHEAD: u32 = 28;
const PAST_AHEAD: u32 = 56;
/// Less data than this always lands in the caches.
pub(super) const LEAST_PAST: usize = 2 * SLOT_BYTES;

/// What a rank passes through its slots, and who takes it.
#[derive(Clone, Copy, Debug)]
pub struct Passing<'a> {
    /// Bytes of all of it.
    pub bytes: usize,
    /// Slots that it takes.
    pub pieces: usize,
    /// What this rank does with it.
    pub filled_by: DataUse,
    /// What those do who take it.
    pub taken_by: DataUse,
    /// Who takes it: ranks of the job.
    pub takers: &'a [usize],
    /// No other rank passes something that the same collective needs: this one may fill many slots before they are
    /// taken.
    pub alone: bool,
}

/// How data goes through slots, as all have to know who take it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The number of the first slot.
    first: u64,
    /// So many slots are filled in turn.
    in_turn: u64,
    /// Where data lands there.
    landing: Landing,
    /// What each piece costs is learnt.
    is_timed: bool,
    /// Bytes of all of it.
    bytes: usize,
}

impl Default for Passage {
    fn default() -> Self {
        let in_turn = LEAST_SLOTS as u64;
        Self { first: 0, in_turn, landing: Landing::InCaches, is_timed: false, bytes: 0 }
    }
}

impl Passage {
    /// Codes are below this.
    pub const CODES: u64 = 4 * (Segment::MOST_SLOTS as u64 + 1);

    /// As words: the number of the first slot, a code, and bytes.
    pub fn words(self) -> [u64; 3] {
        [self.first, 4 * self.in_turn + 2 * self.landing as u64 + u64::from(self.is_timed), self.bytes as u64]
    }

    /// What `words` said; nothing: they say something impossible.
    pub fn of([first, code, bytes]: [u64; 3]) -> Option<Self> {
        let landing = if code & 2 == 0 { Landing::InCaches } else { Landing::PastCaches };
        let (in_turn, is_timed) = (code / 4, code & 1 == 1);
        let passage = Self { first, in_turn, landing, is_timed, bytes: bytes as usize };
        (1..=Segment::MOST_SLOTS as u64).contains(&in_turn).then_some(passage)
    }

    /// Bytes of all that comes.
    pub fn bytes(self) -> usize {
        self.bytes
    }

    /// Whether this is past the caches.
    pub fn is_past(self) -> bool {
        self.landing == Landing::PastCaches
    }

    /// The number of a slot of it.
    fn number(self, index: usize) -> u64 {
        self.first.wrapping_add(index as u64)
    }

    /// Where the slot of a number lies.
    fn slot(self, segment: &Segment, rank: usize, number: u64) -> *mut u8 {
        segment.slot(rank, (number % self.in_turn) as usize)
    }
}

/// What this rank passes through its slots.
pub(super) struct ToSlots {
    passage: Passage,
    filled_by: DataUse,
    /// Fewer or more slots are filled in turn than before: first, all that was in them has to be taken.
    drains: bool,
    /// Slots from this one on were filled alike: in as many in turn, and where data lands there. What the first of them
    /// cost does not count, because their lines are where the others left them.
    since: u64,
    /// Answers that were given of where data lands.
    answers: Answers,
    /// Many slots in turn, or the usual ones, as a program's cycles tell. (2 cpus of an EPYC, us, usual and many: 4
    /// ranks, bcast of 64 kB 9.1 and 6.8, of 1 MB 114 to 177 and 80 to 95; 8 ranks, of 1 MB 226 to 338 and 155. On a
    /// Xeon, 8 ranks, of 1 MB, 4 and 8 slots: 335 and 435.)
    many: Decisions,
    /// As the root of a gather: messages, or what others pass through slots.
    sends_gathered: Decisions,
}

impl Default for ToSlots {
    fn default() -> Self {
        let (passage, filled_by) = (Passage::default(), DataUse::Copies);
        let (answers, many, sends_gathered) = Default::default();
        Self { passage, filled_by, drains: false, since: 0, answers, many, sends_gathered }
    }
}

/// Where data lands that comes through slots.
pub(super) struct FromSlots {
    /// Past the caches or not, as a program's cycles tell, by `SlotFlow`.
    past: [Decisions; SlotFlow::COUNT],
    /// The last answer.
    pub(super) landing: Landing,
}

impl Default for FromSlots {
    fn default() -> Self {
        Self { past: array::from_fn(|_| Decisions::ahead_by(PAST_AHEAD)), landing: Landing::default() }
    }
}

/// From so many bytes on, data that comes through slots may land past the caches, and does at first: the buffers of all
/// ranks on a cpu would fill its own cache, where the slots are. The copies cost the same, but what follows does not:
/// the time from one collective to the next tells. (On 2 cpus of a Xeon with 2 MB of that cache, us, in the caches and
/// past them: 8 ranks, bcast of 512 kB 223 and 157, of 1 MB 492 and 322; 4 ranks, of 1 MB 234 and 184.)
/// Where the results alone take half of the cache that all cpus share, that is sure enough to be asked later: such a
/// turn takes long. (4 ranks on 2 cpus of an EPYC with 32 MB of that cache, gather of 4 MB: 1.37 ms and 1.00.)
fn lands_past_from(segment: &Segment) -> usize {
    (segment.turnover_bytes() / 4 / segment.ranks_of_cpu()).max(LEAST_PAST)
}

impl Engine<'_> {
    /// How many slots a rank of this job fills in turn, at least.
    pub fn slots(&self) -> usize {
        (SLOTS_OF_CPU / self.segment().ranks_of_cpu()).clamp(LEAST_SLOTS, USUAL_SLOTS)
    }

    /// Begins to pass data to some ranks, which have to be told how it goes. None of them need come before this rank
    /// waits for a slot.
    pub fn begin_to_fill(&mut self, passing: Passing<'_>) -> Passage {
        let counts = self.segment().counts(self.rank);
        let first = counts.filled.own();
        counts.promised.publish(first.wrapping_add(passing.pieces as u64));
        let many = passing.alone && self.to_slots.many.answer(passing.bytes, Ok(false), kernel_ns());
        let in_turn = if many { Segment::MOST_SLOTS } else { self.slots() } as u64;
        let (landing, tells) = self.landing_in_slots(passing, in_turn);
        let ToSlots { passage: before, drains, filled_by, since, .. } = &mut self.to_slots;
        if (before.landing, before.in_turn) != (landing, in_turn) {
            *since = first;
        }
        *drains |= before.in_turn != in_turn;
        let is_timed = tells && first.wrapping_sub(*since) >= in_turn;
        let passage = Passage { first, in_turn, landing, is_timed, bytes: passing.bytes };
        (*before, *filled_by) = (passage, passing.filled_by);
        passage
    }

    /// Whether ranks of a gather pass data of so many bytes through slots. Otherwise they send it, and the kernel may
    /// copy it once. The cycles of the root tell, a rank of the job: all others go on before their data is taken.
    /// Through slots at first, or as with smaller data. (2 cpus of an EPYC, us, sent and through slots: 4 ranks, 64 kB
    /// 35 and 10, 256 kB 59 and 37, 1 MB 210 and 200, 4 MB 1,440 and 950; 8 ranks, 64 kB 37 and 30, 1 MB 600 and 490.
    /// On a Xeon, where the kernel's copy is quick: 4 ranks, sent and shown, 64 kB 9 and 16, 1 MB 220 and 421.)
    ///
    /// `collective` tells it from the one before: what is sent in it is a message, and is not shown.
    pub fn gathers_through_slots(&mut self, bytes: usize, root: usize, collective: i32) -> bool {
        let segment = self.segment();
        if self.copy_from > bytes || segment.header().costs.kernel_fails(bytes) {
            return true;
        }
        let (sends, class) = (&segment.rank(root).sends_gathered, class_of(bytes));
        let is_sent = if root == self.rank {
            let decisions = &mut self.to_slots.sends_gathered;
            let at_first = decisions.of_smaller(bytes).unwrap_or(false);
            let answer = decisions.answer(bytes, Ok(at_first), kernel_ns());
            say(sends, class, answer);
            answer
        } else {
            said(sends, class)
        };
        if is_sent {
            self.shown.to_one.last[Among::Gathers(root).number()] = Some((collective, false));
        }
        !is_sent
    }

    /// Decides where data of a gather lands that comes through slots. This rank, the root, gets so many bytes from each
    /// of so many, some of it through slots or as messages. Cycles of data that came in another way than the last
    /// answer says do not count, because the others had gone on before they heard it. Nor does it count for where data
    /// lands when not all came through slots.
    pub fn begin_to_gather(&mut self, bytes: usize, ranks: usize, through_slots: bool, as_messages: bool) {
        let is_sent = said(&self.page().sends_gathered, class_of(bytes));
        let is_other = if is_sent { through_slots } else { as_messages };
        if is_other {
            self.to_slots.sends_gathered.leave_out(bytes);
        }
        if through_slots {
            self.begin_to_take(SlotFlow::ToOne, ranks * bytes, self.rank);
        }
        if as_messages {
            self.from_slots.past[SlotFlow::ToOne as usize].leave_out(ranks * bytes);
        }
    }

    /// Where data is to land in this rank's slots, and whether what its pieces cost is to be learnt. While cpus share
    /// no cache, lines that readers have in theirs take long to get back, and a store past the caches does not fetch
    /// them; otherwise readers get data sooner from this cpu's caches. So costs tell, and now and then the other
    /// landing is measured again. (4 ranks on 2 cpus of an EPYC, 256 kB, us, in the caches and past them: bcast 24 and
    /// 27, and 125 and 35 while a line takes 220 ns; allgather 150 and 156, and 360 and 149; reduce 23 and 69, and 120
    /// and 60.)
    fn landing_in_slots(&mut self, passing: Passing<'_>, in_turn: u64) -> (Landing, bool) {
        let Passing { bytes, pieces, filled_by, taken_by, takers, .. } = passing;
        let segment = self.segment();
        let near = takers.iter().filter(|&&taker| segment.shares_cpu(self.rank, taker)).count();
        let far = takers.len() - near;
        if far == 0 || !can_copy_past() {
            return (Landing::InCaches, false);
        }
        let sorts = [
            (SlotSort::Filled(filled_by), 1.0),
            (SlotSort::Taken(taken_by), far as f32),
            (SlotSort::TakenNear, near as f32),
        ];
        let sorts = if near == 0 { &sorts[..2] } else { &sorts };
        // Pieces tell; those of large data are many. (4 ranks on 2 cpus of an EPYC, gather of 4 MB for 40 ms: 1.45 ms
        // past the caches there and 1.00 in them, and each of three senders has its own turn.)
        let pieces = pieces.max(1);
        let length = known_from(bytes).min(TOLD_BY.div_ceil(pieces) as u32)
            + (in_turn as usize).div_ceil(pieces) as u32;
        let is_turn = self.to_slots.answers.turn(bytes, LANDING_AHEAD, |_| length).is_some();
        let given = self.to_slots.answers.given(bytes);
        match segment.header().slot_costs.cheapest(sorts, bytes) {
            Err(measure) => (measure, given > WARM_UP),
            Ok(cheapest) if is_turn => (cheapest.other(), true),
            Ok(cheapest) => (cheapest, given.is_multiple_of(TIMED_EACH)),
        }
    }

    /// The next slot of this rank: `SLOT_BYTES` bytes, which are its own until it has counted the slot by `filled`.
    /// Nothing: somebody has yet to take what is in it.
    pub fn free_slot(&mut self) -> Option<*mut u8> {
        let segment = self.segment();
        let number = segment.counts(self.rank).filled.own();
        let taken = |reader: usize| segment.counts(reader).taken[self.rank].read();
        let ToSlots { passage, drains, .. } = &mut self.to_slots;
        if *drains {
            *drains = !self.owed.are_taken(taken);
        }
        let is_free = !*drains && self.owed.may_fill(number, passage.in_turn, taken);
        is_free.then(|| passage.slot(&segment, self.rank, number))
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
        let is_past = self.to_slots.passage.is_past() && data.is_contiguous();
        self.time_filling(bytes, || {
            if is_past {
                // SAFETY: the caller's data in a row, and as much room as it promised.
                unsafe { copy_past_unfenced(data.address().wrapping_add(from), slot, bytes) };
                fence_past();
            } else {
                // SAFETY: as the caller promised.
                data.read(from, unsafe { std::slice::from_raw_parts_mut(slot, bytes) });
            }
        });
    }

    /// Learns what it costs to fill so many bytes of a slot of this rank.
    fn time_filling(&self, bytes: usize, fill: impl FnOnce()) {
        let ToSlots { passage, filled_by, .. } = self.to_slots;
        self.time(passage, SlotSort::Filled(filled_by), bytes, fill);
    }

    /// Learns what it costs to move so many bytes of a passage.
    fn time(&self, passage: Passage, sort: SlotSort, bytes: usize, work: impl FnOnce()) {
        if !passage.is_timed {
            return work();
        }
        let start_ns = kernel_ns();
        work();
        let took_ns = kernel_ns() - start_ns;
        self.segment().header().slot_costs.learn(sort, passage.landing, passage.bytes, bytes, took_ns);
    }

    /// A slot of a rank that has told this one how its data goes: `SLOT_BYTES` bytes, which are left alone until this
    /// rank has counted the slot by `took`. Nothing: it is not filled.
    pub fn slot_of(&self, rank: usize, passage: Passage, index: usize) -> Option<*const u8> {
        let (segment, number) = (self.segment(), passage.number(index));
        let is_filled = segment.counts(rank).filled.read() > number;
        is_filled.then(|| passage.slot(&segment, rank, number).cast_const())
    }

    /// This rank has taken what it was to take of another one's slots up to this one, and does not look at them any
    /// more; that rank is woken if it sleeps.
    pub fn took(&mut self, rank: usize, passage: Passage, index: usize) {
        let segment = self.segment();
        segment.counts(self.rank).taken[rank].publish(passage.number(index).wrapping_add(1));
        segment.rank(rank).ring();
    }

    /// This rank does not want what another one passes to it: an error of the program, which called something else.
    #[cold]
    pub fn want_none(&mut self, rank: usize) {
        let segment = self.segment();
        segment.counts(self.rank).taken[rank].publish(segment.counts(rank).promised.read());
        segment.rank(rank).ring();
    }

    /// Decides where data of so many bytes in all lands that comes through slots from now on. The cycles of the rank
    /// `says` tell, a rank of the job that asks in each such collective: they depend on all ranks, and on where data
    /// of all lands. (4 ranks on 2 cpus of an EPYC, allgather of 256 kB: 128 us where each rank decides for itself, 100
    /// in the caches, and 145 past them.)
    pub fn begin_to_take(&mut self, flow: SlotFlow, bytes: usize, says: usize) {
        let segment = self.segment();
        let (past, class) = (&segment.rank(says).lands_past[flow as usize], class_of(bytes));
        let has_choice = bytes >= lands_past_from(&segment) && can_copy_past();
        let is_past = has_choice
            && match says == self.rank {
                true => {
                    let decisions = &mut self.from_slots.past[flow as usize];
                    let answer = match bytes >= segment.shared_cache_bytes() / 2 {
                        true => decisions.answer_sure(bytes, true, kernel_ns()),
                        false => decisions.answer(bytes, Ok(true), kernel_ns()),
                    };
                    say(past, class, answer);
                    answer
                }
                false => said(past, class),
            };
        self.from_slots.landing = if is_past { Landing::PastCaches } else { Landing::InCaches };
    }

    /// Copies so many bytes of what lies in a slot of a rank to a buffer, from a byte on, as far as there is room.
    ///
    /// # Safety
    /// `slot` is what `slot_of` gave for this rank and passage, and its rank has filled as many bytes.
    pub unsafe fn take_slot(
        &mut self,
        (rank, passage): (usize, Passage),
        slot: *const u8,
        bytes: usize,
        into: &Buffer,
        from: usize,
    ) {
        let bytes = bytes.min(SLOT_BYTES).min(into.bytes.saturating_sub(from));
        // SAFETY: as the caller promised.
        let piece = unsafe { std::slice::from_raw_parts(slot, bytes) };
        let is_near = passage.is_timed && self.segment().shares_cpu(self.rank, rank);
        let sort = if is_near { SlotSort::TakenNear } else { SlotSort::Taken(DataUse::Copies) };
        self.time(passage, sort, bytes, || {
            into.land(self.from_slots.landing, from, piece);
            fence_past();
        });
    }

    /// Reduces so many bytes to a slot of this rank, or to its own memory, with what lies in a slot of a rank, where it
    /// lies in one; learns what that costs.
    pub fn reduce_in_slots(
        &self,
        from: Option<(usize, Passage)>,
        to_slot: bool,
        bytes: usize,
        reduce: impl FnOnce(),
    ) {
        let reduce = || if to_slot { self.time_filling(bytes, reduce) } else { reduce() };
        match from {
            Some((rank, passage)) if passage.is_timed && !self.segment().shares_cpu(self.rank, rank) => {
                self.time(passage, SlotSort::Taken(DataUse::Reduces), bytes, reduce);
            }
            _ => reduce(),
        }
    }
}
