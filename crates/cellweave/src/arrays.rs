//! Memory of the caller as the sources and sinks of an application.

use ground::{Located, did_you_mean};
use run::builtin::memory::{self, MemorySink};
use run::{Kernels, Opened};
use std::collections::BTreeMap;
use std::sync::Arc;
use work::{Graph, TaskId};

/// What an array's source or sink is taken to cost per instance, in ns, where nobody says.
const ARRAY_COST_NS: f64 = 50.0;

/// Bytes that belong to the caller.
type Rows = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// Which tasks send memory of the caller, and which keep what they get.
#[derive(Default)]
pub struct Arrays {
    sources: BTreeMap<String, Rows>,
    sinks: BTreeMap<String, MemorySink>,
}

impl Arrays {
    /// Task `task` of `graph` sends `rows`, instance by instance; each has `row_bytes` bytes.
    ///
    /// # Errors
    /// When there is no such task, it sends nothing, or its instances have another size.
    pub fn send(&mut self, graph: &Graph, task: &str, rows: Rows, row_bytes: u64) -> Result<(), Located> {
        let edge = sent_bytes(graph, task)?;
        if row_bytes != edge {
            let why = format!("a row of `{task}` has {row_bytes} bytes; its edge takes {edge} per instance");
            return Err(Located::new(why).key("inputs"));
        }
        self.sources.insert(task.into(), rows);
        Ok(())
    }

    /// Task `task` of `graph` keeps what it gets; [`kept`](Arrays::kept) has it after the run.
    ///
    /// # Errors
    /// When there is no such task, or it takes nothing.
    pub fn keep(&mut self, graph: &Graph, task: &str) -> Result<(), Located> {
        taken_bytes(graph, task)?;
        self.sinks.insert(task.into(), MemorySink::default());
        Ok(())
    }

    /// What each task kept, by its name; leaves nothing behind.
    pub fn kept(&self) -> impl Iterator<Item = (&str, Vec<u8>)> {
        self.sinks.iter().map(|(task, sink)| (task.as_str(), sink.take()))
    }

    /// The application to plan: zeros in place of arrays that go in, and nothing in place of those that come out.
    pub(crate) fn planned(&self, graph: &Graph) -> Graph {
        let mut graph = self.running(graph);
        for task in &mut graph.tasks {
            let kernel = match task.name.as_str() {
                name if self.sources.contains_key(name) => "cellweave:zeros",
                name if self.sinks.contains_key(name) => "cellweave:discard",
                _ => continue,
            };
            task.kernel = Some(kernel.into());
            if task.cost_ns.is_empty() {
                task.cost_ns.insert("*".into(), ARRAY_COST_NS);
            }
        }
        graph
    }

    /// The application to run. Memory has no parameters; those of the kernels that it stands in for mean nothing to it.
    pub(crate) fn running(&self, graph: &Graph) -> Graph {
        let mut graph = graph.clone();
        for task in &mut graph.tasks {
            if self.sources.contains_key(&task.name) || self.sinks.contains_key(&task.name) {
                task.params.clear();
            }
        }
        graph
    }

    /// Kernels that are the caller's memory where that is named, and `kernels` elsewhere.
    pub(crate) fn over<'k>(&'k self, kernels: &'k dyn Kernels) -> ArrayKernels<'k> {
        ArrayKernels { arrays: self, kernels }
    }
}

pub(crate) struct ArrayKernels<'k> {
    arrays: &'k Arrays,
    kernels: &'k dyn Kernels,
}

impl Kernels for ArrayKernels<'_> {
    fn open(&self, graph: &Graph, task: TaskId) -> Result<Opened, String> {
        let name = &graph.tasks[task].name;
        if let Some(rows) = self.arrays.sources.get(name) {
            return Ok(memory::source(rows.clone()));
        }
        match self.arrays.sinks.get(name) {
            Some(sink) => Ok(sink.opened()),
            None => self.kernels.open(graph, task),
        }
    }
}

/// Bytes per instance of the first edge that a task sends to.
///
/// # Errors
/// When there is no such task or edge.
fn sent_bytes(graph: &Graph, task: &str) -> Result<u64, Located> {
    let id = named(graph, task, "inputs")?;
    let edge = graph.edges.iter().find(|edge| edge.from.task == id);
    edge.map(|edge| edge.bytes)
        .ok_or_else(|| Located::new(format!("`{task}` sends nothing: no edge")).key("inputs"))
}

/// Bytes per instance of the first edge that a task takes from.
///
/// # Errors
/// When there is no such task or edge.
pub fn taken_bytes(graph: &Graph, task: &str) -> Result<u64, Located> {
    let id = named(graph, task, "outputs")?;
    let edge = graph.edges.iter().find(|edge| edge.to.task == id);
    edge.map(|edge| edge.bytes)
        .ok_or_else(|| Located::new(format!("`{task}` takes nothing: no edge")).key("outputs"))
}

fn named(graph: &Graph, task: &str, key: &str) -> Result<TaskId, Located> {
    graph.task(task).ok_or_else(|| {
        let near = did_you_mean(task, graph.tasks.iter().map(|t| t.name.as_str()));
        Located::new(format!("no task `{task}`{near}")).key(key)
    })
}
