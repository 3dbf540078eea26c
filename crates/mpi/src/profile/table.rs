//! What is counted of a rank, in the job's memory: the launcher reads it at the end, also of a rank that died.
//!
//! ```text
//! levels of the phases | per phase: calls and ns per function | messages and bytes per destination and size class
//! ```

use crate::abi::values::FUNCTIONS;
use crate::segment::{PAGE, Segment};
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};

/// Phases that are told apart; what comes after goes to the last of them.
pub const PHASES: usize = 32;
/// Size classes: 0 bytes, 1, up to 3, up to 7 ... The last one is open.
pub const CLASSES: usize = 40;
/// Functions that are told apart.
pub const CALLS: usize = FUNCTIONS.len();

/// How often, and how much together.
#[repr(C)]
#[derive(Debug, Default)]
pub struct Tally {
    /// Messages, or calls.
    pub times: AtomicU64,
    /// Bytes, or ns.
    pub amount: AtomicU64,
}

#[repr(C)]
struct Head {
    /// Phases that were begun.
    phases: AtomicU32,
    /// What `MPI_Pcontrol` was called with at the beginning of each.
    levels: [AtomicI32; PHASES],
}

/// Bytes of one rank's table in a job of so many ranks; whole pages, untouched ones cost nothing.
pub fn bytes(ranks: usize) -> usize {
    (size_of::<Head>() + PHASES * tallies(ranks) * size_of::<Tally>()).next_multiple_of(PAGE)
}

fn tallies(ranks: usize) -> usize {
    CALLS + ranks * CLASSES
}

/// The size class of a message.
#[inline]
pub fn class(bytes: usize) -> usize {
    ((usize::BITS - bytes.leading_zeros()) as usize).min(CLASSES - 1)
}

/// The fewest and most bytes of a size class; the last one has no most.
pub fn class_bytes(class: usize) -> (u64, Option<u64>) {
    let least = if class == 0 { 0 } else { 1 << (class - 1) };
    (least, (class < CLASSES - 1).then_some((1u64 << class) - 1))
}

/// One rank's table.
#[derive(Clone, Copy)]
pub struct Table<'a> {
    head: &'a Head,
    tallies: &'a [Tally],
    ranks: usize,
}

impl<'a> Table<'a> {
    /// Of a rank, when the job is profiled.
    pub fn of(segment: &'a Segment, rank: usize) -> Option<Self> {
        let ranks = segment.ranks();
        let base = segment.profile(rank)?;
        // SAFETY: `profile` gives `bytes(ranks)` bytes of the mapping, aligned to a page, of which everything is atomic.
        unsafe {
            let tallies = base.add(size_of::<Head>().next_multiple_of(align_of::<Tally>()));
            Some(Self {
                head: &*base.cast::<Head>(),
                tallies: std::slice::from_raw_parts(tallies.cast::<Tally>(), PHASES * self::tallies(ranks)),
                ranks,
            })
        }
    }

    /// Phases that were begun: the level of each.
    pub fn levels(&self) -> impl Iterator<Item = i32> + '_ {
        let begun = (self.head.phases.load(Ordering::Acquire) as usize).min(PHASES);
        self.head.levels[..begun].iter().map(|level| level.load(Ordering::Relaxed))
    }

    /// The phase of a level, begun now or before. Only the table's own rank begins phases.
    pub fn begin(&self, level: i32) -> usize {
        if let Some(known) = self.levels().position(|known| known == level) {
            return known;
        }
        let phase = self.levels().count();
        if phase == PHASES {
            return PHASES - 1;
        }
        self.head.levels[phase].store(level, Ordering::Relaxed);
        self.head.phases.store(phase as u32 + 1, Ordering::Release);
        phase
    }

    /// The tallies of a phase: calls and ns of each function, then messages and bytes of each size class to each rank.
    pub fn in_phase(&self, phase: usize) -> &'a [Tally] {
        let each = tallies(self.ranks);
        &self.tallies[phase * each..(phase + 1) * each]
    }

    /// Calls of a function in a phase, and their ns.
    pub fn calls(&self, phase: usize, function: usize) -> &'a Tally {
        &self.in_phase(phase)[function]
    }

    /// Messages of a size class to a rank in a phase, and their bytes.
    pub fn sent(&self, phase: usize, to: usize, class: usize) -> &'a Tally {
        &self.in_phase(phase)[CALLS + to * CLASSES + class]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_classes_cover_all_sizes_without_a_gap() {
        let mut next = 0;
        for class in 0..CLASSES {
            let (least, most) = class_bytes(class);
            assert_eq!(least, next);
            assert_eq!(self::class(least as usize), class);
            match most {
                Some(most) => {
                    assert_eq!(self::class(most as usize), class);
                    next = most + 1;
                }
                None => assert_eq!(self::class(usize::MAX), class),
            }
        }
    }

    #[test]
    fn phases_are_told_apart_by_level_and_ranks_by_table() {
        let (_fd, segment) = Segment::create_profiled(3, 3).unwrap();
        let tables: Vec<_> = (0..3).map(|rank| Table::of(&segment, rank).unwrap()).collect();
        assert_eq!([1, 7, 1].map(|level| tables[1].begin(level)), [0, 1, 0]);
        assert_eq!(tables[1].levels().collect::<Vec<_>>(), [1, 7]);
        tables[1].sent(1, 2, CLASSES - 1).times.store(5, Ordering::Relaxed);
        tables[2].calls(PHASES - 1, CALLS - 1).times.store(6, Ordering::Relaxed);
        assert_eq!(tables[1].sent(1, 2, CLASSES - 1).times.load(Ordering::Relaxed), 5);
        assert_eq!(tables[1].sent(0, 2, CLASSES - 1).times.load(Ordering::Relaxed), 0);
        assert_eq!(tables[2].levels().count(), 0);
        (0..100).for_each(|level| assert!(tables[0].begin(level) < PHASES));
        assert_eq!(tables[0].levels().count(), PHASES);
        let (_fd, plain) = Segment::create(3, 3).unwrap();
        assert!(Table::of(&plain, 0).is_none());
    }
}
