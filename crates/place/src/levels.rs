//! A mapping from the machine's parts downwards: parts that exchange much share a chip, then a cache, then a core.

use crate::Objective;

/// An order in which seats that are near one another go to parts that exchange much.
pub(crate) fn downwards(objective: &dyn Objective) -> Vec<usize> {
    let seats = objective.seats();
    let mut order = vec![0; seats];
    let all: Vec<usize> = (0..seats).collect();
    let mut partners = objective.partners().to_vec();
    // Who leaves a seat empty exchanges nothing.
    partners.resize(seats, Vec::new());
    fill(objective, &partners, &all, &all, &mut order);
    order
}

/// Gives these seats to these parts, as many of each.
fn fill(
    objective: &dyn Objective,
    partners: &[Vec<(usize, f64)>],
    parts: &[usize],
    seats: &[usize],
    order: &mut [usize],
) {
    let groups = groups(objective, seats);
    if groups.len() <= 1 || groups.len() == seats.len() {
        parts.iter().zip(seats).for_each(|(&part, &seat)| order[part] = seat);
        return;
    }
    let mut left = parts.to_vec();
    for group in groups {
        let chosen = cluster(partners, &mut left, group.len());
        fill(objective, partners, &chosen, &group, order);
    }
}

/// The groups of seats: a seat that is nearer to a group's first than the farthest is in that group.
fn groups(objective: &dyn Objective, seats: &[usize]) -> Vec<Vec<usize>> {
    let steps = |a: usize, b: usize| objective.steps(a, b);
    let farthest = seats.iter().map(|&seat| steps(seats[0], seat)).fold(0.0, f64::max);
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for &seat in seats {
        match groups.iter_mut().find(|group| steps(group[0], seat) < farthest) {
            Some(group) => group.push(seat),
            None => groups.push(vec![seat]),
        }
    }
    groups
}

/// A mapping in which the largest groups, chips, have changed places two by two where that is better: where links are
/// not the same both ways, it matters which is which, and no swap of two parts gets there. Gives the cost.
pub(crate) fn turned(objective: &mut dyn Objective, mapping: &mut Vec<usize>) -> f64 {
    let all: Vec<usize> = (0..objective.seats()).collect();
    let groups = groups(objective, &all);
    let mut cost = objective.cost(mapping);
    if groups.len() == all.len() {
        return cost;
    }
    for (i, one) in groups.iter().enumerate() {
        for other in groups[..i].iter().filter(|other| other.len() == one.len()) {
            let mut seats = all.clone();
            one.iter().zip(other).for_each(|(&a, &b)| seats.swap(a, b));
            let changed: Vec<usize> = mapping.iter().map(|&seat| seats[seat]).collect();
            let after = objective.cost(&changed);
            if after < cost {
                (cost, *mapping) = (after, changed);
            }
        }
    }
    cost
}

/// Takes as many parts from those that are left as exchange much with one another and little with the rest.
fn cluster(partners: &[Vec<(usize, f64)>], left: &mut Vec<usize>, size: usize) -> Vec<usize> {
    let mut is_left = vec![false; partners.len()];
    left.iter().for_each(|&part| is_left[part] = true);
    // What each part exchanges with the chosen ones, and with those that are left.
    let mut with = vec![[0.0; 2]; partners.len()];
    for &part in left.iter() {
        with[part][1] =
            partners[part].iter().filter(|(other, _)| is_left[*other]).map(|(_, bytes)| bytes).sum();
    }
    let mut chosen = Vec::new();
    while chosen.len() < size {
        // The next exchanges most with the chosen, then least with the rest; of equal ones it is the first.
        let best = (0..left.len()).reduce(|best, at| {
            let ([a, b], [c, d]) = (with[left[best]], with[left[at]]);
            if c > a || (c == a && d < b) { at } else { best }
        });
        let Some(at) = best else { break };
        let part = left.remove(at);
        is_left[part] = false;
        chosen.push(part);
        for &(other, bytes) in &partners[part] {
            with[other][0] += bytes;
            with[other][1] -= bytes;
        }
    }
    chosen
}
