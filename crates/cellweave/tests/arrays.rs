//! Memory of the caller goes through an application.

use cellweave::run::{RunOptions, Standard};
use cellweave::work::{Graph, read};
use cellweave::{Arrays, VerbProgress};
use std::sync::Arc;

fn graph() -> Graph {
    let text = "name = 'copy'\n\
        task = [{ name = 'in' }, { name = 'copy', kernel = 'cellweave:copy' }, { name = 'out' }]\n\
        edge = [{ from = 'in', to = 'copy', bytes = 8 }, { from = 'copy', to = 'out', bytes = 8 }]";
    read::text(read::Format::Toml, text, "copy.toml").unwrap()
}

#[test]
fn an_application_without_a_plan_is_profiled_planned_and_run() {
    let (graph, machine) = (graph(), cellweave::machine::load("host").unwrap());
    let rows: Vec<u8> = (0..8 * 1000).map(|i| i as u8).collect();
    let mut arrays = Arrays::default();
    arrays.send(&graph, "in", Arc::new(rows.clone()), 8).unwrap();
    arrays.keep(&graph, "out").unwrap();
    let mut profiled = false;
    let mut progress = |p: &VerbProgress| {
        profiled |= matches!(p, VerbProgress::Profiling { .. });
        true
    };
    let options = RunOptions { batch: Some(4), ..RunOptions::default() };
    let kernels = Standard::default();
    let outcome = cellweave::run(&graph, &machine, None, &kernels, &arrays, options, &mut progress).unwrap();
    assert_eq!((outcome.instances, outcome.stopped), (1000, false));
    assert!(outcome.batch <= 4, "{}", outcome.batch);
    assert_eq!(arrays.kept().collect::<Vec<_>>(), [("out", rows)]);
    assert!(profiled);
}

#[test]
fn a_plan_with_a_larger_batch_than_asked_for_is_refused() {
    let (mut graph, machine) = (graph(), cellweave::machine::load("host").unwrap());
    for task in &mut graph.tasks {
        task.cost_ns.insert("*".into(), 5.0);
    }
    let kernels = Standard::default();
    let asked = cellweave::plan::PlanOptions { batch: Some(16), moves: Some(100), ..Default::default() };
    let (_, plan) = cellweave::plan(&graph, &machine, &kernels, &asked, None, &mut |_| true).unwrap();
    let options = RunOptions { batch: Some(4), ..RunOptions::default() };
    let arrays = Arrays::default();
    let why =
        cellweave::run(&graph, &machine, Some(&plan), &kernels, &arrays, options, &mut |_| true).unwrap_err();
    assert!(why.to_string().contains("16 instances per firing, and at most 4"), "{why}");
}

#[test]
fn wrong_tasks_and_sizes_are_named() {
    let graph = graph();
    let mut arrays = Arrays::default();
    let rows = || Arc::new(vec![0u8; 24]);
    let send = |arrays: &mut Arrays, task: &str, bytes| {
        arrays.send(&graph, task, rows(), bytes).unwrap_err().to_string()
    };
    assert_eq!(send(&mut arrays, "inn", 8), "inputs: no task `inn`; did you mean `in`?");
    assert_eq!(send(&mut arrays, "out", 8), "inputs: `out` sends nothing: no edge");
    assert_eq!(
        send(&mut arrays, "in", 3),
        "inputs: a row of `in` has 3 bytes; its edge takes 8 per instance"
    );
    let why = arrays.keep(&graph, "in").unwrap_err().to_string();
    assert_eq!(why, "outputs: `in` takes nothing: no edge");
}
