//! CLUSTER: clustering after Sarkar, then clusters to resources; Algorithms 3, 4 and 5 of `streaming-schedule`.
//!
//! As printed, Algorithm 3 can only fall when clusters merge: it never makes the tasks of one cluster wait for each
//! other, so memory alone decides when to stop. It is implemented as printed, and that is why CLUSTER is poor. Settled:
//! CELLGREEDYSET in Algorithm 4 is tried on C1, then C2, empty; clusters are weighed once; resource ties go to PPE1,
//! PPE2, C1, C2 in this order; the SPEs are those of each set's last run.

use crate::Problem;
use crate::sets::{Resource, Resources, Weights, femtoseconds, greedy_set};
use work::{Mapping, TaskId};

/// Bandwidth between clusters in Algorithm 3, in bytes/s: "the available bandwidth between both Cell chips".
const CLUSTER_BYTES_PER_S: f64 = 10e9;

/// Maps by Algorithms 3 to 5.
pub fn cluster(problem: &Problem, batch: u64) -> Mapping {
    let buffers = problem.duplicated_bytes(batch);
    let resources = Resources::new(problem, None);
    let weights = Weights::new(problem, &resources);
    let clustering = clusters(problem, &resources, &weights, &buffers);
    map_clusters(problem, &resources, &weights, &buffers, &clustering)
}

/// Half of `wPPE + wSPE`: the mean over the resources' kinds that can run the task, in femtoseconds.
fn mean_weights(problem: &Problem) -> Vec<u64> {
    (0..problem.tasks())
        .map(|t| {
            let costs: Vec<f64> =
                (0..problem.kinds.len()).map(|k| problem.cost(t, k)).filter(|c| c.is_finite()).collect();
            femtoseconds(costs.iter().sum::<f64>() / costs.len() as f64)
        })
        .collect()
}

/// Tasks in a topological order of the edges without delay, and per task its edges as (other task, fs to move).
struct Precedence {
    order: Vec<TaskId>,
    into: Vec<Vec<(TaskId, u64)>>,
    out: Vec<Vec<(TaskId, u64)>>,
}

impl Precedence {
    fn new(problem: &Problem) -> Precedence {
        let n = problem.tasks();
        let mut into = vec![Vec::new(); n];
        let mut out = vec![Vec::new(); n];
        for edge in problem.graph.edges.iter().filter(|e| e.delay == 0) {
            let fs = femtoseconds(edge.bytes as f64 * 1e9 / CLUSTER_BYTES_PER_S);
            into[edge.to.task].push((edge.from.task, fs));
            out[edge.from.task].push((edge.to.task, fs));
        }
        let mut waiting: Vec<usize> = into.iter().map(Vec::len).collect();
        let mut order: Vec<TaskId> = (0..n).filter(|&t| waiting[t] == 0).collect();
        let mut next = 0;
        while next < order.len() {
            for &(to, _) in &out[order[next]] {
                waiting[to] -= 1;
                if waiting[to] == 0 {
                    order.push(to);
                }
            }
            next += 1;
        }
        Precedence { order, into, out }
    }

    /// Algorithm 3: the estimated parallel time of a clustering, in femtoseconds.
    fn parallel_time(&self, weight: &[u64], clustering: &[usize]) -> u64 {
        let moved = |a: TaskId, b: TaskId, fs: u64| if clustering[a] == clustering[b] { 0 } else { fs };
        let mut bottom = vec![0u64; weight.len()];
        for &k in self.order.iter().rev() {
            let longest = self.out[k].iter().map(|&(m, fs)| bottom[m].saturating_add(moved(k, m, fs))).max();
            bottom[k] = weight[k].saturating_add(longest.unwrap_or(0));
        }
        let mut top = vec![0u64; weight.len()];
        let mut most = 0;
        for &k in &self.order {
            let arrivals = self.into[k]
                .iter()
                .map(|&(m, fs)| top[m].saturating_add(weight[m]).saturating_add(moved(m, k, fs)));
            top[k] = arrivals.max().unwrap_or(0);
            most = most.max(top[k].saturating_add(bottom[k]));
        }
        most
    }
}

/// Algorithm 4: `clustering[task]` = the cluster's name, a task of it.
fn clusters(problem: &Problem, resources: &Resources, weights: &Weights, buffers: &[f64]) -> Vec<usize> {
    let flow = Precedence::new(problem);
    let weight = mean_weights(problem);
    let mut clustering: Vec<usize> = (0..problem.tasks()).collect();
    let mut time = flow.parallel_time(&weight, &clustering);
    let mut edges: Vec<usize> = (0..problem.graph.edges.len()).collect();
    edges.sort_by(|&a, &b| problem.graph.edges[b].bytes.cmp(&problem.graph.edges[a].bytes));
    for id in edges {
        let edge = &problem.graph.edges[id];
        let (keep, gone) = (clustering[edge.from.task], clustering[edge.to.task]);
        if keep == gone {
            continue;
        }
        let merged: Vec<usize> = clustering.iter().map(|&c| if c == gone { keep } else { c }).collect();
        let new_time = flow.parallel_time(&weight, &merged);
        if new_time <= time && fits_some_set(problem, resources, weights, buffers, &merged, keep) {
            clustering = merged;
            time = new_time;
        }
    }
    clustering
}

