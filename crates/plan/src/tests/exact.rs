//! The program's arrays: a warm start is a solution, and says the period that the model says. That the program's best
//! solution is the best mapping is shown by brute force where there is a solver, in `tests/python/test_exact.py`.

use super::{brute_force, graph, host, machines, preset, random_graph, task};
use crate::exact::{Program, Solved, Solver, SolverBudget, SolverProgress, finish, program};
use crate::{Formulation, Method, PlanError, PlanOptions};
use ground::Draws;
use work::{Buffering, Edge, Port};

const BOTH: [Formulation; 2] = [Formulation::Paper, Formulation::Compact];

/// The first row or column that `x` breaks.
fn broken(program: &Program, x: &[f64]) -> Option<String> {
    for (c, &v) in x.iter().enumerate() {
        if v < program.lower[c] - 1e-9 || v > program.upper[c] + 1e-9 {
            return Some(format!("column {c} is {v}, not in {}..{}", program.lower[c], program.upper[c]));
        }
    }
    (0..program.row_lower.len()).find_map(|r| {
        let entries = program.start[r] as usize..program.start[r + 1] as usize;
        let sum: f64 = entries.map(|i| program.value[i] * x[program.index[i] as usize]).sum();
        let inside = sum >= program.row_lower[r] - 1e-9 && sum <= program.row_upper[r] + 1e-9;
        (!inside)
            .then(|| format!("row {r} is {sum}, not in {}..{}", program.row_lower[r], program.row_upper[r]))
    })
}

#[test]
fn the_best_mapping_is_a_solution_with_its_period() {
    let mut draws = Draws::new(17);
    for round in 0..60 {
        for machine in &machines() {
            let tasks = 1 + draws.below(5);
            let graph = random_graph(&mut draws, tasks, 9_000);
            let batch = 1 << draws.below(3);
            let options = PlanOptions { batch: Some(batch), ..PlanOptions::default() };
            let Some((best, mapping)) = brute_force(machine, &graph, Buffering::Duplicated, batch) else {
                continue;
            };
            // The overflow of a soft memory is not linear in the mapping, and not in the program.
            let overflows = best > 1.5 * best.min(1e12) || machine.name == "host" && tasks > 4;
            for formulation in BOTH {
                let program = program(machine, &graph, formulation, &options).unwrap();
                let x = program.warm_start(&mapping);
                assert_eq!(broken(&program, &x), None, "round {round}, {formulation:?}, {mapping:?}");
                let period = x[0] * program.scale_ns;
                assert!(overflows || (period - best).abs() < 1e-6 * best, "{period} and {best}");
                let back = program.decode(&x).unwrap();
                let plan = finish(machine, &graph, back, best, &options, 0.0).unwrap();
                assert!((plan.period_ns - best).abs() < 1e-9 * best, "{} and {best}", plan.period_ns);
            }
        }
    }
}

#[test]
fn a_mapping_that_breaks_a_limit_is_no_solution() {
    let graph = graph(vec![task("a", 10.0, 5.0), task("b", 10.0, 5.0)], &[(0, 1, 300_000, 0)]);
    let machine = preset("cell", 1, 8);
    for formulation in BOTH {
        let program = program(&machine, &graph, formulation, &PlanOptions::default()).unwrap();
        assert!(broken(&program, &program.warm_start(&[1, 1])).is_some());
        assert!(broken(&program, &program.warm_start(&[0, 0])).is_none());
    }
}

#[test]
fn spes_of_one_chip_are_interchangeable_and_chips_are_not() {
    let tasks: Vec<_> = (0..6).map(|i| task(&format!("t{i}"), 60.0 - f64::from(i), 30.0)).collect();
    let graph = graph(tasks, &[]);
    let machine = preset("qs22", 2, 16);
    let program = program(&machine, &graph, Formulation::Compact, &PlanOptions::default()).unwrap();
    let may = |t: usize, e: usize| program.upper[1 + t * 18 + e] == 1.0;
    // The heaviest task may be on SPE0 of either chip, and on no other SPE.
    let heaviest: Vec<usize> = (0..18).filter(|&e| may(0, e)).collect();
    assert_eq!(heaviest, vec![0, 1, 2, 10]);
    // A warm start renames the elements to fit.
    let x = program.warm_start(&[9, 9, 5, 0, 17, 2]);
    assert_eq!(broken(&program, &x), None);
    assert_eq!(program.decode(&x).unwrap(), vec![2, 2, 3, 0, 10, 4]);
}

#[test]
fn the_compact_program_is_smaller_and_a_host_has_no_memory_rows() {
    let mut draws = Draws::new(6);
    let graph = random_graph(&mut draws, 20, 100);
    let size = |machine: &machine::Machine, formulation| {
        let program = program(machine, &graph, formulation, &PlanOptions::default()).unwrap();
        (program.cost.len(), program.row_lower.len())
    };
    let cell = preset("cell", 1, 8);
    assert!(size(&cell, Formulation::Compact).0 < size(&cell, Formulation::Paper).0 / 2);
    let mut free = host(4, 0.0);
    free.overheads.clear();
    free.limits.clear();
    // 20 assignment rows and 4 compute rows: nothing else.
    assert_eq!(size(&free, Formulation::Compact), (1 + 80, 24));
}

