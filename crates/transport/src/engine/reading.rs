//! Data that is read from another rank's memory, or where it shows it to all, without a message of its own.

use super::Engine;
use super::decisions::{Answers, Decisions, TURN_EACH, said, say};
use crate::buffer::{Buffer, Span};
use crate::copy::{can_copy_past, copy_out, copy_past, fence_past};
use crate::costs::{DataUse, Sort, Spot, class_of, known_from};
use crate::landing::Origin;
use crate::pool::SLOT;
use crate::remote::{self, Access};
use crate::ring::LINE;
use crate::segment::{Segment, shown_room};
use host::clock::kernel_ns;
use std::array;
use std::sync::atomic::{AtomicU32, Ordering};

/// Data that is shown: from which byte of the room on, and where that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Showing {
    /// From which byte of the room on.
    pub at: usize,
    /// What kind of place that is.
    pub spot: Spot,
}

/// Who takes what a rank shows, sends or offers; a rank of the job, where there is only one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takers {
    /// One rank, while others send as well: no cpu has time left, and what counts is the sum of all copies.
    One(usize),
    /// The same, and it reduces what it reads.
    Reducer(usize),
    /// One rank, and others read other data of this rank alone: its own copies hold up all, and theirs do not.
    OneEach(usize),
    /// Several ranks read the same: this rank's copy is made once for all of them, and they read at the same time.
    Several {
        /// How many.
        readers: u32,
        /// Others send such data, too.
        others_send: bool,
    },
}

impl Takers {
    /// The only one.
    fn alone(self) -> Option<usize> {
        match self {
            Self::One(to) | Self::Reducer(to) | Self::OneEach(to) => Some(to),
            Self::Several { .. } => None,
        }
    }

    fn by(self) -> DataUse {
        if matches!(self, Self::Reducer(_)) { DataUse::Reduces } else { DataUse::Copies }
    }
}

/// What this rank shows: data one behind the other, until all of it was read.
#[derive(Default)]
pub(crate) struct Shown {
    /// Where it ends, and at which spot it began.
    bytes: usize,
    spot: Spot,
    readers: usize,
    /// Where the next spot begins.
    next: usize,
    /// Bytes of the room that have memory.
    touched: usize,
    /// What is to be copied to the room, and where.
    copying: Option<(Buffer, Showing)>,
    /// So many more are copied there in one piece.
    pub(super) whole: u32,
    /// Answers that were given of what costs less.
    answers: Answers,
    /// The same of spots, by what data is shown for. And whether the copies to this one are timed, so that they are
    /// made alone.
    spots: [Answers; 2],
    is_timed: bool,
    /// Copies to this one.
    copies: u32,
    /// Where ranks share cpus, and data of one goes to several of them: from memory or shown.
    several: Decisions,
    /// Where one rank gets it: copied twice, or once by the kernel.
    pub(super) to_one: ToOne,
}

/// Answers of where one rank gets data, by `Among`.
pub(super) struct ToOne {
    decisions: [Decisions; Among::COUNT],
    /// The last ones, with the collective for which they hold.
    pub(super) last: [Option<(i32, bool)>; Among::COUNT],
}

impl Default for ToOne {
    fn default() -> Self {
        let of_two = Among::ExchangesOfTwo(0).number();
        let ahead = |number: usize| if number == of_two { EXCHANGES_OF_TWO_AHEAD } else { 0 };
        Self {
            decisions: array::from_fn(|number| Decisions::ahead_by(ahead(number))),
            last: Default::default(),
        }
    }
}

impl Shown {
    /// The cycles that have begun with data of so many bytes do not count.
    fn leave_out_cycle(&mut self, bytes: usize) {
        let Self { several, to_one, .. } = self;
        for decisions in to_one.decisions.iter_mut().chain([several]) {
            decisions.leave_out(bytes);
        }
    }
}

/// Among what other data of a collective data is that goes to one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Among {
    /// All goes to one rank, and this one does nothing else. This one of the job's ranks answers for all: mixed answers
    /// cost more than either.
    Gathers(usize),
    /// All comes from this rank.
    Scatters,
    /// This rank receives as well; the same.
    Exchanges(usize),
    /// The same of two ranks that have cpus of their own.
    ExchangesOfTwo(usize),
}

