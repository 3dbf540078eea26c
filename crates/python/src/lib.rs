//! `cellweave._core`: converts and calls, no logic. `python/cellweave` is the front that people see.
//!
//! | module | what it converts |
//! |---|---|
//! | `error` | a wrong request, failed work |
//! | `machine`, `graph` | machines and applications; text and JSON |
//! | `plan` | `plan` and `profile`: options, plans and measurements as JSON; progress and Ctrl-C |
//! | `exact` | the mixed integer program as arrays |
//! | `kernels` | Python functions, compiled functions and arrays as the code of tasks |
//! | `run` | a plan, arrays in and out, the result as JSON |
//!
//! Floor 4. Long work is done without the interpreter's lock.

mod error;
mod exact;
mod graph;
mod kernels;
mod machine;
mod plan;
mod run;

use pyo3::prelude::*;

/// The native part of cellweave.
#[pymodule]
fn _core(py: Python<'_>, m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add("RequestError", py.get_type::<error::RequestError>())?;
    m.add("RunError", py.get_type::<error::RunError>())?;
    m.add_class::<machine::Machine>()?;
    m.add_class::<graph::Graph>()?;
    m.add_class::<exact::Program>()?;
    m.add_function(wrap_pyfunction!(machine::presets, m)?)?;
    m.add_function(wrap_pyfunction!(graph::daggen, m)?)?;
    m.add_function(wrap_pyfunction!(plan::plan, m)?)?;
    m.add_function(wrap_pyfunction!(plan::read_plan, m)?)?;
    m.add_function(wrap_pyfunction!(plan::profile, m)?)?;
    m.add_function(wrap_pyfunction!(run::run, m)?)?;
    Ok(())
}
