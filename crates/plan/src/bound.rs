//! What no mapping can beat.
//!
//! Each bound here holds for every mapping of the graph on the machine at the given batch, feasible or not; the largest
//! counts. None of them looks at memory or DMA limits, and only [`spread_out`] looks at communication.

use crate::Problem;

/// ns per instance that no mapping can beat, at `batch` instances per firing.
pub fn bound(problem: &Problem, batch: u64) -> f64 {
    [largest_task(problem), balance(problem), crowding(problem), spread_out(problem, batch), lock(problem)]
        .into_iter()
        .fold(0.0, f64::max)
        * (1.0 - ROUNDING)
}

/// What sums of floats in another order may differ by.
pub(crate) const ROUNDING: f64 = 1e-12;

/// Some element runs the largest task, at best one of the kind that suits it.
fn largest_task(problem: &Problem) -> f64 {
    (0..problem.tasks()).map(|t| problem.least_cost(t)).fold(0.0, f64::max)
}

/// Tasks that hold the Python lock run one after the other.
fn lock(problem: &Problem) -> f64 {
    (0..problem.tasks()).filter(|&t| problem.locked[t]).map(|t| problem.least_cost(t)).sum()
}

/// Fractional balance of the kinds: the least T for which tasks that may be cut into pieces fit on all elements.
///
/// By duality T is the largest value over prices `p >= 0` with `sum over kinds of elements * p = 1` of the sum over
/// tasks of `min over kinds of cost * p`, and *any* prices give a bound. With two kinds the best prices are those at
/// which tasks change sides in affinity order. The value is concave in the prices, so that a ternary search between
/// each pair of kinds, round and round, climbs; with two kinds it is exact.
fn balance(problem: &Problem) -> f64 {
    let kinds = problem.kinds.len();
    let value = |share: &[f64]| -> f64 {
        (0..problem.tasks())
            .map(|t| {
                (0..kinds)
                    .filter(|&k| problem.cost(t, k).is_finite())
                    .map(|k| problem.cost(t, k) * share[k] / problem.count[k] as f64)
                    .fold(f64::INFINITY, f64::min)
            })
            .sum()
    };
    // share = elements * price, summing to 1.
    let total = problem.elements() as f64;
    let mut share: Vec<f64> = problem.count.iter().map(|&n| n as f64 / total).collect();
    let mut best = value(&share);
    let rounds = if kinds <= 2 { 1 } else { 12 };
    for _ in 0..rounds {
        for a in 0..kinds {
            for b in a + 1..kinds {
                let both = share[a] + share[b];
                let (mut low, mut high) = (0.0, 1.0);
                let mut at = |x: f64, share: &mut Vec<f64>| {
                    share[a] = both * x;
                    share[b] = both - share[a];
                    let v = value(share);
                    best = f64::max(best, v);
                    v
                };
                for _ in 0..60 {
                    let (x, y) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
                    if at(x, &mut share) < at(y, &mut share) {
                        low = x;
                    } else {
                        high = y;
                    }
                }
                at(0.5 * (low + high), &mut share);
            }
        }
    }
    best
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
    let least =
        |f: &dyn Fn(&machine::Overhead) -> f64| problem.overheads.iter().map(f).fold(f64::INFINITY, f64::min);
    let per_transfer = least(&|o| o.per_transfer_ns) / batch.max(1) as f64;
    let per_byte = least(&|o| o.per_byte_ns);
    let mut transfer: Vec<f64> = problem
        .broadcasts
        .iter()
        .flat_map(|b| b.to.iter().filter(|&&t| t != b.from).map(|_| b.bytes as f64))
        .map(|bytes| 2.0 * (per_transfer + per_byte * bytes))
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
