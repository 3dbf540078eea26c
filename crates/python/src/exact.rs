//! The solver of the exact method: `cellweave.exact.Highs`, called from the core.

use cellweave::plan::PlanError;
use cellweave::plan::exact::{Program, Solved, Solver, SolverBudget, SolverProgress};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};

/// Seconds between two looks at the solver.
const LOOK_S: f64 = 0.05;

/// A solver in Python.
pub(crate) struct PythonSolver {
    highs: Py<PyAny>,
    /// What the solver raised.
    pub raised: Option<PyErr>,
}

impl PythonSolver {
    /// HiGHS; says what to install where it is not there.
    pub(crate) fn new(py: Python<'_>) -> PyResult<PythonSolver> {
        let highs = py.import("cellweave.exact")?.getattr("Highs")?.call0()?.unbind();
        Ok(PythonSolver { highs, raised: None })
    }

    fn solved(
        &self,
        program: &Program,
        start: &[f64],
        budget: &SolverBudget,
        progress: &mut dyn FnMut(&SolverProgress) -> bool,
    ) -> PyResult<Solved> {
        Python::attach(|py| {
            let first = PyBytes::new(py, &floats(start));
            let limits = (budget.time_s, budget.gap, budget.seed);
            let arguments = (arrays(py, program)?, first, limits.0, limits.1, limits.2);
            self.highs.call_method1(py, "start", arguments).map(drop)
        })?;
        let mut go_on = true;
        while let Some((period, bound)) = self.look(&mut go_on)? {
            if go_on && !progress(&SolverProgress { period, bound }) {
                go_on = false;
                self.stop()?;
            }
        }
        let answer = Python::attach(|py| self.highs.call_method0(py, "answer")?.extract(py));
        let (solution, bound): (Option<PyBackedBytes>, f64) = answer?;
        Ok(Solved { solution: solution.map(|bytes| numbers(&bytes)), bound, stopped: !go_on })
    }

    /// Period and bound while the solver works. The first Ctrl-C asks it to stop, a second one is raised.
    fn look(&self, go_on: &mut bool) -> PyResult<Option<(f64, f64)>> {
        Python::attach(|py| match self.highs.call_method1(py, "wait", (LOOK_S,)) {
            Err(e) if *go_on && e.is_instance_of::<PyKeyboardInterrupt>(py) => {
                *go_on = false;
                self.stop()?;
                Ok(Some((f64::INFINITY, 0.0)))
            }
            found => found?.extract(py),
        })
    }

    fn stop(&self) -> PyResult<()> {
        Python::attach(|py| self.highs.call_method0(py, "stop").map(drop))
    }
}

impl Solver for PythonSolver {
    fn solve(
        &mut self,
        program: &Program,
        start: &[f64],
        budget: &SolverBudget,
        progress: &mut dyn FnMut(&SolverProgress) -> bool,
    ) -> Result<Solved, PlanError> {
        self.solved(program, start, budget, progress).map_err(|e| {
            self.raised = Some(e);
            PlanError::Stopped
        })
    }
}

/// The program's arrays by name: `start` and `index` are uint32, `integral` is uint8, all others are float64.
fn arrays<'py>(py: Python<'py>, p: &Program) -> PyResult<Bound<'py, PyDict>> {
    let ints = |list: &[u32]| list.iter().flat_map(|x| x.to_ne_bytes()).collect::<Vec<u8>>();
    let arrays = PyDict::new(py);
    for (name, list) in [
        ("cost", &p.cost),
        ("lower", &p.lower),
        ("upper", &p.upper),
        ("row_lower", &p.row_lower),
        ("row_upper", &p.row_upper),
        ("value", &p.value),
    ] {
        arrays.set_item(name, PyBytes::new(py, &floats(list)))?;
    }
    arrays.set_item("start", PyBytes::new(py, &ints(&p.start)))?;
    arrays.set_item("index", PyBytes::new(py, &ints(&p.index)))?;
    let integral: Vec<u8> = p.integral.iter().map(|&x| u8::from(x)).collect();
    arrays.set_item("integral", PyBytes::new(py, &integral))?;
    Ok(arrays)
}

fn floats(list: &[f64]) -> Vec<u8> {
    list.iter().flat_map(|x| x.to_ne_bytes()).collect()
}

fn numbers(bytes: &[u8]) -> Vec<f64> {
    bytes.chunks_exact(8).map(|bytes| f64::from_ne_bytes(std::array::from_fn(|i| bytes[i]))).collect()
}
