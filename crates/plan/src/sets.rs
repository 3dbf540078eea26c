//! The simplified machine of CLUSTER and DELEGATE (section 4.2): a few resources, and links between them.
//!
//! Every general element is a resource of its own, and the others form sets: those of one kind that share a chip and an
//! L3. On a Cell the resources are PPE 1, PPE 2, C1, C2. A link's capacity is read from the machine's limits: the
//! smallest one that holds all its pairs, or the sum of what the pairs can carry on their own, if that is less. For a
//! Cell this gives 25 from a PPE to its SPEs, `min(25, 2 * SPEs)` back, and (7) and (8) between the chips.

use crate::Problem;
use machine::Role;
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
pub(crate) struct ResourceLink {
    /// The pairs whose bytes it carries, as `from * resources + to`.
    pub uses: Vec<usize>,
    /// Femtoseconds per byte.
    pub fs_per_byte: f64,
}

/// General elements, then sets, each in the machine's order; and their links.
#[derive(Debug, Clone)]
pub(crate) struct Resources {
    pub list: Vec<Resource>,
    pub links: Vec<ResourceLink>,
}

/// Femtoseconds, as an integer: scores are compared exactly.
pub(crate) fn femtoseconds(ns: f64) -> u64 {
    (ns * 1e6).round() as u64
}

impl Resources {
    /// Simplifies the machine; `read_back_bytes_per_s` replaces the capacity of the links from accelerators to the
    /// general element of their chip.
    pub(crate) fn new(problem: &Problem, read_back_bytes_per_s: Option<f64>) -> Resources {
        let elements = &problem.machine.elements;
        let (general, others): (Vec<usize>, Vec<usize>) =
            (0..elements.len()).partition(|&e| problem.role_of[e] == Role::General);
        let mut list: Vec<Resource> = general.iter().map(|&e| Resource::Single(e)).collect();
        let mut place: HashMap<(u32, Option<u32>, usize), usize> = HashMap::new();
        for e in others {
            let key = (elements[e].place.chip, elements[e].place.l3, problem.kind_of[e]);
            let at = *place.entry(key).or_insert_with(|| {
                list.push(Resource::Set(Vec::new()));
                list.len() - 1
            });
            if let Resource::Set(set) = &mut list[at] {
                set.push(e);
            }
        }
        let links = if general.is_empty() {
            direct_links(problem, &list, |_, _| true)
        } else {
            managed_links(problem, &list, read_back_bytes_per_s)
        };
        Resources { list, links }
    }
}

/// Links of Figure 7: each general element with the sets of its chip, and the chips with each other; and a link between
/// any two sets of one chip, which a Cell does not have.
fn managed_links(problem: &Problem, list: &[Resource], read_back: Option<f64>) -> Vec<ResourceLink> {
    let n = list.len();
    let chips: Vec<u32> = list.iter().map(|r| problem.machine.elements[r.elements()[0]].place.chip).collect();
    let mut links = Vec::new();
    let sets_of = |chip: u32| -> Vec<usize> {
        (0..n).filter(|&r| chips[r] == chip).flat_map(|r| list[r].set()).collect()
    };
    for p in 0..n {
        let Resource::Single(general) = list[p] else { continue };
        let managed = sets_of(chips[p]);
        if managed.is_empty() {
            continue;
        }
        let out = capacity(problem, &[general], &managed);
        let back = read_back.or_else(|| capacity(problem, &managed, &[general]));
        links.extend(link(n, out, |from, to| from == p && to != p));
        links.extend(link(n, back, |from, to| to == p && from != p));
    }
    let mut distinct: Vec<u32> = chips.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let members = |chip: u32| -> Vec<usize> {
        let sets = sets_of(chip);
        if sets.is_empty() {
            (0..n).filter(|&r| chips[r] == chip).flat_map(|r| list[r].elements()).collect()
        } else {
            sets
        }
    };
    for &a in &distinct {
        for &b in distinct.iter().filter(|&&b| b != a) {
            let between = capacity(problem, &members(a), &members(b));
            links.extend(link(n, between, |from, to| chips[from] == a && chips[to] == b));
        }
    }
    let is_set = |r: usize| matches!(list[r], Resource::Set(_));
    links.extend(direct_links(problem, list, |a, b| is_set(a) && is_set(b) && chips[a] == chips[b]));
    links
}

/// A link for every ordered pair of resources that `linked` names.
fn direct_links(
    problem: &Problem,
    list: &[Resource],
    linked: impl Fn(usize, usize) -> bool,
) -> Vec<ResourceLink> {
    let n = list.len();
    let mut links = Vec::new();
    for a in 0..n {
        for b in (0..n).filter(|&b| b != a && linked(a, b)) {
            let between = capacity(problem, &list[a].elements(), &list[b].elements());
            links.extend(link(n, between, |from, to| from == a && to == b));
        }
    }
    links
}

fn link(n: usize, capacity: Option<f64>, uses: impl Fn(usize, usize) -> bool) -> Option<ResourceLink> {
    let uses = (0..n * n).filter(|i| uses(i / n, i % n)).collect();
    capacity.map(|c| ResourceLink { uses, fs_per_byte: 1e15 / c })
}

impl Resource {
    /// Its elements.
    pub(crate) fn elements(&self) -> Vec<usize> {
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
    pub(crate) fn new(problem: &Problem, resources: &Resources) -> Weights {
        let fs: Vec<Vec<u64>> = resources
            .list
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
