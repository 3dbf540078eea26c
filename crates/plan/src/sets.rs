//! The simplified machine of CLUSTER and DELEGATE (section 4.2): a few resources, and links between them.
//!
//! On a Cell the resources are PPE 1, PPE 2, C1, C2. On another machine each group of equal elements that share a chip
//! and an L3 is a set, and there are no PPEs. A link's capacity is read from the machine's limits: the smallest one that
//! holds all its pairs, or the sum of what the pairs can carry on their own, if that is less. For a Cell this gives 25
//! from a PPE to its SPEs, `min(25, 2 * SPEs)` back, and (7) and (8) between the chips.

use crate::Problem;
use std::collections::HashMap;
use work::TaskId;

/// A resource of the simplified machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Resource {
    /// One element.
    Single(usize),
    /// Elements of one kind among which [`greedy_set`] balances.
    Set(Vec<usize>),
}

/// A link between resources: which ordered pairs of resources use it, and what it carries.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    /// The pairs whose bytes it carries, as `from * resources + to`.
    pub uses: Vec<usize>,
    /// Femtoseconds per byte.
    pub fs_per_byte: f64,
}

/// Resources in order PPE1, PPE2, .., C1, C2, .., and their links.
#[derive(Debug, Clone)]
pub(crate) struct Sets {
    pub resources: Vec<Resource>,
    pub links: Vec<Link>,
}

/// Femtoseconds, as an integer: scores are compared exactly.
pub(crate) fn femtoseconds(ns: f64) -> u64 {
    (ns * 1e6).round() as u64
}

impl Sets {
    /// Simplifies the machine; `read_back_bytes_per_s` replaces the capacity of the links from a set to its PPE.
    pub fn new(problem: &Problem, read_back_bytes_per_s: Option<f64>) -> Sets {
        let elements = &problem.machine.elements;
        let is_cell = elements.iter().all(|e| e.kind == "ppe" || e.kind == "spe");
        let mut resources = Vec::new();
        let mut chips: Vec<u32> = Vec::new();
        if is_cell {
            for (id, e) in elements.iter().enumerate().filter(|(_, e)| e.kind == "ppe") {
                resources.push(Resource::Single(id));
                chips.push(e.place.chip);
            }
        }
        let mut place: HashMap<(u32, Option<u32>, usize), usize> = HashMap::new();
        for (id, e) in elements.iter().enumerate().filter(|(_, e)| !is_cell || e.kind == "spe") {
            let key = (e.place.chip, e.place.l3, problem.kind_of[id]);
            let at = *place.entry(key).or_insert_with(|| {
                resources.push(Resource::Set(Vec::new()));
                chips.push(e.place.chip);
                resources.len() - 1
            });
            if let Resource::Set(set) = &mut resources[at] {
                set.push(id);
            }
        }
        let links = if is_cell {
            cell_links(problem, &resources, &chips, read_back_bytes_per_s)
        } else {
            direct_links(problem, &resources)
        };
        Sets { resources, links }
    }
}

/// Links of Figure 7: each PPE with the SPEs of its chip, and the chips with each other.
fn cell_links(problem: &Problem, resources: &[Resource], chips: &[u32], read_back: Option<f64>) -> Vec<Link> {
    let n = resources.len();
    let mut links = Vec::new();
    for p in 0..n {
        let Resource::Single(ppe) = resources[p] else { continue };
        let own = (0..n).find(|&c| chips[c] == chips[p] && matches!(resources[c], Resource::Set(_)));
        let Some(Resource::Set(set)) = own.map(|c| &resources[c]) else { continue };
        let out = capacity(problem, &[ppe], set);
        let back = read_back.or_else(|| capacity(problem, set, &[ppe]));
        links.extend(link(n, out, |from, to| from == p && to != p));
        links.extend(link(n, back, |from, to| to == p && from != p));
    }
    let mut distinct: Vec<u32> = chips.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    for &a in &distinct {
        for &b in distinct.iter().filter(|&&b| b != a) {
            let members = |chip: u32| -> Vec<usize> {
                let on: Vec<usize> = (0..n).filter(|&r| chips[r] == chip).collect();
                let sets: Vec<usize> = on.iter().flat_map(|&r| resources[r].set()).collect();
                if sets.is_empty() {
                    on.iter().flat_map(|&r| resources[r].elements()).collect()
                } else {
                    sets
                }
            };
            let between = capacity(problem, &members(a), &members(b));
            links.extend(link(n, between, |from, to| chips[from] == a && chips[to] == b));
        }
    }
    links
}

