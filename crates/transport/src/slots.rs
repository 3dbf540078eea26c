//! Data that goes from one rank to some others through the slots of its window, piece by piece.
//!
//! The writer fills its slots in turn, and counts them. Each reader counts those that it has taken of each writer, in
//! its own window. Both only grow. The writer goes on, and waits only where it needs a slot again of which a reader has
//! not taken what was in it. `tests/loom.rs` explores it.

#[cfg(loom)]
use loom::sync::atomic::{AtomicU64, Ordering};
use std::ops::Range;
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a slot. The larger, the better a copy from core to core streams; several of them stay in a core's second
/// cache. (Allreduce of 1 MB by two ranks, us: 98 with 8 kB, 80 with 16 kB, 68 with 32 kB, 60 with 64 kB, 57 with 256
/// kB.) A reader on the writer's cpu gets its turn once in so many. (4 ranks on 2 cpus of a Xeon, us, with 16, 32, 64
/// and 128 kB: bcast of 64 kB 14.6, 13.8, 10.2 and 10.0, of 1 MB 230, 251, 229 and 219; reduce of 64 kB 13.7, 10.6,
/// 10.6 and 10.9, of 1 MB 216, 213, 207 and 210.)
pub const SLOT_BYTES: usize = 64 * 1024;

/// How data goes through slots in a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotFlow {
    /// From one rank to all others.
    FromOne,
    /// From all others to one.
    ToOne,
    /// From each to all others.
    AmongAll,
    /// The same of reduced parts.
    Reduced,
}

impl SlotFlow {
    /// How many there are.
    pub(crate) const COUNT: usize = 4;
}

/// A count that one rank writes and others read.
#[repr(transparent)]
#[derive(Default)]
pub struct SlotCount(AtomicU64);

impl SlotCount {
    /// What another rank has counted; what it did before is seen.
    pub fn read(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    /// What this rank has counted.
    pub fn own(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Says how many there are, and that all that this rank did before is done.
    pub fn publish(&self, count: u64) {
        self.0.store(count, Ordering::Release);
    }
}

/// Who has yet to take which slots of this rank, by their numbers.
#[derive(Default)]
pub struct Owed(Vec<(usize, Range<u64>)>);

impl Owed {
    /// A rank is to take a slot, which follows all that anybody was to take before.
    pub fn add(&mut self, rank: usize, number: u64) {
        match self.0.iter_mut().find(|(other, owed)| *other == rank && owed.end == number) {
            Some((_, owed)) => owed.end = number + 1,
            None => self.0.push((rank, number..number + 1)),
        }
    }

    /// Whether all of it is taken. `taken`: how many a rank has taken.
    pub fn are_taken(&mut self, taken: impl Fn(usize) -> u64) -> bool {
        self.0.retain(|(rank, owed)| taken(*rank) < owed.end);
        self.0.is_empty()
    }

    /// Whether the slot of this number may be filled, where there are so many slots, which are filled in turn. `taken`:
    /// how many a rank has taken.
    pub fn may_fill(&mut self, number: u64, slots: u64, taken: impl Fn(usize) -> u64) -> bool {
        let Some(before) = number.checked_sub(slots) else { return true };
        // What lay in the slot before is owed no more once this is filled.
        self.0.retain(|(_, owed)| owed.end > before);
        self.0.iter().all(|(rank, owed)| !owed.contains(&before) || taken(*rank) > before)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_filled_again_when_all_have_taken_it_whose_it_was() {
        let mut owed = Owed::default();
        (0..4).for_each(|number| owed.add(1, number));
        (0..2).for_each(|number| owed.add(2, number));
        (4..6).for_each(|number| owed.add(3, number));
        let mut taken = [0u64; 4];
        let may = |owed: &mut Owed, number, taken: &[u64; 4]| owed.may_fill(number, 2, |rank| taken[rank]);
        assert!(may(&mut owed, 0, &taken) && may(&mut owed, 1, &taken));
        assert!(!may(&mut owed, 2, &taken));
        taken[1] = 1;
        assert!(!may(&mut owed, 2, &taken), "rank 2 has not");
        taken[2] = 1;
        assert!(may(&mut owed, 2, &taken) && !may(&mut owed, 3, &taken));
        taken[1] = 4;
        taken[2] = 2;
        assert!(may(&mut owed, 3, &taken) && may(&mut owed, 4, &taken) && may(&mut owed, 5, &taken));
        assert!(!may(&mut owed, 6, &taken), "slot 4 is rank 3's");
        taken[3] = 5;
        assert!(may(&mut owed, 6, &taken) && !may(&mut owed, 7, &taken));
    }

    #[test]
    fn who_takes_all_of_them_is_noted_once() {
        let mut owed = Owed::default();
        for start in 0..1000 {
            for rank in 0..3 {
                owed.add(rank, start);
            }
            assert!(owed.may_fill(start, 4, |_| start));
        }
        assert_eq!(owed.0.len(), 3);
        // Who takes none any more is forgotten.
        owed.add(0, 1000);
        assert!(owed.may_fill(1004, 4, |_| 1001));
        assert_eq!(owed.0.len(), 1);
    }
}
