//! Elements that can change places without anything changing.

use crate::Problem;
use std::collections::HashMap;

/// Above this many elements only a machine without limits is looked at: the check grows with the cube.
const MOST_ELEMENTS: usize = 40;

/// Ordered pairs of elements, sorted.
type Pairs<'l> = &'l [(usize, usize)];

/// Classes of two or more interchangeable elements: equal kind, pace, memory and transfer counts, and swapping any two
/// of them maps the machine's limits onto each other, and leaves capacities and the curves of hand-overs as they are.
pub(crate) fn classes(problem: &Problem) -> Vec<Vec<usize>> {
    let machine = problem.machine;
    let n = problem.elements();
    if n > MOST_ELEMENTS && !machine.limits.is_empty() {
        return Vec::new();
    }
    let pairs: Vec<Vec<(usize, usize)>> = machine
        .limits
        .iter()
        .map(|l| (0..n * n).map(|p| (p / n, p % n)).filter(|&(i, j)| l.holds(i, j)).collect())
        .collect();
    let capacity = |id: usize| machine.limits[id].capacity_bytes_per_s.to_bits();
    let mut count: HashMap<(u64, Pairs), usize> = HashMap::new();
    for (id, list) in pairs.iter().enumerate() {
        *count.entry((capacity(id), list)).or_default() += 1;
    }
    let alike = |a: usize, b: usize| {
        let (x, y) = (&machine.elements[a], &machine.elements[b]);
        let same = problem.kind_of[a] == problem.kind_of[b]
            && x.memory == y.memory
            && x.incoming_max == y.incoming_max
            && x.outgoing_max == y.outgoing_max
            && problem.capacities.iter().all(|c| c.elements.contains(&a) == c.elements.contains(&b))
            && (problem.prices.curves.len() < 2
                || (0..n).all(|e| e == a || e == b || machine.nearness(a, e) == machine.nearness(b, e)));
        let swap = |e: usize| {
            if e == a {
                b
            } else if e == b {
                a
            } else {
                e
            }
        };
        same && pairs.iter().enumerate().all(|(id, list)| {
            let mut swapped: Vec<(usize, usize)> = list.iter().map(|&(i, j)| (swap(i), swap(j))).collect();
            swapped.sort_unstable();
            swapped == *list
                || count.get(&(capacity(id), swapped.as_slice()))
                    == count.get(&(capacity(id), list.as_slice()))
        })
    };
    let mut classes: Vec<Vec<usize>> = Vec::new();
    for e in 0..n {
        // Being interchangeable carries over: two swaps with the first make a swap with each other.
        match classes.iter_mut().find(|class| alike(class[0], e)) {
            Some(class) => class.push(e),
            None => classes.push(vec![e]),
        }
    }
    classes.retain(|class| class.len() > 1);
    classes
}

/// Tasks, heaviest first; ties in index order.
pub(crate) fn heaviest(problem: &Problem) -> Vec<usize> {
    let mut order: Vec<usize> = (0..problem.tasks()).collect();
    order.sort_by(|&a, &b| problem.least_cost(b).total_cmp(&problem.least_cost(a)));
    order
}

/// `mapping` with the elements of each class renamed in order of their first task among the heaviest.
pub(crate) fn canonical(mapping: &[usize], classes: &[Vec<usize>], heaviest: &[usize]) -> Vec<usize> {
    let mut name: HashMap<usize, usize> = HashMap::new();
    for class in classes {
        let mut free = class.iter();
        for &task in heaviest {
            let on = mapping[task];
            if class.contains(&on) && !name.contains_key(&on) {
                name.insert(on, *free.next().unwrap_or(&on));
            }
        }
    }
    mapping.iter().map(|on| name.get(on).copied().unwrap_or(*on)).collect()
}
