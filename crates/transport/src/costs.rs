//! What it costs to copy a byte, by sort of copy: measured by all ranks of a job on what they copy, for all of them.
//! Copies between ranks on one cpu do not count: they cost little, by any sort, and would hide what others cost.
//!
//! No sort is the cheapest on every computer, and a computer changes while a job runs. Where ranks share cpus, or where
//! two ranks send to each other at the same time, no cpu has time left: then what counts is the sum of all copies.

use crate::copy::{copy_in, copy_out, copy_past};
use crate::landing::Landing;
use std::array;
use std::sync::atomic::{AtomicU64, Ordering};

/// Messages from so many bytes on may be copied between the processes, by the kernel (see `Engine::copy_from`).
pub const COPY_FROM: usize = 64 * 1024;

/// Who copies, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    /// A sender to the room where it shows data; a receiver from there, and one that reduces it there.
    Shown(Spot),
    ReadShown(Spot),
    ReducedShown(Spot),
    /// A sender to a slot of the pool that it fills so, and a receiver from there.
    Pooled(Fill),
    ReadPooled(Fill),
    /// A receiver from the sender's memory, by the kernel.
    ByKernel,
    /// A receiver that reduces what lies in its own memory.
    Reduced,
    /// The root of a reduce of two ranks, which reads what it reduces from the other rank's memory; and the other one,
    /// which writes what it has reduced to the root's memory, too.
    AtRoot,
    ForRoot,
}

const SPOTS: usize = Spot::ALL.len();
const FILLS: usize = Fill::ALL.len();
const SORTS: usize = 3 * SPOTS + 2 * FILLS + 4;

impl Sort {
    /// Its place among all.
    fn number(self) -> usize {
        match self {
            Self::Shown(spot) => spot as usize,
            Self::ReadShown(spot) => SPOTS + spot as usize,
            Self::ReducedShown(spot) => 2 * SPOTS + spot as usize,
            Self::Pooled(fill) => 3 * SPOTS + fill as usize,
            Self::ReadPooled(fill) => 3 * SPOTS + FILLS + fill as usize,
            Self::ByKernel => SORTS - 4,
            Self::Reduced => SORTS - 3,
            Self::AtRoot => SORTS - 2,
            Self::ForRoot => SORTS - 1,
        }
    }
}

/// How a sender fills a slot of the pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Fill {
    /// A slot of its own pool, whose lines lie in the caches of who read them last, by the cpu's copy instruction.
    #[default]
    ByInstruction,
    /// The same by wide words.
    ByWords,
    /// The same by wide words, past this cpu's caches.
    PastCaches,
    /// A slot that came with a piece of the receiver, and whose lines this rank has read; by the copy instruction.
    Returned,
    /// The same by wide words.
    ReturnedByWords,
}

impl Fill {
    /// All of them, each at its number; those of own slots, and of slots that came with a piece.
    pub(crate) const ALL: [Self; 5] =
        [Self::ByInstruction, Self::ByWords, Self::PastCaches, Self::Returned, Self::ReturnedByWords];
    pub(crate) const OWN: &[Self] = Self::ALL.split_at(3).0;
    pub(crate) const RETURNED: &[Self] = Self::ALL.split_at(3).1;

    /// What copies so.
    pub(crate) fn copy(self) -> unsafe fn(*const u8, *mut u8, usize) {
        match self {
            Self::ByInstruction | Self::Returned => copy_out,
            Self::ByWords | Self::ReturnedByWords => copy_in,
            Self::PastCaches => copy_past,
        }
    }
}

/// Where in its room a rank shows data. Lines that were shown before lie in the caches of their readers. Where cpus
/// share no cache, it may take long to get such lines back: lines that were left alone for some time cost less. Where
/// they share one, lines that were shown just before are nearer.
///
/// A store past the caches takes no line back. Its reader gets the data from memory. (Two cpus of an EPYC that write
/// and read 512 kB each at the same time, ns for each byte, again and in memory: .15 and .20; .37 and .15 while they
/// share no cache.)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spot {
    /// Where data was shown before.
    #[default]
    Again,
    /// Behind what was shown before.
    Next,
    /// As `Again`, but past this cpu's caches.
    Memory,
}