impl Among {
    /// How many there are.
    const COUNT: usize = 4;

    /// Its place among all.
    pub(super) fn number(self) -> usize {
        match self {
            Self::Gathers(_) => 0,
            Self::Scatters => 1,
            Self::Exchanges(_) => 2,
            Self::ExchangesOfTwo(_) => 3,
        }
    }

    /// The rank that answers for all, and where it says of which classes of data it would rather show them, a bit each.
    fn answers_for_all(self, segment: &Segment) -> Option<(usize, &AtomicU32)> {
        match self {
            Self::Gathers(rank) => Some((rank, &segment.rank(rank).shows_gathered)),
            Self::Exchanges(rank) | Self::ExchangesOfTwo(rank) => {
                Some((rank, &segment.rank(rank).shows_exchanged))
            }
            Self::Scatters => None,
        }
    }
}

/// The most answers of a turn of a spot: small data that may cost more where it is measured comes there so rarely. A
/// choice.
const LONGEST_TURN: u32 = TURN_EACH / 4;
/// Turns of spots come so many answers before their time, the first one after 4: the first spot was measured while a
/// program's buffers got memory. (8 ranks on 2 cpus of an EPYC, alltoall of 64 kB for 40 ms, us, without this and with
/// it: 170 and 158.)
const SPOTS_AHEAD: u32 = 60;
/// Those of exchanges of two ranks come so many before theirs, the first one after 8: what pieces cost while the pool
/// and the program's buffers get memory says little of what a collective takes later. (Alltoall of 4 MB between two
/// ranks on an EPYC behind other collectives, us: 964 with the first turn after 64, 804 so.)
pub(super) const EXCHANGES_OF_TWO_AHEAD: u32 = 56;

/// One of so many copies to the room is timed where this rank copies own data beside them. A choice.
const TIMED_EACH: u32 = 8;
/// What is shown goes to the room in pieces of which so many turn over: an eighth of a core's own cache each. A choice.
/// (Bcast on 2 cpus of a Xeon with 2 MB of that cache, us, in pieces of 64, 128, 256 and 512 kB: 8 ranks, 1 MB 426,
/// 386, 383 and 394; 4 ranks, 4 MB 934, 859, 778 and 809.)
const SHOWN_PIECES: usize = 32;
/// But at least so many bytes.
const LEAST_PIECE: usize = 64 * 1024;

/// Between two pieces a rank passes its cpu on. When it comes back only after so many ns, a program that only computes
/// had it, and not the readers: then the rest, and the next so many, are shown in one piece. Choices: Linux gives such
/// a program 2 to 4 ms, and a reader needs some 10 us for a piece. (4 ranks on 2 cpus, a program that computes on one
/// of them, bcast of 1 MB on an EPYC: 12.0 ms in pieces, 4.2 ms in one.)
const PASSED_NS: u64 = 1_000_000;
const WHOLE_AFTER: u32 = 64;

/// Ranks that share cpus show data of more than so many bytes that goes to several or is reduced, and larger data that
/// goes to one, where they do not offer it: all of it is there when its receiver gets a cpu. (4 ranks on 2 cpus, shown
/// and sent: bcast of 1 MB 178 and 349 us, allreduce of 1 MB 457 and 1318, alltoall of 256 kB 202 and 1685, while tests
/// ran beside. 8 ranks, whose operands have an eighth each: allreduce of 256 kB 394 and 882, reduce of 256 kB 250 and
/// 455; with 8 kB in place of 16, 4 ranks reduce 64 kB in 52 us, and in 40.)
pub const SHOWN_ABOVE: usize = 16 * 1024;

/// After so many looks at what another rank is copying there, with nothing new, a reader sleeps for so long: that rank
/// may have lost its cpu to a program to which nobody can pass it on. A choice.
const LOOKS: u32 = 100;
const SLEEP_NS: u64 = 50_000;

