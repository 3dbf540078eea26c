//! `probe`: options in, what was measured out as JSON and as other files have it.

use crate::error::{RunError, request};
use crate::options::given;
use crate::progress::Watch;
use ::probe::exchanges::EXCHANGES;
use ::probe::patterns::PATTERNS;
use ::probe::{Fitted, ProbeOptions, ProbeProgress, TargetError};
use pyo3::prelude::*;

/// The patterns that have names, each with a line about it.
#[pyfunction]
pub(crate) fn patterns() -> Vec<(&'static str, &'static str)> {
    let exchanges = EXCHANGES.iter().map(|p| (p.name, p.about));
    PATTERNS.iter().map(|p| (p.name, p.about)).chain(exchanges).collect()
}

/// A machine file, and what it was fitted to.
type MachineFile = (String, Vec<String>);

/// Measures. Gives back the result as JSON and as CSV, and a machine file with what it was fitted to where it was asked
/// for. After Ctrl-C the result holds what was measured until then, and says so.
#[pyfunction]
#[pyo3(signature = (on, options, progress=None))]
pub(crate) fn probe(
    py: Python<'_>,
    on: &str,
    options: &Bound<'_, PyAny>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, String, Option<MachineFile>)> {
    let options = ProbeOptions::from_given(&given(options)?).map_err(request)?;
    let mut watch = Watch::new(progress);
    let measured = py.detach(|| cellweave::probe(on, &options, &mut |p| tell(&mut watch, p)));
    watch.end(py)?;
    let (probed, fitted) = measured.map_err(said)?;
    let file = match fitted {
        Some(Fitted { machine, notes, .. }) => {
            Some((cellweave::machine::file::to_text(&machine).map_err(request)?, notes))
        }
        None => None,
    };
    Ok((probed.to_json().to_string(), probed.to_csv(), file))
}

fn tell(watch: &mut Watch, p: &ProbeProgress) -> bool {
    watch.tell(|state| {
        state.set_item("share", p.done as f64 / p.total.max(1) as f64)?;
        state.set_item("done", p.done)?;
        state.set_item("total", p.total)?;
        state.set_item("pattern", p.pattern)?;
        state.set_item("expected_s", p.expected_ns.map(|both| both.map(|ns| ns as f64 / 1e9)))?;
        state.set_item("size_bytes", p.size_bytes)?;
        state.set_item("buffers", p.buffers)
    })
}

/// What went wrong, as Python raises it.
pub(crate) fn said(e: TargetError) -> PyErr {
    match e {
        TargetError::Request(_) => request(e),
        TargetError::Failed(_) => RunError::new_err(e.to_string()),
    }
}
