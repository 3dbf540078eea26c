//! `plan` and `profile`: options in as JSON, what was found out as JSON.

use crate::error::{request, verb};
use crate::graph::Graph;
use crate::kernels::PythonKernels;
use crate::machine::Machine;
use cellweave::plan::Method;
use cellweave::work::{self, Buffering, Mapping, Plan};
use cellweave::{PlanProgress, ProfileOptions};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;
use std::collections::HashMap;
use std::path::PathBuf;

/// The plan file at `path`, checked, as JSON.
#[pyfunction]
pub fn read_plan(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    py.detach(|| Plan::read(&path).map(|p| p.to_json())).map_err(request)?.map_err(request)
}

/// Plans a graph on a machine; measures missing costs first where the kernels are there. Gives back the graph with its
/// costs, and the plan as JSON.
#[pyfunction]
#[pyo3(signature = (graph, machine, options, kernels, progress=None))]
pub fn plan(
    py: Python<'_>,
    graph: &Graph,
    machine: &Machine,
    options: &str,
    kernels: HashMap<String, Py<PyAny>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Graph, String)> {
    let given: Value = serde_json::from_str(options).map_err(request)?;
    let options = plan_options(&graph.0, &machine.0, &given)?;
    let kernels = PythonKernels::new(given["folder"].as_str(), kernels);
    let mut watch = Watch::new(progress);
    let planned = py.detach(|| {
        cellweave::plan(&graph.0, &machine.0, &kernels, &options, &mut |p| watch.planning(p, &options))
    });
    watch.end(py)?;
    let (graph, plan) = planned.map_err(verb)?;
    Ok((Graph(graph), plan.to_json().map_err(request)?))
}

/// Measures what tasks cost. Gives back the graph with its costs, and everything measured as JSON.
#[pyfunction]
#[pyo3(signature = (graph, machine, options, kernels, progress=None))]
pub fn profile(
    py: Python<'_>,
    graph: &Graph,
    machine: &Machine,
    options: &str,
    kernels: HashMap<String, Py<PyAny>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Graph, String)> {
    let given: Value = serde_json::from_str(options).map_err(request)?;
    let kernels = PythonKernels::new(given["folder"].as_str(), kernels);
    let defaults = ProfileOptions::default();
    let options = ProfileOptions {
        instances: given["instances"].as_u64(),
        again: given["again"].as_bool().unwrap_or(false),
        seconds: given["seconds"].as_f64().unwrap_or(defaults.seconds),
        batch: given["batch"].as_u64(),
    };
    let mut watch = Watch::new(progress);
    let profiled = py.detach(|| {
        cellweave::profile(&graph.0, &machine.0, &kernels, &options, &mut |what, share| {
            watch.profiling(what, share)
        })
    });
    watch.end(py)?;
    let profiled = profiled.map_err(verb)?;
    let text = serde_json::to_string(&profiled).map_err(request)?;
    Ok((Graph(profiled.graph), text))
}

/// Tells Python how far the work is, and hears of Ctrl-C.
pub struct Watch {
    progress: Option<Py<PyAny>>,
    last_s: f64,
    /// Ctrl-C.
    pub interrupted: Option<PyErr>,
    /// What the caller's own function raised.
    raised: Option<PyErr>,
}

impl Watch {
    /// Nothing has happened yet.
    pub fn new(progress: Option<Py<PyAny>>) -> Watch {
        Watch { progress, last_s: 0.0, interrupted: None, raised: None }
    }

    /// Whether to go on.
    pub fn planning(&mut self, p: &PlanProgress, options: &cellweave::plan::Options) -> bool {
        let p = match p {
            PlanProgress::Profiling(what, share) => return self.profiling(what, *share),
            PlanProgress::Searching(p) => p,
        };
        if p.seconds - self.last_s < 0.1 {
            return true;
        }
        self.last_s = p.seconds;
        let share = match options.moves {
            Some(moves) => p.moves as f64 / moves.max(1) as f64,
            None => p.seconds / options.time_s.max(1e-9),
        };
        self.tell(|state| {
            state.set_item("method", p.method)?;
            state.set_item("moves", p.moves)?;
            state.set_item("moves_per_s", p.moves as f64 / p.seconds.max(1e-9))?;
            state.set_item("bound_ns", p.bound_ns)?;
            if p.period_ns.is_finite() && p.period_ns > 0.0 {
                state.set_item("period_ns", p.period_ns)?;
                state.set_item("gap", 1.0 - p.bound_ns / p.period_ns)?;
            }
            state.set_item("share", share)
        })
    }

