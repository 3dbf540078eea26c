//! The exact method's program: its arrays as bytes, a solver's answer back as a plan.

use crate::error::request;
use crate::graph::Graph;
use crate::machine::Machine;
use crate::plan::{mapping, read_options};
use ::plan::exact;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// A mixed integer program; what its columns mean is `plan::exact`'s.
#[pyclass(frozen, module = "cellweave._core")]
pub struct ExactProgram {
    program: exact::Program,
    graph: work::Graph,
    machine: ::machine::Machine,
    options: ::plan::Options,
}

/// Builds the program of a graph on a machine; `formulation` is `paper` or `compact`.
#[pyfunction]
pub fn exact_program(
    py: Python<'_>,
    graph: &Graph,
    machine: &Machine,
    options: &str,
    formulation: &str,
) -> PyResult<ExactProgram> {
    let options = read_options(&graph.0, &machine.0, options)?;
    let formulation = exact::Formulation::from_name(formulation)
        .ok_or_else(|| request(format!("no formulation `{formulation}`: paper and compact are there")))?;
    let (graph, machine) = (graph.0.clone(), machine.0.clone());
    py.detach(move || {
        let program = exact::program(&machine, &graph, formulation, &options)?;
        Ok(ExactProgram { program, graph, machine, options })
    })
    .map_err(|e: ::plan::PlanError| request(e))
}

#[pymethods]
impl ExactProgram {
    /// ns that a period of 1 in the program is.
    #[getter]
    fn scale_ns(&self) -> f64 {
        self.program.scale_ns
    }

    /// An array of the program: `start` and `index` are uint32, `integral` is uint8, all others are float64.
    fn array<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyBytes>> {
        let p = &self.program;
        let floats = |list: &[f64]| list.iter().flat_map(|x| x.to_ne_bytes()).collect::<Vec<u8>>();
        let ints = |list: &[u32]| list.iter().flat_map(|x| x.to_ne_bytes()).collect::<Vec<u8>>();
        let bytes = match name {
            "cost" => floats(&p.cost),
            "lower" => floats(&p.lower),
            "upper" => floats(&p.upper),
            "row_lower" => floats(&p.row_lower),
            "row_upper" => floats(&p.row_upper),
            "value" => floats(&p.value),
            "start" => ints(&p.start),
            "index" => ints(&p.index),
            "integral" => p.integral.iter().map(|&x| u8::from(x)).collect(),
            _ => return Err(request(format!("a program has no array `{name}`"))),
        };
        Ok(PyBytes::new(py, &bytes))
    }

    /// A value (float64) for every column that stands for a mapping, given as JSON, task -> element.
    fn warm_start<'py>(&self, py: Python<'py>, pairs: &str) -> PyResult<Bound<'py, PyBytes>> {
        let pairs: serde_json::Map<String, serde_json::Value> = serde_json::from_str(pairs).map_err(request)?;
        let x = self.program.warm_start(&mapping(&self.graph, &self.machine, &pairs)?);
        Ok(PyBytes::new(py, &x.iter().flat_map(|x| x.to_ne_bytes()).collect::<Vec<u8>>()))
    }

    /// The plan (JSON) of a solution (float64 per column) with the bound that was proved, in ns; 0 = none.
    fn finish(&self, solution: &[u8], bound_ns: f64, seconds: f64) -> PyResult<String> {
        let x: Vec<f64> =
            solution.as_chunks::<8>().0.iter().map(|bytes| f64::from_ne_bytes(*bytes)).collect();
        let options = ::plan::Options { batch: Some(self.program.batch), ..self.options.clone() };
        self.program
            .decode(&x)
            .and_then(|mapping| exact::finish(&self.machine, &self.graph, mapping, bound_ns, &options, seconds))
            .map(|plan| plan.to_json())
            .map_err(request)
    }
}
