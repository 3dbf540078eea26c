//! What groups that measurements show are called: by the topology where it has them too.

use super::groups::Level;
use machine::{ElementId, Machine, Place};

/// A word of the topology, and the number of it that a place has.
type Numbered = (&'static str, fn(&Place) -> Option<u32>);

/// `chip 0`, `L3 2`; else by the first and the last of the group.
pub(super) fn group(machine: &Machine, level: &Level, g: usize) -> String {
    let members = &level.groups[g];
    let words: [Numbered; 5] = [
        ("chip", |p| Some(p.chip)),
        ("NUMA node", |p| p.numa),
        ("L3", |p| p.l3),
        ("L2", |p| p.l2),
        ("core", |p| p.core),
    ];
    for (word, of) in words {
        // Whether the level's groups are those of the topology, each with a number of its own.
        let number = |members: &[ElementId]| {
            let first = of(&machine.elements[*members.first()?].place)?;
            members.iter().all(|&e| of(&machine.elements[e].place) == Some(first)).then_some(first)
        };
        let numbers: Option<Vec<u32>> = level.groups.iter().map(|members| number(members)).collect();
        let Some(numbers) = numbers else { continue };
        let mut each = numbers.clone();
        each.sort_unstable();
        each.dedup();
        if each.len() == numbers.len() {
            return format!("{word} {}", numbers[g]);
        }
    }
    let name = |e: ElementId| &machine.elements[e].name;
    match members[..] {
        [first, .., last] => format!("{} .. {}", name(first), name(last)),
        _ => members.iter().map(|&e| name(e).as_str()).collect(),
    }
}

/// The other one of two groups, `outside chip 0` of several.
pub(super) fn other(machine: &Machine, level: &Level, g: usize) -> String {
    match level.groups.len() {
        2 => group(machine, level, 1 - g),
        _ => format!("outside {}", group(machine, level, g)),
    }
}
