//! Machines that are known by their files alone: every method plans on them.

use super::{random_graph, search::run};
use crate::{Method, PlanOptions, evaluate};
use ground::Draws;
use machine::Machine;
use std::collections::BTreeSet;
use std::path::Path;
use work::Buffering;
use work::plan::{ContributionKind, ViolationKind};

fn read(name: &str) -> Machine {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../machine/tests/machines");
    machine::file::read(&folder.join(name)).unwrap()
}

#[test]
fn every_method_plans_on_a_machine_of_which_there_is_only_a_file() {
    let mut random = Draws::new(31);
    let mut graph = random_graph(&mut random, 40, 400);
    graph.code_bytes = 16 << 10;
    for name in ["mesh.toml", "many-core.toml"] {
        let machine = read(name);
        let mut periods = Vec::new();
        for method in [Method::Greedy, Method::Cluster, Method::Delegate, Method::Anneal, Method::Auto] {
            let moves = Some(20_000);
            let buffering = Some(Buffering::Duplicated);
            let options = PlanOptions { method, moves, buffering, gap: 0.0, ..PlanOptions::default() };
            let plan = run(&machine, &graph, &options).unwrap();
            let used: BTreeSet<_> = plan.mapping.values().collect();
            assert!(plan.bound_ns <= plan.period_ns && used.len() > 4, "{name}: {plan:?}");
            let limits = plan.contributions.iter().filter(|c| c.kind == ContributionKind::Limit);
            assert_eq!(limits.count(), machine.limits.len());
            periods.push((plan.feasible, plan.period_ns));
        }
        let auto = periods.pop().unwrap();
        assert!(
            auto.0 && periods.iter().all(|(feasible, ns)| !feasible || auto.1 <= *ns),
            "{name}: {periods:?}"
        );
    }
}

#[test]
fn the_exact_program_of_a_small_graph_finds_what_auto_finds_or_less() {
    let mut random = Draws::new(32);
    let mut graph = random_graph(&mut random, 4, 400);
    graph.code_bytes = 16 << 10;
    for name in ["mesh.toml", "many-core.toml"] {
        let machine = read(name);
        let options = PlanOptions { moves: Some(20_000), batch: Some(1), ..PlanOptions::default() };
        let plan = run(&machine, &graph, &options).unwrap();
        let program = crate::exact::program(&machine, &graph, Default::default(), &options).unwrap();
        let mapping: Vec<usize> = graph
            .tasks
            .iter()
            .map(|t| machine.elements.iter().position(|e| e.name == plan.mapping[&t.name]).unwrap())
            .collect();
        let start = program.warm_start(&mapping);
        assert_eq!(program.decode(&start).unwrap().len(), 4);
        assert!((start[0] * program.scale_ns - plan.period_ns).abs() <= 1e-9 * plan.period_ns, "{name}");
    }
}

#[test]
fn code_counts_in_a_local_store_and_not_in_a_message_buffer() {
    let mut random = Draws::new(33);
    let graph = random_graph(&mut random, 4, 400);
    let on_one = |name: &str| evaluate(&read(name), &graph, vec![0; 4], &PlanOptions::default()).unwrap();
    let mesh = on_one("mesh.toml");
    assert!(mesh.violations.iter().any(|v| matches!(v.kind, ViolationKind::Buffers { code_bytes: 65_536 })));
    let many_core = on_one("many-core.toml");
    assert!(many_core.feasible, "{:?}", many_core.violations);
}

#[test]
fn one_core_is_the_answer_where_two_bring_nothing_and_two_where_they_do() {
    let mut graph = random_graph(&mut Draws::new(33), 12, 400);
    graph.tasks.iter_mut().for_each(|task| task.cost_ns = [("core".to_string(), 2_000.0)].into());
    for (name, cores) in [("../computers/two-siblings.toml", 1), ("../computers/two-cpus-large-l3.toml", 2)] {
        for method in [Method::Auto, Method::Anneal] {
            let options = PlanOptions { method, moves: Some(20_000), ..PlanOptions::default() };
            let plan = run(&read(name), &graph, &options).unwrap();
            let used: BTreeSet<_> = plan.mapping.values().collect();
            assert_eq!(used.len(), cores, "{name}: {:?}", plan.contributions);
            assert!(plan.bound_ns <= plan.period_ns);
        }
    }
}

#[test]
fn an_element_of_a_slower_pace_gets_less_of_the_work() {
    let mut machine = read("mesh.toml");
    machine.elements.truncate(2);
    machine.limits.clear();
    machine.distances = None;
    machine.roles.clear();
    machine.paces = vec![1.0, 2.0];
    let task = |i: usize| work::Task {
        name: format!("t{i}"),
        cost_ns: [("*".to_string(), 100.0)].into(),
        ..work::Task::default()
    };
    let graph =
        work::Graph { name: "even".into(), tasks: (0..9).map(task).collect(), ..work::Graph::default() };
    let options = PlanOptions { moves: Some(20_000), ..PlanOptions::default() };
    let plan = run(&machine, &graph, &options).unwrap();
    let on = |e: usize| plan.mapping.values().filter(|name| **name == machine.elements[e].name).count();
    assert_eq!((on(0), on(1), plan.period_ns), (6, 3, 600.0), "{plan:?}");
    assert!(plan.gap < 1e-9, "{plan:?}");
}
