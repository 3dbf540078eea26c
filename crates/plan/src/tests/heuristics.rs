//! Algorithms 1 to 7 on cases worked out by hand.

use super::{graph, host, preset, random_graph, task};
use crate::{Problem, cluster, delegate, greedy};
use ground::Draws;
use machine::Machine;
use work::{Graph, Mapping};

fn by_greedy(machine: &Machine, graph: &Graph) -> Mapping {
    greedy(&Problem::new(machine, graph).unwrap(), 1)
}

fn by_delegate(machine: &Machine, graph: &Graph) -> Mapping {
    delegate(&Problem::new(machine, graph).unwrap(), 1, 2, None, &mut |_| true).0
}

fn by_cluster(machine: &Machine, graph: &Graph) -> Mapping {
    cluster(&Problem::new(machine, graph).unwrap(), 1)
}

// Elements of preset("cell", 1, 2): 0 = PPE0, 1 = SPE0, 2 = SPE1.

#[test]
fn greedy_spreads_by_affinity_and_ties_go_to_the_first() {
    // Affinities .1, .2, .5, 1: a to SPE0, b to SPE1 (10 and 20), c to SPE0 (60), d to SPE1 (120); then the PPE is idle
    // and takes from SPE1, the fullest, the task that suits the PPE most: d, as 100 < 120. Then SPE0 has 60, the PPE
    // 100.
    let tasks =
        vec![task("a", 100.0, 10.0), task("b", 100.0, 20.0), task("c", 100.0, 50.0), task("d", 100.0, 100.0)];
    assert_eq!(by_greedy(&preset("cell", 1, 2), &graph(tasks, &[])), vec![1, 2, 1, 0]);
}

#[test]
fn greedy_does_not_move_a_task_that_would_only_equal_the_spe() {
    // One SPE with 50 + 50; the PPE would reach exactly 100 with either.
    let tasks = vec![task("a", 100.0, 50.0), task("b", 100.0, 50.0)];
    assert_eq!(by_greedy(&preset("cell", 1, 1), &graph(tasks, &[])), vec![1, 1]);
}

#[test]
fn greedy_puts_what_does_not_fit_local_stores_on_the_ppe() {
    // 2 periods of 60 000 bytes at each end: 120 000 fit into 192 kB, 240 000 do not.
    let tasks: Vec<_> = (0..3).map(|i| task(&format!("t{i}"), 900.0, 10.0)).collect();
    let mapping = by_greedy(&preset("cell", 1, 1), &graph(tasks, &[(0, 1, 60_000, 0), (1, 2, 60_000, 0)]));
    assert_eq!(mapping, vec![1, 0, 0]);
}

#[test]
fn greedy_gives_a_task_that_costs_nothing_on_a_ppe_to_the_ppe() {
    let tasks = vec![task("free", 0.0, 10.0), task("a", 100.0, 60.0), task("b", 100.0, 60.0)];
    assert_eq!(by_greedy(&preset("cell", 1, 1), &graph(tasks, &[])), vec![0, 0, 1]);
}

#[test]
fn without_spes_everything_is_on_ppes() {
    let tasks: Vec<_> = (0..3).map(|i| task(&format!("t{i}"), 10.0, 1.0)).collect();
    let graph = graph(tasks, &[(0, 1, 8, 0)]);
    for map in [by_greedy, by_delegate, by_cluster] {
        assert_eq!(map(&preset("ps3", 1, 0), &graph), vec![0; 3]);
        assert!(map(&preset("qs22", 2, 0), &graph).iter().all(|&e| e < 2));
    }
}

#[test]
fn one_task_goes_where_it_is_fastest() {
    let graph = graph(vec![task("a", 100.0, 10.0)], &[]);
    let machine = preset("qs22", 2, 16);
    assert_eq!(by_greedy(&machine, &graph), vec![2]);
    assert_eq!(by_delegate(&machine, &graph), vec![2]);
    assert_eq!(by_cluster(&machine, &graph), vec![2]);
}

