//! Random pairs at once, as `streaming-schedule` tested its model on: inside each group of elements, into it, out of
//! it, and all over the machine. What a machine's shared limits are fitted to.

use super::{Pattern, reads};
use ground::Draws;
use machine::target::Transfer;
use machine::{ElementId, Machine};
use std::collections::BTreeMap;

/// So many times each kind of pairs is drawn at the least: with ends in common and without.
const DRAWS_EACH: usize = 4;
/// About so many patterns for one of `--draws`, as long as each kind is drawn: a hundred by default, as in the paper.
const PATTERNS: usize = 10;
/// All over the machine as often as everything else together, as applications are.
const WHOLE_EVERY: usize = 2;
/// At most so many transfers per element, as in the paper: 49 for 16 SPEs.
const TRANSFERS_EACH: usize = 3;

/// About ten for each of `--draws`, and more where there are many groups.
pub const PATTERN: Pattern = Pattern {
    name: "scattered",
    about: "2 to 3 n random pairs at once, in groups, between them and all over (--seed, --draws)",
    sets: |shape| {
        let w = shape.workers(PATTERN.name, 2)?;
        Ok(scattered(shape.machine, &w, &mut Draws::new(shape.seed), shape.draws))
    },
};

/// Readers and sources that pairs are drawn from.
type Kind = (Vec<ElementId>, Vec<ElementId>);

fn scattered(
    machine: &Machine,
    w: &[ElementId],
    draws: &mut Draws,
    draws_asked: usize,
) -> Vec<Vec<Transfer>> {
    let whole: Kind = (w.to_vec(), w.to_vec());
    let kinds = kinds(machine, w);
    let all = WHOLE_EVERY * kinds.len().max(1);
    let count = all * (PATTERNS * draws_asked / all).max(DRAWS_EACH);
    let mut next = kinds.iter().cycle();
    let mut sets = Vec::with_capacity(count);
    for i in 0..count {
        let kind = if i.is_multiple_of(WHOLE_EVERY) { &whole } else { next.next().unwrap_or(&whole) };
        // Every second round of all kinds: pairs of which no two share an end leave what else they share to be seen.
        let apart = i / all % 2 == 1;
        sets.push(if apart { matching(kind, draws) } else { draw(kind, draws) });
    }
    sets
}

/// Inside, into and out of each group that shares an L3, a NUMA node or a chip.
fn kinds(machine: &Machine, w: &[ElementId]) -> Vec<Kind> {
    let mut groups: BTreeMap<(u8, u32), Vec<ElementId>> = BTreeMap::new();
    for &e in w {
        let place = &machine.elements[e].place;
        for (level, number) in [(0, place.l3), (1, place.numa), (2, Some(place.chip))] {
            if let Some(number) = number {
                groups.entry((level, number)).or_default().push(e);
            }
        }
    }
    let mut found: Vec<Vec<ElementId>> = groups.into_values().filter(|g| g.len() < w.len()).collect();
    found.sort();
    found.dedup();
    let kinds = found.into_iter().flat_map(|group| {
        let others: Vec<ElementId> = w.iter().copied().filter(|e| !group.contains(e)).collect();
        [(group.clone(), group.clone()), (group.clone(), others.clone()), (others, group)]
    });
    kinds.filter(|(readers, sources)| readers.len() > 1 || readers != sources).collect()
}

/// 2 to three times as many pairs as the smaller side has elements, each drawn by itself: an element may read several
/// times and be read several times.
fn draw((readers, sources): &Kind, draws: &mut Draws) -> Vec<Transfer> {
    let most = (TRANSFERS_EACH * readers.len().min(sources.len())).max(2);
    let count = 2 + draws.below(most - 1);
    let mut found = Vec::with_capacity(count);
    while found.len() < count {
        let (reader, source) = (readers[draws.below(readers.len())], sources[draws.below(sources.len())]);
        if reader != source {
            found.push(reads(reader, source));
        }
    }
    found
}

/// Pairs of which each element reads once at most and is read once at most: as many as there are, or half of them.
fn matching((readers, sources): &Kind, draws: &mut Draws) -> Vec<Transfer> {
    let (mut readers, mut sources) = (readers.clone(), sources.clone());
    draws.shuffle(&mut readers);
    draws.shuffle(&mut sources);
    let mut found: Vec<Transfer> =
        readers.iter().zip(&sources).filter(|(r, s)| r != s).map(|(&r, &s)| reads(r, s)).collect();
    if draws.below(2) == 0 {
        found.truncate(found.len().div_ceil(2));
    }
    if found.len() < 2 { draw(&(readers, sources), draws) } else { found }
}
