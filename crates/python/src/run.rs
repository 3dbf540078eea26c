//! `run`: a plan in as JSON, arrays in and out as bytes, the result out as JSON.

use crate::error::{request, run as failed};
use crate::graph::Graph;
use crate::kernels::PythonKernels;
use crate::machine::Machine;
use crate::plan::Watch;
use cellweave::run::builtin::memory::MemorySink;
use cellweave::run::{DRAIN, RunOptions, RunProgress, STOP};
use cellweave::work::{Plan, Value};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyByteArray, PyDict};
use serde_json::Value as Json;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Runs a plan. `inputs` are what the tasks named there send; `outputs` are tasks whose input is kept. Gives back the
/// result as JSON, and what was kept.
#[pyfunction]
#[pyo3(signature = (graph, machine, plan, options, kernels, inputs, outputs, progress=None))]
#[allow(clippy::too_many_arguments)]
pub fn run<'py>(
    py: Python<'py>,
    graph: &Graph,
    machine: &Machine,
    plan: &str,
    options: &str,
    kernels: HashMap<String, Py<PyAny>>,
    inputs: HashMap<String, PyBackedBytes>,
    outputs: Vec<String>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, HashMap<String, Bound<'py, PyByteArray>>)> {
    let given: Json = serde_json::from_str(options).map_err(request)?;
    let plan = Plan::from_json(plan, "the plan").map_err(request)?;
    let sinks: HashMap<String, MemorySink> =
        outputs.into_iter().map(|task| (task, MemorySink::default())).collect();
    let mut kernels = PythonKernels::new(given["folder"].as_str(), kernels);
    kernels.sources = inputs.into_iter().map(|(task, rows)| (task, Arc::new(rows))).collect();
    kernels.sinks = sinks.clone();
    // The kernels of memory have no parameters; those of the kernels that they stand in for mean nothing to them.
    let mut graph = graph.0.clone();
    for task in &mut graph.tasks {
        if kernels.sources.contains_key(&task.name) || kernels.sinks.contains_key(&task.name) {
            task.params = BTreeMap::<String, Value>::new();
        }
    }
    let stop = Arc::new(AtomicU32::new(cellweave::run::RUN));
    let defaults = RunOptions::default();
    let mut watch = Watch::new(progress);
    let mut show = |p: &RunProgress| {
        if !watch.tell(|state| describe(state, p)) {
            // The first Ctrl-C drains; a second one, or an exception of the caller's own function, stops.
            let own = watch.interrupted.take().is_none();
            if own || stop.swap(DRAIN, Ordering::AcqRel) >= DRAIN {
                stop.store(STOP, Ordering::Release);
            }
        }
    };
    let run = || {
        let options = RunOptions {
            instances: given["instances"].as_u64(),
            stop: Arc::clone(&stop),
            watchdog_s: given["watchdog_s"].as_f64().unwrap_or(defaults.watchdog_s),
            trace: given["trace"].as_str().map(Into::into),
            progress: Some(&mut show),
            ..RunOptions::default()
        };
        cellweave::run(&graph, &machine.0, &plan, &kernels, options)
    };
    let outcome = py.detach(run);
    watch.end(py)?;
    if stop.load(Ordering::Acquire) == STOP {
        return Err(PyKeyboardInterrupt::new_err("stopped before it was drained"));
    }
    let outcome = outcome.map_err(failed)?;
    let mut result = serde_json::to_value(&outcome).map_err(request)?;
    if stop.load(Ordering::Acquire) != cellweave::run::RUN {
        result["stopped"] = Json::Bool(true);
    }
    let kept = sinks.iter().map(|(task, sink)| (task.clone(), PyByteArray::new(py, &sink.take()))).collect();
    Ok((result.to_string(), kept))
}

fn describe(state: &Bound<'_, PyDict>, p: &RunProgress) -> PyResult<()> {
    state.set_item("what", "running")?;
    state.set_item("instances", p.instances)?;
    state.set_item("total", p.total)?;
    state.set_item("elapsed_s", p.elapsed_s)?;
    state.set_item("per_s", p.throughput_per_s)?;
    state.set_item("predicted_per_s", p.predicted_per_s)?;
    state.set_item("busy", p.busy.iter().cloned().collect::<HashMap<_, _>>())?;
    state.set_item("warning", &p.warning)?;
    state.set_item("share", p.total.map(|total| p.instances as f64 / total.max(1) as f64))
}
