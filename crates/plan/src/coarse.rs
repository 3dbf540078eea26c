//! Where a search starts anew on a machine of several groups: which group runs each task, before which element does.
//!
//! Interchangeable elements, such as the SPEs of a chip, are taken together as one element that is as fast as all of
//! them and has their memory. Limits hold between such groups as a whole. A search on this small machine is quick to
//! see which tasks belong on one chip, and a search among elements is not: many tasks must cross at once.

use crate::anneal::anneal_in_steps;
use crate::flow::Flow;
use crate::{Budget, Method, PlanOptions, Problem, symmetry};
use machine::{Block, Element, Limit, Machine, Memory};
use std::collections::BTreeMap;
use work::{Buffering, Graph, Mapping, Task};

/// Above this many tasks a search among groups ends long before it has seen them all.
const MOST_TASKS: usize = 1_000;

/// A machine of groups, and the graph with what its tasks cost there.
pub(crate) struct CoarseMachine {
    machine: Machine,
    graph: Graph,
    groups: Vec<Vec<usize>>,
}

impl CoarseMachine {
    /// The groups of a machine on which a transfer costs the elements nothing; none, where fewer than two of them have
    /// more than one element.
    pub(crate) fn new(problem: &Problem) -> Option<CoarseMachine> {
        let mut groups = symmetry::classes(problem);
        if groups.len() < 2 || problem.tasks() > MOST_TASKS || problem.spends_on_transfers() {
            return None;
        }
        let alone = |e: &usize| !groups.iter().flatten().any(|other| other == e);
        let rest: Vec<Vec<usize>> = (0..problem.elements()).filter(alone).map(|e| vec![e]).collect();
        groups.extend(rest);
        let element = |(i, group): (usize, &Vec<usize>)| {
            let room: Option<f64> = group.iter().map(|&e| problem.room[e]).sum();
            let memory = room.map(|room| Memory {
                bytes: room.max(0.0) as u64,
                hard: true,
                holds_code: false,
                l1_bytes: None,
                overflow_bytes_per_s: None,
            });
            Element {
                name: format!("group {i}"),
                kind: format!("group {i}"),
                place: problem.machine.elements[group[0]].place.clone(),
                memory,
                incoming_max: None,
                outgoing_max: BTreeMap::new(),
                os_cpu: None,
            }
        };
        let elements: Vec<Element> = groups.iter().enumerate().map(element).collect();
        let limit = |limit: &Limit| {
            let holds = |a: usize, b: usize| {
                a != b && groups[a].iter().all(|&i| groups[b].iter().all(|&j| limit.holds(i, j)))
            };
            let pairs = (0..groups.len()).flat_map(|a| (0..groups.len()).map(move |b| (a, b)));
            let block = |(a, b)| Block { from: vec![a], to: vec![b] };
            Limit { pairs: pairs.filter(|&(a, b)| holds(a, b)).map(block).collect(), ..limit.clone() }
        };
        let limits =
            problem.machine.limits.iter().map(limit).filter(|limit| !limit.pairs.is_empty()).collect();
        let task = |(t, task): (usize, &Task)| {
            let cost = |(i, group): (usize, &Vec<usize>)| {
                (format!("group {i}"), problem.cost_on(t, group[0]) / group.len() as f64)
            };
            let cost_ns = groups.iter().enumerate().map(cost).filter(|(_, ns)| ns.is_finite()).collect();
            Task { cost_ns, ..task.clone() }
        };
        let graph = Graph {
            tasks: problem.graph.tasks.iter().enumerate().map(task).collect(),
            profile: None,
            ..problem.graph.clone()
        };
        Some(CoarseMachine { machine: Machine { elements, limits, ..Machine::default() }, graph, groups })
    }

