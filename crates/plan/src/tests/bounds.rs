//! Bounds against brute force.

use super::{brute_force, graph, host, machines, preset, random_graph, task, together};
use crate::{Problem, bound};
use ground::Draws;
use work::Buffering;

const RULE: Buffering = Buffering::Shared;

#[test]
fn no_bound_is_above_the_best_of_all_mappings_of_10_000_small_graphs() {
    let mut draws = Draws::new(11);
    let (mut tight, mut planned) = (0, 0);
    let machines = machines();
    for round in 0..1_410 {
        // The last machine has capacities within capacities: its bound takes as long as those of all others.
        let often = if round % 8 == 0 { machines.len() } else { machines.len() - 1 };
        for (i, machine) in machines[..often].iter().enumerate() {
            let n = machine.elements.len();
            let tasks = 1 + draws.below(if n > 3 { 4 } else { 5 });
            let graph = random_graph(&mut draws, tasks, [300, 4_000, 40_000][round % 3]);
            let batch = 1 << draws.below(3);
            let rule = if round % 4 == 0 { Buffering::Duplicated } else { Buffering::Shared };
            let problem = Problem::new(machine, &graph).unwrap();
            let bound = bound(&problem, batch, rule);
            let Some((best, mapping)) = brute_force(machine, &graph, rule, batch) else { continue };
            assert!(bound <= best, "round {round}, machine {i}: bound {bound} above {best} of {mapping:?}");
            tight += usize::from(bound > 0.999 * best);
            planned += 1;
        }
    }
    assert!(planned >= 10_000 && tight > planned / 2, "the bounds are tight in {tight} of {planned} only");
}

#[test]
fn a_task_whose_neighbours_neither_fit_beside_it_nor_through_its_port_takes_what_the_best_of_them_leave() {
    // 250 ns, and six neighbours of 60 ns that read 1,200 bytes each: 288 ns through a port of 25 GB/s, or one of them
    // here: max(310, 240). Two SPEs are enough of them to be apart.
    let near: Vec<_> = (1..7).map(|i| task(&format!("t{i}"), 900.0, 60.0)).collect();
    let edges: Vec<_> = (1..7).map(|i| (0, i, 1_200, 0)).collect();
    let star = super::graph([vec![task("t0", 900.0, 250.0)], near].concat(), &edges);
    let bound = |machine: &machine::Machine, graph: &work::Graph| {
        bound(&Problem::new(machine, graph).unwrap(), 1, RULE)
    };
    assert!((bound(&preset("cell", 1, 8), &star) - 288.0).abs() < 1e-6);
    // A PPE reads 2 GB/s from each SPE: 1,000 bytes take 500 ns, more than the producer beside its consumer.
    let pair = super::graph(vec![task("a", 100.0, 80.0), task("b", 200.0, 900.0)], &[(0, 1, 1_000, 0)]);
    assert!((bound(&preset("cell", 1, 8), &pair) - 300.0).abs() < 1e-6);
}

#[test]
fn producers_that_a_slow_way_keeps_beside_their_consumers_bound_how_much_the_ppe_takes() {
    // 16 pairs. On an SPE a task takes 100 ns; on the PPE a producer takes 1,000 and a consumer 10. A PPE reads 2 GB/s.
    let tasks: Vec<_> =
        (0..32).map(|i| task(&format!("t{i}"), if i % 2 == 0 { 1_000.0 } else { 10.0 }, 100.0)).collect();
    let pairs = |bytes: u64| -> Vec<_> { (0..16).map(|i| (2 * i, 2 * i + 1, bytes, 0)).collect() };
    let bound = |bytes: u64| {
        let graph = super::graph(tasks.clone(), &pairs(bytes));
        bound(&Problem::new(&preset("cell", 1, 1), &graph).unwrap(), 1, RULE)
    };
    // All consumers and x producers are on the PPE: 160 + 1,000 x = 100 (16 - x).
    assert!((bound(10) - (160.0 + 1_000.0 * 1_440.0 / 1_100.0)).abs() < 0.01, "{}", bound(10));
    // x whole pairs are: 1,010 x = 200 (16 - x).
    assert!((bound(10_000) - 1_010.0 * 3_200.0 / 1_210.0).abs() < 0.01, "{}", bound(10_000));
    // 4,000 bytes take 2,000 ns, less than that.
    assert!((bound(4_000) - 2_000.0).abs() < 0.01, "{}", bound(4_000));
}

#[test]
fn short_queues_bound_no_mapping_above_the_best() {
    let mut draws = Draws::new(12);
    for round in 0..150 {
        let mut machine = preset("cell", 1, 2);
        for element in machine.elements.iter_mut().filter(|e| e.incoming_max.is_some()) {
            element.incoming_max = Some(draws.below(3) as u32);
            element.outgoing_max.values_mut().for_each(|most| *most = draws.below(2) as u32);
        }
        let graph = random_graph(&mut draws, 6, if round % 2 == 0 { 300 } else { 40_000 });
        let rule = if round % 3 == 0 { Buffering::Duplicated } else { Buffering::Shared };
        let problem = Problem::new(&machine, &graph).unwrap();
        let queues = crate::bound::queues::bound_of_all(&problem, 1, rule);
        let (best, mapping) = brute_force(&machine, &graph, rule, 1).unwrap();
        assert!(queues <= best * (1.0 + 1e-9), "round {round}: {queues} above {best} of {mapping:?}");
    }
}