    /// Whether to go on.
    pub fn profiling(&mut self, what: &str, share: f64) -> bool {
        self.tell(|state| {
            state.set_item("what", format!("measuring {what}"))?;
            state.set_item("share", share)
        })
    }

    /// Calls the caller's function with what `fill` puts into a dict. False after Ctrl-C or an exception.
    pub fn tell(&mut self, fill: impl FnOnce(&Bound<'_, PyDict>) -> PyResult<()>) -> bool {
        Python::attach(|py| {
            if let Err(e) = py.check_signals() {
                self.interrupted = Some(e);
            } else if let Some(progress) = &self.progress {
                let state = PyDict::new(py);
                if let Err(e) = fill(&state).and_then(|()| progress.call1(py, (state,)).map(drop)) {
                    self.raised = Some(e);
                }
            }
        });
        self.interrupted.is_none() && self.raised.is_none()
    }

    /// What the caller's function raised, and a Ctrl-C that has no handler of ours: an exception of a signal handler.
    pub fn end(&mut self, py: Python<'_>) -> PyResult<()> {
        if let Some(e) = self.raised.take() {
            return Err(e);
        }
        match self.interrupted.take() {
            Some(e) if !e.is_instance_of::<PyKeyboardInterrupt>(py) => Err(e),
            _ => Ok(()),
        }
    }
}

/// [`cellweave::plan::Options`] from JSON.
pub fn plan_options(
    graph: &work::Graph,
    machine: &cellweave::machine::Machine,
    given: &Value,
) -> PyResult<cellweave::plan::Options> {
    let mut options = cellweave::plan::Options::default();
    let name = given["method"].as_str().unwrap_or("auto");
    options.method = Method::from_name(name).ok_or_else(|| request(format!("no method `{name}`")))?;
    if let Some(pairs) = given["mapping"].as_object() {
        options.method = Method::Given(mapping(graph, machine, pairs)?);
    }
    options.buffering = given["buffering"].as_str().map(|rule| match rule {
        "duplicated" => Buffering::Duplicated,
        _ => Buffering::Shared,
    });
    options.batch = given["batch"].as_u64();
    options.max_batch = given["max_batch"].as_u64().unwrap_or(options.max_batch);
    options.moves = given["moves"].as_u64();
    options.gap = given["gap"].as_f64().unwrap_or(options.gap);
    options.time_s = given["time_s"].as_f64().unwrap_or(options.time_s);
    options.seed = given["seed"].as_u64().unwrap_or(options.seed);
    options.dmax = given["dmax"].as_u64().map_or(options.dmax, |d| d as usize);
    options.read_back_bytes_per_s = given["read_back_bytes_per_s"].as_f64();
    Ok(options)
}

/// Task -> element, by names, in indices.
pub fn mapping(
    graph: &work::Graph,
    machine: &cellweave::machine::Machine,
    pairs: &serde_json::Map<String, Value>,
) -> PyResult<Mapping> {
    if let Some(wrong) = pairs.keys().find(|t| graph.task(t).is_none()) {
        let names = graph.tasks.iter().map(|t| t.name.as_str());
        return Err(request(format!(
            "mapping: no task `{wrong}`{}",
            cellweave::ground::did_you_mean(wrong, names)
        )));
    }
    let place = |task: &work::Task| {
        let Some(name) = pairs.get(&task.name).and_then(Value::as_str) else {
            return Err(request(format!(
                "mapping: task `{}` is on no element; give every task one",
                task.name
            )));
        };
        machine.element(name).ok_or_else(|| {
            let names = machine.elements.iter().map(|e| e.name.as_str());
            request(format!(
                "mapping: task `{}`: no element `{name}`{}",
                task.name,
                cellweave::ground::did_you_mean(name, names)
            ))
        })
    };
    graph.tasks.iter().map(place).collect()
}
