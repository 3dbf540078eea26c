//! The incremental state, annealing, `auto` and what every plan keeps.

use super::{brute_force, graph, host, machines, preset, random_graph, task};
use crate::flow::Flow;
use crate::state::SearchState;
use crate::{Method, PlanError, PlanOptions, Problem, evaluate, plan};
use ground::Draws;
use machine::Machine;
use std::collections::BTreeMap;
use work::plan::{ContributionKind, ViolationKind};
use work::{Buffering, Graph, Mapping, Plan};

pub(super) fn run(machine: &Machine, graph: &Graph, options: &PlanOptions) -> Result<Plan, PlanError> {
    plan(machine, graph, options, &|| 0.0, &mut |_| true)
}

fn moves(method: Method, moves: u64) -> PlanOptions {
    PlanOptions { method, moves: Some(moves), gap: 0.0, ..PlanOptions::default() }
}

#[test]
fn loads_after_random_moves_are_those_of_work_and_model() {
    let mut draws = Draws::new(5);
    let mut list = machines();
    list.push(preset("qs22", 2, 16));
    for round in 0..60 {
        for machine in &list {
            let mut graph = random_graph(&mut draws, 2 + round % 20, 9_000);
            if round % 5 == 4 {
                graph.edges[0].delay = 1; // takes the way of graphs with delays
            }
            for rule in [Buffering::Shared, Buffering::Duplicated] {
                let batch = 1 << draws.below(4);
                let n = machine.elements.len();
                let problem = Problem::new(machine, &graph).unwrap();
                let flow = Flow::new(&graph, &problem.broadcasts, batch);
                let mut state = SearchState::new(&problem, &flow, rule, vec![0; graph.tasks.len()], 500.0);
                for _ in 0..40 {
                    let mut some = || (draws.below(graph.tasks.len()), draws.below(n));
                    let (a, b) = (some(), some());
                    let both = [a, b];
                    let moves = if a.0 == b.0 { &both[..1] } else { &both[..] };
                    let threshold = if draws.below(2) == 0 { f64::INFINITY } else { 0.0 };
                    let before = (state.mapping.clone(), state.overload);
                    if !state.try_move(moves, threshold) {
                        assert_eq!(before, (state.mapping.clone(), state.overload));
                    }
                    let schedule = work::schedule::schedule(&graph, &state.mapping, n, rule, batch).unwrap();
                    let prediction = model::predict(machine, &graph, &state.mapping, &schedule).unwrap();
                    if problem.room.iter().any(Option::is_some) || machine.name == "host" {
                        let bytes: Vec<u64> = state.buffers().iter().map(|&b| b as u64).collect();
                        assert_eq!(bytes, schedule.buffers_bytes);
                    }
                    let period = state.period();
                    let error = (period - prediction.period_ns).abs() / prediction.period_ns;
                    assert!(error < 1e-9, "{period} and {}", prediction.period_ns);
                    assert_eq!(state.violation() > 1e-9, !prediction.violations.is_empty());
                    let sum = state.overload;
                    let mut anew = state.clone();
                    anew.rebuild();
                    assert!((sum - anew.overload).abs() <= 1e-6 * (1.0 + sum), "{sum} and {}", anew.overload);
                }
            }
        }
    }
}

#[test]
fn annealing_finds_the_best_mapping_of_small_graphs() {
    let mut draws = Draws::new(2);
    let mut missed = Vec::new();
    for round in 0..40 {
        for (i, machine) in machines().iter().enumerate() {
            let tasks = 2 + draws.below(4);
            let graph = random_graph(&mut draws, tasks, 3_000);
            let options = PlanOptions { batch: Some(1), ..moves(Method::Anneal, 200_000) };
            let plan = run(machine, &graph, &options).unwrap();
            let (best, mapping) = brute_force(machine, &graph, Buffering::Shared, 1).unwrap();
            assert!(plan.feasible && plan.bound_ns <= best * (1.0 + 1e-12));
            assert!(plan.period_ns >= best * (1.0 - 1e-12));
            if plan.period_ns > best * (1.0 + 1e-9) {
                missed.push((round, i, plan.period_ns / best, mapping));
            }
        }
    }
    assert!(missed.len() <= 2, "{missed:?}");
}

#[test]
fn the_same_moves_and_seed_repeat_a_plan_and_another_seed_still_plans() {
    let mut draws = Draws::new(9);
    let machine = preset("qs22", 1, 16);
    let graph = random_graph(&mut draws, 60, 3_000);
    let options = moves(Method::Auto, 30_000);
    let (a, b) = (run(&machine, &graph, &options).unwrap(), run(&machine, &graph, &options).unwrap());
    assert_eq!(a, b);
    let other = run(&machine, &graph, &PlanOptions { seed: 4, ..options }).unwrap();
    assert_eq!(other.seed, 4);
    assert!(other.feasible);
}