#[test]
fn a_large_graph_is_bounded_by_the_queues_of_its_spes() {
    let options = work::daggen::DaggenOptions { tasks: 3_000, ..Default::default() };
    let graph = work::daggen::generate(&options).unwrap();
    let machine = preset("qs22", 2, 16);
    let problem = Problem::new(&machine, &graph).unwrap();
    let (queues, other) = (crate::bound::queues::bound(&problem, 1, RULE), bound(&problem, 1, RULE));
    assert!(queues > 1.1 * other, "{queues} and {other}");
    // Balanced over the two PPEs it takes half of all work there.
    let work: f64 = (0..problem.tasks()).map(|t| problem.cost_on(t, 0)).sum();
    assert!(queues < work / 2.0, "{queues} and {work}");
}

#[test]
fn the_bound_of_two_kinds_is_the_fractional_balance_in_affinity_order() {
    // SPE-friendly 300/100, neutral 200/200: one PPE and one SPE. All of the first and half of the second... T = 150.
    let graph = graph(vec![task("a", 300.0, 100.0), task("b", 200.0, 200.0)], &[]);
    let machine = preset("cell", 1, 1);
    let bound = bound(&Problem::new(&machine, &graph).unwrap(), 1, RULE);
    // The largest task on its best kind takes 200 whole.
    assert!((bound - 200.0).abs() < 1e-6, "{bound}");
    let halves: Vec<_> = (0..20).map(|i| task(&format!("a{i}"), 30.0, 10.0)).collect();
    let mut tasks = halves;
    tasks.extend((0..20).map(|i| task(&format!("b{i}"), 20.0, 20.0)));
    let graph = super::graph(tasks, &[]);
    let bound = crate::bound(&Problem::new(&machine, &graph).unwrap(), 1, RULE);
    // 200 of the first on the SPE, 400 of the second over both: T = 300.
    assert!((bound - 300.0).abs() < 1e-6, "{bound}");
}

#[test]
fn elements_that_slow_each_other_down_are_bounded_by_what_they_have_together() {
    let graph = graph((0..10).map(|i| task(&format!("t{i}"), 12.0, 12.0)).collect(), &[]);
    let bound = |machine: &machine::Machine| bound(&Problem::new(machine, &graph).unwrap(), 1, RULE);
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-6, "{a} and {b}");
    let mut machine = host(2, 0.0);
    near(bound(&machine), 60.0);
    // Two that compute 1.6 times as long beside each other have 1.25 cpus.
    machine.together = vec![together(&[0, 1], 1.6)];
    near(bound(&machine), 120.0 / 1.25);
    // The slower one costs more, and what both have is the same.
    machine.paces = vec![1.0, 1.3];
    assert!(bound(&machine) >= 120.0 / 1.25 - 1e-6);
    let mut machine = host(4, 0.0);
    machine.together = vec![together(&[0, 1], 2.0)];
    near(bound(&machine), 120.0 / 3.0);
    machine.together.push(together(&[2, 3], 1.6));
    near(bound(&machine), 120.0 / 2.25);
    machine.quota_cpus = Some(1.5);
    near(bound(&machine), 120.0 / 1.5);
}

#[test]
fn three_equal_tasks_on_two_elements_take_two() {
    let graph = graph((0..3).map(|i| task(&format!("t{i}"), 10.0, 10.0)).collect(), &[]);
    let machine = host(2, 0.0);
    assert!((bound(&Problem::new(&machine, &graph).unwrap(), 1, RULE) - 20.0).abs() < 1e-9);
}

#[test]
fn a_chain_that_is_cheaper_than_a_hand_over_is_bounded_by_one_element() {
    let edges: Vec<_> = (0..7).map(|i| (i, i + 1, 64, 0)).collect();
    let graph = graph((0..8).map(|i| task(&format!("t{i}"), 2.0, 2.0)).collect(), &edges);
    let machine = host(2, 100.0);
    let problem = Problem::new(&machine, &graph).unwrap();
    assert!((bound(&problem, 1, RULE) - 16.0).abs() < 1e-9, "{}", bound(&problem, 1, RULE));
    // With 64 instances per hand-over two elements could win: (16 + 2 * (100 / 64 + 0.64)) / 2.
    assert!((bound(&problem, 64, RULE) - 10.2025).abs() < 1e-9, "{}", bound(&problem, 64, RULE));
}

#[test]
fn tasks_whose_buffers_fill_the_local_stores_leave_the_rest_to_the_ppe() {
    // 20 pairs of tasks, 50 on the PPE and 1 on an SPE, with 90 000 bytes between them: at least 90 000 per pair, and
    // two SPEs hold 2 x 196 608, so that at most 4.4 of the consumers are on SPEs. 15.6 are left to the PPE.
    let tasks = (0..40).map(|i| task(&format!("t{i}"), 50.0, 1.0)).collect();
    let edges: Vec<_> = (0..20).map(|i| (2 * i, 2 * i + 1, 90_000, 0)).collect();
    let graph = super::graph(tasks, &edges);
    let machine = preset("cell", 1, 2);
    let bound = bound(&Problem::new(&machine, &graph).unwrap(), 1, RULE);
    let fit = 2.0 * 196_608.0 / 90_000.0;
    assert!((bound - 50.0 * (20.0 - fit)).abs() < 0.1, "{bound}");
}
