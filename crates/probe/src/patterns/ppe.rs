//! PPEs and SPEs, one pair at a time: the slow reads of `streaming-schedule` 3.1.2, and reads of a PPE's memory.

use super::{Pattern, reads};
use crate::TargetError;

/// Each PPE reads from each SPE, each SPE from the main memory of each PPE's chip.
pub const PATTERN: Pattern = Pattern {
    name: "ppe",
    about: "each PPE reads from each SPE and the other way round, one pair after the other",
    sets: |shape| {
        let of = |kind| move |e: &usize| shape.machine.elements[*e].kind == kind;
        let ppes: Vec<_> = (0..shape.machine.elements.len()).filter(of("ppe")).collect();
        let w = shape.workers(PATTERN.name, 1)?;
        if ppes.is_empty() || !w.iter().all(of("spe")) {
            let name = &shape.machine.name;
            return Err(TargetError::Request(format!(
                "{} needs a PPE and an SPE; {name} has none",
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