#[test]
fn a_search_that_a_clock_ended_is_repeated_by_its_moves() {
    let mut draws = Draws::new(10);
    let machine = preset("qs22", 1, 16);
    let graph = random_graph(&mut draws, 50, 30_000);
    // 1 ms between the first readings, so that they move apart, then 3 ms.
    let readings = std::cell::Cell::new(0);
    let clock = || {
        readings.set(readings.get() + 1);
        f64::from(readings.get()) * 0.001 + f64::from((readings.get() - 12).max(0)) * 0.002
    };
    let timed = PlanOptions { method: Method::Auto, time_s: Some(0.2), gap: 0.0, ..PlanOptions::default() };
    let a = plan(&machine, &graph, &timed, &clock, &mut |_| true).unwrap();
    assert!(a.moves > 0);
    let b = run(&machine, &graph, &moves(Method::Auto, a.moves)).unwrap();
    assert_eq!((a.mapping, a.period_ns, a.moves), (b.mapping, b.period_ns, b.moves));
}

#[test]
fn progress_that_says_stop_gets_the_best_plan_so_far() {
    let mut draws = Draws::new(12);
    let graph = random_graph(&mut draws, 40, 3_000);
    let mut calls = 0;
    let mut progress = |p: &crate::PlanProgress| {
        calls += 1;
        assert!(p.period_ns >= p.bound_ns);
        calls < 3
    };
    let options = PlanOptions { gap: 0.0, time_s: Some(600_000.0), ..PlanOptions::default() };
    let plan = plan(&preset("qs22", 1, 16), &graph, &options, &|| 0.0, &mut progress).unwrap();
    assert!(plan.feasible);
    assert_eq!(calls, 3);
}

#[test]
fn auto_is_no_worse_than_the_feasible_heuristics() {
    let mut draws = Draws::new(13);
    for round in 0..12 {
        let graph = random_graph(&mut draws, 10 + 5 * round, 8_000);
        let machine = preset("qs22", 1, 16);
        let rule = Some(Buffering::Duplicated);
        let auto =
            run(&machine, &graph, &PlanOptions { buffering: rule, ..moves(Method::Auto, 2_000) }).unwrap();
        for method in [Method::Greedy, Method::Cluster, Method::Delegate] {
            let other = run(&machine, &graph, &PlanOptions { buffering: rule, ..moves(method, 0) }).unwrap();
            let better = !other.feasible || auto.period_ns <= other.period_ns * (1.0 + 1e-12);
            assert!(auto.feasible && better, "round {round}: {} and {other:?}", auto.period_ns);
        }
    }
}

#[test]
fn hand_overs_that_cost_more_than_the_tasks_keep_a_chain_on_one_core() {
    let edges: Vec<_> = (0..7).map(|i| (i, i + 1, 64, 0)).collect();
    let fine = graph((0..8).map(|i| task(&format!("t{i}"), 1.0, 1.0)).collect(), &edges);
    let used = |plan: &Plan| {
        let mut elements: Vec<_> = plan.mapping.values().collect();
        elements.sort();
        elements.dedup();
        elements.len()
    };
    // 0.64 ns per transfer for the bytes alone, but 5 us per hand-over: even 1024 instances at once do not pay.
    let plan = run(&host(2, 5_000.0), &fine, &moves(Method::Auto, 20_000)).unwrap();
    assert_eq!(used(&plan), 1, "{plan:?}");
    let coarse = graph((0..8).map(|i| task(&format!("t{i}"), 1e3, 1e3)).collect(), &edges);
    let plan = run(&host(2, 100.0), &coarse, &moves(Method::Auto, 20_000)).unwrap();
    assert_eq!(used(&plan), 2, "{plan:?}");
    assert!(plan.gap < 0.01 && plan.batch > 1, "{plan:?}");
}

#[test]
fn a_batch_keeps_what_is_alive_within_the_first_cache() {
    // 16 kB in and out: two live buffers fill 32 kB of L1.
    let chain = graph(
        (0..4).map(|i| task(&format!("t{i}"), 300.0, 0.0)).collect(),
        &[(0, 1, 16 << 10, 0), (1, 2, 16 << 10, 0), (2, 3, 16 << 10, 0)],
    );
    let on_one =
        |graph: &Graph, options: &PlanOptions| evaluate(&host(2, 100.0), graph, vec![0; 4], options).unwrap();
    let options = PlanOptions::default();
    let plan = on_one(&chain, &options);
    assert_eq!(plan.batch, 1);
    let small =
        graph((0..4).map(|i| task(&format!("t{i}"), 3.0, 0.0)).collect(), &[(0, 1, 64, 0), (1, 2, 64, 0)]);
    let plan = on_one(&small, &options);
    assert_eq!(plan.batch, 256, "two live buffers of 64 B x 256 fill 32 kB");
    let bounded = PlanOptions { max_batch: 16, ..options };
    assert_eq!(on_one(&small, &bounded).batch, 16);
}

