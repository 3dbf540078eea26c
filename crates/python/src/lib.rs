//! `cellweave._core`: converts and calls, no logic. `python/cellweave` is the front that people see.

use pyo3::prelude::*;

/// The native part of cellweave.
#[pymodule]
fn _core(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    Ok(())
}