/// Whether CELLGREEDYSET maps the cluster on an empty set of elements; without sets there is nothing to fail on.
fn fits_some_set(
    problem: &Problem,
    resources: &Resources,
    weights: &Weights,
    buffers: &[f64],
    clustering: &[usize],
    cluster: usize,
) -> bool {
    let mut any = false;
    for (r, resource) in resources.list.iter().enumerate() {
        let Resource::Set(set) = resource else { continue };
        any = true;
        let tasks = weights.heaviest[r].iter().copied().filter(|&t| clustering[t] == cluster);
        if greedy_set(&weights.fs[r], buffers, &problem.room, set, tasks, |_, _| ()).is_some() {
            return true;
        }
    }
    !any
}

/// Algorithm 5.
fn map_clusters(
    problem: &Problem,
    resources: &Resources,
    weights: &Weights,
    buffers: &[f64],
    clustering: &[usize],
) -> Mapping {
    let sum = |r: usize, cluster: usize| -> u64 {
        (0..problem.tasks())
            .filter(|&t| clustering[t] == cluster)
            .fold(0u64, |s, t| s.saturating_add(weights.fs[r][t]))
    };
    let mut names: Vec<usize> = clustering.to_vec();
    names.sort_unstable();
    names.dedup();
    let mean = mean_weights(problem);
    let weigh = |c: usize| {
        (0..problem.tasks()).filter(|&t| clustering[t] == c).fold(0u64, |s, t| s.saturating_add(mean[t]))
    };
    let mut weighed: Vec<(u64, usize)> = names.into_iter().map(|c| (weigh(c), c)).collect();
    weighed.sort_by_key(|w| std::cmp::Reverse(w.0));

    let mut resource_of: Vec<Option<usize>> = vec![None; problem.tasks()];
    let mut load = vec![0u64; resources.list.len()];
    for (_, cluster) in weighed {
        let mut best: Option<(u64, usize)> = None;
        for (r, resource) in resources.list.iter().enumerate() {
            let new = match resource {
                Resource::Single(_) => load[r].saturating_add(sum(r, cluster)),
                Resource::Set(set) => {
                    let tasks = weights.heaviest[r]
                        .iter()
                        .copied()
                        .filter(|&t| clustering[t] == cluster || resource_of[t] == Some(r));
                    greedy_set(&weights.fs[r], buffers, &problem.room, set, tasks, |_, _| ())
                        .unwrap_or(u64::MAX)
                }
            };
            if best.is_none_or(|(b, _)| new < b) {
                best = Some((new, r));
            }
        }
        let Some((new, r)) = best else { continue };
        load[r] = new;
        for t in (0..problem.tasks()).filter(|&t| clustering[t] == cluster) {
            resource_of[t] = Some(r);
        }
    }
    let resource_of: Vec<usize> = resource_of.into_iter().map(|r| r.unwrap_or(0)).collect();
    spread(problem, resources, weights, buffers, &resource_of)
}

/// Resources to elements: each set's tasks where CELLGREEDYSET puts them. Where it fails (no resource could take a
/// cluster) the rest goes to the least loaded element, and the plan is said to be infeasible.
pub(crate) fn spread(
    problem: &Problem,
    resources: &Resources,
    weights: &Weights,
    buffers: &[f64],
    resource_of: &[usize],
) -> Mapping {
    let mut mapping = vec![usize::MAX; problem.tasks()];
    for (r, resource) in resources.list.iter().enumerate() {
        let tasks = || weights.heaviest[r].iter().copied().filter(|&t| resource_of[t] == r);
        match resource {
            Resource::Single(element) => tasks().for_each(|t| mapping[t] = *element),
            Resource::Set(set) => {
                let put = |mapping: &mut Mapping, room: &[Option<f64>]| {
                    greedy_set(&weights.fs[r], buffers, room, set, tasks(), |t, e| mapping[t] = e).is_some()
                };
                if !put(&mut mapping, &problem.room) {
                    put(&mut mapping, &vec![None; problem.elements()]);
                }
            }
        }
    }
    // Only a task that its resource cannot run at all is left.
    for (task, on) in mapping.iter_mut().enumerate() {
        if *on == usize::MAX || problem.cost_on(task, *on).is_infinite() {
            *on = (0..problem.elements()).find(|&e| problem.cost_on(task, e).is_finite()).unwrap_or(0);
        }
    }
    mapping
}