/// What a rank does with data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataUse {
    /// It copies it.
    Copies,
    /// It reduces it with data of its own.
    Reduces,
}

impl Spot {
    /// All of them, in the order in which they are measured; each at its number.
    pub const ALL: [Self; 3] = [Self::Again, Self::Next, Self::Memory];

    /// The sort of what its receiver does.
    pub(crate) fn read(self, by: DataUse) -> Sort {
        match by {
            DataUse::Copies => Sort::ReadShown(self),
            DataUse::Reduces => Sort::ReducedShown(self),
        }
    }
}

/// Sizes of data below twice this power of two are one class; each class above is up to the next power of two.
const SMALLEST: u32 = 10;
/// Classes of sizes; all sizes above are in the last one.
pub(crate) const CLASSES: usize = 14;
/// From so many copies on, their cost counts as known: the first ones get memory. Fewer of large data do, of so many
/// bytes together: while costs are measured, programs wait for copies that cost more. Choices. (For 40 ms, us, with 16
/// MB and with this: on an EPYC while a line takes 200 ns, 4 ranks on 2 cpus, bcast of 1 MB 442 and 193; else scatter
/// of 1 MB 245 and 192, allgather 939 and 780. On a Xeon, with 16 copies of any data and with 16 MB, bcast of 4 MB on 8
/// ranks 1,916 and 1,581.)
const KNOWN_FROM: u32 = 16;
const KNOWN_BYTES: usize = 4 << 20;
const LEAST_KNOWN: u32 = 4;
/// What a copy counts that took less time than was known, and one that took more: little, because it may have got
/// memory, or lost the cpu. One that took less counts in full: when that was luck, the next ones correct it, because
/// that sort is used then.
const OF_DATA: [f32; 2] = [1.0, 1.0 / 32.0];
/// The same of a piece of a message. There are many, and the next one often takes another time than the last one: its
/// slot lay in another cache. And of what two ranks do at the same time: their cpus may change.
const OF_PIECE: [f32; 2] = [1.0 / 4.0, 1.0 / 8.0];
/// The same of a piece that goes through slots: what it costs there is compared all the time.
const OF_SLOT: [f32; 2] = [1.0 / 8.0, 1.0 / 32.0];
/// More than so many times what was known counts as this.
const MOST: f32 = 2.0;
/// What a rank does at first of a reduction that is done for the root: for each two copies of the root it makes three.
const PART_FOR_ROOT: f32 = 0.4;
/// What each of the two does at least, so that its cost stays known. A choice.
const LEAST_PART: f32 = 0.1;
/// What a byte costs that can't be copied that way, in ns.
const NEVER: f32 = 1e6;

/// The class of data of so many bytes.
pub(crate) fn class_of(data: usize) -> usize {
    (data.max(1).ilog2().saturating_sub(SMALLEST) as usize).min(CLASSES - 1)
}

/// From how many copies on the cost of data of so many bytes is known.
pub(crate) fn known_from(data: usize) -> u32 {
    (KNOWN_BYTES / data.max(1)).clamp(LEAST_KNOWN as usize, KNOWN_FROM as usize) as u32
}

/// How many copies were measured, and what a byte costs in ns.
#[derive(Clone, Copy)]
struct Cost {
    copies: u32,
    ns: f32,
}

impl Cost {
    fn unpack(word: u64) -> Self {
        Self { copies: (word >> 32) as u32, ns: f32::from_bits(word as u32) }
    }

    fn pack(self) -> u64 {
        u64::from(self.copies) << 32 | u64::from(self.ns.to_bits())
    }

    fn with(self, ns: f32, [fall, rise]: [f32; 2]) -> Self {
        let part = if ns < self.ns { fall } else { rise };
        let ns = match self.copies {
            0 => ns,
            _ => self.ns + part * (ns.min(MOST * self.ns) - self.ns),
        };
        Self { copies: self.copies.saturating_add(1), ns }
    }

