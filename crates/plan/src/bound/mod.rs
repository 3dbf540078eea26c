//! What no mapping can beat.
//!
//! Each bound here holds for every feasible mapping of the graph on the machine at the given batch and buffering; the
//! largest counts. Only `balance` looks at memory, and none but [`queues`] at DMA limits; `spread_out`, `star`,
//! `crowded_neighbours` and `ways` look at communication.

mod network;
pub(crate) mod queues;
mod sides;
mod star;
mod ways;

use crate::Problem;
use work::Buffering;

/// ns per instance that no mapping can beat whose buffers, sized by the rule, fit hard memory, at `batch` instances per
/// firing.
pub fn bound(problem: &Problem, batch: u64, buffering: Buffering) -> f64 {
    let bounds = [
        largest_task(problem),
        balance(problem, batch, buffering).0,
        crowding(problem),
        spread_out(problem, batch),
        crowded_neighbours(problem, batch),
        lock(problem),
    ];
    let near = star::star(problem, batch, bounds.into_iter().fold(0.0, f64::max));
    ways::ways(problem, near) * (1.0 - ROUNDING)
}

/// What sums of floats in another order may differ by.
pub(crate) const ROUNDING: f64 = 1e-12;

/// Some element runs the largest task, at best one of the kind that suits it.
fn largest_task(problem: &Problem) -> f64 {
    (0..problem.tasks()).map(|t| problem.least_cost(t)).fold(0.0, f64::max)
}

/// Tasks that hold one lock run one after the other.
fn lock(problem: &Problem) -> f64 {
    let held = |lock: usize| (0..problem.tasks()).filter(move |&t| problem.lock_of[t] == Some(lock));
    let sums = (0..problem.locks.len()).map(|lock| held(lock).map(|t| problem.least_cost(t)).sum());
    sums.fold(0.0, f64::max)
}

/// Fractional balance: the least T for which tasks that may be cut into pieces fit on all elements, all that elements
/// with a capacity compute fits into it, and the tasks' buffers fit into all hard memory together.
///
/// By duality T is the largest value over prices `p >= 0` of a ns on each element, and a price of memory, of the sum
/// over tasks of `min over elements of cost * p + memory * its price`, less the price of all memory; and *any* prices
/// give a bound. What the prices may be in all is shared out between [`Payers`]. With two kinds and no capacity the
/// best prices are those at which tasks change sides in affinity order. The value is concave in the shares, so that a
/// ternary search between each pair of payers, round and round, and of the price of memory within each step, climbs.
/// Gives back the prices, element after element.
fn balance(problem: &Problem, batch: u64, buffering: Buffering) -> (f64, Vec<f64>) {
    let kinds = problem.kinds.len();
    let (bytes, room) = memory(problem, batch, buffering);
    let hard: Vec<bool> = (0..kinds)
        .map(|k| (0..problem.elements()).all(|e| problem.kind_of[e] != k || problem.room[e].is_some()))
        .collect();
    let payers = Payers::of(problem);
    let value = |prices: &[f64], price: f64| -> f64 {
        let on = |t: usize, k: usize| {
            let memory = if hard[k] && price > 0.0 { price * bytes[t] } else { 0.0 };
            problem.cost(t, k) * prices[k] + memory
        };
        let least = |t: usize| {
            (0..kinds)
                .filter(|&k| problem.cost(t, k).is_finite())
                .map(|k| on(t, k))
                .fold(f64::INFINITY, f64::min)
        };
        (0..problem.tasks()).map(least).sum::<f64>() - price * room
    };
    let scarce = bytes.iter().sum::<f64>() > room && problem.tasks() <= MEMORY_TASKS;
    // Beyond this price of a byte no task would be on hard memory.
    let most = (0..problem.tasks())
        .filter(|&t| scarce && bytes[t] > 0.0)
        .flat_map(|t| (0..kinds).map(move |k| (t, k)))
        .map(|(t, k)| problem.cost(t, k) / bytes[t])
        .filter(|x| x.is_finite())
        .fold(0.0, f64::max);
    let best_price = |share: &[f64]| -> f64 {
        let prices = payers.kind_prices(problem, share);
        value(&prices, if scarce { climb(most, 30, |price| value(&prices, price)) } else { 0.0 })
    };
    let climbed = |mut share: Vec<f64>| {
        let mut best = (best_price(&share), share.clone());
        let exact = payers.classes.len() == 2 && payers.groups.is_empty();
        for _ in 0..if exact { 1 } else { 8 } {
            let before = best.0;
            for a in 0..share.len() {
                for b in a + 1..share.len() {
                    let both = share[a] + share[b];
                    let split = |x: f64| {
                        let mut share = share.clone();
                        share[a] = both * x;
                        share[b] = both - share[a];
                        share
                    };
                    let x = climb(1.0, if scarce { 30 } else { 60 }, |x| best_price(&split(x)));
                    share = split(x);
                    let value = best_price(&share);
                    if value > best.0 {
                        best = (value, share.clone());
                    }
                }
            }
            if best.0 <= before * (1.0 + ROUNDING) {
                break;
            }
        }
        best
    };
    let mut best = climbed(payers.even());
    let starts = payers.without_groups_twice().into_iter().map(|share| (best_price(&share), share));
    if let Some((_, share)) = starts.max_by(|a, b| a.0.total_cmp(&b.0)) {
        let other = climbed(share);
        if other.0 > best.0 {
            best = other;
        }
    }
    (best.0, (0..problem.elements()).map(|e| payers.price(payers.class_of[e], &best.1)).collect())
}

