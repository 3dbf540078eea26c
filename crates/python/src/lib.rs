//! `cellweave._core`: converts and calls, no logic. `python/cellweave` is the front that people see.
//!
//! | module | what it converts |
//! |---|---|
//! | [`error`] | a wrong request, failed work |
//! | [`machine`](mod@machine), [`graph`] | machines and applications; text and JSON |
//! | [`plan`](mod@plan) | options and plans as JSON |
//!
//! Floor 4: imports whatever it converts, holds no logic of its own. Long work is done without the interpreter's lock.

mod error;
mod graph;
mod machine;
mod plan;

use pyo3::prelude::*;

/// The native part of cellweave.
#[pymodule]
fn _core(py: Python<'_>, m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add("RequestError", py.get_type::<error::RequestError>())?;
    m.add("RunError", py.get_type::<error::RunError>())?;
    m.add_class::<machine::Machine>()?;
    m.add_class::<graph::Graph>()?;
    m.add_function(wrap_pyfunction!(machine::presets, m)?)?;
    m.add_function(wrap_pyfunction!(graph::daggen, m)?)?;
    m.add_function(wrap_pyfunction!(plan::plan, m)?)?;
    m.add_function(wrap_pyfunction!(plan::read_plan, m)?)?;
    Ok(())
}