/// Where a rank shows something.
fn place(segment: &Segment, rank: usize, at: usize, bytes: usize) -> Option<*mut u8> {
    let room = shown_room(segment.ranks());
    // SAFETY: inside the rank's room, as just checked.
    (at <= room && bytes <= room - at).then(|| unsafe { segment.shown(rank).add(at) })
}

impl Engine<'_> {
    /// Lets the other ranks read this process's memory. Call it before telling one of them an address.
    pub fn allow_reading(&mut self) {
        let segment = self.segment();
        self.sharing.probe.allow(&segment, self.rank);
    }

    /// Reads from an address in the process of a rank that has allowed it; false where the kernel does not let this
    /// process, or not all bytes came. If the job ends because that rank has ended, this one leaves.
    ///
    /// # Safety
    /// `bytes` bytes may be written at `into`.
    pub unsafe fn read_memory(&mut self, rank: usize, address: u64, into: *mut u8, bytes: usize) -> bool {
        match self.sharing.readable(&self.segment(), rank) {
            Access::Works(pid) => {
                let start_ns = kernel_ns();
                // SAFETY: as the caller promised.
                let read = unsafe {
                    remote::read(pid, &[Span { address: into, bytes }], &[remote::there(address, bytes)])
                };
                let took_ns = kernel_ns() - start_ns;
                if !self.shares_cpu_with(rank) {
                    self.segment().header().costs.learn(Sort::ByKernel, bytes, bytes, took_ns);
                }
                if !read {
                    self.wait_for_end();
                }
                read
            }
            Access::Unknown | Access::Forbidden => {
                self.segment().header().costs.learn_failure(Sort::ByKernel, bytes);
                false
            }
        }
    }

    /// Whether a rank that has allowed it can be read from here.
    pub fn can_read(&mut self, rank: usize) -> bool {
        matches!(self.sharing.readable(&self.segment(), rank), Access::Works(_))
    }

    /// Whether a rank can be read and written from here; nothing: it has not allowed it yet.
    pub fn can_read_and_write(&mut self, rank: usize) -> Option<bool> {
        let segment = self.segment();
        match [self.sharing.readable(&segment, rank), self.sharing.writable(&segment, rank)] {
            [Access::Works(_), Access::Works(_)] => Some(true),
            accesses => accesses.contains(&Access::Forbidden).then_some(false),
        }
    }

    /// Writes to an address in the process of a rank that has allowed it; false where the kernel does not let this
    /// process, or not all bytes went. If the job ends because that rank has ended, this one leaves.
    ///
    /// # Safety
    /// `bytes` bytes may be read at `from`.
    pub unsafe fn write_memory(&mut self, rank: usize, address: u64, from: *const u8, bytes: usize) -> bool {
        let Access::Works(pid) = self.sharing.writable(&self.segment(), rank) else { return false };
        // SAFETY: as the caller promised; the kernel checks the other address.
        let written = unsafe {
            remote::write(pid, &[Span { address: from.cast_mut(), bytes }], remote::there(address, bytes))
        };
        if !written {
            self.wait_for_end();
        }
        written
    }

    /// Whether another rank last copied large data on the cpu where this one is now. Where ranks move about, that is a
    /// guess.
    pub fn shares_cpu_with(&self, rank: usize) -> bool {
        self.segment().shares_cpu(self.rank, rank)
    }

    /// Whether data of so many bytes that one rank gets had rather be copied twice: shown, where ranks share cpus, or
    /// else sent. Otherwise the kernel copies it once: scattered and exchanged data is read by its receivers; gathered
    /// data is sent, and written by its senders, so that all cpus copy. (What is exchanged is read without a word
    /// before. On 2 cpus of a Xeon, us, written by its senders and read: alltoall on 3 ranks, 256 kB 152 and 109, 1 MB
    /// 758 and 530; on 5, 64 kB 167 and 137; on 4 and 8, no clear difference.)
    /// So it is at first, and as long as a program's cycles don't take clearly longer; now and then the other answer.
    /// But gathered and exchanged data is copied twice at first where the kernel's copy is known to cost more: all cpus
    /// copy either way. Where that is not known, exchanges measure it first. (On 2 cpus of a Xeon, us, shown or sent
    /// through the pool, read by the kernel, and so: gather of 64 kB on 4 ranks 16, 12 and 9, of 1 MB 421, 457 and 220;
    /// on 8 ranks 33, 28 and 21, and 970, 957 and 548. Alltoall of 256 kB, shown and so: 220 and 193, and 1,090 and
    /// 950; on another Xeon, 4 ranks, 366 and 256, while nothing was known 327 and 226; on an EPYC, of 64 kB, 59 and
    /// 98, and 327 and 474. Scatter of 1 MB on 8 ranks of the first Xeon, shown to neighbours on the cpu, and not: 704
    /// and 524.)
    ///
    /// `collective` tells it from the one before: in one, there is one answer.
    pub fn two_copies_are_shorter(&mut self, bytes: usize, among: Among, collective: i32) -> bool {
        let segment = self.segment();
        if self.copy_from > bytes || segment.header().costs.kernel_fails(bytes) {
            return true;
        }
        let class = class_of(bytes);
        let last = &mut self.shown.to_one.last[among.number()];
        if let Some((_, answer)) = last.filter(|&(of, _)| of == collective) {
            return answer;
        }
        let for_all = among.answers_for_all(&segment);
        if let Some((rank, shows)) = for_all
            && rank != self.rank
        {
            return said(shows, class);
        }
        let known = match among {
            Among::ExchangesOfTwo(_) => self.kernel_costs_less_than_the_pool(bytes),
            _ => self.kernel_costs_less_than_showing(bytes),
        };
        let at_first = match among {
            Among::Gathers(_) => Ok(!known.unwrap_or(true)),
            Among::Scatters => Ok(false),
            Among::Exchanges(_) | Among::ExchangesOfTwo(_) => {
                known.map(|less| !less).map_err(|measured_next| !measured_next)
            }
        };
        let ToOne { decisions, last } = &mut self.shown.to_one;
        let answer = decisions[among.number()].answer(bytes, at_first, kernel_ns());
        last[among.number()] = Some((collective, answer));
        if let Some((_, shows)) = for_all {
            say(shows, class, answer);
        }
        answer
    }

    /// Whether the kernel's copy of data of so many bytes costs less than the two of what is shown; an error: that is
    /// not known yet, and whether the kernel's copy is to be measured next.
    fn kernel_costs_less_than_showing(&self, bytes: usize) -> Result<bool, bool> {
        let costs = &self.segment().header().costs;
        let less = |bytes| {
            let spot = costs.cheapest_spot(self.spots(bytes), bytes, DataUse::Copies).map_err(|_| false)?;
            let shown = [(Sort::Shown(spot), 1.0), (spot.read(DataUse::Copies), 1.0)];
            costs.kernel_is_cheaper(&shown, bytes, DataUse::Copies)
        };
        // What is known of smaller data says more than nothing.
        [bytes, bytes / 2, bytes / 4]
            .into_iter()
            .find_map(|bytes| less(bytes).ok())
            .map_or_else(|| less(bytes), Ok)
    }

    /// The same, less than the two of what goes through the pool.
    pub(super) fn kernel_costs_less_than_the_pool(&self, bytes: usize) -> Result<bool, bool> {
        let costs = &self.segment().header().costs;
        costs.kernel_is_cheaper(&costs.pooled(bytes).map(|sort| (sort, 1.0)), bytes, DataUse::Copies)
    }

    /// Whether it costs the job less when readers of data of so many bytes read it from this rank's memory than when it
    /// is shown (where ranks share cpus) or sent. Now and then the other answer, so that both are measured again.
    pub fn reading_is_cheaper(&mut self, bytes: usize, takers: Takers) -> bool {
        let page = self.segment().header();
        let (cpus, by) = (page.cpus as f32, takers.by());
        let crowded = self.crowded();
        // While a spot is not measured, data is shown there.
        let others = match crowded {
            true if takers.alone().is_some_and(|to| self.shares_cpu_with(to)) => return false,
            true => page.costs.cheapest_spot(self.spots(bytes), bytes, by).map_err(|_| false),
            false => Ok(Spot::default()),
        };
        let known = others.and_then(|spot| {
            let [write, read] =
                if crowded { [Sort::Shown(spot), spot.read(by)] } else { page.costs.pooled(bytes) };
            let than: &[_] = match takers {
                Takers::One(_) | Takers::Reducer(_) => &[(write, 1.0), (read, 1.0)],
                Takers::OneEach(_) => &[(write, cpus)],
                Takers::Several { readers, .. } => &[(write, cpus / readers.max(1) as f32), (read, 1.0)],
            };
            page.costs.kernel_is_cheaper(than, bytes, by)
        });
        let Shown { answers, several, .. } = &mut self.shown;
        match (known, takers) {
            (_, Takers::Several { others_send: false, .. }) if crowded => {
                several.answer(bytes, known, kernel_ns())
            }
            (Err(measure), _) => measure,
            (Ok(cheaper), _) => cheaper != answers.turn_of_other(bytes),
        }
    }

    /// Shows a copy of contiguous data, to one reader so far. Nothing: there is no room.
    pub fn show(&mut self, data: &Buffer, takers: Takers) -> Option<Showing> {
        let mut showing = self.take_room(data, takers.by())?;
        let counts = takers.alone().is_none_or(|to| !self.shares_cpu_with(to));
        if !counts && showing.spot == Spot::Memory {
            // This cpu's caches are its reader's.
            showing.spot = Spot::Again;
        }
        self.fill_room(data, showing, data.bytes.max(1), counts);
        Some(showing)
    }

    /// As `show`, but nothing is copied yet: several readers may be told, and follow. Call `go_on_showing` next.
    pub fn begin_to_show(&mut self, data: &Buffer) -> Option<Showing> {
        let showing = self.take_room(data, DataUse::Copies)?;
        self.shown.copying = Some((data.clone(), showing));
        Some(showing)
    }

    /// Copies what this rank has begun to show, in pieces. Takers that share its cpu get it between them, and read a
    /// piece while it lies in the cpu's cache.
    pub fn go_on_showing(&mut self) {
        if let Some((data, showing)) = self.shown.copying.take() {
            let piece_bytes = match self.shown.whole {
                0 => (self.segment().turnover_bytes() / SHOWN_PIECES).max(LEAST_PIECE),
                _ => data.bytes.max(1),
            };
            self.shown.whole = self.shown.whole.saturating_sub(1);
            self.fill_room(&data, showing, piece_bytes, true);
        }
    }

    /// Where there is room for contiguous data of a reader, behind all other.
    fn take_room(&mut self, data: &Buffer, by: DataUse) -> Option<Showing> {
        self.go_on_showing();
        if self.shown.readers == 0 {
            self.choose_spot(data.bytes, by);
        }
        let at = self.shown.bytes;
        place(&self.segment(), self.rank, at, data.bytes).filter(|_| data.is_contiguous())?;
        self.shown.bytes = (at + data.bytes).next_multiple_of(LINE);
        self.shown.readers += 1;
        self.shown.copies += 1;
        if self.shown.spot == Spot::Next {
            self.shown.next = self.shown.bytes;
        }
        Some(Showing { at, spot: self.shown.spot })
    }

    /// Where data of so many bytes, and maybe more, can be shown.
    fn spots(&self, bytes: usize) -> &'static [Spot] {
        // Data of half as much as has to turn over does so itself. Rooms of ranks that share a cpu turn over together,
        // as pools do. (8 ranks on 2 cpus of a Xeon, reduce of 1 MB for 40 ms: 757 us where each turned over 8 MB, of
        // which each page costs two faults, and 610 with 2 MB.)
        match (2 * bytes <= self.segment().pool_bytes(), can_copy_past()) {
            (true, true) => &Spot::ALL,
            (true, false) => &[Spot::Again, Spot::Next],
            (false, true) => &[Spot::Again, Spot::Memory],
            (false, false) => &[Spot::Again],
        }
    }

    /// Nobody reads what was shown: chooses where the next data is shown, so many bytes of it and maybe more.
    fn choose_spot(&mut self, bytes: usize, by: DataUse) {
        let (segment, spots) = (self.segment(), self.spots(bytes));
        let spot_of = |turn: usize| spots[turn % spots.len()];
        let answers = &mut self.shown.spots[by as usize];
        // As many as there are for each answer: all data of an exchange is shown at the same spot.
        let copies = std::mem::take(&mut self.shown.copies).max(1);
        // Cycles with a spot that is being measured, and may cost far more, say nothing of whether to show data.
        let (spot, is_measured) = match segment.header().costs.cheapest_spot(spots, bytes, by) {
            Err(measure) => (measure, true),
            Ok(cheapest) => {
                let (known, lap) = (known_from(bytes), (segment.pool_bytes() / bytes.max(1)) as u32);
                // Lines that nobody has used since the last turn cost more: those of a first lap do not say what the
                // next ones cost. (4 ranks on 2 cpus of an EPYC, gather of 64 kB: 17.9 us with turns of as many
                // copies as a cost needs to be known, because the place behind seemed to cost most, and 14.9.)
                let behind = (known + lap).div_ceil(copies).min(LONGEST_TURN);
                let length = |turn| if spot_of(turn) == Spot::Next { behind } else { known.div_ceil(copies) };
                match answers.turn(bytes, SPOTS_AHEAD, length) {
                    Some(turn) => (spot_of(turn), true),
                    None => (cheapest, false),
                }
            }
        };
        self.shown.is_timed = is_measured || answers.given(bytes).is_multiple_of(TIMED_EACH);
        if is_measured {
            self.shown.leave_out_cycle(bytes);
        }
        let follows = spot == Spot::Next && self.shown.next + bytes <= segment.pool_bytes();
        (self.shown.spot, self.shown.bytes) = (spot, if follows { self.shown.next } else { 0 });
        // Takers are told of it only behind this.
        segment.rank(self.rank).shown.store(self.shown.bytes as u64, Ordering::Relaxed);
    }

    /// Copies data to the room; `counts`: what that cost is learnt.
    fn fill_room(&mut self, data: &Buffer, showing: Showing, piece_bytes: usize, counts: bool) {
        let at = showing.at;
        let (segment, end) = (self.segment(), at + data.bytes);
        let page = segment.rank(self.rank);
        let is_alone = self.own_copy.is_none() || self.shown.is_timed;
        let part_bytes = if is_alone { data.bytes.max(1) } else { SLOT };
        let (mut took_ns, mut from, mut piece_bytes) = (0, at, piece_bytes);
        while from < end {
            let bytes = piece_bytes.min(end - from);
            let start_ns = kernel_ns();
            for part in (from..from + bytes).step_by(part_bytes) {
                let part = part..(from + bytes).min(part + part_bytes);
                // SAFETY: inside the room, as `take_room` checked; the data is lent, and readers leave alone what is
                // behind `shown`.
                unsafe {
                    let (data, room) =
                        (data.address.add(part.start - at), segment.shown(self.rank).add(part.start));
                    match showing.spot {
                        Spot::Again | Spot::Next => copy_out(data, room, part.len()),
                        Spot::Memory => copy_past(data, room, part.len()),
                    }
                }
                if !is_alone {
                    self.copy_beside(&(part.start - at..part.end - at));
                }
            }
            took_ns += kernel_ns() - start_ns;
            from += bytes;
            page.shown.store(from as u64, Ordering::Release);
            if from < end {
                let passed_ns = kernel_ns();
                pass_on_cpu();
                if kernel_ns() - passed_ns >= PASSED_NS {
                    (piece_bytes, self.shown.whole) = (end - from, WHOLE_AFTER);
                }
            }
        }
        let is_first = end > self.shown.touched;
        if is_first {
            // The memory has to be got, by this rank and by its readers.
            self.shown.leave_out_cycle(data.bytes);
        }
        if counts && is_alone && !is_first {
            segment.header().costs.learn(Sort::Shown(showing.spot), data.bytes, data.bytes, took_ns);
        }
        self.shown.touched = self.shown.touched.max(end);
    }

    /// One more reader is told of what is shown.
    pub fn show_again(&mut self) {
        self.shown.readers += 1;
    }

    /// A reader has what it was told of.
    pub fn was_read(&mut self) {
        self.shown.readers -= 1;
        if self.shown.readers == 0 {
            self.go_on_showing();
        }
    }

    /// Where this process sees so many bytes that a rank shows; nothing while not all are there, and outside of where
    /// ranks show data.
    ///
    /// The rank has told this one of these bytes; it leaves them alone until it hears that they were read.
    pub fn shown_at(&self, rank: usize, at: usize, bytes: usize) -> Option<*const u8> {
        let segment = self.segment();
        let there = segment.rank(rank).shown.load(Ordering::Acquire) as usize;
        place(&segment, rank, at, bytes).filter(|_| at + bytes <= there).map(<*mut u8>::cast_const)
    }

    /// Reads so many bytes that a rank shows, as far as the buffer has room, and waits while they are being copied
    /// there; false outside of where ranks show data, and where they are not.
    ///
    /// # Safety
    /// The rank has told this one of these bytes, and has not yet heard that they were read.
    pub unsafe fn read_shown(&mut self, rank: usize, showing: Showing, bytes: usize, into: &Buffer) -> bool {
        let (segment, at) = (self.segment(), showing.at);
        let Some(data) = place(&segment, rank, at, bytes) else { return false };
        let page = segment.rank(rank);
        let counts = !self.shares_cpu_with(rank);
        let landing = self.landings.choose(Origin::Room, bytes);
        let (mut read, mut looks, mut took_ns) = (0, 0, 0);
        while read < bytes {
            let Some(there) = there(page.shown.load(Ordering::Acquire), at, read, bytes) else {
                return false;
            };
            if there == read {
                self.room.leave_when_over();
                looks += 1;
                if looks < LOOKS {
                    pass_on_cpu()
                } else {
                    host::clock::sleep_ns(SLEEP_NS)
                }
                continue;
            }
            looks = 0;
            let start_ns = kernel_ns();
            // SAFETY: inside the room; the rank leaves it alone, as the caller promised.
            into.land(landing, read, unsafe { std::slice::from_raw_parts(data.add(read), there - read) });
            fence_past();
            took_ns += kernel_ns() - start_ns;
            read = there;
        }
        self.landings.learn(Origin::Room, bytes, landing, bytes, took_ns);
        if counts {
            segment.header().costs.learn(showing.spot.read(DataUse::Copies), bytes, bytes, took_ns);
        }
        true
    }

    /// Carries out a reduction of two operands of so many bytes, each in this rank's memory or where another rank shows
    /// it, and learns what that costs.
    pub fn reduce(&mut self, bytes: usize, shown: [Option<(usize, Spot)>; 2], reduce: impl FnOnce()) {
        let sort = match shown {
            _ if bytes <= SHOWN_ABOVE => None,
            [None, None] => Some(Sort::Reduced),
            [Some((rank, spot)), None] | [None, Some((rank, spot))] if !self.shares_cpu_with(rank) => {
                Some(spot.read(DataUse::Reduces))
            }
            _ => None,
        };
        let Some(sort) = sort else { return reduce() };
        let start_ns = kernel_ns();
        reduce();
        self.segment().header().costs.learn(sort, bytes, bytes, kernel_ns() - start_ns);
    }
}

/// How many of `bytes` bytes from `at` on are shown, by a rank whose room is filled up to `filled`, when `read` of them
/// were there before. Nothing: fewer are. No rank goes back; somebody wrote over its page.
fn there(filled: u64, at: usize, read: usize, bytes: usize) -> Option<usize> {
    let there = (filled as usize).saturating_sub(at).min(bytes);
    (there >= read).then_some(there)
}

/// Another rank may want this cpu.
fn pass_on_cpu() {
    // SAFETY: takes nothing.
    unsafe { libc::sched_yield() };
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::there;

    #[test]
    fn what_is_shown_never_goes_back() {
        assert_eq!(there(100, 128, 0, 64), Some(0));
        assert_eq!(there(160, 128, 0, 64), Some(32));
        assert_eq!(there(160, 128, 32, 64), Some(32));
        assert_eq!(there(u64::MAX, 128, 32, 64), Some(64));
        assert_eq!(there(159, 128, 32, 64), None);
        assert_eq!(there(0, 128, 1, 64), None);
    }
}