/// Who bears the prices of computing: classes of elements that are alike, and groups of capacities that are alike. An
/// element has time for T; a capacity of so many cpus, and a quota, have time for as many times T: shares that sum to 1
/// make prices that are a bound.
struct Payers {
    /// Kind and groups of each class of elements; a group as often as its capacities hold the element.
    classes: Vec<(usize, Vec<usize>)>,
    /// Elements of each class.
    count: Vec<f64>,
    class_of: Vec<usize>,
    /// Cpus that the capacities of each group have in all.
    groups: Vec<f64>,
}

/// Above this many payers, capacities that differ only in their cpus are one group: the search would take too long.
const PAYERS: usize = 12;

impl Payers {
    fn of(problem: &Problem) -> Payers {
        let fine = Payers::grouped(problem, |cpus| cpus.to_bits());
        if fine.count.len() + fine.groups.len() <= PAYERS { fine } else { Payers::grouped(problem, |_| 0) }
    }

    fn grouped(problem: &Problem, alike: impl Fn(f64) -> u64) -> Payers {
        let all: Vec<usize> = (0..problem.elements()).collect();
        let quota = problem.machine.quota_cpus.map(|cpus| (&all, cpus));
        let mut keys: Vec<(u64, Vec<usize>)> = Vec::new();
        let mut groups: Vec<f64> = Vec::new();
        let mut of: Vec<Vec<usize>> = vec![Vec::new(); problem.elements()];
        for (elements, cpus) in problem.capacities.iter().map(|c| (&c.elements, c.cpus)).chain(quota) {
            let mut kinds: Vec<usize> = elements.iter().map(|&e| problem.kind_of[e]).collect();
            kinds.sort_unstable();
            let key = (alike(cpus), kinds);
            let group = keys.iter().position(|known| *known == key).unwrap_or_else(|| {
                keys.push(key);
                groups.push(0.0);
                groups.len() - 1
            });
            groups[group] += cpus;
            elements.iter().for_each(|&e| of[e].push(group));
        }
        let mut payers = Payers { classes: Vec::new(), count: Vec::new(), class_of: Vec::new(), groups };
        for (e, mut groups) in of.into_iter().enumerate() {
            groups.sort_unstable();
            let class = (problem.kind_of[e], groups);
            let id = payers.classes.iter().position(|known| *known == class).unwrap_or_else(|| {
                payers.classes.push(class);
                payers.count.push(0.0);
                payers.count.len() - 1
            });
            payers.count[id] += 1.0;
            payers.class_of.push(id);
        }
        payers
    }

    /// The price of a ns on an element of `class`.
    fn price(&self, class: usize, share: &[f64]) -> f64 {
        let (own, shared) = share.split_at(self.count.len());
        let groups = self.classes[class].1.iter().map(|&g| shared[g] / self.groups[g]);
        own[class] / self.count[class] + groups.sum::<f64>()
    }

    /// Kind after kind, the price on the cheapest of its elements.
    fn kind_prices(&self, problem: &Problem, share: &[f64]) -> Vec<f64> {
        let mut prices = vec![f64::INFINITY; problem.kinds.len()];
        for (class, (kind, _)) in self.classes.iter().enumerate() {
            prices[*kind] = prices[*kind].min(self.price(class, share));
        }
        prices
    }

    /// Every element bears the same, capacities nothing.
    fn even(&self) -> Vec<f64> {
        self.shares(&[])
    }

