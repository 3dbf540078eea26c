//! The exact method's program: its arrays as bytes, a solver's answer back as a plan. What the columns mean is
//! `plan::exact`'s; who solves it is `cellweave.exact`.

use crate::error::request;
use crate::graph::Graph;
use crate::machine::Machine;
use crate::plan::{mapping, plan_options};
use cellweave::plan::{Options, exact};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::Value;

/// A mixed integer program.
#[pyclass(frozen, module = "cellweave._core")]
pub struct Program {
    program: exact::Program,
    graph: cellweave::work::Graph,
    machine: cellweave::machine::Machine,
    options: Options,
}

#[pymethods]
impl Program {
    /// The program of a graph on a machine; `options` as for `plan`, `formulation` is `paper` or `compact`.
    #[staticmethod]
    fn build(
        py: Python<'_>,
        graph: &Graph,
        machine: &Machine,
        options: &str,
        formulation: &str,
    ) -> PyResult<Program> {
        let given: Value = serde_json::from_str(options).map_err(request)?;
        let options = plan_options(&graph.0, &machine.0, &given)?;
        let formulation = exact::Formulation::from_name(formulation)
            .ok_or_else(|| request(format!("formulation: `{formulation}` is not one of paper, compact")))?;
        let (graph, machine) = (graph.0.clone(), machine.0.clone());
        let built = py.detach(|| exact::program(&machine, &graph, formulation, &options));
        Ok(Program { program: built.map_err(request)?, graph, machine, options })
    }

    /// ns that a period of 1 in the program is.
    #[getter]
    fn scale_ns(&self) -> f64 {
        self.program.scale_ns
    }

    /// An array of the program: `start` and `index` are uint32, `integral` is uint8, all others are float64.
    fn array<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyBytes>> {
        let p = &self.program;
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
        let pairs: serde_json::Map<String, Value> = serde_json::from_str(pairs).map_err(request)?;
        let x = self.program.warm_start(&mapping(&self.graph, &self.machine, &pairs)?);
        Ok(PyBytes::new(py, &floats(&x)))
    }

    /// The plan (JSON) of a solution (float64 per column) with the bound that was proved, in ns; 0 = none.
    fn finish(&self, solution: &[u8], bound_ns: f64, seconds: f64) -> PyResult<String> {
        let x: Vec<f64> = solution
            .chunks_exact(8)
            .map(|bytes| f64::from_ne_bytes(std::array::from_fn(|i| bytes[i])))
            .collect();
        let options = Options { batch: Some(self.program.batch), ..self.options.clone() };
        let mapping = self.program.decode(&x).map_err(request)?;
        let plan = exact::finish(&self.machine, &self.graph, mapping, bound_ns, &options, seconds);
        plan.map_err(request)?.to_json().map_err(request)
    }
}

fn floats(list: &[f64]) -> Vec<u8> {
    list.iter().flat_map(|x| x.to_ne_bytes()).collect()
}
