//! Limits that several elements share, chosen by what they foresee of patterns that were kept out of the fit.
//!
//! The candidates follow from the groups: what moves inside a group, what has an end in it, into it, out of it, both,
//! and between any two of a few. All groups of a level form one candidate, with one capacity for all or with one for
//! each. Starting from what single pairs show, the candidate is added that lowers the error on patterns that were kept
//! out the most, until none lowers it by much.

use super::alone::Alone;
use super::groups::Level;
use super::limits::{Pairs, Seen, Set};
use super::name;
use super::regress::{Patterns, Shared, error};
use machine::{Block, ElementId, Limit};

/// A candidate has to lower the error by this part of it, and by this much, to be taken.
const LOWERED_SHARE: f64 = 0.02;
const LOWERED: f64 = 0.002;
/// Pairs of groups are looked at up to so many groups of a level.
const LINKED_GROUPS: usize = 4;
/// More sets than this of one sort are no structure.
const SETS_MAX: usize = 512;

/// Sets of one sort at one level.
struct Candidate {
    /// Which sort: of a sort one candidate is taken at the most.
    sort: usize,
    sets: Vec<Set>,
    /// With one capacity for all, or one for each.
    shared: Vec<Shared>,
}

/// What was found.
pub(super) struct Found {
    pub limits: Vec<(Set, Limit)>,
    /// Predicted by measured time of each pattern, by fits that did not see it.
    pub held_out: Vec<f64>,
}

/// The shared limits of what was seen, beside those that are known.
pub(super) fn limits(alone: &Alone, known: &[(Set, Limit)], seen: &Seen) -> Found {
    let patterns = Patterns {
        ns: seen.patterns.iter().map(|(_, ns)| *ns).collect(),
        known_ns: seen.patterns.iter().map(|(pairs, _)| slowest_ns(known, pairs)).collect(),
    };
    let candidates: Vec<Candidate> = alone
        .levels
        .iter()
        .flat_map(|level| sorts(alone, level))
        .filter(|sets| (1..=SETS_MAX).contains(&sets.len()))
        .enumerate()
        .flat_map(|(sort, sets)| variants(sort, sets, seen))
        .collect();
    let mut chosen: Vec<usize> = Vec::new();
    let mut ratios = patterns.held_out(&[]);
    loop {
        let left = (0..candidates.len()).filter(|c| !chosen.contains(c));
        let tried = left.map(|c| {
            let others = chosen.iter().copied().filter(|&o| candidates[o].sort != candidates[c].sort);
            let with: Vec<usize> = others.chain([c]).collect();
            let ratios = patterns.held_out(&all(&candidates, &with));
            (error(&ratios), with, ratios)
        });
        let now = error(&ratios);
        let Some((lower, with, better)) = tried.min_by(|a, b| a.0.total_cmp(&b.0)) else { break };
        if lower > now - LOWERED.max(LOWERED_SHARE * now) {
            break;
        }
        (chosen, ratios) = (with, better);
    }
    let shared = all(&candidates, &chosen);
    let ns_per_byte = patterns.fit(&shared, |_| true);
    let mut found = Vec::new();
    let mut next = ns_per_byte.into_iter();
    for &c in &chosen {
        let candidate = &candidates[c];
        let each: Vec<f64> = next.by_ref().take(candidate.shared.len()).collect();
        for (i, set) in candidate.sets.iter().enumerate() {
            let ns = each.get(i).or(each.first()).copied().unwrap_or(0.0);
            if ns > 0.0 {
                found.push((set.clone(), set.limit(1e9 / ns)));
            }
        }
    }
    Found { limits: found, held_out: ratios }
}

fn slowest_ns(known: &[(Set, Limit)], pairs: &Pairs) -> f64 {
    known.iter().map(|(set, l)| set.load(pairs) / l.capacity_bytes_per_s * 1e9).fold(0.0, f64::max)
}

