//! What is counted of a rank, in the job's memory: the launcher reads it at the end, also of a rank that died.
//!
//! ```text
//! levels of the phases | per phase: the named tallies (how often, how much)
//!                      |            messages and bytes per destination and size class
//! ```

use super::PAGE;
use super::pages::line;
use std::sync::atomic::{AtomicI32, AtomicU8, AtomicU32, AtomicU64, Ordering};

/// Phases that are counted separately; all later ones are counted with the last.
pub(crate) const PHASES: usize = 32;
/// Size classes of messages: 0 bytes, 1, up to 3, up to 7 ... The last one is open.
pub const CLASSES: usize = 40;
/// Named tallies of a phase. Those that no rank names cost no memory.
pub const NAMED: usize = 1024;
/// Bytes of all names.
pub(super) const NAMES_BYTES: usize = NAMED * size_of::<Name>();

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
    /// The level of each: a number by which the program tells it from others.
    levels: [AtomicI32; PHASES],
}

/// Bytes of one rank's tallies in a job of so many ranks; whole pages, untouched ones cost nothing.
pub(super) fn bytes(ranks: usize) -> usize {
    (size_of::<Head>() + PHASES * per_phase(ranks) * size_of::<Tally>()).next_multiple_of(PAGE)
}

fn per_phase(ranks: usize) -> usize {
    NAMED + ranks * CLASSES
}

/// The size class of a message.
#[inline]
fn class(bytes: usize) -> usize {
    ((usize::BITS - bytes.leading_zeros()) as usize).min(CLASSES - 1)
}

/// The fewest and most bytes of a size class; the last one has no most.
pub fn class_bytes(class: usize) -> (u64, Option<u64>) {
    let least = if class == 0 { 0 } else { 1 << (class - 1) };
    (least, (class < CLASSES - 1).then_some((1u64 << class) - 1))
}

/// What one rank counts.
#[derive(Clone, Copy)]
pub struct Tallies {
    head: &'static Head,
    all: &'static [Tally],
    ranks: usize,
}

impl Tallies {
    /// The tallies that lie here.
    ///
    /// # Safety
    /// `bytes(ranks)` bytes, aligned to a page, that are never unmapped and only used as tallies.
    pub(super) unsafe fn new(start: *mut u8, ranks: usize) -> Self {
        // SAFETY: as the caller promised; everything in there is atomic, and valid whatever it holds.
        unsafe {
            let first = start.add(size_of::<Head>().next_multiple_of(align_of::<Tally>()));
            Self {
                head: &*start.cast::<Head>(),
                all: std::slice::from_raw_parts(first.cast::<Tally>(), PHASES * per_phase(ranks)),
                ranks,
            }
        }
    }

    /// Phases that were begun: the level of each.
    pub fn levels(&self) -> impl Iterator<Item = i32> + '_ {
        let begun = (self.head.phases.load(Ordering::Acquire) as usize).min(PHASES);
        self.head.levels[..begun].iter().map(|level| level.load(Ordering::Relaxed))
    }

    /// The phase of a level, begun now or before. Only the rank whose tallies these are begins phases.
    pub fn begin(&self, level: i32) -> PhaseTallies {
        let begun = self.levels().count();
        let phase = match self.levels().position(|known| known == level) {
            Some(known) => known,
            None if begun == PHASES => PHASES - 1,
            None => {
                self.head.levels[begun].store(level, Ordering::Relaxed);
                self.head.phases.store(begun as u32 + 1, Ordering::Release);
                begun
            }
        };
        self.in_phase(phase)
    }

    /// The tallies of a phase, by its place among `levels`.
    ///
    /// # Panics
    /// There is no such phase.
    pub fn in_phase(&self, phase: usize) -> PhaseTallies {
        let each = per_phase(self.ranks);
        PhaseTallies(&self.all[phase * each..(phase + 1) * each])
    }
}