    /// Of data of so many bytes.
    fn known(self, data: usize) -> Option<f32> {
        (self.copies >= known_from(data)).then_some(self.ns)
    }
}

/// What copies cost in a job, by the class of data; in memory that all ranks see. Ranks that measure at the same time
/// may overwrite each other's figure, which is as good.
#[repr(C, align(64))]
pub(crate) struct Costs([[AtomicU64; SORTS]; CLASSES]);

impl Default for Costs {
    fn default() -> Self {
        Self(array::from_fn(|_| array::from_fn(|_| AtomicU64::new(0))))
    }
}

impl Costs {
    fn of(&self, sort: Sort, data: usize) -> &AtomicU64 {
        &self.0[class_of(data)][sort.number()]
    }

    fn known(&self, sort: Sort, data: usize) -> Option<f32> {
        Cost::unpack(self.of(sort, data).load(Ordering::Relaxed)).known(data)
    }

    /// What a byte costs that goes through these sorts, each as often as it says.
    fn sum(&self, sorts: &[(Sort, f32)], data: usize) -> Option<f32> {
        sorts.iter().map(|&(sort, times)| Some(times * self.known(sort, data)?)).sum()
    }

    fn learn_ns(&self, sort: Sort, data: usize, ns: f32) {
        let place = self.of(sort, data);
        let part = match sort {
            Sort::Pooled(_) | Sort::ReadPooled(_) | Sort::AtRoot | Sort::ForRoot => OF_PIECE,
            _ => OF_DATA,
        };
        place.store(Cost::unpack(place.load(Ordering::Relaxed)).with(ns, part).pack(), Ordering::Relaxed);
    }

    /// A copy of so many bytes took so long; of data that has `data` bytes in all.
    pub(crate) fn learn(&self, sort: Sort, data: usize, bytes: usize, took_ns: u64) {
        self.learn_ns(sort, data, took_ns as f32 / bytes.max(1) as f32);
    }

    /// Which part of reduced data of so many bytes the rank does that is not the root, so that both end at the same
    /// time.
    pub(crate) fn part_for_root(&self, data: usize) -> f32 {
        let known = self.known(Sort::AtRoot, data).zip(self.known(Sort::ForRoot, data));
        let part = known.map_or(PART_FOR_ROOT, |(at_root, for_root)| at_root / (at_root + for_root));
        // What others scribbled is no number, perhaps.
        if part.is_nan() { PART_FOR_ROOT } else { part.clamp(LEAST_PART, 1.0 - LEAST_PART) }
    }

    /// Data of so many bytes could not be copied that way.
    pub(crate) fn learn_failure(&self, sort: Sort, data: usize) {
        self.of(sort, data).store(Cost { copies: KNOWN_FROM, ns: NEVER }.pack(), Ordering::Relaxed);
    }

    /// Data of so many bytes can't be copied by the kernel.
    pub(crate) fn kernel_fails(&self, data: usize) -> bool {
        self.known(Sort::ByKernel, data).is_some_and(|ns| ns >= NEVER)
    }

    /// Which of these costs least, given the sorts of copies of each; an error: that is not known yet, and what is to
    /// be measured next.
    fn cheapest<T: Copy>(&self, of: &[T], sorts: impl Fn(T) -> [Sort; 2], data: usize) -> Result<T, T> {
        let mut cheapest = (f32::INFINITY, of[0]);
        for &one in of {
            let cost = self.sum(&sorts(one).map(|sort| (sort, 1.0)), data).ok_or(one)?;
            if cost < cheapest.0 {
                cheapest = (cost, one);
            }
        }
        Ok(cheapest.1)
    }

    /// The spot of these where it costs least to show data of so many bytes.
    ///
    /// # Errors
    /// That is not known yet: which is to be measured next.
    pub(crate) fn cheapest_spot(&self, of: &[Spot], data: usize, by: DataUse) -> Result<Spot, Spot> {
        self.cheapest(of, |spot| [Sort::Shown(spot), spot.read(by)], data)
    }