/// A link for every ordered pair of resources.
fn direct_links(problem: &Problem, resources: &[Resource]) -> Vec<Link> {
    let n = resources.len();
    let mut links = Vec::new();
    for a in 0..n {
        for b in (0..n).filter(|&b| b != a) {
            let between = capacity(problem, &resources[a].elements(), &resources[b].elements());
            links.extend(link(n, between, |from, to| from == a && to == b));
        }
    }
    links
}

fn link(n: usize, capacity: Option<f64>, uses: impl Fn(usize, usize) -> bool) -> Option<Link> {
    let uses = (0..n * n).filter(|i| uses(i / n, i % n)).collect();
    capacity.map(|c| Link { uses, fs_per_byte: 1e15 / c })
}

impl Resource {
    /// Its elements.
    pub fn elements(&self) -> Vec<usize> {
        match self {
            Resource::Single(e) => vec![*e],
            Resource::Set(set) => set.clone(),
        }
    }

    fn set(&self) -> Vec<usize> {
        match self {
            Resource::Single(_) => Vec::new(),
            Resource::Set(set) => set.clone(),
        }
    }
}

/// Bytes/s from `a` to `b` all together; `None` = nothing limits them.
fn capacity(problem: &Problem, a: &[usize], b: &[usize]) -> Option<f64> {
    let limits = &problem.limits;
    let mut held: HashMap<u32, usize> = HashMap::new();
    let mut pairs = 0;
    let mut sum = 0.0;
    for &from in a {
        for &to in b.iter().filter(|&&to| to != from) {
            pairs += 1;
            let mut own = f64::INFINITY;
            for &id in limits.of(from, to) {
                *held.entry(id).or_default() += 1;
                own = own.min(1e9 / limits.ns_per_byte(id));
            }
            sum += own;
        }
    }
    let all = held
        .iter()
        .filter(|(_, count)| **count == pairs)
        .map(|(id, _)| 1e9 / limits.ns_per_byte(*id))
        .fold(f64::INFINITY, f64::min);
    Some(all.min(sum)).filter(|c| c.is_finite() && *c > 0.0)
}

/// CELLGREEDYSET (Algorithm 2): the heaviest task on the least loaded element of `set` that has memory for it.
///
/// `tasks` must come heaviest first. Returns the largest load in femtoseconds, or `None` when a task fits nowhere;
/// `assign` hears of every task and its element.
pub(crate) fn greedy_set(
    weights_fs: &[u64],
    buffers: &[f64],
    room: &[Option<f64>],
    set: &[usize],
    tasks: impl Iterator<Item = TaskId>,
    mut assign: impl FnMut(TaskId, usize),
) -> Option<u64> {
    let mut work = vec![0u64; set.len()];
    let mut memory = vec![0.0f64; set.len()];
    for task in tasks {
        let mut best: Option<usize> = None;
        for i in 0..set.len() {
            if best.is_none_or(|b| work[i] < work[b])
                && room[set[i]].is_none_or(|room| memory[i] + buffers[task] <= room)
            {
                best = Some(i);
            }
        }
        let i = best.filter(|_| weights_fs[task] < u64::MAX)?;
        work[i] = work[i].saturating_add(weights_fs[task]);
        memory[i] += buffers[task];
        assign(task, set[i]);
    }
    Some(work.into_iter().max().unwrap_or(0))
}

/// What both heuristics need of the tasks, per resource.
#[derive(Debug, Clone)]
pub(crate) struct Weights {
    /// `fs[resource][task]`; `u64::MAX` where the task cannot run there.
    pub fs: Vec<Vec<u64>>,
    /// `heaviest[resource]`: all tasks by falling weight, ties in task order.
    pub heaviest: Vec<Vec<TaskId>>,
}

impl Weights {
    pub fn new(problem: &Problem, sets: &Sets) -> Weights {
        let fs: Vec<Vec<u64>> = sets
            .resources
            .iter()
            .map(|r| {
                let on = r.elements()[0];
                (0..problem.tasks())
                    .map(|t| {
                        Some(problem.cost_on(t, on)).filter(|c| c.is_finite()).map_or(u64::MAX, femtoseconds)
                    })
                    .collect()
            })
            .collect();
        let heaviest = fs
            .iter()
            .map(|weights| {
                let mut order: Vec<TaskId> = (0..problem.tasks()).collect();
                order.sort_by(|&a, &b| weights[b].cmp(&weights[a]));
                order
            })
            .collect();
        Weights { fs, heaviest }
    }
}