/// What one rank counts in one phase: the named tallies, then messages and bytes by destination and size class.
#[derive(Clone, Copy)]
pub struct PhaseTallies(&'static [Tally]);

impl PhaseTallies {
    /// The named tallies.
    pub fn all_named(&self) -> &'static [Tally; NAMED] {
        self.0.first_chunk().expect("a phase has its named tallies")
    }

    /// Messages of a size class to a rank, and their bytes.
    ///
    /// # Panics
    /// There is no such rank or class.
    pub fn sent(&self, to: usize, class: usize) -> &'static Tally {
        &self.0[NAMED..][to * CLASSES..][..CLASSES][class]
    }

    /// Counts a message. Only one thread of this rank at a time.
    #[inline(never)]
    pub(crate) fn count(&self, to: usize, bytes: usize) {
        let tally = self.sent(to, class(bytes));
        for (number, more) in [(&tally.times, 1), (&tally.amount, bytes as u64)] {
            number.store(number.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
        }
    }
}

/// A name. Ranks that write one all write the same.
#[repr(C)]
struct Name {
    bytes: AtomicU32,
    text: [AtomicU8; 60],
}

/// The names of the named tallies: one table for all ranks.
#[derive(Clone, Copy)]
pub struct TallyNames(&'static [Name]);

impl TallyNames {
    /// The names that lie here.
    ///
    /// # Safety
    /// `NAMES_BYTES` bytes, aligned to a line, that are never unmapped and only used as names.
    pub(super) unsafe fn new(start: *mut u8) -> Self {
        // SAFETY: as the caller promised; everything in there is atomic, and valid whatever it holds.
        Self(unsafe { std::slice::from_raw_parts(start.cast(), NAMED) })
    }

    /// Gives tallies their names, from the first one on. The first 60 bytes of each count. Every rank gives the same
    /// names.
    ///
    /// # Panics
    /// There are more than `NAMED`.
    pub fn give(&self, names: &[&str]) {
        for (place, name) in self.0[..names.len()].iter().zip(names) {
            for (byte, letter) in place.text.iter().zip(name.bytes()) {
                byte.store(letter, Ordering::Relaxed);
            }
            place.bytes.store(name.len().min(place.text.len()) as u32, Ordering::Release);
        }
    }

    /// The name of a tally; nothing when no rank gave it one.
    pub fn of(&self, number: usize) -> Option<String> {
        let name = self.0.get(number)?;
        (name.bytes.load(Ordering::Acquire) != 0).then(|| line(&name.text, &name.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::Segment;

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
    fn phases_are_told_apart_by_level_and_ranks_by_their_tallies() {
        let (_fd, segment) = Segment::create_counted(3, 3).unwrap();
        let tallies: Vec<_> = (0..3).map(|rank| segment.tallies(rank).unwrap()).collect();
        let phases = [1, 7, 1].map(|level| tallies[1].begin(level));
        assert_eq!(tallies[1].levels().collect::<Vec<_>>(), [1, 7]);
        phases[2].count(2, usize::MAX);
        tallies[2].in_phase(PHASES - 1).all_named()[NAMED - 1].times.store(6, Ordering::Relaxed);
        assert_eq!(phases[0].sent(2, CLASSES - 1).times.load(Ordering::Relaxed), 1);
        assert_eq!(phases[1].sent(2, CLASSES - 1).times.load(Ordering::Relaxed), 0);
        assert_eq!(tallies[2].levels().count(), 0);
        (0..100).for_each(|level| _ = tallies[0].begin(level));
        assert_eq!(tallies[0].levels().count(), PHASES);
        let (_fd, plain) = Segment::create(3, 3).unwrap();
        assert!(plain.tallies(0).is_none() && plain.names().is_none());
    }

    #[test]
    fn a_tally_is_called_what_a_rank_calls_it() {
        let (fd, segment) = Segment::create_counted(2, 2).unwrap();
        segment.names().unwrap().give(&["first", "second"]);
        let seen = Segment::map(&fd).unwrap().names().unwrap();
        assert_eq!(
            [0, 1, 2, NAMED].map(|number| seen.of(number)),
            [Some("first".into()), Some("second".into()), None, None]
        );
    }
}