    /// The fill of these with which the sender's copy and the receiver's cost least together.
    ///
    /// # Errors
    /// As for `cheapest_spot`.
    pub(crate) fn cheapest_fill(&self, of: &[Fill], data: usize) -> Result<Fill, Fill> {
        self.cheapest(of, |fill| [Sort::Pooled(fill), Sort::ReadPooled(fill)], data)
    }

    /// The copies of what two ranks send each other through the pool: in slots that go to and fro, as far as it is
    /// known that there are any.
    pub(crate) fn pooled(&self, data: usize) -> [Sort; 2] {
        let known =
            [Fill::RETURNED, Fill::OWN].into_iter().find_map(|fills| self.cheapest_fill(fills, data).ok());
        let fill = known.unwrap_or_default();
        [Sort::Pooled(fill), Sort::ReadPooled(fill)]
    }

    /// Whether the kernel's one copy costs less than these, each as often as it says for each copy of the kernel; an
    /// error: that is not known yet, and whether the kernel's copy is to be measured next.
    pub(crate) fn kernel_is_cheaper(
        &self,
        than: &[(Sort, f32)],
        data: usize,
        by: DataUse,
    ) -> Result<bool, bool> {
        let others = self.sum(than, data).ok_or(false)?;
        let kernel = match by {
            DataUse::Copies => self.known(Sort::ByKernel, data),
            DataUse::Reduces => self.sum(&[(Sort::ByKernel, 1.0), (Sort::Reduced, 1.0)], data),
        };
        kernel.map(|kernel| kernel < others).ok_or(true)
    }
}

/// Who moves data through the slots of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlotSort {
    /// A rank to its slots, where ranks on other cpus read it.
    Filled(DataUse),
    /// A rank on another cpu from there.
    Taken(DataUse),
    /// A rank on the same cpu.
    TakenNear,
}

impl SlotSort {
    /// Its place among all.
    fn number(self) -> usize {
        match self {
            Self::Filled(by) => by as usize,
            Self::Taken(by) => 2 + by as usize,
            Self::TakenNear => 4,
        }
    }
}

/// What a byte costs that goes through slots, by the class of data and where it lands there; in memory that all ranks
/// see.
#[derive(Default)]
#[repr(C, align(64))]
pub(crate) struct SlotCosts([[[AtomicU64; 5]; 2]; CLASSES]);

/// Pieces of which their size no longer changes what a byte costs. A choice.
const LEAST_OF_SLOT: usize = 8 * 1024;

/// Data lands past the caches where that costs less than this part: ranks wait for one another, and for memory longer.
/// A choice. (4 ranks on 2 cpus of an EPYC, allgather of 16 kB: both cost the same, and it takes 10.1 us in the caches
/// and 11.5 past them; while a line takes 220 ns, past them it costs a third.)
const PAST: f32 = 0.75;

impl SlotCosts {
    fn of(&self, data: usize, landing: Landing, sort: SlotSort) -> &AtomicU64 {
        &self.0[class_of(data)][landing as usize][sort.number()]
    }

    /// A piece of so many bytes took so long; of data that has `data` bytes in all.
    pub(crate) fn learn(&self, sort: SlotSort, landing: Landing, data: usize, bytes: usize, took_ns: u64) {
        if bytes >= LEAST_OF_SLOT {
            let place = self.of(data, landing, sort);
            let known = Cost::unpack(place.load(Ordering::Relaxed));
            place.store(known.with(took_ns as f32 / bytes as f32, OF_SLOT).pack(), Ordering::Relaxed);
        }
    }