fn all<'a>(candidates: &'a [Candidate], chosen: &[usize]) -> Vec<&'a Shared> {
    chosen.iter().flat_map(|&c| &candidates[c].shared).collect()
}

/// One capacity for all sets, and, where there are several, one for each.
fn variants(sort: usize, sets: Vec<Set>, seen: &Seen) -> Vec<Candidate> {
    let loads = |set: &Set| -> Vec<f64> { seen.patterns.iter().map(|(pairs, _)| set.load(pairs)).collect() };
    let each: Vec<Vec<f64>> = sets.iter().map(loads).collect();
    let sparse = |loads: &[f64]| Shared {
        loads: loads.iter().copied().enumerate().filter(|(_, load)| *load > 0.0).collect(),
    };
    let largest = |p: usize| each.iter().map(|loads| loads[p]).fold(0.0, f64::max);
    let one = sparse(&(0..seen.patterns.len()).map(largest).collect::<Vec<_>>());
    let mut found = vec![Candidate { sort, sets: sets.clone(), shared: vec![one] }];
    if sets.len() > 1 {
        found.push(Candidate { sort, shared: each.iter().map(|loads| sparse(loads)).collect(), sets });
    }
    found
}

/// The sets of each sort at a level.
fn sorts(alone: &Alone, level: &Level) -> Vec<Vec<Set>> {
    let machine = alone.machine;
    let all: Vec<ElementId> = (0..machine.elements.len()).collect();
    let n = level.groups.len();
    let members: Vec<Vec<ElementId>> = (0..n)
        .map(|g| all.iter().copied().filter(|&e| alone.group_of(level, e) == Some(g)).collect())
        .collect();
    let outside =
        |g: usize| -> Vec<ElementId> { all.iter().copied().filter(|e| !members[g].contains(e)).collect() };
    let block = |from: &[ElementId], to: &[ElementId]| Block { from: from.into(), to: to.into() };
    let group = |g: usize| name::group(machine, level, g);
    let set = |name: String, blocks: Vec<Block>| Set::new(machine, name, blocks);
    let of_each = |one: &dyn Fn(usize) -> Option<Set>| (0..n).filter_map(one).collect::<Vec<_>>();
    let several = |g: usize| level.groups[g].len() > 1;
    let inside = of_each(&|g| {
        several(g).then(|| set(format!("bus of {}", group(g)), vec![block(&members[g], &members[g])]))
    });
    let mut sorts = vec![inside];
    if n == 1 {
        return sorts;
    }
    sorts.push(of_each(&|g| {
        let blocks = vec![block(&members[g], &all), block(&all, &members[g])];
        Some(set(format!("bus and links of {}", group(g)), blocks))
    }));
    let pairs = || (0..n).flat_map(move |a| (0..n).map(move |b| (a, b))).filter(|(a, b)| a != b);
    if n <= LINKED_GROUPS {
        let links = pairs().map(|(a, b)| {
            set(format!("{} reads {}", group(a), group(b)), vec![block(&members[b], &members[a])])
        });
        sorts.push(links.collect());
        let between = pairs().filter(|(a, b)| a < b).map(|(a, b)| {
            let blocks = vec![block(&members[b], &members[a]), block(&members[a], &members[b])];
            set(format!("between {} and {}", group(a), group(b)), blocks)
        });
        sorts.push(between.collect());
    }
    if n > 2 {
        let (into, out) =
            (|g: usize| block(&outside(g), &members[g]), |g: usize| block(&members[g], &outside(g)));
        sorts.push(of_each(&|g| Some(set(format!("{} reads others", group(g)), vec![into(g)]))));
        sorts.push(of_each(&|g| Some(set(format!("others read {}", group(g)), vec![out(g)]))));
        sorts.push(of_each(&|g| Some(set(format!("link of {}", group(g)), vec![into(g), out(g)]))));
    }
    sorts
}