#[test]
fn a_host_that_was_not_measured_still_batches_fine_tasks() {
    let fine = graph(vec![task("a", 5.0, 0.0), task("b", 5.0, 0.0)], &[(0, 1, 8, 0)]);
    let mut machine = host(2, 0.0);
    machine.overheads.clear();
    assert_eq!(run(&machine, &fine, &moves(Method::Auto, 1_000)).unwrap().batch, 1024);
    let coarse = graph(vec![task("a", 1e6, 0.0), task("b", 1e6, 0.0)], &[(0, 1, 8, 0)]);
    assert_eq!(run(&machine, &coarse, &moves(Method::Auto, 1_000)).unwrap().batch, 1);
}

#[test]
fn a_core_of_which_only_the_cpu_is_known_still_batches_fine_tasks() {
    let fine = graph(vec![task("a", 5.0, 0.0), task("b", 5.0, 0.0)], &[(0, 1, 8, 0)]);
    let mut machine = host(2, 0.0);
    machine.overheads.clear();
    for (cpu, element) in machine.elements.iter_mut().enumerate() {
        (element.memory, element.os_cpu) = (None, Some(cpu as u32));
    }
    assert_eq!(run(&machine, &fine, &moves(Method::Auto, 1_000)).unwrap().batch, 1024);
}

#[test]
fn a_cell_plans_with_a_batch_of_one() {
    let graph = graph(vec![task("a", 10.0, 5.0)], &[]);
    let plan = run(&preset("cell", 1, 8), &graph, &PlanOptions::default()).unwrap();
    assert_eq!((plan.batch, plan.period_ns, plan.gap), (1, 5.0, 0.0));
}

#[test]
fn a_graph_that_fits_nowhere_gets_a_plan_that_says_so() {
    // Only SPEs can run it, and its buffers are larger than a local store.
    let mut graph = graph(vec![task("a", 10.0, 5.0), task("b", 10.0, 5.0)], &[(0, 1, 300_000, 0)]);
    for task in &mut graph.tasks {
        task.cost_ns.remove("ppe");
        task.cost_ns.remove("*");
    }
    for method in [Method::Greedy, Method::Cluster, Method::Delegate, Method::Anneal, Method::Auto] {
        let plan = run(&preset("cell", 1, 8), &graph, &moves(method, 1_000)).unwrap();
        assert!(!plan.feasible, "{method:?}");
        assert!(plan.violations[0].kind.equation() == 16, "{:?}", plan.violations);
    }
}

#[test]
fn annealing_repairs_what_greedy_breaks() {
    // 17 producers feed one consumer: on SPEs apart that is more than (17) lets in.
    let mut tasks: Vec<_> = (0..34).map(|i| task(&format!("t{i}"), 1_000.0, 100.0)).collect();
    tasks.push(task("sink", 1_000.0, 10.0));
    let edges: Vec<_> = (0..34).map(|i| (i, 34, 16, 0)).collect();
    let graph = graph(tasks, &edges);
    let machine = preset("qs22", 1, 16);
    let greedy = run(&machine, &graph, &moves(Method::Greedy, 0)).unwrap();
    assert!(greedy.violations.iter().any(|v| v.kind == ViolationKind::Incoming), "{:?}", greedy.violations);
    let auto = run(&machine, &graph, &moves(Method::Auto, 300_000)).unwrap();
    assert!(auto.feasible, "{:?}", auto.violations);
}

#[test]
fn every_lock_bounds_the_period_by_the_tasks_that_hold_it() {
    let mut graph = graph((0..6).map(|i| task(&format!("t{i}"), 100.0, 0.0)).collect(), &[]);
    for (t, lock) in ["disk", "disk", "disk", "net", "net"].into_iter().enumerate() {
        graph.tasks[t].lock = Some(lock.into());
    }
    let plan = run(&host(6, 0.0), &graph, &moves(Method::Auto, 1_000)).unwrap();
    assert_eq!((plan.bottleneck.as_str(), plan.period_ns, plan.gap), ("disk lock", 300.0, 0.0));
    let net = plan.contributions.iter().find(|c| c.kind == ContributionKind::Lock && c.subject == "net");
    assert_eq!(net.unwrap().ns, 200.0);
}