    /// For each group, shares in which it bears for its elements; and shares in which all groups do that have no
    /// element in common, those first that save most.
    fn without_groups_twice(&self) -> Vec<Vec<f64>> {
        let held = |g: usize| -> f64 {
            let classes = self.classes.iter().zip(&self.count);
            classes.filter(|((_, groups), _)| groups.contains(&g)).map(|(_, count)| count).sum()
        };
        let mut order: Vec<usize> = (0..self.groups.len()).collect();
        order.sort_by(|&a, &b| (self.groups[a] / held(a)).total_cmp(&(self.groups[b] / held(b))));
        let mut apart: Vec<usize> = Vec::new();
        for &g in &order {
            let free = |(_, groups): &(usize, Vec<usize>)| {
                !groups.contains(&g) || !groups.iter().any(|other| apart.contains(other))
            };
            if self.classes.iter().all(free) {
                apart.push(g);
            }
        }
        let mut starts: Vec<Vec<f64>> = order.iter().map(|&g| self.shares(&[g])).collect();
        if apart.len() > 1 {
            starts.push(self.shares(&apart));
        }
        starts
    }

    /// Shares in which `groups` bear for their elements, and every other element for itself.
    fn shares(&self, groups: &[usize]) -> Vec<f64> {
        let own = |((_, of), count): (&(usize, Vec<usize>), &f64)| {
            if of.iter().any(|g| groups.contains(g)) { 0.0 } else { *count }
        };
        let mut share: Vec<f64> = self.classes.iter().zip(&self.count).map(own).collect();
        share.extend((0..self.groups.len()).map(|g| if groups.contains(&g) { self.groups[g] } else { 0.0 }));
        let total: f64 = share.iter().sum();
        share.iter().map(|s| s / total).collect()
    }
}

/// The price of a ns on each element at which the priced sum over all elements says most of the period: no mapping has
/// a priced sum above its period.
pub(crate) fn prices(problem: &Problem) -> Vec<f64> {
    balance(problem, 1, Buffering::Shared).1
}

/// Above this many tasks the bound does not look at memory: it would take seconds.
const MEMORY_TASKS: usize = 20_000;

/// Where a concave function of `0 ..= most` is largest, by ternary search.
fn climb(most: f64, steps: usize, value: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, most);
    for _ in 0..steps {
        let (x, y) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if value(x) < value(y) {
            low = x;
        } else {
            high = y;
        }
    }
    let middle = 0.5 * (low + high);
    if value(0.0) >= value(middle) { 0.0 } else { middle }
}

/// Bytes that each task holds on an element with hard memory, at the least, and the room of all such elements. Inputs
/// of broadcasts may merge, and do not count.
pub(crate) fn memory(problem: &Problem, batch: u64, buffering: Buffering) -> (Vec<f64>, f64) {
    let room = problem.room.iter().flatten().map(|r| r.max(0.0)).sum();
    let mut bytes = vec![0.0; problem.tasks()];
    if problem.room.iter().all(Option::is_none) {
        return (bytes, room);
    }
    let batch = batch.max(1);
    for b in problem.broadcasts.iter().filter(|b| b.edges.len() == 1) {
        // On one element under the shared rule `peek + 1` batches, once; else at least `peek + 2` at either end. A
        // delay takes from firstPeriod what it adds to the slots.
        let edge = &problem.graph.edges[b.edges[0]];
        let window = edge.peek.div_ceil(batch) as f64;
        let size = b.bytes as f64 * batch as f64;
        let delayed = edge.delay > 0;
        match buffering {
            Buffering::Shared => bytes[edge.to.task] += size * (window + 1.0),
            Buffering::Duplicated => {
                bytes[edge.to.task] += size * if delayed { window + 1.0 } else { window + 2.0 };
                bytes[b.from] += size * if delayed { 1.0 } else { window + 2.0 };
            }
        }
    }
    (bytes, room)
}

/// Pigeons: of the `k * n + 1` largest tasks some element runs `k + 1`, at least the `k + 1` smallest of them.
fn crowding(problem: &Problem) -> f64 {
    let n = problem.elements();
    let mut cost: Vec<f64> = (0..problem.tasks()).map(|t| problem.least_cost(t)).collect();
    cost.sort_by(|a, b| b.total_cmp(a));
    let mut best: f64 = 0.0;
    let mut k = 1;
    while k * n < cost.len() {
        best = best.max(cost[k * n - k..=k * n].iter().sum());
        k += 1;
    }
    best
}

