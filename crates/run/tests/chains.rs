//! Chains on one and several workers: everything arrives, in order.

use run::builtin::memory::{MemorySink, source};
use run::testing::{chain, cores, edge, planned, task};
use run::{Kernels, Opened, RunOptions, Standard, run};
use std::sync::Arc;
use work::{Graph, TaskId};

/// Built-in kernels, and the tasks `from` and `to` as the caller's memory.
struct WithMemory {
    input: Arc<Vec<u8>>,
    sink: MemorySink,
}

impl Kernels for WithMemory {
    fn open(&self, graph: &Graph, t: TaskId) -> Result<Opened, String> {
        match graph.tasks[t].name.as_str() {
            "from" => Ok(source(self.input.clone())),
            "to" => Ok(self.sink.opened()),
            _ => Standard::default().open(graph, t),
        }
    }
}

#[test]
fn a_chain_on_any_number_of_workers_fires_every_task_as_often_as_asked() {
    for elements in [1, 2, 5] {
        for batch in [1, 7, 64] {
            let (graph, machine, plan) = chain(5, 64, batch, elements);
            let options = RunOptions { instances: Some(1001), ..RunOptions::default() };
            let outcome = run(&graph, &machine, &plan, &Standard::default(), options).unwrap();
            assert_eq!(outcome.instances, 1001, "{elements} elements, batch {batch}");
        }
    }
}

#[test]
fn memory_goes_through_a_chain_unchanged() {
    let input: Arc<Vec<u8>> = Arc::new((0..100_003u32).map(|i| (i * 7 + i / 256) as u8).collect());
    let graph = Graph {
        name: "g".into(),
        tasks: vec![
            task("from", ""),
            task("a", "cellweave:copy"),
            task("b", "cellweave:copy"),
            task("to", ""),
        ],
        edges: vec![edge(0, "out", 1, "in", 48), edge(1, "out", 2, "in", 48), edge(2, "out", 3, "in", 48)],
        ..Graph::default()
    };
    let machine = cores(4);
    for mapping in [[0, 0, 0, 0], [0, 1, 0, 1], [0, 1, 2, 3], [1, 1, 0, 0]] {
        for batch in [1, 5, 32] {
            let plan = planned(&graph, &machine, &mapping, batch).unwrap();
            let kernels = WithMemory { input: input.clone(), sink: MemorySink::default() };
            run(&graph, &machine, &plan, &kernels, RunOptions::default()).unwrap();
            let mut wanted = (*input).clone();
            wanted.resize(100_032, 0);
            assert!(kernels.sink.take() == wanted, "{mapping:?}, batch {batch}");
        }
    }
}

#[test]
fn a_graph_of_many_tasks_runs_on_few_and_on_many_workers() {
    for (tasks, elements) in [(20_000, 2), (300, 100)] {
        let (graph, machine, plan) = chain(tasks, 8, 4, elements);
        let options = RunOptions { instances: Some(10), ..RunOptions::default() };
        let outcome = run(&graph, &machine, &plan, &Standard::default(), options).unwrap();
        assert_eq!((outcome.instances, outcome.elements.len()), (10, elements));
    }
}