#[test]
fn delegate_moves_away_from_the_ppe_until_nothing_improves() {
    // Unconnected, 100 on the PPE and 60 on an SPE: both SPEs and the PPE end with one each.
    let tasks: Vec<_> = (0..3).map(|i| task(&format!("t{i}"), 100.0, 60.0)).collect();
    let mut mapping = by_delegate(&preset("cell", 1, 2), &graph(tasks, &[]));
    mapping.sort_unstable();
    assert_eq!(mapping, vec![0, 1, 2]);
}

#[test]
fn delegate_keeps_neighbours_together_when_the_link_is_the_bottleneck() {
    // 1 MB between PPE and SPEs takes 42 us one way: more than the task is worth. No local store would hold it either.
    let tasks = vec![task("a", 10_000.0, 5_000.0), task("b", 10_000.0, 5_000.0)];
    assert_eq!(by_delegate(&preset("cell", 1, 2), &graph(tasks, &[(0, 1, 1_000_000, 0)])), vec![0, 0]);
}

#[test]
fn delegate_never_worsens_the_score_it_started_from() {
    let mut draws = Draws::new(21);
    for _ in 0..20 {
        let graph = random_graph(&mut draws, 25, 6_000);
        let machine = preset("qs22", 2, 16);
        let problem = Problem::new(&machine, &graph).unwrap();
        let mapping = by_delegate(&machine, &graph);
        let load =
            |e: usize| -> f64 { (0..25).filter(|&t| mapping[t] == e).map(|t| problem.cost_on(t, e)).sum() };
        let all: f64 = (0..25).map(|t| problem.cost_on(t, 0)).sum();
        assert!((0..18).all(|e| load(e) <= all));
        assert!((0..18).map(load).fold(0.0, f64::max) < all / 4.0, "DELEGATE uses the machine");
    }
}

#[test]
fn cluster_serialises_nothing_so_that_memory_alone_stops_it() {
    // As printed: a connected graph whose buffers fit one chip's SPEs becomes one cluster on one set, beside which all
    // else is idle.
    let tasks: Vec<_> = (0..4).map(|i| task(&format!("t{i}"), 100.0, 90.0)).collect();
    let mapping =
        by_cluster(&preset("qs22", 2, 16), &graph(tasks, &[(0, 1, 100, 0), (1, 2, 100, 0), (2, 3, 100, 0)]));
    assert_eq!(mapping, vec![2, 3, 4, 5]);
}

#[test]
fn cluster_keeps_apart_what_no_set_can_hold_together() {
    // Edges of 90 000 bytes: 180 000 at each end; a pair fills two SPEs, three tasks in a row fit nowhere at once.
    let tasks: Vec<_> = (0..3).map(|i| task(&format!("t{i}"), 100.0, 90.0)).collect();
    let mapping = by_cluster(&preset("cell", 1, 2), &graph(tasks, &[(0, 1, 90_000, 0), (1, 2, 90_000, 0)]));
    assert!(mapping.iter().filter(|&&e| e > 0).count() <= 2, "{mapping:?}");
}

#[test]
fn other_machines_are_sets_by_chip_and_l3() {
    let mut draws = Draws::new(8);
    let graph = random_graph(&mut draws, 12, 500);
    for map in [by_greedy, by_delegate, by_cluster] {
        let mapping = map(&host(4, 10.0), &graph);
        assert!(mapping.iter().all(|&e| e < 4));
    }
    let used = |mapping: Mapping| (0..4).filter(|e| mapping.contains(e)).count();
    assert_eq!(used(by_greedy(&host(4, 10.0), &graph)), 4);
}

#[test]
fn disconnected_graphs_and_all_free_tasks_are_mapped() {
    let free =
        graph((0..5).map(|i| task(&format!("t{i}"), 0.0, 0.0)).collect(), &[(0, 1, 8, 0), (2, 3, 8, 1)]);
    for map in [by_greedy, by_delegate, by_cluster] {
        let mapping = map(&preset("qs22", 2, 16), &free);
        assert!(mapping.iter().all(|&e| e < 18));
    }
}

#[test]
fn every_heuristic_is_the_same_on_every_call() {
    let mut draws = Draws::new(30);
    let graph = random_graph(&mut draws, 40, 5_000);
    for map in [by_greedy, by_delegate, by_cluster] {
        assert_eq!(map(&preset("qs22", 2, 16), &graph), map(&preset("qs22", 2, 16), &graph));
    }
}