/// Elements that are used must talk: with `k` elements and `c` connected parts of the graph at least `k - c` transfers
/// are made, each spending time at both its ends; so T is at least the least over k of (all work + that) / k.
fn spread_out(problem: &Problem, batch: u64) -> f64 {
    let work: f64 = (0..problem.tasks()).map(|t| problem.least_cost(t)).sum();
    let least = |f: &dyn Fn(&machine::Overhead) -> f64| {
        problem.prices.overheads.iter().map(f).fold(f64::INFINITY, f64::min)
    };
    let per_transfer = least(&|o| o.per_transfer_ns) / batch.max(1) as f64;
    let per_byte = least(&|o| o.per_byte_ns);
    let mut transfer: Vec<f64> = problem
        .broadcasts
        .iter()
        .flat_map(|b| b.to.iter().filter(|&&t| t != b.from).map(|_| b.bytes))
        .map(|bytes| per_transfer + per_byte * bytes as f64 + problem.prices.least_moving_ns(bytes, batch))
        .map(|ns| 2.0 * ns)
        .collect();
    transfer.sort_by(f64::total_cmp);
    let parts = parts(problem);
    let most = problem.elements().min(problem.tasks());
    let mut spent = 0.0;
    let mut best = f64::INFINITY;
    for k in 1..=most {
        if k > parts {
            spent += transfer.get(k - parts - 1).copied().unwrap_or(0.0);
        }
        best = best.min((work + spent) / k as f64);
    }
    best
}

/// Number of connected parts of the graph.
fn parts(problem: &Problem) -> usize {
    let mut parent: Vec<usize> = (0..problem.tasks()).collect();
    fn root(parent: &mut [usize], mut t: usize) -> usize {
        while parent[t] != t {
            parent[t] = parent[parent[t]];
            t = parent[t];
        }
        t
    }
    let mut parts = problem.tasks();
    for edge in &problem.graph.edges {
        let (a, b) = (root(&mut parent, edge.from.task), root(&mut parent, edge.to.task));
        if a != b {
            parent[a] = b;
            parts -= 1;
        }
    }
    parts
}

/// An element that is done within T has room for only some neighbours of each of its tasks; data to and from the others
/// costs time at both ends. So T is at least the least one for which all work, with that, fits on all elements. Every
/// end of a transfer belongs to one task: an edge's producer and its consumer. Of a broadcast's transfer to an element,
/// which consumers may share, each of its consumers has one part in so many; its producer's end does not count.
fn crowded_neighbours(problem: &Problem, batch: u64) -> f64 {
    let least = |f: &dyn Fn(&machine::Overhead) -> f64| {
        problem.prices.overheads.iter().map(f).fold(f64::INFINITY, f64::min)
    };
    let per_transfer = least(&|o| o.per_transfer_ns) / batch.max(1) as f64;
    let per_byte = least(&|o| o.per_byte_ns);
    if per_transfer <= 0.0 && per_byte <= 0.0 && problem.prices.curves.is_empty() {
        return 0.0;
    }
    let cost: Vec<f64> = (0..problem.tasks()).map(|t| problem.least_cost(t)).collect();
    // Per task, its neighbours as (other, ns that is saved when it is here too, what it costs here beyond that).
    let mut near: Vec<Vec<(usize, f64, f64)>> = vec![Vec::new(); problem.tasks()];
    for b in &problem.broadcasts {
        let moving = problem.prices.least_moving_ns(b.bytes, batch);
        let ns = per_transfer + per_byte * b.bytes as f64 + moving;
        let mut add = |task: usize, other: usize, ns: f64| match near[task].iter_mut().find(|n| n.0 == other)
        {
            Some(n) => n.1 += ns,
            None => near[task].push((other, ns, 0.0)),
        };
        for &to in b.to.iter().filter(|&&to| to != b.from) {
            add(to, b.from, ns / b.to.len() as f64);
            if b.to.len() == 1 {
                add(b.from, to, ns);
            }
        }
    }
    for list in &mut near {
        list.iter_mut().for_each(|n| n.2 = (cost[n.0] - n.1).max(0.0));
        list.sort_by(|a, b| (b.1 * a.2).total_cmp(&(a.1 * b.2)));
    }
    let cpus = problem.machine.quota_cpus.unwrap_or(f64::INFINITY).min(problem.elements() as f64);
    let fits = |period: f64| -> bool {
        let mut need = 0.0;
        for (list, own) in near.iter().zip(&cost) {
            // With every neighbour elsewhere, or here where that costs less.
            let spent: f64 = list.iter().map(|&(other, ns, _)| ns.min(cost[other])).sum();
            let mut room = period - own - spent;
            if room < 0.0 {
                return false;
            }
            need += own;
            for &(_, ns, more) in list {
                // The part that is here saves its part: a knapsack that may be cut saves no less than a whole one.
                let here = if more <= room { 1.0 } else { room / more };
                room -= here * more;
                need += (1.0 - here) * ns;
            }
        }
        need <= cpus * period * (1.0 + ROUNDING)
    };
    let all: f64 = near.iter().flatten().map(|n| n.1).sum();
    let work: f64 = cost.iter().sum();
    let (mut low, mut high) = (0.0, work + all);
    for _ in 0..60 {
        let period = 0.5 * (low + high);
        if fits(period) {
            high = period;
        } else {
            low = period;
        }
    }
    low
}