    /// Where data of so many bytes is to land in slots that is moved by these sorts, each so often.
    ///
    /// # Errors
    /// That is not known yet: where it is to land next, so that it becomes known.
    pub(crate) fn cheapest(&self, sorts: &[(SlotSort, f32)], data: usize) -> Result<Landing, Landing> {
        let cost = |landing: Landing| {
            let known = |&(sort, times): &(SlotSort, f32)| {
                let cost = Cost::unpack(self.of(data, landing, sort).load(Ordering::Relaxed));
                Some(times * cost.known(LEAST_OF_SLOT)?)
            };
            sorts.iter().map(known).sum::<Option<f32>>().ok_or(landing)
        };
        let [in_caches, past_caches] = [cost(Landing::InCaches)?, cost(Landing::PastCaches)?];
        Ok(if past_caches < PAST * in_caches { Landing::PastCaches } else { Landing::InCaches })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const DATA: usize = 300_000;
    const SHOWN: [Sort; 2] = [Sort::Shown(Spot::Again), Sort::ReadShown(Spot::Again)];

    /// Whether the kernel's copy is cheaper than these two, which count so often.
    fn kernel_is_cheaper(costs: &Costs, than: [Sort; 2], weights: [f32; 2]) -> Result<bool, bool> {
        costs.kernel_is_cheaper(&[(than[0], weights[0]), (than[1], weights[1])], DATA, DataUse::Copies)
    }

    fn measured(costs: &Costs, sort: Sort, ns: u64, times: usize) {
        (0..times).for_each(|_| costs.learn(sort, DATA, DATA, ns));
    }

    #[test]
    fn two_copies_are_measured_before_the_kernels_and_then_the_cheaper_way_is_known() {
        for (kernel_ns, cheaper) in [(99_000, true), (101_000, false)] {
            let costs = Costs::default();
            measured(&costs, Sort::Shown(Spot::Again), 60_000, 20);
            assert_eq!(kernel_is_cheaper(&costs, SHOWN, [1.0, 1.0]), Err(false));
            measured(&costs, Sort::ReadShown(Spot::Again), 40_000, 20);
            assert_eq!(kernel_is_cheaper(&costs, SHOWN, [1.0, 1.0]), Err(true));
            measured(&costs, Sort::ByKernel, kernel_ns, 20);
            assert_eq!(kernel_is_cheaper(&costs, SHOWN, [1.0, 1.0]), Ok(cheaper));
            // The sender alone holds up two readers for longer, and one for a shorter time.
            assert_eq!(kernel_is_cheaper(&costs, SHOWN, [2.0, 0.0]), Ok(true));
            assert_eq!(kernel_is_cheaper(&costs, SHOWN, [1.0, 0.0]), Ok(false));
            // Of other sizes nothing is known, nor of the pool.
            let of_a_quarter = costs.kernel_is_cheaper(&[(SHOWN[0], 1.0)], DATA / 4, DataUse::Copies);
            assert_eq!(of_a_quarter, Err(false));
            let than_by_pool = kernel_is_cheaper(&costs, costs.pooled(DATA), [1.0, 1.0]);
            assert_eq!(than_by_pool, Err(false));
        }
    }

    #[test]
    fn a_copy_during_which_the_rank_lost_its_cpu_changes_little_and_a_change_is_followed() {
        let costs = Costs::default();
        SHOWN.iter().for_each(|&sort| measured(&costs, sort, 50_000, 20));
        measured(&costs, Sort::ByKernel, 80_000, 20);
        measured(&costs, Sort::ByKernel, 8_000_000, 1);
        assert_eq!(kernel_is_cheaper(&costs, SHOWN, [1.0, 1.0]), Ok(true));
        measured(&costs, Sort::ByKernel, 160_000, 50);
        assert_eq!(kernel_is_cheaper(&costs, SHOWN, [1.0, 1.0]), Ok(false));
        measured(&costs, Sort::ByKernel, 80_000, 1);
        assert_eq!(kernel_is_cheaper(&costs, SHOWN, [1.0, 1.0]), Ok(true));
    }

    #[test]
    fn of_a_reduction_for_the_root_the_slower_rank_does_the_smaller_part() {
        let costs = Costs::default();
        assert_eq!(costs.part_for_root(DATA), PART_FOR_ROOT);
        measured(&costs, Sort::AtRoot, 30_000, 20);
        assert_eq!(costs.part_for_root(DATA), PART_FOR_ROOT);
        measured(&costs, Sort::ForRoot, 90_000, 20);
        assert!((costs.part_for_root(DATA) - 0.25).abs() < 1e-3);
        // The root's cpu got slower.
        measured(&costs, Sort::AtRoot, 90_000, 40);
        assert!((costs.part_for_root(DATA) - 0.5).abs() < 0.01);
        for scribble in [u64::MAX, 1 << 40 | u64::from(f32::NEG_INFINITY.to_bits())] {
            costs.of(Sort::AtRoot, DATA).store(scribble, Ordering::Relaxed);
            assert!((LEAST_PART..=1.0 - LEAST_PART).contains(&costs.part_for_root(DATA)));
        }
    }

    #[test]
    fn what_failed_is_not_cheaper_and_scribbles_do_no_harm() {
        let costs = Costs::default();
        SHOWN.iter().for_each(|&sort| measured(&costs, sort, 50_000, 20));
        costs.learn_failure(Sort::ByKernel, DATA);
        assert_eq!(kernel_is_cheaper(&costs, SHOWN, [1.0, 1.0]), Ok(false));
        costs.of(Sort::ByKernel, DATA).store(u64::MAX, Ordering::Relaxed);
        assert_eq!(kernel_is_cheaper(&costs, SHOWN, [1.0, 1.0]), Ok(false));
        measured(&costs, Sort::ByKernel, 1, 1);
        assert_eq!(kernel_is_cheaper(&costs, SHOWN, [1.0, 1.0]), Ok(false));
    }

    #[test]
    fn all_spots_are_measured_before_the_cheapest_one_is_known() {
        for (cheapest, costs_ns) in
            [(Spot::Again, [98, 99, 99]), (Spot::Next, [99, 98, 99]), (Spot::Memory, [99, 99, 98])]
        {
            let costs = Costs::default();
            for (spot, cost_ns) in Spot::ALL.into_iter().zip(costs_ns) {
                assert_eq!(costs.cheapest_spot(&Spot::ALL, DATA, DataUse::Copies), Err(spot));
                measured(&costs, Sort::Shown(spot), 60_000, 20);
                assert_eq!(costs.cheapest_spot(&Spot::ALL, DATA, DataUse::Copies), Err(spot));
                measured(&costs, spot.read(DataUse::Copies), cost_ns * 1000 - 60_000, 20);
            }
            assert_eq!(costs.cheapest_spot(&Spot::ALL, DATA, DataUse::Copies), Ok(cheapest));
            let others: Vec<Spot> = Spot::ALL.into_iter().filter(|&spot| spot != cheapest).collect();
            assert_eq!(costs.cheapest_spot(&others, DATA, DataUse::Copies), Ok(others[0]));
        }
    }

    #[test]
    fn what_is_reduced_where_it_is_shown_needs_no_copy_of_its_own() {
        for (here_ns, kernel_is_cheaper) in [(29_000, true), (31_000, false)] {
            let costs = Costs::default();
            let shown = [(Sort::Shown(Spot::Again), 1.0), (Sort::ReducedShown(Spot::Again), 1.0)];
            let is_cheaper = || costs.kernel_is_cheaper(&shown, DATA, DataUse::Reduces);
            measured(&costs, Sort::Shown(Spot::Again), 60_000, 20);
            assert_eq!(is_cheaper(), Err(false));
            measured(&costs, Sort::ReducedShown(Spot::Again), 40_000, 20);
            measured(&costs, Sort::ByKernel, 70_000, 20);
            assert_eq!(is_cheaper(), Err(true), "nothing was reduced that the kernel had copied");
            measured(&costs, Sort::Reduced, here_ns, 20);
            assert_eq!(is_cheaper(), Ok(kernel_is_cheaper));
            // The spots are compared by what they are used for.
            assert_eq!(costs.cheapest_spot(&Spot::ALL, DATA, DataUse::Copies), Err(Spot::Again));
            assert_eq!(costs.cheapest_spot(&Spot::ALL, DATA, DataUse::Reduces), Err(Spot::Next));
        }
    }
}