#[test]
fn python_tasks_share_one_lock_and_plans_know_it() {
    let mut graph = graph((0..4).map(|i| task(&format!("t{i}"), 100.0, 0.0)).collect(), &[]);
    for task in &mut graph.tasks {
        task.kernel = Some("python:m:f".into());
    }
    let plan = run(&host(4, 0.0), &graph, &moves(Method::Auto, 1_000)).unwrap();
    assert_eq!((plan.bottleneck.as_str(), plan.period_ns, plan.gap), ("python lock", 400.0, 0.0));
    graph.tasks[0].params.insert("jit".into(), work::Value::Text("numba".into()));
    let plan = run(&host(4, 0.0), &graph, &moves(Method::Auto, 1_000)).unwrap();
    assert_eq!(plan.period_ns, 300.0);
}

#[test]
fn wrong_requests_are_errors_that_name_what_is_wrong() {
    let good = graph(vec![task("a", 10.0, 5.0)], &[]);
    let machine = preset("cell", 1, 8);
    let message =
        |graph: &Graph, options: &PlanOptions| run(&machine, graph, options).unwrap_err().to_string();
    let options = PlanOptions::default();
    assert!(message(&Graph::default(), &options).contains("has no tasks"));
    let mut lost = good.clone();
    lost.tasks[0].cost_ns = [("gpu".to_string(), 1.0)].into();
    assert!(
        message(&lost, &options)
            .contains("task a has no cost on any kind of element of machine \"cell\" (ppe, spe)")
    );
    lost.tasks[0].cost_ns = [("ppe".to_string(), -1.0)].into();
    assert!(message(&lost, &options).contains("task a costs -1 ns"));
    let with = |method| PlanOptions { method, ..PlanOptions::default() };
    let given = |graph: &Graph, mapping: Mapping| {
        evaluate(&machine, graph, mapping, &PlanOptions::default()).unwrap_err().to_string()
    };
    assert!(given(&good, vec![]).contains("has 0 entries"));
    assert!(given(&good, vec![9]).contains("element 9"));
    assert!(message(&good, &with(Method::Exact)).contains("solver"));
    let mut spe_only = good.clone();
    spe_only.tasks[0].cost_ns = [("spe".to_string(), 1.0)].into();
    assert!(given(&spe_only, vec![0]).contains("task a has no cost on an element of kind \"ppe\""));
    assert!(
        message(&good, &PlanOptions { gap: 1.0, ..PlanOptions::default() }).contains("gap: 1 is not allowed")
    );
    assert!(message(&good, &PlanOptions { batch: Some(0), ..PlanOptions::default() }).contains("at least 1"));
    assert!(
        message(&good, &PlanOptions { time_s: Some(f64::NAN), ..PlanOptions::default() })
            .contains("time_s: nan")
    );
}

#[test]
fn a_plan_survives_its_own_json() {
    let mut draws = Draws::new(1);
    let graph = random_graph(&mut draws, 12, 3_000);
    let plan = run(&preset("qs22", 2, 16), &graph, &moves(Method::Auto, 5_000)).unwrap();
    assert_eq!(plan.mapping.len(), 12);
    assert_eq!(plan.first_period.len(), 12);
    assert_eq!(plan.edges.len(), graph.edges.len());
    assert_eq!(plan.order.values().map(Vec::len).sum::<usize>(), 12);
    assert!((plan.gap - (1.0 - plan.bound_ns / plan.period_ns)).abs() < 1e-15);
    assert_eq!(plan.bottleneck, plan.contributions[0].to_string());
    assert_eq!(plan.period_ns, plan.contributions[0].ns);
}

#[test]
fn plans_do_not_depend_on_what_kinds_of_element_are_called() {
    fn renamed<T: Clone>(by_kind: &BTreeMap<String, T>) -> BTreeMap<String, T> {
        by_kind.iter().map(|(kind, x)| (format!("x-{kind}"), x.clone())).collect()
    }
    let mut draws = Draws::new(21);
    let cell = preset("qs22", 2, 16);
    let mut other = Machine { roles: renamed(&cell.roles), ..cell.clone() };
    for element in &mut other.elements {
        element.kind.insert_str(0, "x-");
        element.outgoing_max = renamed(&element.outgoing_max);
    }
    let graph = random_graph(&mut draws, 30, 9_000);
    let mut costs_renamed = graph.clone();
    for task in &mut costs_renamed.tasks {
        task.cost_ns = renamed(&task.cost_ns);
    }
    for method in [Method::Greedy, Method::Cluster, Method::Delegate, Method::Anneal, Method::Auto] {
        let options = moves(method, 3_000);
        let a = run(&cell, &graph, &options).unwrap();
        let b = run(&other, &costs_renamed, &options).unwrap();
        assert_eq!((a.mapping, a.contributions, a.edges), (b.mapping, b.contributions, b.edges));
    }
}
