//! The patterns: a file each. A pattern makes one or several sets of transfers, each measured on its own.
//!
//! | name | who talks to whom |
//! |---|---|
//! | [`pair`] | one element reads from another |
//! | [`all_pairs`] | each from each other, one after the other |
//! | [`all_at_once`] | each from each other, all at the same time |
//! | [`fan_in`], [`fan_out`] | all read from one; one reads from all |
//! | [`near`], [`far`] | pairs next to each other, pairs far apart, both ways |
//! | [`disjoint`] | every second element reads from its neighbour |
//! | [`random`] | each reads from another one, drawn at random |
//! | [`scattered`] | random pairs at once, in groups of elements and between them |
//! | [`ring`], [`ring_both`] | each reads from its neighbour, or from both |
//! | [`memory`] | reads and writes of main memory |
//! | [`cross_chip`] | pairs over the link between two chips |
//! | [`ppe`] | PPEs and SPEs |

pub mod all_at_once;
pub mod all_pairs;
pub mod cross_chip;
pub mod disjoint;
pub mod fan_in;
pub mod fan_out;
pub mod far;
pub mod memory;
pub mod near;
pub mod pair;
pub mod ppe;
pub mod random;
pub mod ring;
pub mod ring_both;
pub mod scattered;

use crate::exchanges::EXCHANGES;
use crate::{PatternShape, TargetError};
use ground::did_you_mean;
use machine::ElementId;
use machine::target::{Direction, Store, Transfer};

/// A pattern with a name.
#[derive(Debug, Clone, Copy)]
pub struct Pattern {
    /// The name by which it is asked for.
    pub name: &'static str,
    /// A line for lists.
    pub about: &'static str,
    /// The sets of transfers, each to be measured on its own.
    pub sets: fn(&PatternShape) -> Result<Vec<Vec<Transfer>>, TargetError>,
}

/// Every pattern, in the order in which to list them.
pub const PATTERNS: [Pattern; 21] = [
    pair::PATTERN,
    all_pairs::PATTERN,
    all_at_once::PATTERN,
    near::PATTERN,
    far::PATTERN,
    disjoint::PATTERN,
    fan_in::PATTERN,
    fan_out::PATTERN,
    ring::PATTERN,
    ring_both::PATTERN,
    random::PATTERN,
    scattered::PATTERN,
    cross_chip::PATTERN,
    ppe::PATTERN,
    memory::READ,
    memory::WRITE,
    memory::MIXED,
    memory::ALTERNATING,
    memory::READ_EACH,
    memory::WRITE_EACH,
    memory::COPY_EACH,
];

/// The pattern of that name.
///
/// # Errors
/// Lists what there is, and the nearest.
///
/// ```
/// assert_eq!(probe::patterns::named("far").unwrap().name, "far");
/// let wrong = probe::patterns::named("faar").unwrap_err().to_string();
/// assert!(wrong.contains("did you mean `far`?"), "{wrong}");
/// ```
pub fn named(name: &str) -> Result<Pattern, TargetError> {
    let found = PATTERNS.into_iter().find(|p| p.name == name);
    found.ok_or_else(|| {
        let names = || PATTERNS.iter().map(|p| p.name).chain(EXCHANGES.iter().map(|p| p.name));
        let start: String = name.chars().take(40).collect();
        TargetError::Request(format!(
            "no pattern {start:?}; there are {}, and patterns written out: 0<-7,7<-0{}",
            names().collect::<Vec<_>>().join(", "),
            did_you_mean(name, names())
        ))
    })
}

/// `reader` reads from the local memory of `source`.
fn reads(reader: ElementId, source: ElementId) -> Transfer {
    Transfer { initiator: reader, other: Store::Element(source), direction: Direction::Get }
}

/// Each reads from the other.
fn both(a: ElementId, b: ElementId) -> [Transfer; 2] {
    [reads(a, b), reads(b, a)]
}
