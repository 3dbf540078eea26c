//! `plan` and `profile`: options by name in, the plan and what was measured out.

use crate::error::request;
use crate::exact::PythonSolver;
use crate::graph::Graph;
use crate::kernels::PythonKernels;
use crate::machine::Machine;
use crate::options::given;
use crate::progress::Watch;
use cellweave::ProfileOptions;
use cellweave::plan::exact::Solver;
use cellweave::plan::{Method, PlanOptions};
use pyo3::prelude::*;
use std::path::PathBuf;

/// A plan.
#[pyclass(frozen, module = "cellweave._core")]
pub(crate) struct Plan(pub cellweave::work::Plan);

#[pymethods]
impl Plan {
    /// The plan of a file, checked.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Plan> {
        py.detach(|| cellweave::work::Plan::read(&path)).map(Plan).map_err(request)
    }

    /// The text of a plan file.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.0.to_json()).map_err(request)
    }
}

/// Plans a graph on a machine; measures missing costs first where the kernels are there. Gives back the graph with its
/// costs, and the plan.
#[pyfunction]
#[pyo3(signature = (graph, machine, options, progress=None))]
pub(crate) fn plan(
    py: Python<'_>,
    graph: &Graph,
    machine: &Machine,
    options: &Bound<'_, PyAny>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Graph, Plan)> {
    let options = PlanOptions::from_given(&given(options)?).map_err(request)?;
    let kernels = PythonKernels::of(graph);
    let mut solver = match options.method {
        Method::Exact if options.searches(&graph.graph) => Some(PythonSolver::new(py)?),
        _ => None,
    };
    let mut watch = Watch::new(progress);
    let told = kernels.with_jit(py, &graph.graph);
    let planned = py.detach(|| {
        let solver = solver.as_mut().map(|solver| solver as &mut dyn Solver);
        cellweave::plan(&told, &machine.0, &kernels, &options, solver, &mut |p| watch.verb(p))
    });
    kernels.end_left_behind(py);
    watch.end(py)?;
    if let Some(raised) = solver.and_then(|solver| solver.raised) {
        return Err(raised);
    }
    let (costed, plan) = planned.map_err(|e| graph.error(e))?;
    Ok((graph.with(costed), Plan(plan)))
}

/// Measures what tasks cost. Gives back the graph with its costs, and everything measured as JSON.
#[pyfunction]
#[pyo3(signature = (graph, machine, options, progress=None))]
pub(crate) fn profile(
    py: Python<'_>,
    graph: &Graph,
    machine: &Machine,
    options: &Bound<'_, PyAny>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Graph, String)> {
    let options = ProfileOptions::from_given(&given(options)?).map_err(request)?;
    let kernels = PythonKernels::of(graph);
    let mut watch = Watch::new(progress);
    let told = kernels.with_jit(py, &graph.graph);
    let profiled = py.detach(|| {
        let mut tell = |what: &str, share: f64| watch.profiling(what, share);
        cellweave::profile(&told, &machine.0, &kernels, &options, &mut tell)
    });
    kernels.end_left_behind(py);
    watch.end(py)?;
    let profiled = profiled.map_err(|e| graph.error(e))?;
    let text = serde_json::to_string(&profiled).map_err(request)?;
    Ok((graph.with(profiled.graph), text))
}

/// What holds a plan back, and which change of the machine or of the graph would help most, as JSON.
#[pyfunction]
#[pyo3(signature = (graph, machine, plan, options, moves, progress=None))]
pub(crate) fn advise(
    py: Python<'_>,
    graph: &Graph,
    machine: &Machine,
    plan: &Plan,
    options: &Bound<'_, PyAny>,
    moves: u64,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let options = PlanOptions::from_given(&given(options)?).map_err(request)?;
    let mut watch = Watch::new(progress);
    let found = py.detach(|| {
        let mut tell = |share: f64| watch.doing("trying changes", share);
        cellweave::advise(&graph.graph, &machine.0, &plan.0, &options, moves, &mut tell)
    });
    watch.end(py)?;
    serde_json::to_string(&found.map_err(|e| graph.error(e))?).map_err(request)
}