    /// A mapping to elements, from a search of so many moves among the groups. The same seed and moves give the same
    /// mapping, unless the clock of `budget` ends the search.
    pub(crate) fn start(
        &self,
        (buffering, batch): (Buffering, u64),
        bound_ns: f64,
        (seed, moves): (u64, u64),
        budget: &Budget,
    ) -> Option<Mapping> {
        let problem = Problem::new(&self.machine, &self.graph).ok()?;
        let flow = Flow::new(&self.graph, &problem.broadcasts, batch);
        let options = PlanOptions {
            method: Method::Anneal,
            moves: Some(moves),
            gap: 0.0,
            seed,
            ..PlanOptions::default()
        };
        let in_time = |seconds: f64| budget.options.moves.is_some() || seconds < budget.options.seconds();
        let mut go_on = |p: &crate::PlanProgress| in_time(p.seconds);
        let mut own = Budget::new("coarse", budget.clock, &mut go_on, budget.started, &options);
        let all: Vec<Mapping> = (0..self.groups.len())
            .filter(|&g| (0..problem.tasks()).all(|t| problem.cost_on(t, g).is_finite()))
            .map(|g| vec![g; problem.tasks()])
            .collect();
        if all.is_empty() {
            return None;
        }
        let found =
            anneal_in_steps(&problem, &flow, buffering, &all, (bound_ns, step_ns(&problem)), &mut own);
        // The heaviest task first, each on the element of its group that has least to do.
        let mut load: Vec<Vec<f64>> = self.groups.iter().map(|group| vec![0.0; group.len()]).collect();
        let mut mapping = vec![0; problem.tasks()];
        for task in symmetry::heaviest(&problem) {
            let group = found.mapping[task];
            let least = |a: &usize, b: &usize| load[group][*a].total_cmp(&load[group][*b]);
            let member = (0..load[group].len()).min_by(least)?;
            load[group][member] += problem.cost_on(task, group);
            mapping[task] = self.groups[group][member];
        }
        Some(mapping)
    }
}

/// What moving a task changes, about: all of its transfers, each over the limits of the pair that pays most for a byte,
/// and as much again for what must then move back.
fn step_ns(problem: &Problem) -> f64 {
    let n = problem.elements();
    let paid = |(a, b): (usize, usize)| -> f64 {
        problem.limits.of(a, b).iter().map(|&id| problem.limits.ns_per_byte(id)).sum()
    };
    let most = (0..n * n).map(|pair| paid((pair / n, pair % n))).fold(0.0, f64::max);
    let moved: f64 = problem.broadcasts.iter().map(|b| (b.to.len() as f64 + 1.0) * b.bytes as f64).sum();
    2.0 * moved * most / problem.tasks() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{graph, host, preset, task};

    #[test]
    fn two_dense_halves_of_a_graph_start_on_a_chip_each() {
        let tasks = (0..32).map(|i| task(&format!("t{i}"), 400.0, 100.0)).collect();
        // Even tasks talk to even ones, odd to odd; one edge joins them.
        let mut edges: Vec<_> = (2..32).flat_map(|i| [(i - 2, i, 2_000, 0), (i % 2, i, 1_000, 0)]).collect();
        edges.retain(|edge| edge.0 != edge.1);
        edges.push((30, 31, 16, 0));
        let graph = graph(tasks, &edges);
        let machine = preset("qs22", 1, 16);
        let problem = Problem::new(&machine, &graph).unwrap();
        let options = PlanOptions::default();
        let (clock, mut go_on) = (|| 0.0, |_: &crate::PlanProgress| true);
        let budget = Budget::new("test", &clock, &mut go_on, 0.0, &options);
        let coarse = CoarseMachine::new(&problem).unwrap();
        let form = (Buffering::Shared, 1);
        let mapping = coarse.start(form, 200.0, (1, 60_000), &budget).unwrap();
        assert_eq!(mapping, coarse.start(form, 200.0, (1, 60_000), &budget).unwrap());
        let chip = |t: usize| machine.elements[mapping[t]].place.chip;
        assert!((0..30).all(|t| chip(t) == chip(t + 2)) && chip(0) != chip(1), "{mapping:?}");
        // As many tasks on each SPE, or one more.
        let most = (1..17).map(|e| mapping.iter().filter(|&&on| on == e).count()).max();
        assert!(most <= Some(2), "{mapping:?}");
    }

    #[test]
    fn one_group_and_elements_that_pay_for_transfers_have_no_coarse_machine() {
        let graph = graph(vec![task("a", 10.0, 10.0)], &[]);
        for machine in [preset("cell", 1, 8), host(4, 30.0)] {
            assert!(CoarseMachine::new(&Problem::new(&machine, &graph).unwrap()).is_none());
        }
    }
}
