//! Main memory, of the chip that each element sits on: the measurements of `dma-benchmark`, and what it left for later.

use super::Pattern;
use crate::{PatternShape, TargetError};
use machine::ElementId;
use machine::target::{Direction, Store, Transfer};

/// All read.
pub const READ: Pattern = Pattern {
    name: "memory-read",
    about: "all read main memory at once",
    sets: |s| all(s, READ.name, |_| Direction::Get),
};

/// All write.
pub const WRITE: Pattern = Pattern {
    name: "memory-write",
    about: "all write main memory at once",
    sets: |s| all(s, WRITE.name, |_| Direction::Put),
};

/// Even ones read, odd ones write.
pub const MIXED: Pattern = Pattern {
    name: "memory-mixed",
    about: "every second one reads main memory, the others write it",
    sets: |s| all(s, MIXED.name, |i| if i % 2 == 0 { Direction::Get } else { Direction::Put }),
};

/// Each reads and writes in turn.
pub const ALTERNATING: Pattern = Pattern {
    name: "memory-alternating",
    about: "all read and write main memory in turn",
    sets: |s| all(s, ALTERNATING.name, |_| Direction::Alternating),
};

/// One alone, each in its turn, reading.
pub const READ_EACH: Pattern = Pattern {
    name: "memory-read-each",
    about: "one element after the other reads main memory, alone",
    sets: |s| alone(s, READ_EACH.name, Direction::Get),
};

/// One alone, each in its turn, writing.
pub const WRITE_EACH: Pattern = Pattern {
    name: "memory-write-each",
    about: "one element after the other writes main memory, alone",
    sets: |s| alone(s, WRITE_EACH.name, Direction::Put),
};

/// One alone, each in its turn, reading and writing as much.
pub const COPY_EACH: Pattern = Pattern {
    name: "memory-copy-each",
    about: "one element after the other reads and writes main memory in turn, alone",
    sets: |s| alone(s, COPY_EACH.name, Direction::Alternating),
};

fn own(shape: &PatternShape, initiator: ElementId, direction: Direction) -> Transfer {
    Transfer { initiator, other: Store::Memory(shape.machine.elements[initiator].place.chip), direction }
}

fn all(
    shape: &PatternShape,
    name: &str,
    direction: fn(usize) -> Direction,
) -> Result<Vec<Vec<Transfer>>, TargetError> {
    let w = shape.workers(name, 1)?;
    Ok(vec![w.iter().enumerate().map(|(i, &e)| own(shape, e, direction(i))).collect()])
}

fn alone(shape: &PatternShape, name: &str, direction: Direction) -> Result<Vec<Vec<Transfer>>, TargetError> {
    let w = shape.workers(name, 1)?;
    Ok(w.iter().map(|&e| vec![own(shape, e, direction)]).collect())
}
