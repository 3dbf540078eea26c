//! The ring of `ring-mapping`: options in; what its run times come to, computed by the core.

use crate::error::request;
use crate::options::given;
use crate::probe::said;
use crate::progress::Watch;
use ::probe::ring::{Ranking as Ranked, RingOptions, RingProgress, mapping, sweep};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

/// Run times of mappings in several runs.
#[pyclass(frozen, module = "cellweave._core")]
pub(crate) struct Ranking(Ranked);

#[pymethods]
impl Ranking {
    /// Of run times by run, then by mapping.
    #[staticmethod]
    fn of(mappings: Vec<Vec<usize>>, runs: Vec<Vec<f64>>) -> PyResult<Self> {
        Ranked::new(mappings, runs).map(Self).map_err(said)
    }

    fn mappings(&self) -> Vec<Vec<usize>> {
        self.0.mappings().to_vec()
    }

    fn runs(&self) -> Vec<Vec<f64>> {
        self.0.runs().to_vec()
    }

    fn averages(&self) -> Vec<f64> {
        self.0.averages().to_vec()
    }

    fn order(&self) -> Vec<usize> {
        self.0.order().to_vec()
    }

    fn worst_by_best(&self) -> f64 {
        self.0.worst_by_best()
    }

    fn run_worst_by_best(&self) -> Vec<f64> {
        self.0.run_worst_by_best()
    }

    fn mean_by_best(&self) -> f64 {
        self.0.mean_by_best()
    }

    fn median_by_best(&self) -> f64 {
        self.0.median_by_best()
    }

    fn rank(&self, mapping: Vec<usize>) -> PyResult<usize> {
        self.0.rank(&mapping).map_err(said)
    }

    fn run_ranks(&self, mapping: Vec<usize>) -> PyResult<Vec<usize>> {
        self.0.run_ranks(&mapping).map_err(said)
    }

    fn slowdown(&self, mapping: Vec<usize>) -> PyResult<f64> {
        self.0.slowdown(&mapping).map_err(said)
    }

    fn correlation(&self, other: &Self) -> PyResult<f64> {
        self.0.correlation(&other.0).map_err(said)
    }
}

/// The tasks of a mapping that is written out.
#[pyfunction]
pub(crate) fn ring_mapping(text: &str) -> PyResult<Vec<usize>> {
    mapping::parse(text).map_err(said)
}

/// A mapping as it is written.
#[pyfunction]
pub(crate) fn ring_text(mapping: Vec<usize>) -> String {
    mapping::text(&mapping)
}

/// Runs the ring under many mappings.
#[pyfunction]
#[pyo3(signature = (options, progress=None))]
pub(crate) fn ring(
    py: Python<'_>,
    options: &Bound<'_, PyAny>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Ranking> {
    let options = RingOptions::from_given(&given(options)?).map_err(request)?;
    let mut watch = Watch::new(progress);
    let found = py.detach(|| sweep(&options.sweep()?, &mut |p| tell(&mut watch, p)));
    if watch.end(py)? {
        return Err(PyKeyboardInterrupt::new_err("stopped"));
    }
    found.map(Ranking).map_err(said)
}

fn tell(watch: &mut Watch, p: RingProgress) -> bool {
    watch.tell(|state| {
        state.set_item("share", p.done as f64 / p.total.max(1) as f64)?;
        state.set_item("done", p.done)?;
        state.set_item("total", p.total)
    })
}
