//! `run`: a plan or none, arrays in and out as bytes, the result out as JSON.

use crate::error::request;
use crate::graph::Graph;
use crate::kernels::PythonKernels;
use crate::machine::Machine;
use crate::options::given;
use crate::plan::Plan;
use crate::progress::Watch;
use cellweave::Arrays;
use cellweave::run::RunOptions;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyByteArray;
use std::collections::HashMap;
use std::sync::Arc;

/// Seconds without progress before a run with Python kernels is given up: numba compiles when the stream starts, and
/// takes some.
const PYTHON_WATCHDOG_S: f64 = 60.0;

/// The parts of the time of an element of a simulated machine: the key in a result, and what it is in words.
#[pyfunction]
pub(crate) fn spent_parts() -> Vec<(&'static str, &'static str)> {
    cellweave::spent_parts()
}

/// Runs a plan; without one the graph is planned first. `inputs` are what the tasks named there send, with the bytes of
/// one row; `outputs` are tasks whose input is kept. Gives back the result as JSON, and what was kept.
#[pyfunction]
#[pyo3(signature = (graph, machine, plan, options, inputs, outputs, progress=None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn run<'py>(
    py: Python<'py>,
    graph: &Graph,
    machine: &Machine,
    plan: Option<&Plan>,
    options: &Bound<'_, PyAny>,
    inputs: HashMap<String, (PyBackedBytes, u64)>,
    outputs: Vec<String>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, HashMap<String, Bound<'py, PyByteArray>>)> {
    let given = given(options)?;
    let mut arrays = Arrays::default();
    for (task, (rows, row_bytes)) in inputs {
        arrays.send(&graph.graph, &task, Arc::new(rows), row_bytes).map_err(request)?;
    }
    for task in outputs {
        arrays.keep(&graph.graph, &task).map_err(request)?;
    }
    let kernels = PythonKernels::of(graph);
    let mut watch = Watch::new(progress);
    let told = kernels.with_jit(py, &graph.graph);
    let outcome = py.detach(|| {
        let mut options = RunOptions::from_given(&given)?;
        if kernels.any(&told) {
            options.watchdog_s = PYTHON_WATCHDOG_S;
        }
        let plan = plan.map(|plan| &plan.0);
        cellweave::run(&told, &machine.0, plan, &kernels, &arrays, options, &mut |p| watch.verb(p))
    });
    kernels.end_left_behind(py);
    watch.end(py)?;
    let text = serde_json::to_string(&outcome.map_err(|e| graph.error(e))?).map_err(request)?;
    let kept = arrays.kept().map(|(task, bytes)| (task.to_string(), PyByteArray::new(py, &bytes)));
    Ok((text, kept.collect()))
}
