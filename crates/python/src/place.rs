//! `place`: a pattern and options in, the mapping and what stands beside it as JSON.

use crate::error::{request, verb};
use crate::machine::Machine;
use crate::options::given;
use crate::progress::Watch;
use cellweave::place::{PlaceOptions, named, read};
use pyo3::prelude::*;

/// The patterns that have names, each with a line about it.
#[pyfunction]
pub(crate) fn traffic_names() -> Vec<(&'static str, &'static str)> {
    named::PATTERNS.iter().map(|p| (p.name, p.about)).collect()
}

/// Places a pattern: a name, a file, or the name of a matrix that is given.
#[pyfunction]
#[pyo3(signature = (pattern, matrix, machine, options, progress=None))]
pub(crate) fn place(
    py: Python<'_>,
    pattern: &str,
    matrix: Option<Vec<Vec<f64>>>,
    machine: &Machine,
    options: &Bound<'_, PyAny>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let options = PlaceOptions::from_given(&given(options)?).map_err(request)?;
    let mut watch = Watch::new(progress);
    let placed = py.detach(|| {
        let traffic = match &matrix {
            Some(rows) => read::matrix(pattern, rows)?,
            None => cellweave::traffic(pattern, &machine.0, &options)?,
        };
        let mut tell = |share: f64| watch.tell(|state| state.set_item("share", share));
        cellweave::place(&traffic, &machine.0, &options, &mut tell)
    });
    watch.end(py)?;
    Ok(placed.map_err(verb)?.to_json().to_string())
}
