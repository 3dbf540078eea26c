//! Pairs of neighbours, both ways at once: `streaming-schedule` 3.1.2, where nothing overlaps on the bus of a Cell.

use super::{Pattern, both};
use machine::{ElementId, Machine};

/// On a Cell SPE n sits beside SPE n + 2, odd ones on one side and even ones on the other; elsewhere the two that share
/// most are neighbours. An element without a free neighbour takes any free element.
pub const PATTERN: Pattern = Pattern {
    name: "near",
    about: "pairs of neighbours, each reads from the other: 0<-2, 2<-0, 1<-3 ..",
    sets: |shape| {
        let w = shape.workers_of_a_chip(PATTERN.name, 2)?;
        // Not what a role says: the order of the SPEs around their bus.
        let pairs = if shape.machine.elements[w[0]].kind == "spe" {
            two_apart(&w)
        } else {
            by_place(shape.machine, w)
        };
        Ok(vec![pairs.into_iter().flat_map(|(a, b)| both(a, b)).collect()])
    },
};

fn two_apart(workers: &[ElementId]) -> Vec<(ElementId, ElementId)> {
    let mut pairs = Vec::new();
    for four in workers.chunks(4) {
        match *four {
            [a, b, c, d] => pairs.extend([(a, c), (b, d)]),
            [a, _, c] => pairs.push((a, c)),
            [a, b] => pairs.push((a, b)),
            _ => {}
        }
    }
    pairs
}

fn by_place(machine: &Machine, mut workers: Vec<ElementId>) -> Vec<(ElementId, ElementId)> {
    let place = |e: &ElementId| {
        let p = &machine.elements[*e].place;
        (p.chip, p.numa, p.l3, p.l2, p.core, *e)
    };
    workers.sort_by_key(place);
    workers.chunks_exact(2).map(|two| (two[0], two[1])).collect()
}