#[test]
fn a_program_that_no_solver_would_finish_is_refused() {
    let mut draws = Draws::new(6);
    let graph = random_graph(&mut draws, 400, 100);
    let error = program(&host(128, 1.0), &graph, Formulation::Paper, &PlanOptions::default()).unwrap_err();
    assert!(error.to_string().contains("400 tasks on 128 elements"), "{error}");
}

#[test]
fn an_answer_that_is_no_mapping_is_refused() {
    let graph = graph(vec![task("a", 10.0, 5.0)], &[]);
    let program =
        program(&preset("cell", 1, 2), &graph, Formulation::Compact, &PlanOptions::default()).unwrap();
    assert!(matches!(program.decode(&[1.0]), Err(PlanError::BadSolution(_))));
    assert!(program.decode(&[1.0, 0.0, 0.0, 0.0]).unwrap_err().to_string().contains("task 0"));
    assert_eq!(program.decode(&[1.0, 0.0, 0.999, 0.001]).unwrap(), vec![1]);
}

#[test]
fn every_feasible_mapping_under_the_shared_rule_is_a_solution_that_is_no_slower() {
    let mut draws = Draws::new(18);
    let list = [preset("cell", 1, 2), preset("qs22", 2, 2), host(3, 40.0)];
    let mut tight = 0;
    for round in 0..12 {
        for machine in &list {
            let mut graph = random_graph(&mut draws, 4, [9_000, 60_000][round % 2]);
            if let Some(edge) = graph.edges.first_mut() {
                edge.delay = round as u64 % 3;
            }
            let (n, batch) = (machine.elements.len(), 1 << draws.below(3));
            let rule = Buffering::Shared;
            let options = PlanOptions { batch: Some(batch), buffering: Some(rule), ..PlanOptions::default() };
            for formulation in BOTH {
                let program = program(machine, &graph, formulation, &options).unwrap();
                for number in 0..n.pow(4) {
                    let mapping: Vec<usize> = (0..4).map(|t| number / n.pow(t) % n).collect();
                    let schedule = work::schedule::schedule(&graph, &mapping, n, rule, batch).unwrap();
                    let model = model::predict(machine, &graph, &mapping, &schedule).unwrap();
                    if model.violations.is_empty() {
                        let x = program.warm_start(&mapping);
                        assert_eq!(broken(&program, &x), None, "round {round}, {formulation:?}, {mapping:?}");
                        let period = x[0] * program.scale_ns;
                        assert!(period <= model.period_ns * (1.0 + 1e-9) || period <= program.scale_ns);
                        tight += usize::from(period >= model.period_ns * (1.0 - 1e-9));
                    }
                }
            }
        }
    }
    assert!(tight > 3_000, "only {tight} solutions have the period of their mapping");
}

/// A solver that finds nothing and proves nothing.
struct Idle;

impl Solver for Idle {
    fn solve(
        &mut self,
        _: &Program,
        _: &[f64],
        _: &SolverBudget,
        _: &mut dyn FnMut(&SolverProgress) -> bool,
    ) -> Result<Solved, PlanError> {
        Ok(Solved { solution: None, bound: 0.0, stopped: false })
    }
}

#[test]
fn what_a_solver_leaves_open_is_proved_by_the_search() {
    let mut draws = Draws::new(19);
    for _ in 0..6 {
        for machine in &machines() {
            let graph = random_graph(&mut draws, 4, 60_000);
            for rule in [Buffering::Shared, Buffering::Duplicated] {
                let (best, _) = brute_force(machine, &graph, rule, 1).unwrap();
                let options = PlanOptions {
                    method: Method::Exact,
                    batch: Some(1),
                    buffering: Some(rule),
                    moves: Some(10_000),
                    gap: 0.0,
                    ..PlanOptions::default()
                };
                let plan =
                    crate::exact::plan(machine, &graph, &options, &mut Idle, &|| 0.0, &mut |_| true).unwrap();
                assert!((plan.period_ns - best).abs() <= 1e-9 * best, "{} and {best}", plan.period_ns);
                assert!(plan.feasible && plan.gap <= 1e-9 && plan.method == "exact");
            }
        }
    }
}

#[test]
fn exact_takes_the_rule_that_its_program_holds() {
    let graph = graph(vec![task("a", 100.0, 90.0), task("b", 100.0, 60.0)], &[(0, 1, 8, 0)]);
    let machine = preset("cell", 1, 1);
    let finish = |graph, buffering| {
        let options = PlanOptions { buffering, method: Method::Exact, ..PlanOptions::default() };
        let plan = finish(&machine, graph, vec![0, 1], 97.0, &options, 0.0).unwrap();
        (plan.buffering, plan.bound_ns)
    };
    assert_eq!(finish(&graph, None), ("duplicated".into(), 97.0));
    assert_eq!(finish(&graph, Some(Buffering::Shared)), ("shared".into(), 97.0));
    // A cycle with a delay of 4 batches may be cut, but not under the duplicated rule with one edge more in it.
    let mut cycle = graph.clone();
    for (from, to, delay) in [(1, 0, 4), (0, 0, 1)] {
        let port = |task: usize| Port { task, name: format!("{from}{to}") };
        cycle.edges.push(Edge { from: port(from), to: port(to), bytes: 8, peek: 0, delay });
    }
    assert_eq!(finish(&cycle, None).0, "shared");
}
