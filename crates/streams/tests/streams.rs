//! Streams on the simulated Cell against streams on this computer: the same bytes, whatever the mapping.

use proptest::prelude::*;
use run::testing::mixed::{Mixed, random_graph};
use run::testing::{cores, planned};
use run::{RunOptions, RunOutcome};
use streams::{StreamCosts, StreamError};
use work::Graph;

fn cell(name: &str) -> machine::Machine {
    machine::load(name).unwrap()
}

fn simulate(graph: &Graph, name: &str, mapping: &[usize], batch: u64, n: u64) -> Option<(RunOutcome, Mixed)> {
    let machine = cell(name);
    let plan = planned(graph, &machine, mapping, batch).ok()?;
    let kernels = Mixed::default();
    let mut options = RunOptions { instances: Some(n), ..RunOptions::default() };
    let outcome = streams::run(graph, &machine, &plan, &kernels, StreamCosts::default(), &mut options);
    Some((outcome.unwrap_or_else(|why| panic!("{name} {mapping:?} batch {batch}: {why}")), kernels))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn sinks_get_on_a_cell_what_they_get_here(
        tasks in 2usize..9,
        raw in prop::collection::vec((0usize..9, 0usize..9, 0u64..5, 0u64..12, any::<bool>()), 1..14),
        mapping in prop::collection::vec(0usize..6, 9),
        sizes in prop::collection::vec(0usize..8, 9),
        n in 1u64..60,
    ) {
        let bytes = |task: usize| [1, 2, 3, 4, 8, 12, 100, 20_000][sizes[task]];
        let mut graph = random_graph(tasks, &raw, bytes, 5);
        for (t, task) in graph.tasks.iter_mut().enumerate() {
            task.cost_ns.insert("*".into(), (t * 700 % 3_000) as f64);
        }
        let machine = cores(1);
        let Ok(plan) = planned(&graph, &machine, &vec![0; tasks], 1) else { return Ok(()) };
        let here = Mixed::default();
        let options = RunOptions { instances: Some(n), ..RunOptions::default() };
        let wanted = run::run(&graph, &machine, &plan, &here, options).unwrap().instances;
        for (name, batch) in [("qs22", 1), ("cell", 3)] {
            let room = |graph: &Graph| graph.edges.iter().all(|e| e.bytes < 20_000);
            if !room(&graph) && batch > 1 {
                continue;
            }
            let machine = cell(name);
            let Ok(plan) = planned(&graph, &machine, &mapping[..tasks], batch) else { continue };
            let there = Mixed::default();
            let mut options = RunOptions { instances: Some(n), ..RunOptions::default() };
            match streams::run(&graph, &machine, &plan, &there, StreamCosts::default(), &mut options) {
                Ok(outcome) => {
                    prop_assert_eq!(outcome.instances, wanted);
                    prop_assert_eq!(here.seen(), there.seen());
                }
                Err(StreamError::Room(_)) => {}
                Err(why) => prop_assert!(false, "{name}: {why}"),
            }
        }
    }
}

#[test]
fn a_run_takes_the_same_simulated_time_each_time() {
    let raw = [(0, 1, 0, 0, false), (0, 2, 1, 0, true), (1, 3, 0, 0, false), (2, 3, 2, 0, false)];
    let mut graph = random_graph(4, &raw, |_| 4_096, 1);
    graph.tasks.iter_mut().for_each(|t| {
        let _ = t.cost_ns.insert("*".into(), 2_000.0);
    });
    let of = || simulate(&graph, "qs22", &[0, 2, 3, 12], 1, 500).unwrap().0;
    let (a, b) = (of(), of());
    assert_eq!(a, b);
    // 2 us of computing an instance on each of four elements, and what the runtime adds.
    assert!(a.throughput_per_s > 300_000.0 && a.throughput_per_s < 500_000.0, "{a:?}");
}
