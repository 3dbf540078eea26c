//! The ring of `ring-mapping`: options in as JSON; what its run times come to, computed by the core.

use crate::error::request;
use crate::plan::Watch;
use crate::probe::said;
use ::probe::TargetError;
use ::probe::ring::{Ranking as Ranked, RingOptions, RingPlacement, RingProgress, Sweep, mapping, sweep};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use serde_json::Value;

/// Run times of mappings in several runs.
#[pyclass(frozen, module = "cellweave._core")]
pub struct Ranking(Ranked);

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
pub fn ring_mapping(text: &str) -> PyResult<Vec<usize>> {
    mapping::parse(text).map_err(said)
}

/// A mapping as it is written.
#[pyfunction]
pub fn ring_text(mapping: Vec<usize>) -> String {
    mapping::text(&mapping)
}

/// Runs the ring under many mappings.
#[pyfunction]
#[pyo3(signature = (options, mappings=None, progress=None))]
pub fn ring(
    py: Python<'_>,
    options: &str,
    mappings: Option<Vec<Vec<usize>>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Ranking> {
    let given: Value = serde_json::from_str(options).map_err(request)?;
    let asked = Sweep {
        options: asked(&given).map_err(said)?,
        mappings,
        runs: number(&given["runs"], 3),
        threads: given["threads"].as_u64().map(|n| n as usize),
    };
    let mut watch = Watch::new(progress);
    let found = py.detach(|| sweep(&asked, &mut |p| tell(&mut watch, p)));
    let stopped = watch.interrupted.is_some();
    watch.end(py)?;
    if stopped {
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

/// RingOptions from JSON; what is absent or null is the published experiment's.
fn asked(given: &Value) -> Result<RingOptions, TargetError> {
    let hidden = given["hidden"].as_array();
    let hidden: Option<Vec<usize>> = hidden.map(|list| list.iter().map(|n| number(n, usize::MAX)).collect());
    let machine = given["machine"].as_str().unwrap_or("ps3");
    let d = RingOptions::on(machine, given["rules"].as_str(), hidden.as_deref())?;
    let small = |key: &str, default: u32| {
        given[key].as_u64().map_or(default, |n| u32::try_from(n).unwrap_or(u32::MAX))
    };
    Ok(RingOptions {
        tasks: number(&given["tasks"], d.tasks),
        packet_bytes: small("packet_bytes", d.packet_bytes),
        bidirectional: given["bidirectional"].as_bool().unwrap_or(d.bidirectional),
        rounds: small("rounds", d.rounds),
        seed: given["seed"].as_u64().unwrap_or(d.seed),
        placement: if given["placement"] == "default" {
            RingPlacement::Default
        } else {
            RingPlacement::Pinned
        },
        any_first: given["any_first"].as_bool().unwrap_or(d.any_first),
        ..d
    })
}

fn number(given: &Value, default: usize) -> usize {
    given.as_u64().map_or(default, |n| n as usize)
}
