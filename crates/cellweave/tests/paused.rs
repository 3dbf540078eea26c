//! A process that was stopped for a while says so. In a program of its own: a stop is for all of its threads.

use cellweave::run::{Batch, Failed, Fired, Kernel, Kernels, Opened, PortSpec, RunOptions, Standard};
use cellweave::work::{Graph, TaskId, read};
use cellweave::{Arrays, host};
use std::process::Command;

/// Has this process stopped, and continued after 0.6 s, when the stream is on its way.
struct Stopping;

impl Kernel for Stopping {
    fn fire(&mut self, batch: &mut Batch) -> Result<Fired, Failed> {
        if batch.first() == 0 {
            let stop = "kill -STOP $0; sleep 0.6; kill -CONT $0";
            let spawned = Command::new("sh").args(["-c", stop, &std::process::id().to_string()]).spawn();
            spawned.map_err(|e| Failed::from(e.to_string()))?;
        }
        host::clock::sleep_ns(1_000_000);
        Ok(Fired::All)
    }
}

struct Kept;

impl Kernels for Kept {
    fn open(&self, graph: &Graph, task: TaskId) -> Result<Opened, String> {
        match graph.tasks[task].kernel.as_deref() {
            Some("test:stop") => {
                Ok(Opened::from_rust(vec![PortSpec::any("in")], vec![], |_| Ok(Box::new(Stopping))))
            }
            _ => Standard::default().open(graph, task),
        }
    }
}

#[test]
fn a_stop_of_the_process_is_named() {
    let text = "name = 'stopped'\n\
        task = [{ name = 'source', kernel = 'cellweave:count', cost_ns = { core = 10.0 } },\n\
        { name = 'sink', kernel = 'test:stop', cost_ns = { core = 1e6 } }]\n\
        edge = [{ from = 'source', to = 'sink', bytes = 8 }]";
    let graph = read::text(read::Format::Toml, text, "stopped.toml").unwrap();
    let machine = cellweave::run::testing::cores(1);
    let options = cellweave::plan::PlanOptions { batch: Some(1), ..Default::default() };
    let plan = cellweave::plan::evaluate(&machine, &graph, vec![0, 0], &options).unwrap();
    let options = RunOptions { instances: Some(400), ..RunOptions::default() };
    let arrays = Arrays::default();
    let outcome =
        cellweave::run(&graph, &machine, Some(&plan), &Kept, &arrays, options, &mut |_| true).unwrap();
    let paused = outcome.differences.iter().find(|d| d.kind == "paused");
    assert!(paused.is_some_and(|p| p.share > 0.5), "{outcome:#?}");
    assert!(outcome.paused_ns > 300_000_000 && outcome.explanation.contains("stood still"), "{outcome:#?}");
}
