//! `plan`: options in as JSON, the plan out as JSON.

use crate::error::request;
use crate::graph::Graph;
use crate::machine::Machine;
use pyo3::prelude::*;
use serde_json::Value;
use std::path::Path;
use work::{Buffering, Mapping};

/// A plan file, checked, as JSON.
#[pyfunction]
pub fn read_plan(py: Python<'_>, path: &str) -> PyResult<String> {
    py.detach(|| work::plan::read(Path::new(path)).map(|p| p.to_json())).map_err(request)
}

/// Plans a graph on a machine.
#[pyfunction]
#[pyo3(signature = (graph, machine, options, progress=None))]
pub fn plan(
    py: Python<'_>,
    graph: &Graph,
    machine: &Machine,
    options: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let options = read_options(&graph.0, &machine.0, options)?;
    let mut interrupted = None;
    let mut last_s = 0.0;
    let planned = py.detach(|| {
        let clock = || host::now_ns() as f64 * 1e-9;
        ::plan::plan(&machine.0, &graph.0, &options, &clock, &mut |p| {
            if p.seconds - last_s < 0.1 {
                return true;
            }
            last_s = p.seconds;
            Python::attach(|py| match report(py, progress.as_ref(), p, &options) {
                Ok(()) => true,
                Err(e) => {
                    interrupted = Some(e);
                    false
                }
            })
        })
    });
    // Ctrl-C keeps the best plan so far where there is one; any other exception is the caller's own.
    match interrupted {
        Some(e) if !e.is_instance_of::<pyo3::exceptions::PyKeyboardInterrupt>(py) => Err(e),
        _ => planned.map(|p| p.to_json()).map_err(request),
    }
}

fn report(py: Python<'_>, progress: Option<&Py<PyAny>>, p: &::plan::Progress, o: &::plan::Options) -> PyResult<()> {
    py.check_signals()?;
    let Some(progress) = progress else { return Ok(()) };
    let state = pyo3::types::PyDict::new(py);
    state.set_item("method", p.method)?;
    state.set_item("moves", p.moves)?;
    state.set_item("seconds", p.seconds)?;
    if p.period_ns.is_finite() && p.period_ns > 0.0 {
        state.set_item("period_ns", p.period_ns)?;
        state.set_item("gap", 1.0 - p.bound_ns / p.period_ns)?;
    }
    state.set_item("bound_ns", p.bound_ns)?;
    state.set_item("moves_per_s", p.moves as f64 / p.seconds.max(1e-9))?;
    let share = match o.moves {
        Some(moves) => p.moves as f64 / moves.max(1) as f64,
        None => p.seconds / o.time_s.max(1e-9),
    };
    state.set_item("share", share)?;
    progress.call1(py, (state,)).map(drop)
}

fn read_options(graph: &work::Graph, machine: &::machine::Machine, text: &str) -> PyResult<::plan::Options> {
    let given: Value = serde_json::from_str(text).map_err(request)?;
    let mut options = ::plan::Options::default();
    let method = given["method"].as_str().unwrap_or("auto");
    options.method = ::plan::Method::from_name(method).ok_or_else(|| request(format!("no method `{method}`")))?;
    if let Some(pairs) = given["mapping"].as_object() {
        options.method = ::plan::Method::Given(mapping(graph, machine, pairs)?);
    }
    if let Some(rule) = given["buffering"].as_str() {
        options.buffering =
            Some(if rule == "duplicated" { Buffering::Duplicated } else { Buffering::Shared });
    }
    options.batch = given["batch"].as_u64();
    options.moves = given["moves"].as_u64();
    options.gap = given["gap"].as_f64().unwrap_or(options.gap);
    options.time_s = given["time_s"].as_f64().unwrap_or(options.time_s);
    options.seed = given["seed"].as_u64().unwrap_or(options.seed);
    Ok(options)
}

fn mapping(
    graph: &work::Graph,
    machine: &::machine::Machine,
    pairs: &serde_json::Map<String, Value>,
) -> PyResult<Mapping> {
    if let Some(wrong) = pairs.keys().find(|t| graph.task(t).is_none()) {
        let names = graph.tasks.iter().map(|t| t.name.as_str());
        return Err(request(format!("mapping: no task `{wrong}`{}", hint(wrong, names))));
    }
    graph
        .tasks
        .iter()
        .map(|task| {
            let Some(name) = pairs.get(&task.name).and_then(Value::as_str) else {
                return Err(request(format!("mapping: task `{}` is on no element; give every task one", task.name)));
            };
            machine.element(name).ok_or_else(|| {
                let names = machine.elements.iter().map(|e| e.name.as_str());
                request(format!("mapping: task `{}`: no element `{name}`{}", task.name, hint(name, names)))
            })
        })
        .collect()
}

fn hint<'a>(wrong: &str, names: impl Iterator<Item = &'a str>) -> String {
    work::nearest::nearest(wrong, names).map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}
