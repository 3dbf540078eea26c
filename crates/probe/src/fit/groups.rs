//! Which elements sit together, from the latencies between them alone: no word of the topology is read.

use machine::ElementId;

/// From one sort of pair to the next the latency rises at least so many times; less is noise.
const GAP: f64 = 1.25;
/// So many of a group's pairs must be as near as the group says; a chain of neighbours, as in a mesh, is no group.
const NEAR_SHARE: f64 = 0.9;

/// Groups of one level: all pairs of a group are nearer than pairs of two groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Level {
    /// Each in rising order; an element is in one at most.
    pub groups: Vec<Vec<ElementId>>,
    of: Vec<Option<usize>>,
}

impl Level {
    pub(super) fn new(groups: Vec<Vec<ElementId>>, elements: usize) -> Self {
        let mut of = vec![None; elements];
        for (g, members) in groups.iter().enumerate() {
            members.iter().for_each(|&e| of[e] = Some(g));
        }
        Self { groups, of }
    }

    /// The group of an element.
    pub(super) fn of(&self, e: ElementId) -> Option<usize> {
        self.of[e]
    }

    /// Whether both are in one group.
    pub(super) fn joins(&self, a: ElementId, b: ElementId) -> bool {
        self.of[a].is_some() && self.of[a] == self.of[b]
    }
}

/// The levels among `workers`, the smallest groups first; the last has all of them in one group.
pub(super) fn levels(
    workers: &[ElementId],
    elements: usize,
    distance: impl Fn(ElementId, ElementId) -> f64,
) -> Vec<Level> {
    let both = |a, b| (distance(a, b) + distance(b, a)) / 2.0;
    let mut sorted: Vec<f64> = pairs(workers).map(|(a, b)| both(a, b)).filter(|d| *d > 0.0).collect();
    sorted.sort_by(f64::total_cmp);
    let mut found: Vec<Level> = Vec::new();
    for step in sorted.windows(2).filter(|step| step[1] > GAP * step[0]) {
        let near = |a, b| both(a, b) <= step[0];
        let groups = components(workers, near);
        let inner: Vec<(ElementId, ElementId)> =
            groups.iter().flat_map(|g| pairs(g).collect::<Vec<_>>()).collect();
        let as_near = inner.iter().filter(|&&(a, b)| near(a, b)).count();
        let parts = (2..workers.len()).contains(&groups.len());
        if parts && as_near as f64 >= NEAR_SHARE * inner.len() as f64 {
            found.push(Level::new(groups, elements));
        }
    }
    found.dedup();
    found.push(Level::new(vec![workers.to_vec()], elements));
    found
}

fn pairs(of: &[ElementId]) -> impl Iterator<Item = (ElementId, ElementId)> + '_ {
    of.iter().enumerate().flat_map(|(i, &a)| of[i + 1..].iter().map(move |&b| (a, b)))
}

/// Elements that a chain of near ones joins.
fn components(workers: &[ElementId], near: impl Fn(ElementId, ElementId) -> bool) -> Vec<Vec<ElementId>> {
    let mut left = workers.to_vec();
    let mut groups = Vec::new();
    while !left.is_empty() {
        let mut group = vec![left.remove(0)];
        let mut next = 0;
        while next < group.len() {
            let from = group[next];
            let (joined, rest): (Vec<_>, Vec<_>) = left.iter().partition(|&&e| near(from, e));
            group.extend(joined);
            left = rest;
            next += 1;
        }
        group.sort_unstable();
        groups.push(group);
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four groups of two in two halves.
    fn nested(a: ElementId, b: ElementId) -> f64 {
        if a / 2 == b / 2 {
            10.0
        } else if a / 4 == b / 4 {
            50.0
        } else {
            200.0
        }
    }

    #[test]
    fn groups_within_groups_are_found_whatever_the_elements_are_called() {
        let all: Vec<ElementId> = (0..8).collect();
        let found = levels(&all, 8, nested);
        assert_eq!(found.iter().map(|l| l.groups.len()).collect::<Vec<_>>(), [4, 2, 1]);
        assert!(found[0].joins(4, 5) && !found[0].joins(5, 6) && found[1].joins(5, 6));
        let shuffled = [3, 7, 0, 5, 2, 6, 1, 4];
        let found = levels(&all, 8, |a, b| nested(shuffled[a], shuffled[b]));
        assert!(found[0].joins(0, 4) && found[1].of(2) == found[1].of(0), "{found:?}");
    }

    #[test]
    fn equal_latencies_a_chain_and_noise_are_no_groups() {
        let all: Vec<ElementId> = (0..8).collect();
        let only_whole = |d: &dyn Fn(ElementId, ElementId) -> f64| levels(&all, 8, d).len() == 1;
        assert!(only_whole(&|_, _| 100.0));
        assert!(only_whole(&|a, b| 100.0 + ((7 * a + 3 * b) % 10) as f64));
        assert!(only_whole(&|a: usize, b: usize| 20.0 + 40.0 * a.abs_diff(b) as f64));
        assert!(levels(&[3], 8, |_, _| 1.0)[0].groups == [vec![3]]);
    }
}
