//! Mappings that a search starts from: everything on one element, and contiguous cuts of the topological order.

use crate::Problem;
use crate::flow::Flow;
use work::Mapping;

/// Everything on each single element, of equal ones on the first.
pub(crate) fn singles(problem: &Problem) -> Vec<Mapping> {
    (0..problem.kinds.len())
        .filter_map(|kind| problem.kind_of.iter().position(|&k| k == kind))
        .filter(|&e| (0..problem.tasks()).all(|t| problem.cost_on(t, e).is_finite()))
        .map(|e| vec![e; problem.tasks()])
        .collect()
}

/// The topological order cut into 2, 3, 4, .. pieces of about equal time, one piece per element in index order.
pub(crate) fn cuts(problem: &Problem, flow: &Flow) -> Vec<Mapping> {
    let order: Vec<usize> = if flow.order.len() == problem.tasks() {
        flow.order.iter().map(|&t| t as usize).collect()
    } else {
        (0..problem.tasks()).collect()
    };
    // Elements of the kind that is fastest for the whole first, and neighbours next to each other.
    let total = |kind: usize| (0..problem.tasks()).map(|t| problem.cost(t, kind)).sum::<f64>();
    let totals: Vec<f64> = (0..problem.kinds.len()).map(total).collect();
    let mut elements: Vec<usize> = (0..problem.elements()).collect();
    elements.sort_by(|&a, &b| totals[problem.kind_of[a]].total_cmp(&totals[problem.kind_of[b]]));
    let most = problem.elements().min(problem.tasks());
    let counts =
        (2..=most.min(16)).chain((16..=most).filter(|k| *k > 16 && k.is_power_of_two())).chain([most]);
    let mut list: Vec<Mapping> = counts.filter_map(|k| cut(problem, &order, &elements[..k])).collect();
    list.dedup();
    list
}

/// Cuts `order` into pieces for `elements` so that the largest piece is as small as a binary search finds.
fn cut(problem: &Problem, order: &[usize], elements: &[usize]) -> Option<Mapping> {
    let (mut low, mut high) = (0.0, order.iter().map(|&t| problem.cost_on(t, elements[0])).sum::<f64>());
    if !high.is_finite() {
        return None;
    }
    let mut best = None;
    for _ in 0..40 {
        let period = 0.5 * (low + high);
        match fill(problem, order, elements, period) {
            Some(mapping) => {
                best = Some(mapping);
                high = period;
            }
            None => low = period,
        }
    }
    best.or_else(|| fill(problem, order, elements, high))
}

fn fill(problem: &Problem, order: &[usize], elements: &[usize], period: f64) -> Option<Mapping> {
    let mut mapping = vec![0; order.len()];
    let (mut at, mut load) = (0, 0.0);
    for &task in order {
        let mut cost = problem.cost_on(task, *elements.get(at)?);
        while load + cost > period * (1.0 + 1e-12) {
            at += 1;
            load = 0.0;
            cost = problem.cost_on(task, *elements.get(at)?);
        }
        load += cost;
        mapping[task] = elements[at];
    }
    Some(mapping)
}
