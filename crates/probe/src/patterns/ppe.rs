//! PPEs and SPEs, one pair at a time: the slow reads of `streaming-schedule` 3.1.2, and reads of a PPE's memory.

use super::{Pattern, reads};
use crate::TargetError;
use crate::shape::of_role;
use machine::Role;

/// Each PPE reads from each SPE, each SPE from the main memory of each PPE's chip.
pub const PATTERN: Pattern = Pattern {
    name: "ppe",
    about: "each PPE reads from each SPE and the other way round, one pair after the other",
    sets: |shape| {
        let ppes = of_role(shape.machine, Role::General);
        let w = shape.workers(PATTERN.name, 1)?;
        if ppes.is_empty() || of_role(shape.machine, Role::Accelerator).is_empty() {
            let name = &shape.machine.name;
            return Err(TargetError::Request(format!(
                "{} needs general elements and accelerators, as PPEs and SPEs; {name} has not both",
                PATTERN.name
            )));
        }
        let with = |&p: &usize| {
            let (there, back) =
                (w.iter().map(move |&s| vec![reads(p, s)]), w.iter().map(move |&s| vec![reads(s, p)]));
            there.chain(back)
        };
        Ok(ppes.iter().flat_map(with).collect())
    },
};
